// Every network against MXNet's example of it (tests/golden/models), and what create() refuses.

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <symbind/executor.h>
#include <symbind/models.h>

#include "tests/support/golden.h"
#include "tests/support/source_path.h"

namespace symbind::models {
namespace {

namespace fs = std::filesystem;

const fs::path kRecordings = source_path("tests/golden/models");
constexpr std::size_t kLongest = 10000;  // as in tools/oracle/record_models.py

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t h = 0xCBF29CE484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return h;
}

// "conv0_weight=64x3x7x7 …", as the recorder writes it.
std::string listed(const std::vector<std::string>& names, const std::vector<Shape>& shapes) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < names.size(); ++i)
    entries.push_back(fmt::format("{}={}", names[i], fmt::join(shapes.at(i).dims(), "x")));
  const std::string text = fmt::format("{}", fmt::join(entries, " "));
  if (text.size() <= kLongest) return text;
  return fmt::format("{} entries, {:016x}", names.size(), fnv1a(text));
}

void compare(const std::string& network, const nlohmann::json& recorded) {
  SCOPED_TRACE(network + " " + recorded.at("options").dump());
  const NameManager names;  // made-up names count from 0
  const Symbol net = create(network, recorded.at("options").get<AttrDict>());
  ShapeMap given;
  for (const auto& [name, shape] : recorded.at("shapes").items())
    given[name] = Shape(shape.get<std::vector<std::int64_t>>());
  const InferredShapes found = net.infer_shape(given);
  EXPECT_EQ(listed(net.list_arguments(), found.args), recorded.at("arguments").get<std::string>());
  EXPECT_EQ(listed(net.list_auxiliary_states(), found.aux), recorded.at("aux").get<std::string>());
  EXPECT_EQ(listed(net.list_outputs(), found.outputs), recorded.at("outputs").get<std::string>());
  const std::string json = net.tojson();
  const std::string nodes = json.substr(0, json.find("\"node_row_ptr\""));
  EXPECT_EQ(fmt::format("{:016x}", fnv1a(nodes)), recorded.at("json").get<std::string>())
      << "a node's name, attribute or input differs";
}

class GoldenModels : public testing::TestWithParam<std::string> {};

TEST_P(GoldenModels, are_mxnets) {
  const nlohmann::json file = golden::read_json((kRecordings / GetParam()).string());
  for (const nlohmann::json& recorded : file.at("cases"))
    compare(file.at("network").get<std::string>(), recorded);
}

std::vector<std::string> recordings() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kRecordings))
    files.push_back(entry.path().filename().string());
  std::ranges::sort(files);
  return files;
}
INSTANTIATE_TEST_SUITE_P(Recorded, GoldenModels, testing::ValuesIn(recordings()),
                         [](const auto& info) {
                           std::string name = fs::path(info.param).stem().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Models, every_network_is_recorded) {
  const std::vector<std::string> files = recordings();
  for (const std::string& name : names()) {
    if (name == "resnetv1") continue;  // another name of resnet-v1, as MXNet has it
    EXPECT_THAT(files, testing::Contains(name + ".json"));
  }
}

TEST(Models, names_are_sorted) { EXPECT_TRUE(std::ranges::is_sorted(names())); }

TEST(Models, two_names_of_resnet_v1) {
  const auto json = [](const char* name) {
    const NameManager fresh;
    return create(name, {{"num_layers", "18"}}).tojson();
  };
  EXPECT_EQ(json("resnetv1"), json("resnet-v1"));
}

TEST(Models, functions_and_create_agree) {
  const auto json = [](const auto& build) {
    const NameManager fresh;
    return build().tojson();
  };
  EXPECT_EQ(json([] { return vgg({.num_layers = 16, .batch_norm = true}); }), json([] {
              return create("vgg", {{"num_layers", "16"}, {"batch_norm", "True"}});
            }));
  EXPECT_EQ(json([] {
              return resnet({.num_layers = 20, .image_shape = {3, 28, 28}});
            }),
            json([] {
              return create("resnet", {{"num_layers", "20"}, {"image_shape", "3,28,28"}});
            }));
  EXPECT_EQ(json([] { return mlp(); }), json([] { return create("mlp"); }));
}

TEST(Models, options_are_listed) {
  std::vector<std::string> found;
  for (const Option& o : options_of("mobilenet")) found.push_back(o.name + "=" + o.value);
  EXPECT_THAT(found, testing::ElementsAre("num_classes=1000", "alpha=1", "resolution=224"));
  for (const std::string& name : names())
    for (const Option& o : options_of(name)) EXPECT_FALSE(o.doc.empty()) << name << " " << o.name;
}

// Names come from the current manager, so that two copies of a network can stand side by side.
TEST(Models, names_follow_the_current_manager) {
  const Prefix prefix("a_");
  EXPECT_EQ(mlp().list_arguments()[1], "a_fc1_weight");
  EXPECT_EQ(lenet().list_arguments()[1], "a_convolution0_weight");
  EXPECT_EQ(lenet().list_arguments()[1], "a_convolution2_weight");
}

TEST(Models, a_step_runs) {
  const NameManager fresh;
  Executor executor = lenet().simple_bind(cpu(), {{"data", {2, 1, 28, 28}}});
  executor.forward(true);  // of zeros: every class is as likely
  executor.backward();
  EXPECT_NEAR(executor.outputs()[0].to_vector<float>()[0], 0.1F, 1e-6F);
  const NDArray grad = executor.grad_dict().at("fullyconnected1_bias");
  EXPECT_NEAR(grad.to_vector<float>()[0], 2 * (0.1F - 1), 1e-5F);
}

std::string error_of(const std::function<void()>& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind);
    return e.what();
  }
  return "no error";
}

TEST(BadInputModels, unknown_network) {
  EXPECT_THAT(error_of([] { create("resnet50"); }, ErrorKind::kName),
              testing::AllOf(testing::HasSubstr("no network 'resnet50'"),
                             testing::HasSubstr("did you mean 'resnet'"),
                             testing::HasSubstr("inception-bn")));
  EXPECT_THAT(error_of([] { options_of(""); }, ErrorKind::kName), testing::HasSubstr("networks:"));
}

TEST(BadInputModels, unknown_option) {
  EXPECT_THAT(error_of(
                  [] {
                    create("resnet", {{"num_layer", "50"}});
                  },
                  ErrorKind::kName),
              testing::AllOf(testing::HasSubstr("resnet: there is no parameter 'num_layer'"),
                             testing::HasSubstr("did you mean 'num_layers'")));
  EXPECT_THAT(error_of(
                  [] {
                    create("mlp", {{"alpha", "1"}});
                  },
                  ErrorKind::kName),
              testing::HasSubstr("parameters: num_classes"));
}

TEST(BadInputModels, what_cannot_be_lists_what_can) {
  const struct {
    const char* network;
    AttrDict options;
    const char* text;
  } cases[] = {
      {"resnet", {{"num_layers", "51"}}, "choose from 18, 34, 50, 101, 152, 200, 269"},
      {"resnet", {{"num_layers", "21"}, {"image_shape", "(3, 28, 28)"}}, "6n + 2 below 164"},
      {"resnet", {{"num_layers", "2"}, {"image_shape", "(3, 28, 28)"}}, "6n + 2 below 164"},
      {"resnet-v1", {{"num_layers", "165"}, {"image_shape", "3,28,28"}}, "9n + 2 from 164"},
      {"resnext", {{"num_layers", "-1"}}, "resnext: num_layers=-1 is not a depth"},
      {"resnext", {{"num_group", "7"}}, "num_group=7 must divide the 128 filters of stage1_unit1"},
      {"vgg", {{"num_layers", "12"}}, "choose 11, 13, 16 or 19"},
      {"mobilenet", {{"alpha", "0.3"}}, "choose 0.25, 0.5, 0.75 or 1"},
      {"mobilenet", {{"resolution", "100"}}, "not a multiple of 32"},
      {"mobilenetv2", {{"multiplier", "0"}}, "at least 0.05 and at most 10"},
      {"inception-bn", {{"image_shape", "224"}}, "must be (channels, height, width)"},
      {"mlp", {{"num_classes", "0"}}, "at least 1"},
      {"mlp", {{"num_classes", "ten"}}, "cannot read num_classes='ten' as int"},
      {"lstm", {{"seq_len", "0"}}, "at least 1"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(error_of([&] { create(c.network, c.options); }, ErrorKind::kValue),
                testing::HasSubstr(c.text));
  EXPECT_THAT(error_of(
                  [] {
                    create("alexnet", {{"dtype", "float64"}});
                  },
                  ErrorKind::kName),
              testing::HasSubstr("choices: float32, float16"));
}

TEST(BadInputModels, structs_are_checked_too) {
  EXPECT_THAT(error_of([] { mlp({.num_classes = -1}); }, ErrorKind::kValue),
              testing::HasSubstr("mlp: num_classes=-1 is out of range"));
  EXPECT_THAT(error_of(
                  [] {
                    resnet({.image_shape = {3, 0, 5}});
                  },
                  ErrorKind::kValue),
              testing::HasSubstr("at least 1"));
  EXPECT_THAT(error_of([] { vgg({.dtype = "half"}); }, ErrorKind::kName),
              testing::HasSubstr("choices: float32, float16"));
}

}  // namespace
}  // namespace symbind::models
