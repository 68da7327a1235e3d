// In which type sums are kept: double for double, float for everything smaller.
#pragma once

#include <type_traits>

namespace symbind {

template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Elements a thread should at least have before a second one is woken for a cheap loop.
inline constexpr long kElementGrain = 32768;

}  // namespace symbind
