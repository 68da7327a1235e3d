// Small inputs with large counts, sizes or coordinates are refused, or run in time proportional to
// the output.

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/symbind.h>

namespace symbind {
namespace {

using testing::HasSubstr;

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<float> floats(const NDArray& array) {
  std::vector<float> values(array.size());
  array.copy_to_host(values.data(), DType::kFloat32);
  return values;
}

struct Counted {
  const char *op, *key;
  bool outputs;
  AttrDict more = {};
};
const Counted kCounted[] = {
    {"Concat", "num_args", false},
    {"_rnn_param_concat", "num_args", false},
    {"stack", "num_args", false},
    {"add_n", "num_args", false},
    {"UpSampling", "num_args", false, {{"scale", "2"}, {"sample_type", "nearest"}}},
    {"amp_multicast", "num_outputs", false},
    {"multi_sum_sq", "num_arrays", false},
    {"multi_all_finite", "num_arrays", false},
    {"multi_sgd_update", "num_weights", false, {{"lrs", "(1,)"}, {"wds", "(1,)"}}},
    {"SliceChannel", "num_outputs", true},
    {"_split_v2", "sections", true, {{"indices", "()"}}},
};

TEST(BadInputLimits, counts_of_inputs_and_outputs_are_refused_before_anything_is_made) {
  const NDArray x = NDArray::ones({2, 2});
  for (const Counted& c : kCounted) {
    AttrDict attrs = c.more;
    attrs[c.key] = "2000000000";
    const std::string wanted =
        c.outputs ? "outputs; the limit is 65536" : "inputs; the limit is 65536";
    const double seconds = seconds_of([&] {
      EXPECT_THAT(error_of([&] { make_symbol(c.op, "n", std::vector<Symbol>{}, attrs); }),
                  HasSubstr(wanted))
          << c.op;
      EXPECT_THAT(error_of([&] { invoke(c.op, {x}, attrs); }), HasSubstr(wanted)) << c.op;
    });
    EXPECT_LT(seconds, 1) << c.op;
    attrs[c.key] = "65537";
    EXPECT_THAT(error_of([&] { make_symbol(c.op, "n", std::vector<Symbol>{}, attrs); }),
                HasSubstr(wanted));
  }
}

TEST(BadInputLimits, sixteen_thousand_outputs_take_time_in_proportion) {
  constexpr int kParts = 16384;
  const std::string count = std::to_string(kParts);
  std::vector<float> first, last, gradient;
  const double seconds = seconds_of([&] {
    const Symbol parts = make_symbol("SliceChannel", "parts", {Variable("x")},
                                     {{"num_outputs", count}, {"axis", "0"}});
    EXPECT_EQ(parts.list_outputs().back(), "parts_output16383");
    EXPECT_EQ(Symbol::load_json(parts.tojson()).num_outputs(), std::size_t{kParts});
    std::vector<Symbol> all;
    for (std::size_t i = 0; i < kParts; ++i) all.push_back(parts[i]);
    const Symbol whole = make_symbol("Concat", "whole", all, {{"dim", "0"}});
    Executor split = parts.simple_bind(cpu(), {{"x", Shape{kParts, 2}}});
    std::vector<float> numbers(2 * kParts);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    split.arg_dict().at("x").copy_from_host(numbers.data(), DType::kFloat32);
    split.forward(true);
    first = floats(split.outputs().front());
    last = floats(split.outputs().back());
    Executor joined =
        make_symbol("sum", "loss", {whole}).simple_bind(cpu(), {{"x", Shape{kParts, 2}}});
    joined.forward(true);
    joined.backward({NDArray::ones({1})});
    gradient = floats(joined.grad_dict().at("x"));
  });
  EXPECT_EQ(first, (std::vector<float>{0, 1}));
  EXPECT_EQ(last, (std::vector<float>{32766, 32767}));
  EXPECT_EQ(gradient, std::vector<float>(2 * kParts, 1));
  EXPECT_LT(seconds, 6);
}

// 28,000 × 28,000 points, of which 8 × 8 are in the image.
TEST(BadInputLimits, roi_align_of_a_far_region_costs_its_bins) {
  NDArray regions = NDArray::zeros({2, 5});
  const std::vector<float> corners = {0, 0,    0,    28000,        28000,
                                      0, 1e6f, 1e6f, 1e6f + 20000, 1e6f + 20000};
  regions.copy_from_host(corners.data(), DType::kFloat32);
  std::vector<float> y;
  const double seconds = seconds_of([&] {
    y = floats(invoke("_contrib_ROIAlign", {NDArray::ones({1, 1, 8, 8}), regions},
                      {{"pooled_size", "(7, 7)"}, {"spatial_scale", "1"}})
                   .front());
  });
  EXPECT_LT(seconds, 1);
  EXPECT_FLOAT_EQ(y[0], 64.f / (4000.f * 4000.f));
  for (std::size_t i = 1; i < y.size(); ++i) EXPECT_EQ(y[i], 0) << i;
}

// A border of 100,000 pixels on both sides of two.
TEST(BadInputLimits, a_reflected_border_costs_its_pixels) {
  NDArray image = NDArray::zeros({1, 2, 1});
  const std::vector<float> pixels = {1, 2};
  image.copy_from_host(pixels.data(), DType::kFloat32);
  for (const char* type : {"2", "4"}) {
    std::vector<float> y;
    const double seconds = seconds_of([&] {
      y = floats(
          invoke(
              "_cvcopyMakeBorder", {image},
              {{"top", "0"}, {"bot", "0"}, {"left", "100000"}, {"right", "100000"}, {"type", type}})
              .front());
    });
    EXPECT_LT(seconds, 2);
    ASSERT_EQ(y.size(), 200'002U);
    // fedcba|ab|ba… of period four, and gfedcb|ab|ab… of period two.
    const std::vector<float> around =
        *type == '2' ? std::vector<float>{1, 2, 2, 1} : std::vector<float>{1, 2, 1, 2};
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], around[i % 4]) << i;
  }
}

}  // namespace
}  // namespace symbind
