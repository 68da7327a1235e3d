#pragma once
// The shuffling of all iterators: counter based, so that a seed gives the same order on any
// machine.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace symbind {

/// Fisher and Yates's shuffle. `stream` distinguishes shuffles of one seed: epochs, buckets.
template <class T>
void shuffle(std::vector<T>& items, std::uint64_t seed, std::uint64_t stream) {
  for (std::uint64_t i = items.size(); i > 1; --i) {
    const auto bits = philox(seed, stream, i);
    const std::uint64_t draw = (std::uint64_t{bits[0]} << 32) | bits[1];
    std::swap(items[i - 1], items[draw % i]);
  }
}

}  // namespace symbind
