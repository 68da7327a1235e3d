#include "kernels/pixels/staging.h"

#include <algorithm>
#include <cstring>

#include "kernels/packed/product.h"

namespace symbind::pixels {

Staging::Staging(const ConvolutionSizes& sizes, std::int64_t lanes, std::int64_t rows)
    : sizes_(sizes),
      lanes_(lanes),
      rows_(rows),
      remainders_(std::min(sizes.stride[1], sizes.kernel[1])),
      more_rows_((sizes.kernel[1] - 1) / sizes.stride[1]) {}

std::vector<std::ptrdiff_t> Staging::offsets() const {
  std::vector<std::ptrdiff_t> all;
  for (std::int64_t i = 0; i < sizes_.kernel[1]; ++i)
    for (std::int64_t j = 0; j < sizes_.kernel[2]; ++j) {
      const std::int64_t tap = (j * remainders_ + i % sizes_.stride[1]) * plane() +
                               i / sizes_.stride[1] * sizes_.out[2] * lanes_;
      for (std::int64_t c = 0; c < sizes_.in_channels; c += packed::kBlock)
        all.push_back(c / lanes_ * block_step() + tap + c % lanes_);
    }
  return all;
}

void Staging::stage(const float* x, std::int64_t first, std::int64_t rows, float* block) const {
  const std::int64_t height = sizes_.in[1], width = sizes_.in[2], columns = sizes_.out[2],
                     step = sizes_.stride[2];
  const std::size_t pixel = static_cast<std::size_t>(lanes_) * sizeof(float);
  for (std::int64_t j = 0; j < sizes_.kernel[2]; ++j) {
    // Outputs [begin, end) of a row read a column of the data; column(o) = o · step + left.
    const std::int64_t left = j - sizes_.pad[2];
    const std::int64_t begin = std::min(columns, left < 0 ? (step - 1 - left) / step : 0);
    const std::int64_t end = std::clamp((width - left + step - 1) / step, begin, columns);
    for (std::int64_t remainder = 0; remainder < remainders_; ++remainder) {
      float* to = block + (j * remainders_ + remainder) * plane();
      for (std::int64_t i = 0; i < rows + more_rows_; ++i, to += columns * lanes_) {
        const std::int64_t row = (first + i) * sizes_.stride[1] + remainder - sizes_.pad[1];
        if (row < 0 || row >= height) {
          std::fill_n(to, columns * lanes_, 0.f);
          continue;
        }
        std::fill_n(to, begin * lanes_, 0.f);
        for (std::int64_t o = begin; o < end; ++o)
          std::memcpy(to + o * lanes_, x + (row * width + o * step + left) * lanes_, pixel);
        std::fill_n(to + end * lanes_, (columns - end) * lanes_, 0.f);
      }
    }
  }
}

}  // namespace symbind::pixels
