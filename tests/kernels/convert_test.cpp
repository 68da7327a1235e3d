// The loops between float32 and 16-bit types, of every instruction set of this CPU, against
// base/half.h.

#include "kernels/vector/convert.h"

#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/half.h"
#include "tests/kernels/targets.h"

namespace symbind {
namespace {

constexpr std::int64_t kSizes[] = {0, 1, 3, 15, 16, 17, 31, 1023, 65536};

/// Every value of a 16-bit type, the middle between it and the next one, and the floats next to
/// that.
template <class T>
std::vector<float> values_to_round() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = T::from_bits(static_cast<std::uint16_t>(bits));
    const float next = T::from_bits(static_cast<std::uint16_t>(bits + 1));
    values.push_back(value);
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const float middle = 0.5f * value + 0.5f * next;
    for (const float v :
         {middle, std::nextafter(middle, INFINITY), std::nextafter(middle, -INFINITY)})
      values.push_back(v);
  }
  for (const float v : {65519.f, 65520.f, 1e30f, -1e30f, 3.4e38f, 1e-40f, -1e-45f, 5.9e-8f})
    values.push_back(v);
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc12345u, 0xff8fffffu, 0xffc00000u})
    values.push_back(std::bit_cast<float>(bits));
  return values;
}

TEST(VectorConvert, sixteen_bits_widen_as_in_half_h) {
  for (const Isa isa : available_isas()) {
    const vector::Conversions& c = vector::conversions()[isa];
    for (const std::int64_t n : kSizes) {
      std::vector<Half> halves(static_cast<std::size_t>(n) + 1);
      std::vector<BFloat16> brains(halves.size());
      for (std::size_t i = 0; i < halves.size(); ++i) {
        halves[i] = Half::from_bits(static_cast<std::uint16_t>(i));
        brains[i] = BFloat16::from_bits(static_cast<std::uint16_t>(i));
      }
      std::vector<float> from_half(halves.size(), -7), from_brain(halves.size(), -7);
      c.half_to_float(halves.data(), from_half.data(), n);
      c.bfloat16_to_float(brains.data(), from_brain.data(), n);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(from_half[i]),
                  std::bit_cast<std::uint32_t>(Half::decode_portable(halves[i].bits)))
            << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(from_brain[i]), i << 16) << i;
      }
      EXPECT_EQ(from_half.back(), -7);
      EXPECT_EQ(from_brain.back(), -7);
    }
  }
}

TEST(VectorConvert, float_rounds_as_in_half_h) {
  const std::vector<float> half_values = values_to_round<Half>(),
                           brain_values = values_to_round<BFloat16>();
  for (const Isa isa : available_isas()) {
    const vector::Conversions& c = vector::conversions()[isa];
    // From the second element on: vectors are not aligned.
    std::vector<Half> halves(half_values.size());
    std::vector<BFloat16> brains(brain_values.size());
    c.float_to_half(half_values.data() + 1, halves.data() + 1,
                    static_cast<std::int64_t>(halves.size()) - 1);
    c.float_to_bfloat16(brain_values.data() + 1, brains.data() + 1,
                        static_cast<std::int64_t>(brains.size()) - 1);
    for (std::size_t i = 1; i < halves.size(); ++i)
      ASSERT_EQ(halves[i].bits, Half::encode_portable(half_values[i])) << half_values[i];
    for (std::size_t i = 1; i < brains.size(); ++i)
      ASSERT_EQ(brains[i].bits, BFloat16(brain_values[i]).bits) << brain_values[i];
  }
}

TEST(VectorConvert, add_half_adds_in_float) {
  const std::vector<float> start = {1, -2, 0.1f, 1e-8f, 3e38f, 7,  -0.f, 1e-45f, 5,
                                    6, 8,  9,    10,    11,    12, 13,   14};
  for (const Isa isa : available_isas()) {
    std::vector<float> sums = start;
    std::vector<Half> added(sums.size());
    for (std::size_t i = 0; i < added.size(); ++i) added[i] = Half(0.3f * static_cast<float>(i));
    vector::conversions()[isa].add_half(added.data(), sums.data(),
                                        static_cast<std::int64_t>(sums.size()));
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], start[i] + float(added[i]));
  }
}

}  // namespace
}  // namespace symbind
