// Copies of whole arrays and of strided blocks, over threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/parallel.h"
#include "ndarray/strided.h"

namespace symbind {

/// Nothing when both are the same memory.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (to == from) return;
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  parallel_for(static_cast<std::int64_t>(bytes), 1 << 18,
               [&](std::int64_t begin, std::int64_t end) {
                 std::memcpy(t + begin, f + begin, static_cast<std::size_t>(end - begin));
               });
}

/// One strided copy, described once and run often: to[i·to_strides] = from[i·from_strides]. The
/// offsets are those of index 0, in elements.
struct BlockCopy {
  Shape shape{};
  Strides to{}, from{};
  std::int64_t to_offset = 0, from_offset = 0;
  std::size_t element_bytes = 4;

  void operator()(void* target, const void* source) const {
    const auto bytes = static_cast<std::int64_t>(element_bytes);
    auto* t = static_cast<char*>(target) + to_offset * bytes;
    const auto* f = static_cast<const char*>(source) + from_offset * bytes;
    int axis = 0;  // threads share the first axis that is longer than one
    while (axis < shape.rank() && shape[axis] <= 1) ++axis;
    if (axis == shape.rank()) return copy_strided(t, to, f, from, shape, element_bytes);
    const auto k = static_cast<std::size_t>(axis);
    const std::int64_t grain =
        std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, shape.count(axis + 1)));
    parallel_for(shape[axis], grain, [&](std::int64_t begin, std::int64_t end) {
      Shape part = shape;
      part[axis] = end - begin;
      copy_strided(t + begin * to[k] * bytes, to, f + begin * from[k] * bytes, from, part,
                   element_bytes);
    });
  }
};

}  // namespace symbind
