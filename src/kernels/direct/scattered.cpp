#include "kernels/direct/scattered.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"

namespace symbind::direct {

Scattered::Scattered(const Plane& plane, int threads, Isa isa)
    : plane_(plane), products_(packed::products()[isa]) {
  padded_ = (plane_.out_plane() + products_.lanes - 1) / products_.lanes * products_.lanes;
  slots_ = static_cast<std::size_t>(std::clamp<std::int64_t>(plane_.batch, 1, threads));
  for (std::int64_t k = 0; k <= plane_.out_channels; k += packed::kBlock) offsets_.push_back(k);
  for (std::int64_t k = 0; k < plane_.out_channels; ++k) outputs_.push_back(k * padded_);
}

// Rows are (in_channels, taps), their values the filters.
void Scattered::transpose(const float* w, float* rows) const {
  const std::int64_t count = plane_.in_channels * plane_.taps();
  for (std::int64_t o = 0; o < plane_.out_channels; ++o)
    for (std::int64_t r = 0; r < count; ++r) rows[r * plane_.out_channels + o] = w[o * count + r];
}

void Scattered::operator()(const float* dy, const float* w, float* dx, float* scratch) const {
  transpose(w, scratch);
  const auto slots = static_cast<std::int64_t>(slots_);
  parallel_for(slots, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot)
      for (std::int64_t n = plane_.batch * slot / slots; n < plane_.batch * (slot + 1) / slots; ++n)
        run_image(dy + n * plane_.out_channels * plane_.out_plane(), scratch,
                  dx + n * plane_.in_channels * plane_.in_plane(),
                  scratch + weights_size() + static_cast<std::size_t>(slot) * slot_size());
  });
}

void Scattered::run_image(const float* dy, const float* rows, float* dx, float* scratch) const {
  const std::int64_t filters = plane_.out_channels, taps = plane_.taps();
  float* outputs = scratch;
  float* parts = scratch + filters * padded_;
  for (std::int64_t k = 0; k < filters; ++k) {
    const float* from = dy + k * plane_.out_plane();
    std::fill(std::copy_n(from, plane_.out_plane(), outputs + k * padded_),
              outputs + (k + 1) * padded_, 0.f);
  }
  std::fill_n(dx, plane_.in_channels * plane_.in_plane(), 0.f);
  std::array<const float*, kMostTaps> a;
  packed::Product product{.rows = taps, .a = a.data(), .offsets = offsets_.data()};
  product.blocks = filters / packed::kBlock;
  product.rest = filters % packed::kBlock;
  product.c_row = padded_;
  product.c_vector = products_.lanes;
  product.b_offsets = outputs_.data();
  for (std::int64_t c = 0; c < plane_.in_channels; ++c) {
    for (std::int64_t t = 0; t < taps; ++t)
      a[static_cast<std::size_t>(t)] = rows + (c * taps + t) * filters;
    for (std::int64_t q = 0; q < padded_;) {
      const std::int64_t vectors =
          std::min(products_.most_anywhere, (padded_ - q) / products_.lanes);
      product.b = outputs + q;
      product.c = parts + q;
      products_(product, vectors);
      q += vectors * products_.lanes;
    }
    add_taps(parts, dx + c * plane_.in_plane());
  }
}

void Scattered::add_taps(const float* parts, float* dx) const {
  for (std::int64_t ky = 0; ky < plane_.kernel_height; ++ky)
    for (std::int64_t kx = 0; kx < plane_.kernel_width; ++kx, parts += padded_) {
      const std::int64_t down = ky * plane_.dilate_height - plane_.pad_top,
                         right = kx * plane_.dilate_width - plane_.pad_left;
      const std::int64_t first = std::max<std::int64_t>(0, -right),
                         last = std::min(plane_.out_width, plane_.in_width - right);
      for (std::int64_t y = std::max<std::int64_t>(0, -down);
           y < std::min(plane_.out_height, plane_.in_height - down); ++y) {
        const float* __restrict from = parts + y * plane_.out_width;
        float* __restrict to = dx + (y + down) * plane_.in_width + right;
        std::int64_t x = first;
        for (; x + 4 <= last; x += 4)  // most rows are short: the compiler's own loop takes longer
          for (std::int64_t i = x; i < x + 4; ++i) to[i] += from[i];
        for (; x < last; ++x) to[x] += from[x];
      }
    }
}

}  // namespace symbind::direct
