// Basic indexing as in NumPy: integers, and slices with any step.
//
// Decided here: a contiguous selection is a view that writes through (MXNet's scripts rely on it);
// any other is a copy. A GPU's array is indexed through the host unless the selection is a view.

#include <symbind/ndarray.h>
#include <symbind/runtime.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "device/runtime.h"
#include "ndarray/access.h"
#include "ndarray/convert.h"
#include "ndarray/recorder.h"
#include "ndarray/strided.h"

namespace symbind {
namespace {

/// What an index selects: element steps over the array's memory.
struct Selection {
  Shape shape;
  Strides strides{};
  std::int64_t offset = 0;  // in elements

  void add(std::int64_t extent, std::int64_t stride) {
    strides[static_cast<std::size_t>(shape.rank())] = stride;
    shape.push_back(extent);
  }
};

struct Range {
  std::int64_t begin, count;
};

/// Python's rules: bounds are counted from the end when negative, then clamped.
Range resolve_slice(const Index& index, std::int64_t size, int axis) {
  const std::int64_t step = index.step;
  check(step != 0, "slice step of axis {} is 0", axis);
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto clamp = [&](std::int64_t bound) {
    return std::clamp(bound < 0 ? std::max(bound, -size - 1) + size : bound, low, high);
  };
  const std::int64_t begin = index.begin ? clamp(*index.begin) : (step > 0 ? low : high);
  const std::int64_t end = index.end ? clamp(*index.end) : (step > 0 ? high : low);
  const std::int64_t distance = step > 0 ? end - begin : begin - end;
  if (distance <= 0) return {0, 0};
  // Avoids negating the step, which may be the lowest integer.
  const std::int64_t last = (distance - 1) / step;
  return {begin, (last < 0 ? -last : last) + 1};
}

Selection select(const NDArray& array, const std::vector<Index>& key) {
  const Shape& shape = array.shape();
  check(static_cast<std::int64_t>(key.size()) <= shape.rank(), ErrorKind::kIndex,
        "too many indices: {} given for an array of rank {} and shape {}", key.size(), shape.rank(),
        shape.str());
  const Strides strides = contiguous_strides(shape);
  Selection s;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t size = shape[axis];
    const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
    if (static_cast<std::size_t>(axis) >= key.size()) {
      s.add(size, stride);
      continue;
    }
    const Index& index = key[static_cast<std::size_t>(axis)];
    if (index.integer) {
      const std::int64_t at = *index.begin;
      check(at >= -size && at < size, ErrorKind::kIndex,
            "index {} is out of bounds for axis {} with size {} (shape {})", at, axis, size,
            shape.str());
      s.offset += (at < 0 ? at + size : at) * stride;
    } else {
      const Range range = resolve_slice(index, size, axis);
      s.offset += range.begin * stride;
      // One element needs no step, and a huge one would overflow.
      s.add(range.count, range.count > 1 ? index.step * stride : stride);
    }
  }
  return s;
}

std::size_t selection_offset(const NDArray& array, const Selection& s) {
  const std::int64_t offset = s.shape.size() == 0 ? 0 : s.offset;
  return array.byte_offset() + static_cast<std::size_t>(offset) * size_of(array.dtype());
}

/// Steps over a value of `from` that is broadcast to `to`.
Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = contiguous_strides(from);
  Strides result{};
  const int extra = to.rank() - from.rank();
  bool fits = true;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const int target = axis + extra;
    if (target < 0 || from[axis] == 1) {
      fits = fits && from[axis] == 1;
      continue;
    }
    fits = fits && from[axis] == to[target];
    result[static_cast<std::size_t>(target)] = own[static_cast<std::size_t>(axis)];
  }
  check(fits, ErrorKind::kShape, "cannot write an array of shape {} into a selection of shape {}",
        from.str(), to.str());
  return result;
}

NDArray selected(const NDArray& from, const Selection& s, const std::vector<Index>& key) {
  if (is_contiguous(s.shape, s.strides))
    return {from.storage(), s.shape, from.dtype(), selection_offset(from, s)};
  const Context at = from.context();
  if (in_gpu_memory(at)) return from.as_in_context(cpu()).index(key).as_in_context(at);
  NDArray result(s.shape, at, from.dtype());
  if (pass_error(from, result)) return result;
  const std::size_t item = size_of(from.dtype());
  copy_strided(write_pointer(result), contiguous_strides(s.shape),
               read_pointer(from) + s.offset * static_cast<std::ptrdiff_t>(item), s.strides,
               s.shape, item);
  return result;
}

/// The attributes with which the operator slice selects the same, and its output shape: an integer
/// keeps its axis, with extent 1.
struct Block {
  AttrDict attrs;
  Shape shape;
};
Block block_of(const Shape& shape, const std::vector<Index>& key) {
  std::string begin, end, step;
  Block block{{}, shape};
  for (std::size_t i = 0; i < key.size(); ++i) {
    const int axis = static_cast<int>(i);
    const std::int64_t size = shape[axis];
    Range range{0, 1};
    if (key[i].integer)
      range.begin = *key[i].begin < 0 ? *key[i].begin + size : *key[i].begin;
    else
      range = resolve_slice(key[i], size, axis);
    const std::int64_t by = key[i].integer || range.count <= 1 ? 1 : key[i].step;
    const std::int64_t last = range.begin + range.count * by;
    begin += std::to_string(range.begin) + ",";
    end += (last < 0 ? "None" : std::to_string(last)) + ",";
    step += std::to_string(by) + ",";
    block.shape[axis] = range.count;
  }
  block.attrs = {
      {"begin", "(" + begin + ")"}, {"end", "(" + end + ")"}, {"step", "(" + step + ")"}};
  return block;
}

/// Records `result` = `source`[key]: a block, without the axes of integers.
void record_indexed(const NDArray& source, const std::vector<Index>& key, const NDArray& result) {
  const Block block = block_of(source.shape(), key);
  const NDArray whole(result.storage(), block.shape, result.dtype(), result.byte_offset());
  if (key.empty())
    whole.set_tape(source.tape());
  else
    record_derived("slice", block.attrs, {source}, whole);
  result.set_tape(whole.reshape(result.shape()).tape());
}

/// Records `to` = `value`, which was cast and broadcast.
void record_written(const NDArray& value, const NDArray& to) {
  NDArray typed = value.astype(to.dtype(), false);
  const int extra = typed.ndim() - to.ndim();
  std::vector<std::int64_t> aligned(static_cast<std::size_t>(std::max(0, -extra)), 1);
  aligned.insert(aligned.end(), typed.shape().begin() + std::max(0, extra), typed.shape().end());
  typed = typed.reshape(Shape(aligned));
  if (typed.shape() == to.shape())
    record_derived("_copy", {}, {typed}, to);
  else
    record_derived("broadcast_to", {{"shape", to.shape().str()}}, {typed}, to);
}

void write(const NDArray& to, const Selection& s, const std::vector<Index>& key,
           const NDArray& value, const Strides& from) {
  if (pass_error(value, to)) return;
  if (is_contiguous(s.shape, s.strides) && value.size() == s.shape.size())
    return value.copy_to({to.storage(), value.shape(), to.dtype(), selection_offset(to, s)});
  if (in_gpu_memory(to.context())) {
    NDArray host = to.as_in_context(cpu());
    host.set(key, value);
    return host.copy_to(to);
  }
  NDArray source = in_gpu_memory(value.context()) ? value.as_in_context(cpu()) : value;
  source = source.astype(to.dtype(), false);
  if (source.aliases(to)) source = source.copy();
  const std::size_t item = size_of(to.dtype());
  copy_strided(write_pointer(to) + s.offset * static_cast<std::ptrdiff_t>(item), s.strides,
               read_pointer(source), from, s.shape, item);
}

}  // namespace

NDArray NDArray::index(const std::vector<Index>& key) const {
  check_defined(*this, "index");
  const Selection s = select(*this, key);
  NDArray result;
  {
    const Unrecorded within;
    result = selected(*this, s, key);
  }
  if (should_record(*this)) record_indexed(*this, key, result);
  return result;
}

void NDArray::set(const std::vector<Index>& key, const NDArray& value) {
  check_defined(*this, "set");
  check_defined(value, "set");
  const Selection s = select(*this, key);
  const Strides from = broadcast_strides(value.shape(), s.shape);
  const bool whole = s.shape == shape_ && is_contiguous(s.shape, s.strides);
  if (whole)
    check_write(*this);
  else
    check_partial_write(*this, value);
  {
    const Unrecorded within;
    write(*this, s, key, value, from);
  }
  if (whole && should_record(value)) record_written(value, *this);
}

void NDArray::set(const std::vector<Index>& key, double value) {
  check_defined(*this, "set");
  check_write(*this);
  const Selection s = select(*this, key);
  if (!is_contiguous(s.shape, s.strides)) return set(key, full({}, value, cpu(), dtype_));
  NDArray target(storage_, s.shape, dtype_, selection_offset(*this, s));
  target.set(value);
}

void NDArray::set(double value) {
  check_defined(*this, "set");
  check_write(*this);
  if (!in_gpu_memory(context())) return fill(write_pointer(*this), dtype_, value, size());
  if (value == 0 && !std::signbit(value))
    return runtime(context()).zero(write_pointer(*this), nbytes());
  full(shape_, value, cpu(), dtype_).copy_to(*this);
}

void NDArray::set(const NDArray& value) { set(std::vector<Index>{}, value); }

}  // namespace symbind
