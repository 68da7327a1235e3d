// Kernels over rows and columns of float32: softmax, normalisation, reductions.
//
// A row is contiguous. Columns are n neighbours, at most kTile, whose elements are `stride` apart:
// memory is read in order. Outputs may be written over the inputs of the same shape. Sums have 16
// partial sums per row, columns one sum each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/vector/targets.h"

namespace symbind::vector {

inline constexpr std::int64_t kTile = 1024;

/// How many columns of `extent` elements a thread should compute at once, of `columns` in all: as
/// many as remain in the second cache from pass to pass. Of longer columns the passes read memory
/// again, in long runs.
inline std::int64_t column_tile(std::int64_t extent, std::int64_t columns) {
  constexpr std::int64_t kCached = 65536, kLeast = 128;
  const std::int64_t fits = kCached / std::max<std::int64_t>(extent, 1) / 64 * 64;
  const std::int64_t share = (columns + num_threads() - 1) / num_threads();
  const std::int64_t most = fits < kLeast ? kTile : std::min(fits, kTile);
  return std::clamp<std::int64_t>((share + 63) / 64 * 64, 64, most);
}

struct SoftmaxTable {
  /// y = exp(z) / Σ exp(z) or z − log Σ exp(z), z = scale · (x − the largest x), or the smallest
  /// one if scale is negative.
  void (*row)(const float* x, float* y, std::int64_t n, float scale, bool logarithm);
  void (*columns)(const float* x, float* y, std::int64_t n, std::int64_t extent,
                  std::int64_t stride, float scale, bool logarithm);
  /// dx = scale · y · (dy − Σ dy·y) or scale · (dy − exp(y) · Σ dy).
  void (*row_backward)(const float* dy, const float* y, float* dx, std::int64_t n, float scale,
                       bool logarithm);
  void (*columns_backward)(const float* dy, const float* y, float* dx, std::int64_t n,
                           std::int64_t extent, std::int64_t stride, float scale, bool logarithm);
  /// y = (x − shift) · scale
  void (*shift_and_scale)(const float* x, float* y, std::int64_t n, float shift, float scale);
};
const ByIsa<SoftmaxTable>& softmax_kernels();

struct NormTable {
  double (*squares)(const float* x, std::int64_t n);              ///< Σ x², in double
  double (*dot)(const float* a, const float* b, std::int64_t n);  ///< Σ a·b, in double
  float (*sum)(const float* x, std::int64_t n);
  float (*squares_around)(const float* x, std::int64_t n, float mean);  ///< Σ (x − mean)²
  /// y = (x − mean) · inverse · gamma + beta, arrays or one value each.
  void (*normalize)(const float* x, float* y, std::int64_t n, float mean, float inverse,
                    const float* gamma, const float* beta);
  void (*normalize_by)(const float* x, float* y, std::int64_t n, float mean, float scale,
                       float shift);
  /// sums[0] = Σ w·u, sums[1] = Σ w; u = (x − mean) · inverse, w = dy · gamma, or dy if gamma is
  /// null.
  void (*gradient_sums)(const float* dy, const float* x, const float* gamma, std::int64_t n,
                        float mean, float inverse, float* sums);
  /// dx = (w − a − u·b) · scale
  void (*gradient)(const float* dy, const float* x, const float* gamma, float* dx, std::int64_t n,
                   float mean, float inverse, float a, float b, float scale);
  /// scale += dy · u and shift += dy, element by element.
  void (*add_by_place)(const float* dy, const float* x, std::int64_t n, float mean, float inverse,
                       float* scale, float* shift);
  /// y = x / divisor, y = (a − b·s) · scale
  void (*divide)(const float* x, float* y, std::int64_t n, float divisor);
  void (*subtract_scaled)(const float* a, const float* b, float* y, std::int64_t n, float s,
                          float scale);
};
const ByIsa<NormTable>& norm_kernels();

/// Folds of numbers S in T: up to a few hundred contiguous ones to one, or rows of them element by
/// element into an array, one row after the other; `join` combines that array with others.
template <class T, class S = T>
struct FoldLoops {
  T (*block)(const S* x, std::int64_t n);
  void (*rows)(T* into, const S* const* rows, std::int64_t count, std::int64_t n);
  void (*join)(double* into, const T* x, std::int64_t n);
};
/// The order is that of Reduction, without the mean (kernels/reduce.h).
struct ReduceTable {
  FoldLoops<float> sum, prod, max, min, nansum, nanprod, norm1;
  FoldLoops<double> sum64, squares64;
  FoldLoops<double, float> squares_of_floats;
};
const ByIsa<ReduceTable>& reduce_kernels();

}  // namespace symbind::vector
