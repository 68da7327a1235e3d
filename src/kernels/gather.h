// Rows taken by index, and added back.
//
// An array is seen as (outer, extent, inner); an index picks one of `extent`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "kernels/element_type.h"
#include "ndarray/convert.h"

namespace symbind {

/// What to do with an index out of range.
enum class OutOfRange : std::uint8_t { kClip, kWrap, kRaise };

inline std::int64_t in_range(std::int64_t index, std::int64_t extent, OutOfRange mode) {
  if (mode == OutOfRange::kWrap) {
    const std::int64_t r = index % extent;
    return r < 0 ? r + extent : r;
  }
  if (mode == OutOfRange::kRaise)
    check(index >= 0 && index < extent, ErrorKind::kIndex, "index {} is out of range for extent {}",
          index, extent);
  return std::clamp<std::int64_t>(index, 0, extent - 1);
}

/// A number of the data as an index: -1 if it is NaN or not a 64-bit number.
template <class I>
std::int64_t whole_index(I value) {
  if constexpr (std::is_integral_v<I>)
    return static_cast<std::int64_t>(value);
  else
    return whole_or(value, -1);
}

/// For indices that an earlier run wrote and that users may have changed since.
template <class I>
std::int64_t checked_index(I value, std::int64_t extent) {
  return in_range(whole_index(value), extent, OutOfRange::kRaise);
}

/// Indices of any element type, chunk by chunk: use(first, count, indices).
template <class Use>
void for_indices(DType dtype, const void* data, std::int64_t begin, std::int64_t end, Use use) {
  std::int64_t chunk[kChunk];
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t i = begin; i < end; i += kChunk) {
    const std::int64_t n = std::min(kChunk, end - i);
    convert(chunk, DType::kInt64, static_cast<const char*>(data) + i * size, dtype, n);
    use(i, n, chunk);
  }
}

struct Gather {
  std::int64_t outer = 1, extent = 1, inner = 1, count = 1;  ///< count: number of indices
  DType index_type = DType::kFloat32;
  OutOfRange mode = OutOfRange::kClip;

  /// y[o, k, :] = x[o, index[k], :]
  void gather(const void* x, const void* index, void* y, std::size_t element_bytes) const {
    if (outer * count * inner == 0) return;
    check(extent > 0, ErrorKind::kIndex, "nothing can be taken from an axis of extent 0");
    const std::int64_t row = inner * static_cast<std::int64_t>(element_bytes);
    const auto* from = static_cast<const char*>(x);
    auto* to = static_cast<char*>(y);
    parallel_for(count, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, row * outer)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for_indices(index_type, index, begin, end,
                               [&](std::int64_t first, std::int64_t n, const std::int64_t* at) {
                                 for (std::int64_t k = 0; k < n; ++k) {
                                   const std::int64_t i = in_range(at[k], extent, mode);
                                   for (std::int64_t o = 0; o < outer; ++o)
                                     std::memcpy(to + (o * count + first + k) * row,
                                                 from + (o * extent + i) * row,
                                                 static_cast<std::size_t>(row));
                                 }
                               });
                 });
  }

  /// dx[o, index[k], :] += dy[o, k, :], over a cleared dx. The columns are split over threads, so
  /// every sum runs in the order of the indices.
  template <class T>
  void scatter_add(const T* dy, const void* index, T* dx) const {
    std::fill_n(dx, outer * extent * inner, T(0));
    if (outer * extent * count * inner == 0) return;
    const std::int64_t columns = std::max<std::int64_t>(1, 32768 / count);
    parallel_for(outer * inner, columns, [&](std::int64_t begin, std::int64_t end) {
      for_indices(index_type, index, 0, count,
                  [&](std::int64_t first, std::int64_t n, const std::int64_t* at) {
                    for (std::int64_t o = begin / inner; o * inner < end; ++o) {
                      const std::int64_t left = std::max<std::int64_t>(begin - o * inner, 0),
                                         right = std::min(end - o * inner, inner);
                      for (std::int64_t k = 0; k < n; ++k) {
                        T* to = dx + (o * extent + in_range(at[k], extent, mode)) * inner;
                        const T* from = dy + (o * count + first + k) * inner;
                        for (std::int64_t j = left; j < right; ++j)
                          to[j] = wrapped_add(to[j], from[j]);
                      }
                    }
                  });
    });
  }
};

}  // namespace symbind
