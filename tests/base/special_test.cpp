// digamma and gammaln, against values of tables and against one another.

#include "base/special.h"

#include <gtest/gtest.h>

namespace symbind {
namespace {

constexpr double kEuler = 0.57721566490153286;

TEST(Special, digamma_of_known_numbers) {
  EXPECT_NEAR(digamma(1.0), -kEuler, 1e-14);
  EXPECT_NEAR(digamma(0.5), -kEuler - 2 * std::numbers::ln2, 1e-14);
  EXPECT_NEAR(digamma(10.0), 2.2517525890667211, 1e-14);
  EXPECT_NEAR(digamma(1e6), 13.815510057964191, 1e-12);
  EXPECT_NEAR(digamma(-0.5), 0.03648997397857652, 1e-13);
}

// What MXNet has there: the largest double, and infinity in float32.
TEST(Special, digamma_at_its_poles) {
  for (const double pole : {0.0, -3.0}) {
    EXPECT_EQ(digamma(pole), std::numeric_limits<double>::max());
    EXPECT_EQ(digamma(static_cast<float>(pole)), std::numeric_limits<float>::infinity());
  }
}

TEST(Special, digamma_is_the_derivative_of_gammaln) {
  for (const double x : {0.1, 0.7, 1.9, 4.5, 33.0}) {
    const double h = 1e-5;
    EXPECT_NEAR(digamma(x), (gammaln(x + h) - gammaln(x - h)) / (2 * h), 1e-7 / x) << x;
    EXPECT_NEAR(digamma(x + 1), digamma(x) + 1 / x, 1e-12) << x;
  }
}

TEST(Special, gammaln_of_whole_numbers) {
  EXPECT_NEAR(gammaln(5.0), std::log(24.0), 1e-14);
  EXPECT_NEAR(gammaln(5.0f), std::log(24.0f), 1e-6f);
  EXPECT_EQ(gammaln(1.0), 0);
}

}  // namespace
}  // namespace symbind
