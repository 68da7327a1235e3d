#include "kernels/element_type.h"

#include <cstring>

#include "base/check.h"
#include "kernels/vector/convert.h"
#include "ndarray/convert.h"

namespace symbind {
namespace {

template <class From, class To>
void convert_loop(const void* from, void* to, std::int64_t n) {
  const auto* x = static_cast<const From*>(from);
  auto* y = static_cast<To*>(to);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = convert_element<To>(x[i]);
}

template <class From>
Convert convert_from(DType to) {
  switch (to) {
    case DType::kFloat32: return convert_loop<From, float>;
    case DType::kFloat64: return convert_loop<From, double>;
    case DType::kFloat16: return convert_loop<From, Half>;
    case DType::kBFloat16: return convert_loop<From, BFloat16>;
    case DType::kUint8: return convert_loop<From, std::uint8_t>;
    case DType::kInt8: return convert_loop<From, std::int8_t>;
    case DType::kUint16: return convert_loop<From, std::uint16_t>;
    case DType::kInt16: return convert_loop<From, std::int16_t>;
    case DType::kUint32: return convert_loop<From, std::uint32_t>;
    case DType::kInt32: return convert_loop<From, std::int32_t>;
    case DType::kUint64: return convert_loop<From, std::uint64_t>;
    case DType::kInt64: return convert_loop<From, std::int64_t>;
    case DType::kBool: return convert_loop<From, bool>;
    case DType::kUnknown: break;
  }
  fail(ErrorKind::kType, "the element type is not known");
}

template <class To>
Convert integers_to(DType from) {
  switch (from) {
    case DType::kUint8: return convert_loop<std::uint8_t, To>;
    case DType::kInt8: return convert_loop<std::int8_t, To>;
    case DType::kUint16: return convert_loop<std::uint16_t, To>;
    case DType::kInt16: return convert_loop<std::int16_t, To>;
    case DType::kUint32: return convert_loop<std::uint32_t, To>;
    case DType::kInt32: return convert_loop<std::int32_t, To>;
    case DType::kUint64: return convert_loop<std::uint64_t, To>;
    case DType::kInt64: return convert_loop<std::int64_t, To>;
    case DType::kBool: return convert_loop<bool, To>;
    default: break;
  }
  fail(ErrorKind::kType, "the element type is not known");
}

std::size_t compute_size(Compute compute) { return compute == Compute::kFloat ? 4 : 8; }

}  // namespace

Convert fast_converter(DType from, DType to) {
  const vector::Conversions& c = vector::conversions().best();
  if (from == DType::kFloat32 && to == DType::kFloat16) return c.float_to_half;
  if (from == DType::kFloat32 && to == DType::kBFloat16) return c.float_to_bfloat16;
  if (from == DType::kFloat16 && to == DType::kFloat32) return c.half_to_float;
  if (from == DType::kBFloat16 && to == DType::kFloat32) return c.bfloat16_to_float;
  return nullptr;
}

Convert converter_from(Compute compute, DType to) {
  switch (compute) {
    case Compute::kFloat: {
      const Convert fast = fast_converter(DType::kFloat32, to);
      return fast != nullptr ? fast : convert_from<float>(to);
    }
    case Compute::kDouble: return convert_from<double>(to);
    case Compute::kInt64: return convert_from<std::int64_t>(to);
  }
  return nullptr;
}

Compute exact_compute(DType dtype) {
  if (dtype == DType::kFloat64) return Compute::kDouble;
  return is_float(dtype) ? Compute::kFloat : Compute::kInt64;
}

ElementType element_type(DType dtype, Compute integers) {
  ElementType type{.compute = exact_compute(dtype), .size = size_of(dtype)};
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return type;
  if (is_float(dtype)) {
    type.load = fast_converter(dtype, DType::kFloat32);
  } else {
    type.compute = integers;
    if (dtype == DType::kInt64 && integers == Compute::kInt64) return type;
    type.load =
        integers == Compute::kInt64 ? integers_to<std::int64_t>(dtype) : integers_to<double>(dtype);
  }
  type.store = converter_from(type.compute, dtype);
  return type;
}

ComputeValue scalar_as(double value, DType dtype, Compute compute) {
  const ElementType type =
      element_type(dtype, compute == Compute::kDouble ? compute : Compute::kInt64);
  alignas(8) char element[8];
  ComputeValue result{.d = 0};
  converter_from(Compute::kDouble, dtype)(&value, element, 1);
  if (type.load != nullptr)
    type.load(element, &result, 1);
  else
    std::memcpy(&result, element, compute_size(type.compute));
  return result;
}

}  // namespace symbind
