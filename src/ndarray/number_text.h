#pragma once
// Floating point numbers as decimal text, NumPy's way: the fewest digits that distinguish the
// number from its neighbours of the same type, correctly rounded to a precision.

#include <string>

namespace symbind {

/// A finite number as text in two parts; `exponent` only in scientific form.
struct NumberText {
  std::string whole;     ///< "-12"
  std::string fraction;  ///< "5"; empty where NumPy writes "12."
  int exponent = 0;
};

/// At most `precision` digits after the point (negative: no limit), trailing zeros dropped.
template <class T>
NumberText positional_text(T value, int precision);
template <class T>
NumberText scientific_text(T value, int precision);
/// Exactly `digits` digits after the point, those of the number itself and not of its shortest
/// text.
template <class T>
NumberText scientific_exact(T value, int digits);

/// "+05": sign and at least `digits` (or two) digits.
std::string exponent_text(int exponent, int digits = 2);

/// A single number, as NumPy's str() of a scalar: "1.5", "1e-05", "nan".
template <class T>
std::string scalar_text(T value);

}  // namespace symbind
