// Transposes matrices of 32-bit elements.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::vector {

struct Transposes {
  /// to[c · rows + r] = from[r · columns + c]; the arrays do not overlap.
  void (*words)(const void* from, void* to, std::int64_t rows, std::int64_t columns);
};

const ByIsa<Transposes>& transposes();

}  // namespace symbind::vector
