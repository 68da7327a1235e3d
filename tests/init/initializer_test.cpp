// Initializers: their JSON and the values of deterministic ones equal MXNet's (tools/oracle/
// record_init.py); random ones are checked by moments, bounds and orthogonality.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include <symbind/initializer.h>
#include <symbind/random.h>

#include "tests/support/capture_log.h"
#include "tests/support/source_path.h"

namespace symbind {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

const Json& recordings() {
  static const Json read = [] {
    std::ifstream file(source_path("tests/golden/initializers.json"));
    return Json::parse(file);
  }();
  return read;
}

std::vector<float> filled(const Initializer& init, const InitDesc& desc, const Shape& shape) {
  NDArray array = NDArray::full(shape, 7);
  init(desc, array);
  return array.to_vector<float>();
}

std::string message_of(const std::function<void()>& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
};
Moments moments(const std::vector<float>& values) {
  Moments m{.low = values[0], .high = values[0]};
  for (const double v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.low = std::min(m.low, v);
    m.high = std::max(m.high, v);
  }
  for (const double v : values) m.deviation += (v - m.mean) * (v - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

TEST(GoldenInitializer, json_is_read_and_written_as_mxnet_writes_it) {
  for (const Json& entry : recordings().at("dumps")) {
    const std::string text = entry.at(2).get<std::string>();
    EXPECT_EQ(create_initializer(text)->dumps(), text);
  }
  EXPECT_EQ(Xavier()->dumps(), create_initializer("xavier")->dumps());
}

TEST(GoldenInitializer, fills_in_what_mxnet_fills_in) {
  for (const Json& entry : recordings().at("fills")) {
    SCOPED_TRACE(entry.at(3).dump());
    NDArray array = NDArray::full(Shape(entry.at(2).get<std::vector<std::int64_t>>()), 7);
    create_initializer(entry.at(3).get<std::string>())->init_weight({.name = "x"}, array);
    EXPECT_EQ(array.to_vector<float>(), entry.at(4).get<std::vector<float>>());
  }
}

TEST(GoldenInitializer, goes_by_names_as_mxnet_does) {
  const InitializerPtr init = Constant(0.5);
  for (const auto& [name, recorded] : recordings().at("names").items()) {
    SCOPED_TRACE(name);
    const Shape shape = name == "stn_loc_bias" ? Shape{6} : Shape{1, 1, 3, 3};
    for (const bool legacy : {false, true}) {
      NDArray array = NDArray::full(shape, 7);
      const auto fill = [&, n = name] {
        legacy ? init->legacy(n, array) : (*init)({.name = n}, array);
      };
      const Json& wanted = recorded.at(legacy ? 1 : 0);
      if (wanted.at(0).is_string()) {
        EXPECT_EQ(message_of(fill, ErrorKind::kValue), wanted.at(1).get<std::string>());
      } else {
        fill();
        EXPECT_EQ(array.to_vector<float>(), wanted.get<std::vector<float>>());
      }
    }
  }
  const AttrDict attrs = {{"__init__", R"(["lstmbias", {"forget_bias": 4.0}])"}};
  EXPECT_EQ(filled(*Zero(), {.name = "data", .attrs = attrs}, {4}),
            recordings().at("own").get<std::vector<float>>());
}

TEST(Initializer, uniform_and_normal_have_their_moments) {
  seed(3);
  const Moments u = moments(filled(*Uniform(0.25), {.name = "w_weight"}, {100, 200}));
  EXPECT_NEAR(u.mean, 0, 0.005);
  EXPECT_NEAR(u.deviation, 0.25 / std::sqrt(3.0), 0.005);
  EXPECT_GE(u.low, -0.25);
  EXPECT_LE(u.high, 0.25);
  EXPECT_GT(u.high, 0.2499);
  const Moments n = moments(filled(*Normal(0.5), {.name = "w_weight"}, {100, 200}));
  EXPECT_NEAR(n.mean, 0, 0.02);
  EXPECT_NEAR(n.deviation, 0.5, 0.02);
  EXPECT_GT(n.high, 1.4);
}

TEST(Initializer, the_same_seed_gives_the_same_numbers) {
  const auto draw = [] {
    seed(11);
    return filled(*Xavier(), {.name = "w_weight"}, {5, 7});
  };
  EXPECT_EQ(draw(), draw());
}

TEST(Initializer, xavier_scales_by_the_fan) {
  const Shape shape = {40, 20, 3, 3};
  const double in = 20 * 9, out = 40 * 9;
  for (const auto& [type, factor] :
       {std::pair("avg", (in + out) / 2), std::pair("in", in), std::pair("out", out)}) {
    const Moments u =
        moments(filled(*Xavier({.factor_type = type, .magnitude = 2}), {.name = "weight"}, shape));
    const double bound = std::sqrt(2 / factor);
    EXPECT_LE(u.high, bound);
    EXPECT_GE(u.high, 0.99 * bound);
    const Moments g = moments(
        filled(*Xavier({.rnd_type = "gaussian", .factor_type = type}), {.name = "weight"}, shape));
    EXPECT_NEAR(g.deviation, std::sqrt(3 / factor), 0.05 * std::sqrt(3 / factor));
  }
  const Moments m =
      moments(filled(*MSRAPrelu({.factor_type = "in", .slope = 0.5}), {.name = "weight"}, shape));
  EXPECT_NEAR(m.deviation, std::sqrt(2 / 1.25 / in), 0.05 * std::sqrt(2 / 1.25 / in));
}

TEST(Initializer, orthogonal_vectors_are_orthonormal) {
  for (const char* type : {"uniform", "normal"}) {
    for (const Shape& shape : {Shape{4, 9}, Shape{9, 4}, Shape{5, 5}, Shape{6, 2, 2, 3}}) {
      const auto values =
          filled(*Orthogonal({.scale = 2, .rand_type = type}), {.name = "w_weight"}, shape);
      const std::int64_t rows = shape[0], columns = shape.size() / rows;
      const bool wide = rows <= columns;
      const std::int64_t n = wide ? rows : columns, length = wide ? columns : rows;
      const auto at = [&](std::int64_t vector, std::int64_t i) {
        return values[static_cast<std::size_t>(wide ? vector * columns + i : i * columns + vector)];
      };
      for (std::int64_t a = 0; a < n; ++a) {
        for (std::int64_t b = 0; b < n; ++b) {
          double dot = 0;
          for (std::int64_t i = 0; i < length; ++i) dot += at(a, i) * at(b, i);
          EXPECT_NEAR(dot, a == b ? 4 : 0, 1e-5);
        }
      }
    }
  }
}

TEST(Initializer, load_mixed_and_verbose) {
  const NDArrayMap arrays = {{"arg:a_weight", NDArray({1, 2}, {2})}, {"aux:b", NDArray({3}, {1})}};
  const InitializerPtr load = Load(arrays, One());
  EXPECT_EQ(filled(*load, {.name = "a_weight"}, {2}), (std::vector<float>{1, 2}));
  EXPECT_EQ(filled(*load, {.name = "b"}, {1}), (std::vector<float>{3}));
  EXPECT_EQ(filled(*load, {.name = "c_weight"}, {2}), (std::vector<float>{1, 1}));
  const InitializerPtr mixed = Mixed({{"a.*", Constant(2)}, {".*", Constant(3)}});
  EXPECT_EQ(filled(*mixed, {.name = "a_weight"}, {1}), (std::vector<float>{2}));
  EXPECT_EQ(filled(*mixed, {.name = "b_a_weight"}, {1}), (std::vector<float>{3}));
  const CaptureLog log;
  EXPECT_EQ(filled(*Verbose(Constant(2)), {.name = "a_weight"}, {4}), std::vector<float>(4, 2));
  EXPECT_EQ(log.lines(), (std::vector<std::string>{"Initialized a_weight as weight: 2.0"}));
}

TEST(Initializer, fused_parameters_fall_back_on_the_global_one) {
  const FusedRNNOptions options{.num_hidden = 2, .num_layers = 1, .mode = "gru"};
  const AttrDict attrs = {{"__init__", FusedRNN(options)->dumps()}};
  const auto values = filled(*Constant(5), {.name = "parameters", .attrs = attrs}, {42});
  EXPECT_EQ(values.front(), 5);
  EXPECT_EQ(values.back(), 0);
}

TEST(Initializer, can_be_registered) {
  register_initializer("Nine", [](const AttrDict&) { return Constant(9); });
  EXPECT_EQ(filled(*create_initializer("nine"), {.name = "weight"}, {1}), std::vector<float>{9});
}

TEST(BadInputInitializer, line32_unknown_names_get_the_nearest) {
  EXPECT_THAT(message_of([] { create_initializer("xaiver"); }, ErrorKind::kName),
              HasSubstr("did you mean 'xavier'"));
  EXPECT_THAT(message_of(
                  [] {
                    create_initializer("uniform", {{"scal", "1"}});
                  },
                  ErrorKind::kName),
              HasSubstr("'scale'"));
}

TEST(BadInputInitializer, what_cannot_be_filled) {
  NDArray vector({1, 2, 3}, {3});
  EXPECT_EQ(message_of([&] { (*Xavier())({.name = "fc_weight"}, vector); }, ErrorKind::kValue),
            "Xavier initializer cannot be applied to vector fc_weight. It requires at least 2D.");
  message_of([&] { Bilinear()->init_weight({.name = "x"}, vector); }, ErrorKind::kIndex);
  message_of([&] { (*Xavier({.factor_type = "both"}))({.name = "w_weight"}, vector); },
             ErrorKind::kValue);
  message_of([&] { (*Load(NDArrayMap{}))({.name = "x"}, vector); }, ErrorKind::kState);
  message_of([&] { (*Mixed({{"a", One()}}))({.name = "x"}, vector); }, ErrorKind::kValue);
  message_of([] { Mixed({{"(", One()}}); }, ErrorKind::kValue);
  message_of([&] { FusedRNN({.num_hidden = 2})->init_weight({.name = "p"}, vector); },
             ErrorKind::kState);
  const FusedRNNOptions huge{
      .num_hidden = 2147483647, .num_layers = 2147483647, .bidirectional = true};
  EXPECT_THAT(
      message_of([&] { FusedRNN(huge)->init_weight({.name = "p"}, vector); }, ErrorKind::kValue),
      testing::HasSubstr("parameters of later layers is too large"));
  for (const char* text :
       {"[", "[1, {}]", "[\"zero\"]", "[\"constant\", {\"value\": [[1], [1, 2]]}]",
        "[\"constant\", {\"value\": \"x\"}]", "{\"a\": 1}"})
    EXPECT_THROW(create_initializer(text), Error) << text;
}

}  // namespace
}  // namespace symbind
