// The type that sums are computed in: double for double, float for everything smaller.
#pragma once

#include <cstdint>
#include <type_traits>

namespace symbind {

template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The least number of elements per thread for a cheap loop.
inline constexpr std::int64_t kElementGrain = 32768;
/// The grain of a loop whose items have this many elements each.
constexpr std::int64_t grain_of(double elements) {
  return elements < kElementGrain ? static_cast<std::int64_t>(kElementGrain / (elements + 1)) : 1;
}

}  // namespace symbind
