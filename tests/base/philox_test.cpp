#include "base/philox.h"

#include <gtest/gtest.h>

#include <Random123/philox.h>

namespace symbind {
namespace {

using Words = std::array<uint32_t, 4>;

// The known answers that come with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, published_answers) {
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, equal_to_random123) {
  r123::Philox4x32 generator;
  uint64_t x = 88172645463325252ull;
  auto next = [&x] {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
  };
  for (int i = 0; i < 1000; ++i) {
    const uint64_t key = next(), hi = next(), lo = next();
    const auto w = [](uint64_t v, int shift) { return static_cast<uint32_t>(v >> shift); };
    const r123::Philox4x32::ctr_type c = {{w(lo, 0), w(lo, 32), w(hi, 0), w(hi, 32)}};
    const r123::Philox4x32::key_type k = {{w(key, 0), w(key, 32)}};
    const auto expected = generator(c, k);
    ASSERT_EQ(philox(key, hi, lo), (Words{expected[0], expected[1], expected[2], expected[3]}));
  }
}

TEST(Philox, unit_numbers_stay_below_one) {
  EXPECT_EQ(unit_float(0), 0.f);
  EXPECT_EQ(unit_float(0x80000000u), 0.5f);
  EXPECT_LT(unit_float(0xffffffffu), 1.f);
  EXPECT_EQ(unit_double(0x80000000u, 0), 0.5);
  EXPECT_LT(unit_double(0xffffffffu, 0xffffffffu), 1.0);
}

}  // namespace
}  // namespace symbind
