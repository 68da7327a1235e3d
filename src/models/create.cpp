// The networks by the names of MXNet's example files. A new one is a line here.

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "models/layers.h"

namespace symbind::models {
namespace {

struct Network {
  const char* name;
  Symbol (*build)(const AttrDict& given, const char* name);
  std::vector<Option> (*options)();
};

template <class Options, Symbol (*kBuild)(const Options&)>
constexpr Network network(const char* name) {
  return {name,
          [](const AttrDict& given, const char* owner) {
            Options options;
            AttrVisitor v;
            options.describe(v);
            parse_attrs(v.fields(), given, owner);
            return kBuild(options);
          },
          [] {
            Options options;
            AttrVisitor v;
            options.describe(v);
            std::vector<Option> all;
            for (const AttrField& field : v.fields())
              all.push_back({field.name, attr_type_text(field), attr_text(field), field.doc});
            return all;
          }};
}

constexpr Network kNetworks[] = {
    network<AlexnetOptions, alexnet>("alexnet"),
    network<GooglenetOptions, googlenet>("googlenet"),
    network<InceptionBnOptions, inception_bn>("inception-bn"),
    network<InceptionResnetOptions, inception_resnet_v2>("inception-resnet-v2"),
    network<InceptionOptions, inception_v3>("inception-v3"),
    network<InceptionOptions, inception_v4>("inception-v4"),
    network<LenetOptions, lenet>("lenet"),
    network<LstmOptions, lstm>("lstm"),
    network<MlpOptions, mlp>("mlp"),
    network<MobilenetOptions, mobilenet>("mobilenet"),
    network<MobilenetV2Options, mobilenet_v2>("mobilenetv2"),
    network<ResnetOptions, resnet>("resnet"),
    network<ResnetOptions, resnet_v1>("resnet-v1"),
    network<ResnetOptions, resnet_v1>("resnetv1"),
    network<ResnextOptions, resnext>("resnext"),
    network<VggOptions, vgg>("vgg"),
};

const Network& find(const std::string& name) {
  const auto* found =
      std::ranges::find_if(kNetworks, [&](const Network& n) { return n.name == name; });
  if (found == std::end(kNetworks))
    fail(ErrorKind::kName, "there is no network '{}'; {} networks: {}", name,
         nearest_hint(name, names()), fmt::join(names(), ", "));
  return *found;
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Network& n : kNetworks) all.emplace_back(n.name);
  return all;
}

std::vector<Option> options_of(const std::string& network) { return find(network).options(); }

Symbol create(const std::string& name, const AttrDict& options) {
  const Network& network = find(name);
  return network.build(options, network.name);
}

}  // namespace symbind::models
