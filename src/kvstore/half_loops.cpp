// Selects the loops for this processor.
#include "kvstore/half_loops.h"

#include "base/cpu_isa.h"
#include "base/half.h"

namespace symbind {
namespace {

void encode(const float* from, std::uint16_t* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = Half(from[i]).bits;
}
void decode(const std::uint16_t* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = Half::from_bits(from[i]);
}
void add(const std::uint16_t* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += Half::from_bits(from[i]);
}

}  // namespace

const HalfLoops& half_loops() {
  static const HalfLoops chosen = []() -> HalfLoops {
#if defined(__x86_64__)
    if (cpu_isa() >= Isa::kAvx2) return half_loops_avx2();
#endif
    return {encode, decode, add};
  }();
  return chosen;
}

}  // namespace symbind
