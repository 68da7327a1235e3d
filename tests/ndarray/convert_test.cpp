// Expected values: NumPy 1.23 on x86-64 (astype), IEEE 754 for the 16-bit types.
#include "ndarray/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <symbind/ndarray.h>

#include "ndarray/dtype_dispatch.h"
#include "tests/support/shares.h"

namespace symbind {
namespace {

TEST(Convert, floats_are_cut_toward_zero) {
  EXPECT_EQ(convert_element<std::int32_t>(-1.9f), -1);
  EXPECT_EQ(convert_element<std::int64_t>(2.9), 2);
  EXPECT_EQ(convert_element<std::uint8_t>(300.f), 44);
  EXPECT_EQ(convert_element<std::uint8_t>(-1.f), 255);
  EXPECT_EQ(convert_element<std::int8_t>(200.f), -56);
}

TEST(Convert, what_does_not_fit_is_defined) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto kLow32 = std::numeric_limits<std::int32_t>::min();
  constexpr auto kLow64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(convert_element<std::int32_t>(3e9f), kLow32);
  EXPECT_EQ(convert_element<std::int32_t>(-2147483648.0), kLow32);
  EXPECT_EQ(convert_element<std::int32_t>(-2147483648.5), kLow32);
  EXPECT_EQ(convert_element<std::int32_t>(2147483647.5), 2147483647);
  EXPECT_EQ(convert_element<std::int32_t>(nan), kLow32);
  EXPECT_EQ(convert_element<std::int64_t>(nan), kLow64);
  EXPECT_EQ(convert_element<std::int64_t>(1e30), kLow64);
  EXPECT_EQ(convert_element<std::uint64_t>(0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(convert_element<std::uint8_t>(std::numeric_limits<float>::infinity()), 0);
}

TEST(Convert, anything_but_zero_is_true) {
  EXPECT_TRUE(convert_element<bool>(0.25f));
  EXPECT_TRUE(convert_element<bool>(std::nan("")));
  EXPECT_FALSE(convert_element<bool>(-0.0));
  EXPECT_TRUE(convert_element<bool>(Half(1e-7f)));
  EXPECT_EQ(convert_element<float>(true), 1);
}

TEST(Convert, doubles_round_to_half_once) {
  // Just above the middle of 1 and 1 + 2^-10: by way of float it would tie and go down.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(convert_element<Half>(above).bits, 0x3c01);
  EXPECT_EQ(convert_element<Half>(1 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(convert_element<Half>(1 + 3 * 0x1p-11).bits, 0x3c02);
  EXPECT_EQ(convert_element<Half>(65519.99999999).bits, 0x7bff);
  EXPECT_EQ(convert_element<Half>(65520.0).bits, 0x7c00);
  EXPECT_EQ(convert_element<Half>(-1e300).bits, 0xfc00);
  EXPECT_EQ(convert_element<Half>(0x1p-25).bits, 0);
  EXPECT_EQ(convert_element<Half>(0x1p-25 + 0x1p-60).bits, 1);
  EXPECT_EQ(convert_element<BFloat16>(1 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(convert_element<BFloat16>(1 + 0x1p-8).bits, 0x3f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(convert_element<Half>(std::nan("")))));
}

TEST(Convert, all_halves_come_back_through_every_wider_type) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const BFloat16 bfloat = BFloat16::from_bits(static_cast<std::uint16_t>(bits));
    if (!std::isnan(static_cast<float>(half))) {
      ASSERT_EQ(convert_element<Half>(convert_element<double>(half)).bits, bits);
      ASSERT_EQ(convert_element<Half>(convert_element<float>(half)).bits, bits);
    }
    if (!std::isnan(static_cast<float>(bfloat))) {
      ASSERT_EQ(convert_element<BFloat16>(convert_element<double>(bfloat)).bits, bits);
    }
  }
}

TEST(Convert, every_pair_of_types_keeps_small_numbers) {
  for (int from = 0; from <= 12; ++from)
    for (int to = 0; to <= 12; ++to) {
      const NDArray a = NDArray({0, 1, 1, 0, 1}, {5}).astype(static_cast<DType>(from));
      const NDArray b = a.astype(static_cast<DType>(to));
      EXPECT_EQ(b.dtype(), static_cast<DType>(to));
      EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{0, 1, 1, 0, 1})) << from << " " << to;
    }
}

TEST(Convert, every_pair_of_types_in_shares) {
  const std::vector<float> numbers = {1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1};
  for (const int threads : {2, 3})
    for (int from = 0; from <= 12; ++from)
      for (int to = 0; to <= 12; ++to) {
        const NDArray a = NDArray::from_vector(numbers, {11}).astype(static_cast<DType>(from));
        NDArray b(Shape{11}, cpu(), static_cast<DType>(to)), filled = b.copy();
        std::memset(b.mutable_data(), 0, b.nbytes());
        std::memset(filled.mutable_data(), 0, filled.nbytes());
        const Shares shares(threads);
        a.copy_to(b);
        EXPECT_EQ(b.to_vector<float>(), numbers) << from << " " << to;
        filled.set(1.0);
        EXPECT_EQ(filled.to_vector<float>(), std::vector<float>(11, 1.f)) << to;
      }
}

TEST(ThreadsConvert, large_arrays_convert_whole) {
  const std::int64_t n = 300'001;
  const NDArray a = NDArray::arange(0, static_cast<double>(n), 1, cpu(), DType::kInt32);
  const std::vector<double> numbers = a.astype(DType::kFloat64).to_vector<double>();
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_EQ(numbers[static_cast<std::size_t>(i)], static_cast<double>(i));
}

}  // namespace
}  // namespace symbind
