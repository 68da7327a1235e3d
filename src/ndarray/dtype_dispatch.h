#pragma once
// From a DType to the C++ type of its elements: dispatch_dtype(d, [&]<class T>() { … }).

#include <utility>

#include <symbind/dtype.h>

#include "base/check.h"
#include "base/half.h"

namespace symbind {

template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::kFloat16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBFloat16;
};

/// Half, BFloat16, float and double; anything else throws kType.
template <class F>
decltype(auto) dispatch_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32: return f.template operator()<float>();
    case DType::kFloat64: return f.template operator()<double>();
    case DType::kFloat16: return f.template operator()<Half>();
    case DType::kBFloat16: return f.template operator()<BFloat16>();
    default: break;
  }
  fail(ErrorKind::kType, "dtype {} given where a floating point type is needed", dtype_name(dtype));
}

/// All types; throws kType for kUnknown.
template <class F>
decltype(auto) dispatch_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kUint8: return f.template operator()<std::uint8_t>();
    case DType::kInt32: return f.template operator()<std::int32_t>();
    case DType::kInt8: return f.template operator()<std::int8_t>();
    case DType::kInt64: return f.template operator()<std::int64_t>();
    case DType::kBool: return f.template operator()<bool>();
    case DType::kInt16: return f.template operator()<std::int16_t>();
    case DType::kUint16: return f.template operator()<std::uint16_t>();
    case DType::kUint32: return f.template operator()<std::uint32_t>();
    case DType::kUint64: return f.template operator()<std::uint64_t>();
    default: return dispatch_float(dtype, std::forward<F>(f));
  }
}

}  // namespace symbind
