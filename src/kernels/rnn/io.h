// What a stack of recurrent layers reads and writes, forward and backward: the same for every
// kernel.
#pragma once

#include <cstdint>

#include "base/philox.h"
#include "kernels/rnn/tape.h"

namespace symbind::rnn {

/// `lengths`, where given, has the number of steps of every sample: later outputs are 0, states are
/// unchanged. hy and cy are null when unread; y never is, because the last layer works in it.
template <class T>
struct Forward {
  const T *x, *parameters, *h0, *c0;
  const T* packed;  ///< the parameters as rnn.h packs them, or null
  const std::int64_t* lengths;
  T *y, *hy, *cy;
  T *tape, *scratch;
  bool kept, dropping;
  std::uint64_t seed, draw;
};

/// A null gradient is not computed; a null dhy or dcy counts as 0.
template <class T>
struct Backward {
  const T *dy, *dhy, *dcy;
  const T *x, *parameters, *h0, *c0, *y, *tape;
  const std::int64_t* lengths;
  T *dx, *dparameters, *dh0, *dc0;
  T* scratch;
};

/// The dropout factor of element i of a layer's output: 1, or in training 0 or 1 / (1 − p).
template <class T>
float dropout_scale(const Sizes& s, const Forward<T>& io, std::int64_t layer, std::int64_t i) {
  if (!io.dropping) return 1;
  const float keep = 1 - s.dropout;
  const std::int64_t counter = layer * s.rows() * s.directions * s.width() + i;
  const auto bits = philox(io.seed, io.draw, static_cast<std::uint64_t>(counter / 4));
  return unit_float(bits[static_cast<std::size_t>(counter % 4)]) < keep ? 1 / keep : 0;
}

}  // namespace symbind::rnn
