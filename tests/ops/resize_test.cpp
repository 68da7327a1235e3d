// Adaptive average pooling and bilinear resizing: recorded.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_AdaptiveAvgPooling2D) {
  c.recorded();
  c.add("in numbers").attr("output_size", "(1, 2)").in({1, 1, 1, 3}, {1, 3, 8}).ref({2, 5.5});
  c.add("nothing").attr("output_size", "(0, 2)").in({1, 1, 2, 2}).raises("output_size (0, 2)");
}

OP_CASES(_contrib_BilinearResize2D) {
  c.recorded();
  c.add("in numbers").attr("height", 1).attr("width", 3).in({1, 1, 1, 2}, {1, 2}).ref({1, 1.5, 2});
  c.add("a factor is missing").attr("mode", "odd_scale").in({1, 1, 3, 3}).raises("scale_height");
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void expect_resized(const NDArray& image, std::int64_t size, const char* align_corners,
                    const std::vector<float>& wanted) {
  const AttrDict attrs{{"height", std::to_string(size)},
                       {"width", std::to_string(size)},
                       {"align_corners", align_corners}};
  const std::vector<float> got =
      invoke("_contrib_BilinearResize2D", {image}, attrs).front().to_vector<float>();
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i]))
      EXPECT_TRUE(std::isnan(got[i])) << align_corners << " " << i << ": " << got[i];
    else
      EXPECT_FLOAT_EQ(got[i], wanted[i]) << align_corners << " " << i;
  }
}

// Numbers of MXNet 1.9.1: the same size is a copy, elsewhere 0 · ∞ is NaN, and at the edge the last
// pixel counts twice.
TEST(BilinearResize2D, an_infinite_pixel_reaches_what_it_reaches_in_mxnet) {
  const std::vector<float> pixels{1, 2, 3, 4, 5, 6, 7, 8, kInf};
  const NDArray image = NDArray::from_vector(pixels, {1, 1, 3, 3});
  expect_resized(image, 3, "True", pixels);
  expect_resized(image, 3, "False", pixels);
  expect_resized(image, 5, "False",
                 {1,    1.4F, 2,    2.6F, 3,    2.2F, 2.6F, 3.2F, 3.8F, 4.2F, 4,    4.4F, kNan,
                  kNan, kNan, 5.8F, 6.2F, kNan, kInf, kInf, 7,    7.4F, kNan, kInf, kInf});
}

}  // namespace
}  // namespace symbind
