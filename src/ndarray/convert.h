#pragma once
// Numbers from one element type to another, on the host.
//
// Decided here: NumPy's results on x86. Floats are truncated toward zero to integers; a value an
// integer cannot hold becomes its lowest value (32 and 64 bits) or wraps (8 and 16 bits), never
// undefined behaviour. double goes to 16 bits with a single rounding. Anything but 0 is true.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <symbind/dtype.h>

#include "base/half.h"

namespace symbind {

/// double → float, rounded to odd: a second rounding to 16 bits then sees every lost bit.
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

namespace detail {

template <class To>
To float_to_integer(double value) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<std::uint64_t>(value);
  }
  constexpr bool kNarrow = sizeof(To) <= 2 || std::is_same_v<To, std::uint32_t>;
  using Wide = std::conditional_t<std::is_same_v<To, std::int32_t>, std::int32_t, std::int64_t>;
  constexpr double kLow = static_cast<double>(std::numeric_limits<Wide>::min());
  // The range of values that fit after truncation: (low - 1, -low); at 64 bits low - 1 is low
  // itself.
  const bool fits = value < -kLow && (sizeof(Wide) == 8 ? value >= kLow : value > kLow - 1);
  if (!fits) return kNarrow ? To{0} : static_cast<To>(std::numeric_limits<Wide>::min());
  return static_cast<To>(static_cast<Wide>(value));
}

}  // namespace detail

template <class To, class From>
To convert_element(From value) {
  constexpr bool kTo16 = std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>;
  constexpr bool kFrom16 = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kFrom16) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (kTo16 && sizeof(From) > 2 && !std::is_same_v<From, float>) {
    return To(round_to_odd(static_cast<double>(value)));
  } else if constexpr (kTo16) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::float_to_integer<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// n elements at `src` to n elements at `dst`; they do not overlap unless they are the same.
void convert(void* dst, DType to, const void* src, DType from, std::int64_t n);
/// n times `value`.
void fill(void* dst, DType dtype, double value, std::int64_t n);

}  // namespace symbind
