// Elementwise loops over vectors of float32, by the names of kernels/elementwise.h.
//
// The result may be written over an operand; otherwise arrays do not overlap. No alignment is
// needed.
#pragma once

#include <span>

#include "kernels/elementwise.h"
#include "kernels/vector/targets.h"

namespace symbind::vector {

struct UnaryLoops {
  const char* name;
  UnaryLoop forward;
  BinaryLoop backward;  ///< (dy, x or y) -> dx
};
struct UnaryTable {
  std::span<const UnaryLoops> functions;
};
const ByIsa<UnaryTable>& unary_loops();

/// The three loops are those of `Operand`.
struct BinaryLoops {
  const char* name;
  BinaryLoop loops[3];
};
struct GradientLoops {
  const char* name;
  TernaryLoop left[3], right[3];
};
struct BinaryTable {
  std::span<const BinaryLoops> functions;
  std::span<const GradientLoops> gradients;
};
const ByIsa<BinaryTable>& binary_loops();

}  // namespace symbind::vector
