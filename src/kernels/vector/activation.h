// Functions with parameters over vectors of float32: kernels/elementwise_formulas.h,
// SYMBIND_ACTIVATION.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/vector/targets.h"

namespace symbind::vector {

/// The result may be written over an operand.
struct ActivationLoops {
  const char* name;
  void (*forward)(const float* x, float* y, std::int64_t n, float p, float q);
  void (*backward)(const float* dy, const float* v, float* dx, std::int64_t n, float p, float q);
};

inline constexpr std::int64_t kSlopes = 64;

/// relu with one slope per column of a matrix. Gradients of slopes are Σ dy·x where x is not
/// positive; floats are summed over 32 rows or 512 elements, these sums in double.
struct Prelu {
  void (*forward)(const float* x, const float* slopes, float* y, std::int64_t rows,
                  std::int64_t columns);
  void (*backward)(const float* dy, const float* x, const float* slopes, float* dx,
                   std::int64_t rows, std::int64_t columns);
  /// Adds to `sums`, one per column, at most kSlopes; rows are `stride` apart.
  void (*slope_gradients)(const float* dy, const float* x, double* sums, std::int64_t rows,
                          std::int64_t columns, std::int64_t stride);
  /// Of n elements with one slope.
  double (*slope_gradient)(const float* dy, const float* x, std::int64_t n);
};

struct ActivationTable {
  std::span<const ActivationLoops> functions;
  Prelu prelu;
};
const ByIsa<ActivationTable>& activation_loops();

}  // namespace symbind::vector
