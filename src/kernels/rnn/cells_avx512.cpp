// The cells for processors with AVX-512.
#include "kernels/rnn/cells_body.h"

namespace symbind::rnn {
Instructions instructions_avx512() { return {kCells<float>, kProducts}; }
}  // namespace symbind::rnn
