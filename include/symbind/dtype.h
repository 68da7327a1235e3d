#pragma once
// Element types. The numbers are MXNet's type flags: .params files and symbol JSON store them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace symbind {

enum class DType : std::int8_t {
  kUnknown = -1,
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kUint8 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kInt64 = 6,
  kBool = 7,
  kInt16 = 8,
  kUint16 = 9,
  kUint32 = 10,
  kUint64 = 11,
  kBFloat16 = 12,
};

/// Bytes of one element; 0 for kUnknown.
std::size_t size_of(DType dtype);
/// NumPy's name: "float32", "bfloat16", …; "unknown" for kUnknown.
std::string_view dtype_name(DType dtype);
/// The type of a NumPy name or of a type flag written as a number; throws kName with the nearest
/// names.
DType dtype_from_name(std::string_view name);
bool is_float(DType dtype);

/// The DType of a C++ element type. Half and BFloat16 specialise it next to their definitions.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kUint8;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::kInt16;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::kUint16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::kUint32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::kUint64;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace symbind
