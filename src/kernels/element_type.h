// Element types as loops see them.
//
// A loop is written for three compute types only: float, double, int64. The other ten element types
// are loaded into one of them chunk by chunk and stored back, so a family of fifty functions needs
// only fifty times three small loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include <symbind/dtype.h>

namespace symbind {

enum class Compute : std::uint8_t { kFloat, kDouble, kInt64 };
inline constexpr int kNumComputes = 3;
/// Elements that are converted at a time; buffers of this many are on the stack.
inline constexpr std::int64_t kChunk = 256;

/// Converts n contiguous elements by the rules of ndarray/convert.h.
using Convert = void (*)(const void* from, void* to, std::int64_t n);

/// How elements of one dtype get into a loop and out of it.
struct ElementType {
  Compute compute = Compute::kFloat;
  std::size_t size = 4;
  Convert load = nullptr;   ///< null when the loop reads the elements as they are
  Convert store = nullptr;  ///< null together with load
};

/// `integers` says what integer elements are computed in: kInt64 (exact) or kDouble.
ElementType element_type(DType dtype, Compute integers = Compute::kInt64);

/// A floating point type of 16 bits.
inline bool is_narrow(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }
/// Between float32 and a 16-bit type, vector by vector; null for other types.
Convert fast_converter(DType from, DType to);
/// From the compute type to the elements; never null.
Convert converter_from(Compute compute, DType to);
/// The compute type that holds every value of `dtype` exactly.
Compute exact_compute(DType dtype);
/// One number in a compute type.
union ComputeValue {
  float f;
  double d;
  std::int64_t i;
};
/// `value` rounded to `dtype` first, as MXNet rounds a scalar operand (truncated for integers).
ComputeValue scalar_as(double value, DType dtype, Compute compute);

}  // namespace symbind
