// Which cells this processor runs.
#include "kernels/rnn/cells_body.h"

namespace symbind::rnn {

namespace {

const Instructions& best() {
  static const Instructions chosen = []() -> Instructions {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return instructions_avx512();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
      return instructions_avx2();
#endif
    return {kCells<float>, kProducts};
  }();
  return chosen;
}

}  // namespace

template <>
const Cells<double>& cells() {
  return kCells<double>;
}
template <>
const Cells<float>& cells() {
  return best().cells;
}
const Products& products() { return best().products; }

}  // namespace symbind::rnn
