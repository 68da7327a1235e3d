#include "kernels/direct/plane.h"

#include <algorithm>
#include <cstring>

namespace symbind::direct {

namespace {

/// A product reads whole vectors: fewer numbers than this beyond the last column.
constexpr std::int64_t kBeyond = 32;

}  // namespace

Plane Plane::transposed() const {
  Plane t = *this;
  std::swap(t.in_channels, t.out_channels);
  std::swap(t.in_height, t.out_height);
  std::swap(t.in_width, t.out_width);
  t.pad_top = (kernel_height - 1) * dilate_height - pad_top;
  t.pad_left = (kernel_width - 1) * dilate_width - pad_left;
  return t;
}

Staging::Staging(const Plane& plane) : plane_(plane) {
  const std::int64_t channel = plane.staged_rows() * plane.columns();
  size_ = static_cast<std::size_t>(plane.kernel_width * plane.in_channels * channel + kBeyond);
  offsets_.reserve(static_cast<std::size_t>(plane.depth()));
  for (std::int64_t c = 0; c < plane.in_channels; ++c)
    for (std::int64_t i = 0; i < plane.kernel_height; ++i)
      for (std::int64_t j = 0; j < plane.kernel_width; ++j)
        offsets_.push_back((j * plane.in_channels + c) * channel +
                           i * plane.dilate_height * plane.columns());
}

void Staging::stage(const float* image, float* staged) const {
  const Plane& p = plane_;
  for (std::int64_t j = 0; j < p.kernel_width; ++j) {
    // Column x of the staged row is column x + shift of the image.
    const std::int64_t shift = j * p.dilate_width - p.pad_left;
    const std::int64_t begin = std::clamp<std::int64_t>(-shift, 0, p.out_width);
    const std::int64_t end = std::clamp<std::int64_t>(p.in_width - shift, begin, p.out_width);
    const bool is_inside = begin == 0 && end == p.columns();
    for (std::int64_t c = 0; c < p.in_channels; ++c)
      for (std::int64_t row = 0; row < p.staged_rows(); ++row, staged += p.columns()) {
        const std::int64_t from = row - p.pad_top;
        const bool exists = from >= 0 && from < p.in_height;
        const float* pixels =
            exists ? image + (c * p.in_height + from) * p.in_width + shift : nullptr;
        if (exists && is_inside) {
          // Eights of a size that the compiler knows: a call of memcpy takes longer than a short
          // row.
          for (std::int64_t i = 0; i < p.columns(); i += 8)
            std::memcpy(staged + i, pixels + i, 8 * sizeof(float));
          continue;
        }
        const std::int64_t first = exists ? begin : p.columns(), last = exists ? end : p.columns();
        std::fill(staged, staged + first, 0.f);
        if (last > first)
          std::memcpy(staged + first, pixels + first,
                      static_cast<std::size_t>(last - first) * sizeof(float));
        std::fill(staged + last, staged + p.columns(), 0.f);
      }
  }
  std::fill(staged, staged + kBeyond, 0.f);
}

}  // namespace symbind::direct
