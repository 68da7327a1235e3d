// Updates and random bits over vectors, of every instruction set of this CPU: the bits are those of
// the rules over numbers and of base/philox.h.

#include "kernels/vector/update.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/philox.h"
#include "kernels/vector/random.h"
#include "tests/kernels/targets.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;

Floats numbers(std::size_t n, unsigned seed, float low, float high) {
  Floats v;
  for (std::size_t i = 0; i < n; ++i)
    v.push_back(low +
                (high - low) * static_cast<float>((i * 2654435761u + seed * 97u) % 2003) / 2003.f);
  return v;
}

struct Weights {
  Floats weight, grad, first, second, third;
  explicit Weights(std::size_t n)
      : weight(numbers(n, 1, -1, 1)),
        grad(numbers(n, 2, -3, 3)),
        first(numbers(n, 3, 0.1f, 1)),
        second(numbers(n, 4, 0.5f, 2)),
        third(numbers(n, 5, -1, 1)) {}
  void run(Isa isa, UpdateRule rule, const std::array<float, 10>& values) {
    float* states[] = {first.data(), second.data(), third.data()};
    vector::update_loops()[isa].loops[static_cast<std::size_t>(rule)](
        values.data(), weight.data(), grad.data(), states, weight.data(),
        static_cast<std::int64_t>(weight.size()));
  }
};

/// Numbers that no rule divides by 0 with; the gradient is clipped at 2.
constexpr std::array<float, 10> kValues = {0.01f, 0.9f, 0.99f, 0.001f, 0.5f,
                                           0.8f,  2.f,  1.5f,  0.3f,   0.2f};

TEST(VectorUpdate, sgd_with_momentum_is_the_formula) {
  for (const Isa isa : available_isas()) {
    for (const std::size_t n : {0u, 1u, 3u, 15u, 17u, 1023u}) {
      Weights got(n);
      const Weights start(n);
      // lr, momentum, wd, rescale, clip
      got.run(isa, UpdateRule::kSgdMom, {0.1f, 0.9f, 0.01f, 0.5f, 1.f});
      for (std::size_t i = 0; i < n; ++i) {
        const double g = std::clamp(0.5 * static_cast<double>(start.grad[i]), -1.0, 1.0);
        const double w = static_cast<double>(start.weight[i]),
                     m = 0.9 * static_cast<double>(start.first[i]) - 0.1 * 0.01 * w - 0.1 * g;
        EXPECT_NEAR(static_cast<double>(got.first[i]), m, 2e-7);
        EXPECT_NEAR(static_cast<double>(got.weight[i]), w + m, 4e-7);
      }
    }
  }
}

TEST(VectorUpdate, adam_is_the_formula) {
  for (const Isa isa : available_isas()) {
    Weights got(100);
    const Weights start(100);
    // lr, beta1, beta2, epsilon, wd, rescale, clip
    got.run(isa, UpdateRule::kAdam, {0.1f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.f, -1.f});
    for (std::size_t i = 0; i < 100; ++i) {
      const double w = static_cast<double>(start.weight[i]),
                   h = static_cast<double>(start.grad[i]) + 0.01 * w,
                   m = 0.9 * static_cast<double>(start.first[i]) + 0.1 * h,
                   v = 0.999 * static_cast<double>(start.second[i]) + 0.001 * h * h;
      EXPECT_NEAR(static_cast<double>(got.first[i]), m, 1e-6);
      EXPECT_NEAR(static_cast<double>(got.second[i]), v, 1e-6);
      EXPECT_NEAR(static_cast<double>(got.weight[i]), w - 0.1 * m / (std::sqrt(v) + 1e-8), 1e-6);
    }
  }
}

TEST(VectorUpdate, all_instruction_sets_give_equal_bits) {
  for (std::size_t rule = 0; rule < kNumUpdateRules; ++rule) {
    for (const std::size_t n : {1u, 17u, 1023u}) {
      Weights oldest(n);
      oldest.run(Isa::kSse41, static_cast<UpdateRule>(rule), kValues);
      for (const Isa isa : available_isas()) {
        Weights got(n);
        got.run(isa, static_cast<UpdateRule>(rule), kValues);
        const auto same = [&](const Floats& a, const Floats& b) {
          return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
        };
        EXPECT_TRUE(same(got.weight, oldest.weight)) << rule;
        EXPECT_TRUE(same(got.first, oldest.first)) << rule;
        EXPECT_TRUE(same(got.second, oldest.second)) << rule;
        EXPECT_TRUE(same(got.third, oldest.third)) << rule;
      }
    }
  }
}

/// The product of floats is exact in double, so one rounding gives the bits that must come.
TEST(VectorUpdate, momentum_of_the_smallest_numbers_is_rounded_once) {
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Floats states = {0.f,        -0.f,       kLeast,           -kLeast,         3 * kLeast, 0x1p-126f,
                   0x1p-125f,  -0x1p-125f, 0x1.8p-126f,      1e-20f,          -2.5f,      kInfinity,
                   -kInfinity, NAN,        0x1.fffffep-126f, 0x1.fffffcp-127f};
  for (int i = 0; i < 4000; ++i)
    states.push_back(static_cast<float>((i * 2654435761u) % 0x01100000) * kLeast *
                     (i % 3 ? 1.f : -1.f));
  for (const float momentum : {0.9f, -0.9f, 1.f, 0.f, 0.5f, 0.1f, 1e-30f, 1.25f, -2.f, NAN}) {
    for (const Isa isa : available_isas()) {
      Weights got(states.size());
      got.weight.assign(states.size(), 0.f);
      got.grad.assign(states.size(), 0.f);
      got.first = states;
      got.run(isa, UpdateRule::kSgdMom, {0.1f, momentum, 0.f, 1.f, -1.f});
      for (std::size_t i = 0; i < states.size(); ++i) {
        const auto expected =
            static_cast<float>(static_cast<double>(momentum) * static_cast<double>(states[i]));
        if (std::isnan(expected))
          ASSERT_TRUE(std::isnan(got.first[i])) << momentum << " * " << states[i];
        else
          ASSERT_EQ(std::bit_cast<std::uint32_t>(got.first[i]),
                    std::bit_cast<std::uint32_t>(expected))
              << momentum << " * " << states[i];
      }
    }
  }
}

/// A bound at a word's own value tells whether all bits of it are right.
TEST(VectorRandom, masks_are_those_of_philox) {
  constexpr std::uint64_t kKey = 0x123456789abcdef0, kDraw = 0xfedcba9876543210;
  for (const Isa isa : available_isas()) {
    const vector::RandomTable& f = vector::random_kernels()[isa];
    for (const std::uint64_t first : {0ull, 1ull, 7ull, 4 * 0xfffffffdull, 4 * 0xfffffffdull + 3}) {
      for (const std::int64_t n : {0, 1, 3, 31, 32, 128, 129, 261}) {
        const auto size = static_cast<std::size_t>(n);
        Floats units;
        for (std::uint64_t i = first; i < first + size; ++i)
          units.push_back(unit_float(philox(kKey, kDraw, i / 4)[i % 4]));
        Floats bounds = {0.5f, 0.1f, 0x1p-24f, 1 - 0x1p-24f};
        for (const float unit : units) {  // below and above each number
          if (unit > 0) bounds.push_back(unit);
          if (unit + 0x1p-24f < 1) bounds.push_back(unit + 0x1p-24f);
        }
        const Floats x = numbers(size, 3, -2, 2);
        for (const float keep : bounds) {
          Floats mask(size + 1, -7), both(size + 1, -7), y(size + 1, -7);
          f.mask({kKey, kDraw, keep}, first, n, mask.data());
          f.drop({kKey, kDraw, keep}, first, n, x.data(), both.data(), y.data());
          for (std::size_t i = 0; i < size; ++i) {
            ASSERT_EQ(mask[i], units[i] < keep ? 1 / keep : 0.f) << first << " + " << i;
            ASSERT_EQ(y[i], x[i] * mask[i]) << first << " + " << i;
          }
          ASSERT_EQ(mask, both);
          Floats alone = x;
          f.drop({kKey, kDraw, keep}, first, n, alone.data(), nullptr, alone.data());
          for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(alone[i], y[i]);
          ASSERT_EQ(mask.back(), -7);
          ASSERT_EQ(y.back(), -7);
        }
      }
    }
  }
}

/// A number at the bound is dropped: a word without lower bits is exactly there.
TEST(VectorRandom, a_number_at_the_bound_is_dropped) {
  constexpr std::uint64_t kKey = 5, kDraw = 6;
  std::uint64_t at = 0;
  const auto word = [](std::uint64_t i) { return philox(kKey, kDraw, i / 4)[i % 4]; };
  while (word(at) % 256 != 0 || word(at) == 0) ++at;
  for (const Isa isa : available_isas()) {
    float mask = -7;
    vector::random_kernels()[isa].mask({kKey, kDraw, unit_float(word(at))}, at, 1, &mask);
    EXPECT_EQ(mask, 0);
  }
}

}  // namespace
}  // namespace symbind
