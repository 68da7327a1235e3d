// Decided here: rows of the product are the values of k (channel and tap), its columns are filters,
// and the sum is over output pixels. Images are split into groups whose sums are added in order at
// the end; the number of groups depends on the sizes alone, so threads change no bit.
#include "kernels/direct/weight_gradient.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/parallel.h"

namespace symbind::direct {

namespace {

constexpr std::int64_t kMostGroups = 16, kSumBytes = std::int64_t{4} << 20;
constexpr std::int64_t kRows = 64;        // values of k of one call of the product
constexpr std::int64_t kPositions = 512;  // output pixels of one call
constexpr std::size_t kWidestPanel = 64;  // filters

}  // namespace

WeightGradient::WeightGradient(const Plane& plane, int threads, Isa isa)
    : plane_(plane), staging_(plane), products_(packed::products()[isa]) {
  // Not padded_filters(), which depends on the width of a vector.
  const std::int64_t filters = (plane.out_channels + 15) / 16 * 16;
  const std::int64_t bytes = std::max<std::int64_t>(1, plane.depth() * filters * 4);
  groups_ = std::clamp<std::int64_t>(kSumBytes / bytes, 1, kMostGroups);
  groups_ = std::min(groups_, plane.batch);
  slots_ = std::clamp<std::int64_t>(threads, 1, groups_);
  SYMBIND_ASSERT(panel() <= static_cast<std::int64_t>(kWidestPanel));
}

std::size_t WeightGradient::sums_size() const {
  return static_cast<std::size_t>((plane_.depth() * padded_filters() + 15) / 16 * 16);
}

std::size_t WeightGradient::slot_scratch() const {
  return (staging_.size() + static_cast<std::size_t>(plane_.positions() * padded_filters()) + 15) /
         16 * 16;
}

std::size_t WeightGradient::scratch_size() const {
  return static_cast<std::size_t>(groups_) * sums_size() +
         static_cast<std::size_t>(slots_) * slot_scratch();
}

void WeightGradient::operator()(const float* x, const float* dy, float* dw, float* scratch) const {
  float* memory = scratch + static_cast<std::size_t>(groups_) * sums_size();
  parallel_for(slots_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      float* staged = memory + static_cast<std::size_t>(slot) * slot_scratch();
      float* turned = staged + staging_.size();
      for (std::int64_t g = slot * groups_ / slots_; g < (slot + 1) * groups_ / slots_; ++g) {
        const std::int64_t first = g * plane_.batch / groups_;
        for (std::int64_t n = first; n < (g + 1) * plane_.batch / groups_; ++n) {
          staging_.stage(x + n * plane_.in_channels * plane_.in_plane(), staged);
          turn(dy + n * plane_.out_channels * plane_.out_plane(), turned);
          add_image(staged, turned, n == first,
                    scratch + static_cast<std::size_t>(g) * sums_size());
        }
      }
    }
  });
  add_groups(scratch, dw);
}

/// dw[filter, k] = Σ over groups. A row of sums has all filters of a panel.
void WeightGradient::add_groups(const float* sums, float* dw) const {
  const std::int64_t depth = plane_.depth();
  parallel_for(depth, 1 + 65536 / (groups_ * padded_filters()),
               [&](std::int64_t begin, std::int64_t end) {
                 std::array<float, kWidestPanel> total;
                 for (std::int64_t base = 0; base < plane_.out_channels; base += panel()) {
                   const std::int64_t width = std::min(panel(), padded_filters() - base),
                                      filters = std::min(width, plane_.out_channels - base);
                   for (std::int64_t k = begin; k < end; ++k) {
                     const float* from = sums + base * depth + k * width;
                     std::copy_n(from, width, total.data());
                     for (std::int64_t g = 1; g < groups_; ++g) {
                       from += sums_size();
                       for (std::int64_t f = 0; f < width; ++f)
                         total[static_cast<std::size_t>(f)] += from[f];
                     }
                     for (std::int64_t f = 0; f < filters; ++f)
                       dw[(base + f) * depth + k] = total[static_cast<std::size_t>(f)];
                   }
                 }
               });
}

/// Position by position, the gradients of all filters of a panel; zeros where there is no output.
void WeightGradient::turn(const float* dy, float* turned) const {
  const std::int64_t positions = plane_.positions();
  for (std::int64_t base = 0; base < padded_filters(); base += panel()) {
    const std::int64_t width = std::min(panel(), padded_filters() - base);
    float* to = turned + base * positions;
    std::fill(to, to + width * positions, 0.f);
    for (std::int64_t f = base; f < std::min(base + width, plane_.out_channels); ++f)
      for (std::int64_t row = 0; row < plane_.out_height; ++row) {
        const float* from = dy + f * plane_.out_plane() + row * plane_.out_width;
        float* into = to + row * plane_.columns() * width + f - base;
        for (std::int64_t i = 0; i < plane_.out_width; ++i) into[i * width] = from[i];
      }
  }
}

void WeightGradient::add_image(const float* staged, const float* turned, bool is_first,
                               float* sums) const {
  const std::int64_t depth = plane_.depth(), lanes = products_.lanes;
  std::array<std::ptrdiff_t, kPositions / packed::kBlock> offsets;
  for (std::size_t b = 0; b < offsets.size(); ++b)
    offsets[b] = static_cast<std::ptrdiff_t>(b) * packed::kBlock;
  std::array<const float*, kRows> rows;
  std::array<std::ptrdiff_t, kPositions> positions;  // of B: a panel may have more than two vectors
  packed::Product product{.a = rows.data(), .offsets = offsets.data()};
  product.b_offsets = positions.data();
  product.c_vector = lanes;
  for (std::int64_t base = 0; base < padded_filters(); base += panel()) {
    const std::int64_t width = std::min(panel(), padded_filters() - base);
    for (std::size_t q = 0; q < positions.size(); ++q)
      positions[q] = static_cast<std::ptrdiff_t>(q) * width;
    product.c_row = width;
    for (std::int64_t q = 0; q < plane_.positions(); q += kPositions) {
      product.shift = q;
      product.blocks = std::min(kPositions, plane_.positions() - q) / packed::kBlock;
      product.b = turned + base * plane_.positions() + q * width;
      for (std::int64_t k = 0; k < depth; k += kRows) {
        product.rows = std::min(kRows, depth - k);
        for (std::int64_t r = 0; r < product.rows; ++r)
          rows[static_cast<std::size_t>(r)] =
              staged + staging_.offsets()[static_cast<std::size_t>(k + r)];
        product.c = sums + base * depth + k * width;
        product.add = is_first && q == 0 ? nullptr : product.c;
        products_(product, width / lanes);
      }
    }
  }
}

}  // namespace symbind::direct
