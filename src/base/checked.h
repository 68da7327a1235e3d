// Arithmetic on sizes, offsets and indices that come from files, attributes or data. Such a number
// may have any value: overflow and NaN are errors or a value the caller names, never undefined
// behaviour.
//
//   checked_add(begin, size, "begin + size of Crop")        an Error that names the operands
//   add_fits(a, b)                                          nothing instead of an Error
//   whole_or(label, -1)                                     a float used as an index
//   wrapped_add(a, b)                                       numbers of the data, which may wrap
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/check.h"

namespace symbind {

/// a + b, a - b, a * b; nothing where the result needs more than 64 bits.
inline std::optional<std::int64_t> add_fits(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> sub_fits(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> mul_fits(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The same; an Error of kind kValue says what `what` would be.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what) {
  const auto result = add_fits(a, b);
  check(result.has_value(), "{} is too large: {} + {}", what, a, b);
  return *result;
}
inline std::int64_t checked_sub(std::int64_t a, std::int64_t b, std::string_view what) {
  const auto result = sub_fits(a, b);
  check(result.has_value(), "{} is too large: {} - {}", what, a, b);
  return *result;
}
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, std::string_view what) {
  const auto result = mul_fits(a, b);
  check(result.has_value(), "{} is too large: {} * {}", what, a, b);
  return *result;
}

/// a + b of elements: signed integers wrap around, as they do in NumPy and MXNet.
template <class T>
T wrapped_add(T a, T b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) >= sizeof(int)) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

/// A number of the data as a whole one, rounded toward zero; `otherwise` for NaN, infinity and
/// values beyond 64 bits.
template <class T>
std::int64_t whole_or(T value, std::int64_t otherwise) {
  const auto wide = static_cast<double>(value);
  constexpr double kEdge = 9223372036854775808.0;  // 2^63
  return wide >= -kEdge && wide < kEdge ? static_cast<std::int64_t>(wide) : otherwise;
}

/// A number of the data as a whole one within [low, high], rounded toward zero; NaN is `low`.
template <class T>
std::int64_t clamped_whole(T value, std::int64_t low, std::int64_t high) {
  const auto wide = static_cast<double>(value);
  if (!(wide > static_cast<double>(low))) return low;
  if (wide >= static_cast<double>(high)) return high;
  return static_cast<std::int64_t>(wide);
}

}  // namespace symbind
