#include "base/checked.h"

#include <gtest/gtest.h>

#include <limits>

namespace symbind {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Checked, results_that_fit) {
  EXPECT_EQ(checked_add(2, -5, "x"), -3);
  EXPECT_EQ(checked_sub(2, -5, "x"), 7);
  EXPECT_EQ(checked_mul(3, -5, "x"), -15);
  EXPECT_EQ(checked_add(kMost - 1, 1, "x"), kMost);
  EXPECT_EQ(checked_sub(kLeast + 1, 1, "x"), kLeast);
  EXPECT_EQ(checked_mul(std::int64_t{1} << 31, std::int64_t{1} << 31, "x"), std::int64_t{1} << 62);
}

TEST(Checked, results_that_do_not_fit) {
  EXPECT_FALSE(add_fits(kMost, 1));
  EXPECT_FALSE(sub_fits(kLeast, 1));
  EXPECT_FALSE(mul_fits(kLeast, -1));
  try {
    checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31, "the number of weights");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "the number of weights is too large: 4294967296 * 2147483648");
  }
}

TEST(Checked, numbers_of_the_data_as_indices) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double none : {nan, inf, -inf, 9223372036854775808.0, -1e300})
    EXPECT_EQ(whole_or(none, -7), -7) << none;
  EXPECT_EQ(whole_or(2.9, -7), 2);
  EXPECT_EQ(whole_or(-2.9f, -7), -2);
  EXPECT_EQ(whole_or(-9223372036854775808.0, -7), kLeast);
  EXPECT_EQ(clamped_whole(nan, 0, 9), 0);
  EXPECT_EQ(clamped_whole(inf, 0, 9), 9);
  EXPECT_EQ(clamped_whole(-inf, 0, 9), 0);
  EXPECT_EQ(clamped_whole(8.5, 0, 9), 8);
  EXPECT_EQ(clamped_whole(1e300, kLeast, kMost), kMost);
}

}  // namespace
}  // namespace symbind
