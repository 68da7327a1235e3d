// Decided here: std::to_chars finds the fewest digits for float and double; for the 16-bit types a
// search finds the fewest digits that round-trip. Rounding to a precision uses printf, whose
// rounding is exact.

#include "ndarray/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ndarray/convert.h"

namespace symbind {
namespace {

/// "-d.ddde±xx" with the fewest digits.
template <class T>
std::string shortest_scientific(T value) {
  char text[64];
  if constexpr (std::is_floating_point_v<T>) {
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
    return {text, end.ptr};
  } else {
    const auto wide = static_cast<double>(static_cast<float>(value));
    for (int digits = 0; digits < 9; ++digits) {
      std::snprintf(text, sizeof text, "%.*e", digits, wide);
      const double nearest = std::strtod(text, nullptr);
      // Below a power of two, neighbours are nearer than above it: the digit next to the nearest
      // one may round-trip where the nearest does not.
      const double unit = std::pow(10.0, std::atoi(std::strchr(text, 'e') + 1) - digits);
      for (const double candidate : {nearest, nearest + unit, nearest - unit}) {
        if (T(round_to_odd(candidate)).bits != value.bits) continue;
        std::snprintf(text, sizeof text, "%.*e", digits, candidate);
        return text;
      }
    }
    return text;
  }
}

template <class T>
double widen(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return static_cast<double>(static_cast<float>(value));
}

void drop_zeros(std::string& fraction) {
  const std::size_t last = fraction.find_last_not_of('0');
  fraction.erase(last == std::string::npos ? 0 : last + 1);
}

/// Splits "-1.25e+03".
NumberText split_scientific(const std::string& text) {
  const std::size_t e = text.find('e');
  const std::size_t point = text.find('.');
  NumberText parts;
  parts.whole = text.substr(0, std::min(point, e));
  if (point != std::string::npos) parts.fraction = text.substr(point + 1, e - point - 1);
  parts.exponent = std::atoi(text.c_str() + e + 1);
  drop_zeros(parts.fraction);
  return parts;
}

std::string print_exact(const char* format, int precision, double value) {
  std::string text(400, '\0');
  const int length = std::snprintf(text.data(), text.size(), format, precision, value);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

template <class T>
NumberText scientific_text(T value, int precision) {
  const NumberText shortest = split_scientific(shortest_scientific(value));
  if (precision < 0 || static_cast<int>(shortest.fraction.size()) <= precision) return shortest;
  return split_scientific(print_exact("%.*e", precision, widen(value)));
}

template <class T>
NumberText scientific_exact(T value, int digits) {
  NumberText parts = split_scientific(shortest_scientific(value));
  if (static_cast<int>(parts.fraction.size()) == digits) return parts;
  parts = split_scientific(print_exact("%.*e", digits, widen(value)));
  parts.fraction.resize(static_cast<std::size_t>(digits), '0');
  return parts;
}

template <class T>
NumberText positional_text(T value, int precision) {
  const NumberText shortest = split_scientific(shortest_scientific(value));
  const int decimals = static_cast<int>(shortest.fraction.size()) - shortest.exponent;
  NumberText parts;
  // In an array whole numbers print all their digits, needed or not; a scalar's are padded with 0.
  if (precision >= 0 && (decimals > precision || decimals < 0)) {
    const std::string text = print_exact("%.*f", decimals < 0 ? 0 : precision, widen(value));
    const std::size_t point = text.find('.');
    parts.whole = text.substr(0, point);
    if (point != std::string::npos) parts.fraction = text.substr(point + 1);
  } else {
    const bool negative = shortest.whole.front() == '-';
    std::string digits = shortest.whole.substr(negative ? 1 : 0) + shortest.fraction;
    if (shortest.exponent < 0) digits.insert(0, static_cast<std::size_t>(-shortest.exponent), '0');
    const auto whole = static_cast<std::size_t>(std::max(shortest.exponent, 0)) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    parts.whole = (negative ? "-" : "") + digits.substr(0, whole);
    parts.fraction = digits.substr(whole);
  }
  drop_zeros(parts.fraction);
  return parts;
}

std::string exponent_text(int exponent, int digits) {
  const std::string number = std::to_string(std::abs(exponent));
  const auto width = static_cast<std::size_t>(std::max(digits, 2));
  const std::size_t zeros = width - std::min(width, number.size());
  return (exponent < 0 ? "-" : "+") + std::string(zeros, '0') + number;
}

template <class T>
std::string scalar_text(T value) {
  const double wide = widen(value);
  if (std::isnan(wide)) return "nan";
  if (std::isinf(wide)) return wide < 0 ? "-inf" : "inf";
  if (wide == 0 || (std::abs(wide) >= 1e-4 && std::abs(wide) < 1e16)) {
    const NumberText parts = positional_text(value, -1);
    return parts.whole + "." + (parts.fraction.empty() ? "0" : parts.fraction);
  }
  const NumberText parts = scientific_text(value, -1);
  return parts.whole + (parts.fraction.empty() ? "" : "." + parts.fraction) + "e" +
         exponent_text(parts.exponent);
}

#define SYMBIND_NUMBER_TEXT(T)                     \
  template NumberText positional_text<T>(T, int);  \
  template NumberText scientific_text<T>(T, int);  \
  template NumberText scientific_exact<T>(T, int); \
  template std::string scalar_text<T>(T);
SYMBIND_NUMBER_TEXT(float)
SYMBIND_NUMBER_TEXT(double)
SYMBIND_NUMBER_TEXT(Half)
SYMBIND_NUMBER_TEXT(BFloat16)
#undef SYMBIND_NUMBER_TEXT

}  // namespace symbind
