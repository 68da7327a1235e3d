// The random numbers of one element of a sampler: as many as its rejections need.
//
// Block j of element i has the counter j·2^40 + i, so the bits depend on the seed, the draw and the
// element alone, whatever thread computes it and however many numbers its neighbours took.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include <symbind/kernel.h>

#include "base/philox.h"

namespace symbind {

class RandomStream {
 public:
  RandomStream(const RunState& run, std::int64_t element)
      : seed_(run.random_seed),
        draw_(run.random_draw),
        counter_(static_cast<std::uint64_t>(element)) {}

  std::uint64_t bits() {
    if (left_ == 0) {
      block_ = philox(seed_, draw_, counter_);
      counter_ += std::uint64_t{1} << 40;
      left_ = 2;
    }
    const std::size_t at = 2 * static_cast<std::size_t>(--left_);
    return (std::uint64_t{block_[at]} << 32) | block_[at + 1];
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// In (0, 1]: its logarithm is finite.
  double positive() { return static_cast<double>((bits() >> 11) + 1) * 0x1p-53; }
  /// A uniformly distributed whole number in [0, count).
  std::uint64_t below(std::uint64_t count) {
    const std::uint64_t uneven = (0 - count) % count;  // 2^64 mod count
    std::uint64_t drawn = bits();
    while (drawn < uneven) drawn = bits();
    return drawn % count;
  }
  /// Mean 0, deviation 1.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(positive()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t seed_, draw_, counter_;
  std::array<std::uint32_t, 4> block_{};
  int left_ = 0;
};

}  // namespace symbind
