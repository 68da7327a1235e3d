// VGG (Simonyan and Zisserman, 2014): five blocks of 3 x 3 convolutions, three dense layers.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "models/layers.h"

namespace symbind::models {
namespace {

struct Depth {
  int num_layers;
  std::array<int, 5> convolutions;  ///< in each block
};
constexpr Depth kDepths[] = {
    {11, {1, 1, 2, 2, 2}}, {13, {2, 2, 2, 2, 2}}, {16, {2, 2, 3, 3, 3}}, {19, {2, 2, 4, 4, 4}}};
constexpr std::array<int, 5> kFilters = {64, 128, 256, 512, 512};

Symbol features(Symbol x, const Depth& depth, bool batch_norm) {
  for (std::size_t block = 0; block < kFilters.size(); ++block) {
    for (int i = 0; i < depth.convolutions[block]; ++i) {
      const std::string place = fmt::format("{}_{}", block + 1, i + 1);
      x = Convolution("conv" + place, x,
                      {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = kFilters[block]});
      if (batch_norm) x = BatchNorm("bn" + place, x);
      x = relu_layer("relu" + place, x);
    }
    x = Pooling(fmt::format("pool{}", block + 1), x,
                {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
  }
  return x;
}

}  // namespace

void VggOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  v.field("num_layers", num_layers, "Depth: 11, 13, 16 or 19.");
  v.field("batch_norm", batch_norm, "Whether to normalise after every convolution.");
  describe_dtype(v, dtype);
}

Symbol vgg(const VggOptions& options) {
  validate(options, "vgg");
  const auto* depth = std::ranges::find(kDepths, options.num_layers, &Depth::num_layers);
  check(depth != std::end(kDepths), "vgg: num_layers={} is not a depth; choose 11, 13, 16 or 19",
        options.num_layers);
  Symbol x = Flatten("flatten", features(input(options.dtype, false), *depth, options.batch_norm));
  for (const char* number : {"6", "7"}) {
    x = FullyConnected(std::string("fc") + number, x, {.num_hidden = 4096});
    x = Dropout(std::string("drop") + number, relu_layer(std::string("relu") + number, x),
                {.p = 0.5});
  }
  return loss(FullyConnected("fc8", x, {.num_hidden = options.num_classes}), options.dtype);
}

}  // namespace symbind::models
