// The cells for processors with AVX2 and FMA.
#include "kernels/rnn/cells_body.h"

namespace symbind::rnn {
Instructions instructions_avx2() { return {kCells<float>, kProducts}; }
}  // namespace symbind::rnn
