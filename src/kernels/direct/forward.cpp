// Decided here: rows of the product are filters, read in place; its columns are neighbouring output
// pixels of one channel. So tensors stay plain, and any number of channels is as good as another.
#include "kernels/direct/forward.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"

namespace symbind::direct {

namespace {

constexpr std::int64_t kRows = 64;    // filters of one call of the product
constexpr std::int64_t kDepth = 512;  // values of k of one call

}  // namespace

Forward::Forward(const Plane& plane, int threads, Isa isa)
    : plane_(plane),
      staging_(plane),
      products_(packed::products()[isa]),
      parts_(1),
      slots_(std::max(threads, 1)) {
  if (plane.batch < slots_) parts_ = std::min(slots_, plane.out_height);
  slots_ = std::min(slots_, plane.batch * parts_);
}

std::size_t Forward::part_scratch() const {
  const std::int64_t padded = has_padding() ? plane_.out_channels * plane_.positions() : 0;
  return (staging_.size() + static_cast<std::size_t>(padded) + 15) / 16 * 16;
}

void Forward::operator()(const Operands& o, float* scratch) const {
  const std::int64_t all = plane_.batch * parts_;
  parallel_for(slots_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      float* staged = scratch + static_cast<std::size_t>(slot) * part_scratch();
      float* padded = staged + staging_.size();
      std::int64_t staged_image = -1;
      for (std::int64_t p = slot * all / slots_; p < (slot + 1) * all / slots_; ++p) {
        const std::int64_t image = p / parts_, part = p % parts_;
        const std::int64_t first = part * plane_.out_height / parts_,
                           last = (part + 1) * plane_.out_height / parts_;
        if (staged_image != image)
          staging_.stage(o.x + image * plane_.in_channels * plane_.in_plane(), staged);
        staged_image = image;
        multiply(o, image, first, last, staged, padded);
        if (has_padding()) copy_rows(o, image, first, last, padded);
      }
    }
  });
}

void Forward::multiply(const Operands& o, std::int64_t image, std::int64_t first, std::int64_t end,
                       const float* staged, float* padded) const {
  const std::int64_t depth = plane_.depth();
  std::array<std::ptrdiff_t, kDepth / packed::kBlock> offsets;
  for (std::size_t b = 0; b < offsets.size(); ++b)
    offsets[b] = static_cast<std::ptrdiff_t>(b) * packed::kBlock;
  std::array<const float*, kRows> rows;
  const bool is_padded = has_padding();
  const std::ptrdiff_t at = image * plane_.out_channels * plane_.out_plane();
  packed::Product product{.a = rows.data(), .offsets = offsets.data()};
  product.c_row = is_padded ? plane_.positions() : plane_.out_plane();
  product.c_vector = products_.lanes;
  const std::int64_t begin_position = first * plane_.columns(),
                     end_position = end * plane_.columns(), chunks = (depth + kDepth - 1) / kDepth;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    // Chunks begin at multiples of 8, so that only the last one has a rest.
    const std::int64_t k = chunk * (depth / packed::kBlock) / chunks * packed::kBlock;
    const std::int64_t next =
        chunk + 1 == chunks ? depth
                            : (chunk + 1) * (depth / packed::kBlock) / chunks * packed::kBlock;
    const bool is_first = k == 0, is_last = next == depth;
    product.shift = k;
    product.blocks = (next - k) / packed::kBlock;
    product.rest = (next - k) % packed::kBlock;
    product.b_offsets = staging_.offsets().data() + k;
    if (is_last && !is_padded) {
      product.low = o.low;
      product.high = o.high;
      product.nan_is_low = o.nan_is_low;
    }
    for (std::int64_t f = 0; f < plane_.out_channels; f += kRows) {
      product.rows = std::min(kRows, plane_.out_channels - f);
      for (std::int64_t r = 0; r < product.rows; ++r)
        rows[static_cast<std::size_t>(r)] = o.w + (f + r) * depth;
      product.row_bias = is_first && o.bias != nullptr ? o.bias + f : nullptr;
      for (std::int64_t q = begin_position; q < end_position;) {
        const std::int64_t left = end_position - q, lanes = products_.lanes;
        const std::int64_t vectors = std::min(products_.most_anywhere, (left + lanes - 1) / lanes),
                           width = vectors * lanes;
        product.columns = left < width ? left : 0;
        product.b = staged + q;
        const std::ptrdiff_t c =
            is_padded ? f * plane_.positions() + q : at + f * plane_.out_plane() + q;
        product.c = (is_padded ? padded : o.y) + c;
        product.add = !is_first ? product.c : !is_padded && o.add != nullptr ? o.add + c : nullptr;
        products_(product, vectors);
        q += width;
      }
    }
  }
}

void Forward::copy_rows(const Operands& o, std::int64_t image, std::int64_t first, std::int64_t end,
                        const float* padded) const {
  for (std::int64_t f = 0; f < plane_.out_channels; ++f)
    for (std::int64_t row = first; row < end; ++row) {
      const float* from = padded + f * plane_.positions() + row * plane_.columns();
      const std::ptrdiff_t at =
          (image * plane_.out_channels + f) * plane_.out_plane() + row * plane_.out_width;
      for (std::int64_t i = 0; i < plane_.out_width; ++i) {
        const float value = o.add == nullptr ? from[i] : from[i] + o.add[at + i];
        // A NaN is neither below nor above a limit.
        const bool is_low = o.nan_is_low ? !(value >= o.low) : value < o.low;
        o.y[at + i] = is_low ? o.low : value > o.high ? o.high : value;
      }
    }
}

}  // namespace symbind::direct
