// Random bits of base/philox.h and the masks of Dropout, vector by vector: exactly the same bits.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::vector {

struct RandomTable {
  /// The four words of `counters` counters from `first` on.
  void (*bits)(std::uint64_t key, std::uint64_t counter_hi, std::uint64_t first,
               std::int64_t counters, std::uint32_t* words);
  /// mask[i] = kept where unit_float(words[i]) < keep, else 0.
  void (*mask)(const std::uint32_t* words, float keep, float kept, float* mask, std::int64_t n);
};
const ByIsa<RandomTable>& random_kernels();

}  // namespace symbind::vector
