#pragma once
// Copies between strided blocks of host memory: what indexing reads and writes.

#include <array>
#include <cstddef>
#include <cstdint>

#include <symbind/shape.h>

namespace symbind {

/// Element steps per axis; 0 repeats (broadcasting), negative steps run backwards.
using Strides = std::array<std::int64_t, kMaxRank>;

/// C order.
Strides contiguous_strides(const Shape& shape);
/// Whether the block's elements are in C order without gaps.
bool is_contiguous(const Shape& shape, const Strides& strides);
/// dst[i·dst_strides] = src[i·src_strides] for every index i of `shape`; elements of 1, 2, 4, 8
/// bytes.
void copy_strided(void* dst, const Strides& dst_strides, const void* src,
                  const Strides& src_strides, const Shape& shape, std::size_t element_bytes);

}  // namespace symbind
