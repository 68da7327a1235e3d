// Loops of the elementwise families and how they run over tensors.
//
// Decided here: a function of two operands has three loops (both arrays; one side a single value),
// which serve equal shapes, scalar operands and broadcasting. Chunks are split over threads
// in a way that cannot change a result: every element is computed on its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <symbind/shape.h>

#include "base/parallel.h"
#include "kernels/element_type.h"

namespace symbind {

/// Which operand is a single value.
enum class Operand : std::uint8_t { kArrays, kRightValue, kLeftValue };

using UnaryLoop = void (*)(const void* x, void* y, std::int64_t n);
using BinaryLoop = void (*)(const void* a, const void* b, void* y, std::int64_t n);
using TernaryLoop = void (*)(const void* g, const void* a, const void* b, void* y, std::int64_t n);

/// y = f(x) and dx = f'(dy, x or y), per compute type; null where integers are computed in double.
struct UnaryFunction {
  enum class Needs : std::uint8_t { kNothing, kInput, kOutput, kHeadOnly };
  const char* name;
  std::array<UnaryLoop, kNumComputes> forward;
  std::array<BinaryLoop, kNumComputes> backward;  ///< (dy, x or y) -> dx
  Needs needs;                                    ///< kNothing: the gradient is zero everywhere
};
inline constexpr std::size_t kNumUnaryFunctions = 43;
const std::array<UnaryFunction, kNumUnaryFunctions>& unary_functions();

/// y = f(a, b) by compute type and operand form.
struct BinaryFunction {
  const char* name;
  BinaryLoop loops[kNumComputes][3];
};
const BinaryFunction& binary_function(std::string_view name);
/// Gradients g · ∂f/∂a and g · ∂f/∂b; integers are computed in double.
struct BinaryGradient {
  const char* name;
  TernaryLoop left[2][3], right[2][3];
};
const BinaryGradient& binary_gradient(std::string_view name, DType dtype);

/// A unary loop over one dtype.
struct UnaryRun {
  UnaryLoop loop = nullptr;
  ElementType type;
  std::int64_t grain = 16384;
  UnaryRun(const UnaryFunction& f, DType dtype);
  void operator()(const void* x, void* y, std::int64_t n) const;
};
/// A binary loop over one dtype.
struct BinaryRun {
  BinaryLoop loop = nullptr;
  ElementType type;
  std::int64_t grain = 32768;
  BinaryRun(BinaryLoop loop_, ElementType type_) : loop(loop_), type(type_) {}
  /// The single value of a value form is given in the compute type.
  void serial(const char* a, const char* b, char* y, std::int64_t n, Operand form) const;
  void operator()(const void* a, const void* b, void* y, std::int64_t n,
                  Operand form = Operand::kArrays) const;
};

/// Two operands broadcast to one shape, with neighbouring axes merged where possible.
struct BroadcastWalk {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> extent{}, a_stride{}, b_stride{};  ///< in elements
  std::int64_t size = 0;
  BroadcastWalk(const Shape& a, const Shape& b, const Shape& out);
  std::int64_t inner() const { return extent[static_cast<std::size_t>(rank - 1)]; }
  Operand form() const;
};
/// Calls f(y_offset, a_offset, b_offset, count) for runs along the innermost axis, over threads.
template <class F>
void for_runs(const BroadcastWalk& w, std::int64_t grain, const F& f) {
  if (w.size == 0) return;
  const auto last = static_cast<std::size_t>(w.rank - 1);
  if (w.rank == 1) {
    return parallel_for(w.size, grain, [&](std::int64_t begin, std::int64_t end) {
      f(begin, begin * w.a_stride[last], begin * w.b_stride[last], end - begin);
    });
  }
  const std::int64_t inner = w.inner();
  parallel_for(w.size / inner, std::max<std::int64_t>(1, grain / inner),
               [&](std::int64_t begin, std::int64_t end) {
                 std::array<std::int64_t, kMaxRank> index{};
                 std::int64_t a = 0, b = 0, rest = begin;
                 for (std::size_t d = last; d-- > 0;) {
                   index[d] = rest % w.extent[d];
                   rest /= w.extent[d];
                   a += index[d] * w.a_stride[d];
                   b += index[d] * w.b_stride[d];
                 }
                 for (std::int64_t row = begin; row < end; ++row) {
                   f(row * inner, a, b, inner);
                   for (std::size_t d = last; d-- > 0;) {
                     a += w.a_stride[d];
                     b += w.b_stride[d];
                     if (++index[d] < w.extent[d]) break;
                     a -= w.a_stride[d] * w.extent[d];
                     b -= w.b_stride[d] * w.extent[d];
                     index[d] = 0;
                   }
                 }
               });
}
/// y = f(a, b) with broadcasting; `forms` are the three loops for the dtype's compute type.
void run_broadcast(const BroadcastWalk& walk, const BinaryLoop forms[3], const ElementType& type,
                   const void* a, const void* b, void* y);
/// y = f(g, a, b) where g has the shape of y.
void run_broadcast(const BroadcastWalk& walk, const TernaryLoop forms[3], const ElementType& type,
                   const void* g, const void* a, const void* b, void* y);

/// The shape two operands are broadcast to, as far as known; an unknown shape when ranks are
/// unknown. False when they do not fit.
bool broadcast_shape(const Shape& a, const Shape& b, Shape& out);

}  // namespace symbind
