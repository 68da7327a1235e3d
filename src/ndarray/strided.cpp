// Decided here: neighbouring axes that are contiguous on both sides are joined first, so that the
// inner loop is as long as possible; the rest is a plain odometer.

#include "ndarray/strided.h"

#include <cstring>

#include "base/check.h"

namespace symbind {
namespace {

struct Walk {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  Strides dst{}, src{};
};

Walk join_axes(const Shape& shape, const Strides& dst, const Strides& src) {
  Walk w;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    if (shape[axis] == 1) continue;
    const auto last = static_cast<std::size_t>(w.rank - 1);
    if (w.rank > 0 && w.dst[last] == dst[a] * shape[axis] && w.src[last] == src[a] * shape[axis]) {
      w.dims[last] *= shape[axis];
      w.dst[last] = dst[a];
      w.src[last] = src[a];
      continue;
    }
    const auto next = static_cast<std::size_t>(w.rank++);
    w.dims[next] = shape[axis];
    w.dst[next] = dst[a];
    w.src[next] = src[a];
  }
  if (w.rank == 0) w.dims[static_cast<std::size_t>(w.rank++)] = 1;
  return w;
}

template <class T>
void copy_walk(T* dst, const T* src, const Walk& w) {
  const auto inner = static_cast<std::size_t>(w.rank - 1);
  const std::int64_t n = w.dims[inner], to = w.dst[inner], from = w.src[inner];
  std::array<std::int64_t, kMaxRank> at{};
  for (;;) {
    if (to == 1 && from == 1) {
      std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(T));
    } else {
      for (std::int64_t i = 0; i < n; ++i) dst[i * to] = src[i * from];
    }
    std::size_t axis = inner;
    for (;;) {
      if (axis == 0) return;
      --axis;
      dst += w.dst[axis];
      src += w.src[axis];
      if (++at[axis] < w.dims[axis]) break;
      dst -= w.dst[axis] * w.dims[axis];
      src -= w.src[axis] * w.dims[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace

Strides contiguous_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = step;
    step *= shape[axis];
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  if (shape.size() == 0) return true;
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    if (strides[static_cast<std::size_t>(axis)] != step) return false;
    step *= shape[axis];
  }
  return true;
}

void copy_strided(void* dst, const Strides& dst_strides, const void* src,
                  const Strides& src_strides, const Shape& shape, std::size_t element_bytes) {
  if (shape.size() == 0) return;
  const Walk walk = join_axes(shape, dst_strides, src_strides);
  const auto run = [&]<class T>(T) {
    copy_walk(static_cast<T*>(dst), static_cast<const T*>(src), walk);
  };
  switch (element_bytes) {
    case 1: return run(std::uint8_t{});
    case 2: return run(std::uint16_t{});
    case 4: return run(std::uint32_t{});
    case 8: return run(std::uint64_t{});
    default: SYMBIND_ASSERT(!"element size");
  }
}

}  // namespace symbind
