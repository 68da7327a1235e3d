// Every one of the 65,536 values of both types, and every rounding boundary between neighbours.
// The reference is arithmetic in double, not bit fiddling.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace symbind {
namespace {

/// The value of a format with `fraction_bits` and `bias`, by its definition.
double by_definition(uint16_t bits, int fraction_bits, int bias) {
  const int exponent_bits = 15 - fraction_bits;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

struct HalfFormat {
  using Type = Half;
  static constexpr int kFraction = 10, kBias = 15;
  static constexpr uint16_t kInfinity = 0x7c00;
  static uint16_t encode(float f) { return Half(f).bits; }
};
struct PortableHalfFormat : HalfFormat {
  static uint16_t encode(float f) { return Half::encode_portable(f); }
};
struct BFloat16Format {
  using Type = BFloat16;
  static constexpr int kFraction = 7, kBias = 127;
  static constexpr uint16_t kInfinity = 0x7f80;
  static uint16_t encode(float f) { return BFloat16(f).bits; }
};

template <class Format>
class SixteenBits : public testing::Test {};
using Formats = testing::Types<HalfFormat, PortableHalfFormat, BFloat16Format>;
TYPED_TEST_SUITE(SixteenBits, Formats);

TYPED_TEST(SixteenBits, every_value_decodes) {
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const double expected = by_definition(bits, TypeParam::kFraction, TypeParam::kBias);
    const float got = TypeParam::Type::from_bits(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << i;
    }
    ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << i;
  }
}

TYPED_TEST(SixteenBits, every_value_comes_back) {
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = TypeParam::Type::from_bits(bits);
    const uint16_t again = TypeParam::encode(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam::Type::from_bits(again)))) << i;
      ASSERT_EQ(again & 0x8000, bits & 0x8000) << i;
    } else {
      ASSERT_EQ(again, bits) << i;
    }
  }
}

TYPED_TEST(SixteenBits, between_neighbours_the_nearest_and_on_ties_the_even) {
  for (uint16_t low = 0; low < TypeParam::kInfinity; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const double a = by_definition(low, TypeParam::kFraction, TypeParam::kBias);
    // Past the largest value rounding goes as if one more value followed, called infinity.
    const double b = high == TypeParam::kInfinity
                         ? 2 * a - by_definition(static_cast<uint16_t>(low - 1),
                                                 TypeParam::kFraction, TypeParam::kBias)
                         : by_definition(high, TypeParam::kFraction, TypeParam::kBias);
    const auto middle = static_cast<float>((a + b) / 2);
    ASSERT_EQ(static_cast<double>(middle), (a + b) / 2) << low;
    const float inf = std::numeric_limits<float>::infinity();
    for (int sign : {0, 0x8000}) {
      const float s = sign ? -1.f : 1.f;
      ASSERT_EQ(TypeParam::encode(s * middle), sign | (low % 2 == 0 ? low : high)) << low;
      ASSERT_EQ(TypeParam::encode(s * std::nextafter(middle, 0.f)), sign | low) << low;
      ASSERT_EQ(TypeParam::encode(s * std::nextafter(middle, inf)), sign | high) << low;
    }
  }
}

TYPED_TEST(SixteenBits, extremes) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(TypeParam::encode(inf), TypeParam::kInfinity);
  EXPECT_EQ(TypeParam::encode(-inf), 0x8000 | TypeParam::kInfinity);
  EXPECT_EQ(TypeParam::encode(std::numeric_limits<float>::max()), TypeParam::kInfinity);
  EXPECT_EQ(TypeParam::encode(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(TypeParam::encode(-0.f), 0x8000);
  // A signalling NaN whose payload is below the kept bits must not become infinity.
  const auto nan = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam::Type::from_bits(TypeParam::encode(nan)))));
}

TEST(SixteenBitsKnown, values) {
  EXPECT_EQ(Half(1.f).bits, 0x3c00);
  EXPECT_EQ(Half(65504.f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.f).bits, 0x7c00);
  EXPECT_EQ(Half(0.1f).bits, 0x2e66);
  EXPECT_EQ(BFloat16(1.f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(3.14159274f).bits, 0x4049);
  EXPECT_EQ(static_cast<float>(Half(1.f) + Half(2.f)), 3.f);
}

}  // namespace
}  // namespace symbind
