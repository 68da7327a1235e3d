// Selects the cells for this processor.
#include "base/cpu_isa.h"
#include "kernels/rnn/cells_body.h"

namespace symbind::rnn {

namespace {

const Instructions& best() {
  static const Instructions chosen = []() -> Instructions {
#if defined(__x86_64__)
    if (cpu_isa() == Isa::kAvx512) return instructions_avx512();
    if (cpu_isa() == Isa::kAvx2) return instructions_avx2();
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
