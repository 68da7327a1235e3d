#pragma once
// Random numbers for the tests of kernels.

#include <cstdint>
#include <random>
#include <vector>

namespace symbind {

/// From -1 to 1.
inline std::vector<float> random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> value(-1.f, 1.f);
  std::vector<float> all(static_cast<std::size_t>(n));
  for (float& v : all) v = value(generator);
  return all;
}

}  // namespace symbind
