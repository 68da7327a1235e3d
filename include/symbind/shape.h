#pragma once
// The extent of an array, possibly only partly known.
//
// Inside Symbind an unknown extent is -1 and an unknown rank is rank() == -1. MXNet's legacy
// convention (0 is unknown, () is an unknown rank) is translated where shapes enter and leave,
// unless NumPy's convention is on (set_np_shape).

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace symbind {

inline constexpr int kMaxRank = 16;
inline constexpr std::int64_t kUnknownDim = -1;

class Shape {
 public:
  /// A scalar: rank 0, one element.
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);
  explicit Shape(const std::vector<std::int64_t>& dims) : Shape(std::span(dims)) {}
  static Shape unknown();
  /// `rank` unknown extents.
  static Shape of_rank(int rank);

  int rank() const { return rank_; }
  bool rank_known() const { return rank_ >= 0; }
  /// Rank and every extent are known.
  bool known() const;
  std::int64_t operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  std::int64_t& operator[](int axis) { return dims_[static_cast<std::size_t>(axis)]; }
  std::int64_t back() const { return (*this)[rank_ - 1]; }
  const std::int64_t* begin() const { return dims_.data(); }
  const std::int64_t* end() const { return dims_.data() + (rank_ > 0 ? rank_ : 0); }
  void push_back(std::int64_t dim);
  /// The extents of axes [first, last) multiplied; `last` -1 is the rank.
  std::int64_t count(int first = 0, int last = -1) const;
  /// Number of elements. Throws kShape when unknown or beyond 2^62.
  std::int64_t size() const;
  std::vector<std::int64_t> dims() const { return {begin(), end()}; }
  /// "(2, 3)", "(5,)", "()"; unknown extents print as "?", an unknown rank as "?".
  std::string str() const;
  bool operator==(const Shape& other) const;

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  std::int8_t rank_ = 0;
};

/// Whether the shapes that users give and get are NumPy's: 0 means no elements, () is a scalar, -1
/// is unknown. Otherwise MXNet's legacy convention holds. Thread-local, off at first.
bool is_np_shape();
/// Returns what was set before.
bool set_np_shape(bool on);
/// Converts a user's shape to the internal convention; and back.
Shape from_user(const Shape& shape);
Shape to_user(const Shape& shape);
/// The shape of a single number: () where scalars exist, else (1,).
Shape scalar_shape();

/// Fills what `into` does not know from `from`. False when they contradict each other.
bool merge(Shape& into, const Shape& from);
/// `axis` counted from the end when negative; throws kIndex when out of range.
int normalize_axis(std::int64_t axis, int rank);

}  // namespace symbind
