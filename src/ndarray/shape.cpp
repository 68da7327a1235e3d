// Extents, known or not. Products are checked: no shape overflows silently.

#include <symbind/shape.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace symbind {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 62;
thread_local bool np_shape = false;

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  check(dims.size() <= kMaxRank, ErrorKind::kShape, "a shape of rank {} is beyond the most, {}",
        dims.size(), kMaxRank);
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    check(dims[axis] >= kUnknownDim, ErrorKind::kShape, "axis {} of a shape has the extent {}",
          axis, dims[axis]);
  std::copy(dims.begin(), dims.end(), dims_.begin());
  rank_ = static_cast<std::int8_t>(dims.size());
}

Shape Shape::unknown() {
  Shape shape;
  shape.rank_ = -1;
  return shape;
}

Shape Shape::of_rank(int rank) {
  check(rank >= 0 && rank <= kMaxRank, ErrorKind::kShape, "a shape of rank {} is beyond 0..{}",
        rank, kMaxRank);
  Shape shape;
  shape.rank_ = static_cast<std::int8_t>(rank);
  std::fill_n(shape.dims_.begin(), rank, kUnknownDim);
  return shape;
}

bool Shape::known() const {
  return rank_known() && std::none_of(begin(), end(), [](auto d) { return d < 0; });
}

void Shape::push_back(std::int64_t dim) {
  check(rank_ >= 0 && rank_ < kMaxRank, ErrorKind::kShape,
        "no axis can be added to a shape of rank {}", rank_);
  dims_[static_cast<std::size_t>(rank_++)] = dim;
}

std::int64_t Shape::count(int first, int last) const {
  if (!known()) fail(ErrorKind::kShape, "the shape {} is not fully known", str());
  if (last < 0) last = rank_;
  std::int64_t product = 1;
  bool overflow = false;
  for (int axis = first; axis < last; ++axis) {
    const std::int64_t dim = (*this)[axis];
    if (dim == 0) return 0;
    if (product > kMostElements / dim)
      overflow = true;
    else
      product *= dim;
  }
  if (overflow) fail(ErrorKind::kShape, "the shape {} has more than 2^62 elements", str());
  return product;
}

std::int64_t Shape::size() const { return count(); }

std::string Shape::str() const {
  if (!rank_known()) return "?";
  std::string text = "(";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) text += ", ";
    text += (*this)[axis] < 0 ? "?" : std::to_string((*this)[axis]);
  }
  return text + (rank_ == 1 ? ",)" : ")");
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
}

bool is_np_shape() { return np_shape; }
bool set_np_shape(bool on) { return std::exchange(np_shape, on); }

Shape from_user(const Shape& shape) {
  if (np_shape) return shape;
  if (shape.rank() == 0) return Shape::unknown();
  Shape result = shape;
  for (int i = 0; i < result.rank(); ++i) {
    if (result[i] == 0) result[i] = kUnknownDim;
  }
  return result;
}

Shape to_user(const Shape& shape) {
  if (np_shape) return shape;
  if (!shape.rank_known()) return Shape();
  Shape result = shape;
  for (int i = 0; i < result.rank(); ++i) {
    if (result[i] == kUnknownDim) result[i] = 0;
  }
  return result;
}

Shape scalar_shape() { return np_shape ? Shape{} : Shape{1}; }

bool merge(Shape& into, const Shape& from) {
  if (!from.rank_known()) return true;
  if (!into.rank_known()) {
    into = from;
    return true;
  }
  if (into.rank() != from.rank()) return false;
  for (int axis = 0; axis < into.rank(); ++axis)
    if (into[axis] >= 0 && from[axis] >= 0 && into[axis] != from[axis]) return false;
  for (int axis = 0; axis < into.rank(); ++axis)
    if (into[axis] < 0) into[axis] = from[axis];
  return true;
}

int normalize_axis(std::int64_t axis, int rank) {
  check(axis >= -rank && axis < rank, ErrorKind::kIndex, "axis {} is out of range for rank {}",
        axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace symbind
