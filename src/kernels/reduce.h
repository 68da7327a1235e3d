// Reductions over any set of axes.
//
// Decided here: float sums run in 16 lanes over blocks of 512 elements; blocks are added in double.
// That is as exact as pairwise summation, and the order depends on the shape alone, so any number
// of threads gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <symbind/shape.h>

#include "kernels/element_type.h"

namespace symbind {

enum class Reduction : std::uint8_t {
  kSum,
  kMean,
  kProd,
  kMax,
  kMin,
  kNanSum,
  kNanProd,
  kNorm1,
  kNorm2
};

/// Kept and reduced axes, with neighbouring axes of one kind merged.
class ReduceWalk {
 public:
  ReduceWalk() = default;
  ReduceWalk(const Shape& in, const std::array<bool, kMaxRank>& reduced);
  std::int64_t outputs() const { return outputs_; }
  std::int64_t reduced() const { return reduced_; }

 private:
  friend class Reducer;
  struct Axis {
    std::int64_t extent, stride;
  };
  std::vector<Axis> kept_, folded_;  ///< without the innermost one, which is `inner_`
  Axis inner_{1, 1};
  bool inner_folded_ = true;
  std::int64_t outputs_ = 1, reduced_ = 1;
};

/// y = reduction of x, in x's dtype.
class Reducer {
 public:
  Reducer(Reduction op, DType dtype, const Shape& in, const std::array<bool, kMaxRank>& reduced);
  void operator()(const void* x, void* y) const;

 private:
  /// Computes in T; the loops read S.
  template <class T, class S = T>
  void run(const char* x, char* y) const;
  Reduction op_;
  DType dtype_;
  ElementType type_;
  ReduceWalk walk_;
};

/// Which axes an attribute names: `axes` (all when empty), or all others with `exclude`.
std::array<bool, kMaxRank> reduced_axes(const std::vector<std::int64_t>& axes, bool exclude,
                                        int rank);
/// The axes along which `small` was broadcast to `large`; ranks are aligned at the right.
std::array<bool, kMaxRank> broadcast_axes(const Shape& large, const Shape& small);

}  // namespace symbind
