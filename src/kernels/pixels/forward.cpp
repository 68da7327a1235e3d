// Decided here: a part is some pixels of one image. Its pixels stay in the L2 cache while all
// filters pass; with more values of k than kDepth, in several rounds that add to the output.
// Threads take parts; with few parts they share the filters of a part. While panels of filters are
// multiplied, the thread's next part is fetched, channel block by channel block; where there is
// none, the next panel of filters: with few pixels the filters come from memory. With AVX-512,
// outputs of kStreamBytes or more are written past the caches. Measured on two threads of a Zen 5
// with AVX-512, 256 → 256 channels, 32 × 2048 pixels: 21.1 ms, with fetched parts 17.5, and past
// the caches 17.1; oneDNN 21.9.
//
// The pixels under the taps of a larger kernel are copied, so that they are rows of the product
// that follow one another: 3 of 9 copies for 3×3. A thread copies them for each of its parts;
// threads that share a part copy its pixels together first.
#include "kernels/pixels/forward.h"

#include <algorithm>
#include <array>

#include <hwy/cache_control.h>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/channel_lanes.h"

namespace symbind::pixels {

namespace {

constexpr std::int64_t kRows = 96;         // pixels of a part, at most
constexpr std::int64_t kStagedRows = 128;  // about so many, if they are copied
constexpr std::int64_t kDepth = 512;       // of one call of the product, at most
constexpr std::int64_t kMostWidth = 32;
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kStreamBytes = 16 << 20;  // of an output that is written past the caches

std::int64_t up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

}  // namespace

Layout Forward::blocks_or_last(std::int64_t channels, Isa isa) {
  const std::int64_t lanes = packed::products()[isa].lanes;
  if (lanes == 16 && channels % 16 == 0) return Layout::kBlocked16;
  if (lanes == 8 && channels % 8 == 0) return Layout::kBlocked8;
  return Layout::kChannelsLast;
}

struct Forward::Part {
  std::int64_t image, first, count;  ///< pixels
  std::int64_t first_panel, end_panel;
  const float* staged;  ///< the copies of its pixels, or null
  const float* next;    ///< the first pixel of the thread's next part; null: there is none
};

Forward::Forward(const ConvolutionSizes& sizes, Layout x, Layout y, int threads, Isa isa)
    : sizes_(sizes),
      products_(packed::products()[isa]),
      positions_(ConvolutionSizes::product(sizes.out)),
      depth_(sizes.in_channels * ConvolutionSizes::product(sizes.kernel)),
      threads_(std::max(threads, 1)) {
  const std::int64_t in_positions = ConvolutionSizes::product(sizes.in);
  const std::int64_t lanes = channel_lanes(Shape{1, sizes.in_channels, 1}, x);
  SYMBIND_ASSERT(x != Layout::kPlain && panel_width() <= kMostWidth);
  x_pixel_ = lanes;
  x_image_ = sizes.in_channels * in_positions;
  const bool blocked = y != Layout::kChannelsLast;
  y_pixel_ = blocked ? products_.lanes : sizes.out_channels;
  y_vector_ = blocked ? products_.lanes * positions_ : products_.lanes;
  y_image_ = sizes.out_channels * positions_;
  constexpr ConvolutionSizes::Axes none{0, 0, 0}, unit{1, 1, 1};
  if (depth_ > sizes.in_channels) {
    SYMBIND_ASSERT(lanes == products_.lanes && lanes >= packed::kBlock);
    SYMBIND_ASSERT(sizes.groups == 1 && sizes.spatial <= 2 && sizes.dilate == unit);
    pixels_follow_ = true;
    chunks_ = up(positions_, kStagedRows);
    if (chunks_ > 1 && sizes.batch % threads_ != 0) chunks_ = up(chunks_, threads_) * threads_;
    chunks_ = std::min(chunks_, sizes.out[1]);
    offsets_ = staging_.emplace(sizes, lanes, up(sizes.out[1], chunks_)).offsets();
  } else {
    SYMBIND_ASSERT(sizes.groups == 1 && sizes.pad == none);
    for (std::int64_t k = 0; k < depth_; k += packed::kBlock)
      offsets_.push_back(k / lanes * lanes * in_positions + k % lanes);
    pixels_follow_ =
        x_pixel_ == products_.lanes && products_.lanes >= packed::kBlock && sizes.stride == unit;
    chunks_ = up(positions_, kRows);
  }
  round_ = up(up(depth_, up(depth_, kDepth)), kMostWidth) * kMostWidth;
  const std::int64_t parts = sizes.batch * chunks_;
  if (parts < threads_ || (parts % threads_ != 0 && parts < 4 * threads_))
    column_groups_ = std::min(threads_, panels());
  filters_once_ = parts <= threads_ && packed::read_once(weight_size() * sizeof(float), parts);
}

std::ptrdiff_t Forward::pixel(std::int64_t position) const {
  const ConvolutionSizes& s = sizes_;
  const std::int64_t k = position % s.out[2], j = position / s.out[2] % s.out[1],
                     i = position / s.out[2] / s.out[1];
  return ((i * s.stride[0] * s.in[1] + j * s.stride[1]) * s.in[2] + k * s.stride[2]) * x_pixel_;
}

std::int64_t Forward::vectors(std::int64_t panel) const {
  return sizes_.out_channels - panel * panel_width() > products_.lanes ? 2 : 1;
}

std::size_t Forward::weight_size() const {
  return static_cast<std::size_t>(panels() * panel_width() * depth_);
}

// A panel has the channels under the first tap, then under the second, …
void Forward::pack(const float* w, float* packed) const {
  const std::int64_t channels = sizes_.in_channels, taps = depth_ / channels;
  parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t filters = std::min(panel_width(), sizes_.out_channels - p * panel_width());
      for (std::int64_t tap = 0; tap < taps; ++tap)
        products_.pack(
            w + p * panel_width() * depth_ + tap, taps, depth_, channels, filters, vectors(p),
            packed + p * panel_width() * depth_ + tap * channels * vectors(p) * products_.lanes);
    }
  });
}

std::size_t Forward::scratch_size() const {
  if (!staging_) return 0;
  const std::int64_t chunks = sizes_.batch * chunks_;
  return staged_size() *
         static_cast<std::size_t>(stages_first() ? chunks : std::min(threads_, chunks));
}

void Forward::stage(std::int64_t image, std::int64_t chunk, std::int64_t block, const float* x,
                    float* memory) const {
  const std::int64_t first = first_row(chunk);
  staging_->stage(x + image * x_image_ + block * x_block(), first, first_row(chunk + 1) - first,
                  memory + block * staging_->block_step());
}

void Forward::operator()(const float* x, const LayerOutput& output, float* scratch) const {
  const std::int64_t chunks = sizes_.batch * chunks_, parts = chunks * column_groups_,
                     slots = std::min(threads_, parts);
  const bool stream = streams(static_cast<const float*>(output.y));
  if (stages_first()) {
    const std::int64_t blocks = staging_->blocks();
    parallel_for(chunks * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        stage(i / blocks / chunks_, i / blocks % chunks_, i % blocks, x,
              scratch + i / blocks * static_cast<std::int64_t>(staged_size()));
    });
  }
  parallel_for(slots, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t last = end * parts / slots;
    for (std::int64_t p = begin * parts / slots; p < last; ++p) {
      const std::int64_t columns = p % column_groups_, nth = p / column_groups_;
      const std::int64_t image = nth / chunks_, chunk = nth % chunks_;
      const std::int64_t first = first_pixel(chunk);
      float* staged = nullptr;
      if (staging_) {
        staged =
            scratch + (stages_first() ? nth : begin) * static_cast<std::int64_t>(staged_size());
        if (!stages_first())
          for (std::int64_t block = 0; block < staging_->blocks(); ++block)
            stage(image, chunk, block, x, staged);
      }
      const bool has_next = !staging_ && pixels_follow_ && column_groups_ == 1 && p + 1 < last;
      run({image, first, first_pixel(chunk + 1) - first, columns * panels() / column_groups_,
           (columns + 1) * panels() / column_groups_, staged,
           has_next ? x + (p + 1) / chunks_ * x_image_ + pixel(first_pixel((p + 1) % chunks_))
                    : nullptr},
          x, output, stream);
    }
    if (stream) hwy::FlushStream();
  });
}

bool Forward::streams(const float* y) const {
  return products_.lanes * static_cast<std::int64_t>(sizeof(float)) == kLine &&
         y_pixel_ == products_.lanes && depth_ <= kDepth &&
         reinterpret_cast<std::uintptr_t>(y) % kLine == 0 &&
         sizes_.batch * y_image_ * static_cast<std::int64_t>(sizeof(float)) >= kStreamBytes;
}

// Each panel fetches an equal number of the next part's channel blocks.
void Forward::fetch_ahead(const Part& part, std::int64_t panel, std::int64_t k, std::int64_t end,
                          packed::Product& product) const {
  product.ahead_once = part.next == nullptr && filters_once_;
  if (part.next == nullptr) {
    const bool same_round = panel + 1 < part.end_panel;
    const std::int64_t next = same_round ? panel + 1 : part.first_panel,
                       from = same_round ? k : end, to = std::min(depth_, from + round_);
    product.ahead = product.b - filters(panel, k) + filters(next, from);
    product.ahead_size = (to - from) * vectors(next) * products_.lanes;
    return;
  }
  const std::int64_t lanes = products_.lanes, blocks = (end - k) / lanes,
                     count = part.end_panel - part.first_panel, nth = panel - part.first_panel;
  const std::int64_t first = nth * blocks / count, last = (nth + 1) * blocks / count;
  if (first == last) {
    product.ahead_size = 0;
    return;
  }
  product.ahead = part.next + (k / lanes + first) * x_block();
  product.ahead_size = part.count * lanes;
  product.ahead_runs = last - first;
  product.ahead_step = x_block();
}

void Forward::run(const Part& part, const float* x, const LayerOutput& o, bool stream) const {
  std::array<const float*, kRows> rows;
  rows[0] = part.staged;
  if (part.staged == nullptr)
    for (std::int64_t r = 0; r < part.count; ++r)
      rows[static_cast<std::size_t>(r)] = x + part.image * x_image_ + pixel(part.first + r);
  std::array<float, kMostWidth> last_bias{};
  packed::Product product{.rows = part.count, .a = rows.data(), .rows_follow = pixels_follow_};
  product.c_row = y_pixel_;
  product.c_vector = y_vector_;
  product.nan_is_low = o.nan_is_low;
  for (std::int64_t k = 0; k < depth_; k += round_) {
    const std::int64_t end = std::min(depth_, k + round_);
    product.offsets = offsets_.data() + k / packed::kBlock;
    product.blocks = (end - k) / packed::kBlock;
    product.rest = (end - k) % packed::kBlock;
    if (end == depth_) {
      product.low = o.low;
      product.high = o.high;
    }
    for (std::int64_t panel = part.first_panel; panel < part.end_panel; ++panel) {
      const std::int64_t filter = panel * panel_width(), v = vectors(panel),
                         width = v * products_.lanes;
      const std::int64_t columns = std::min(width, sizes_.out_channels - filter);
      product.columns = columns < width ? columns : 0;
      product.b = static_cast<const float*>(o.weight) + filters(panel, k);
      product.stream = stream && product.columns == 0;
      fetch_ahead(part, panel, k, end, product);
      const std::ptrdiff_t at =
          part.image * y_image_ + part.first * y_pixel_ + filter / products_.lanes * y_vector_;
      product.c = static_cast<float*>(o.y) + at;
      product.add = k > 0 ? product.c : o.add == nullptr ? nullptr : o.add + at;
      product.bias = k > 0 || o.bias == nullptr ? nullptr : o.bias + filter;
      if (product.bias != nullptr && columns < width) {
        std::copy_n(product.bias, columns, last_bias.data());
        product.bias = last_bias.data();
      }
      products_(product, v);
    }
  }
}

}  // namespace symbind::pixels
