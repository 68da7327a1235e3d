#pragma once
// Random choices that depend on a seed alone, and the values that break things: the ends of every
// integer type, NaN and infinity, sizes 0 and 1, tuples of unexpected length.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/ndarray.h>

namespace symbind::fuzz {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// From 0 to count - 1.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  bool chance(double probability);
  template <class T, std::size_t n>
  const T& of(const T (&choices)[n]) {
    return choices[below(n)];
  }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::uint64_t state_;
};

/// The text of a value for this field: a usual one, or with `wild` one from the ends of its type.
std::string draw_value(Draw& draw, const AttrField& field, bool wild);

/// The elements of an array: "small" counts from -1 to 4, "usual" is around 0, "wild" mixes NaN,
/// infinity and the limits of the types into them, "zero" is 0.
inline constexpr const char* kFills[] = {"small", "usual", "wild", "zero"};
NDArray filled(const Shape& shape, DType dtype, const std::string& fill, std::uint64_t seed);

}  // namespace symbind::fuzz
