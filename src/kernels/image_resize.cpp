// The arithmetic is OpenCV's step by step, because scripts compare pixels:
//
//   nearest   the source pixel at floor(x · scale), scale = source / target extent
//   linear    taps at (x + ½) · scale − ½; 2, 4 and 8 of them
//   cubic       for bytes weights are 11-bit fixed point, and what is dropped when is part of the
//   lanczos     numbers; else weights are float
//   area      shrinking: the mean over the covered area; enlarging: linear with other weights
//
// A linear shrink to exactly one half is an area mean. Beyond the border the border's pixels are
// repeated; only linear taps across the left and right border are moved inside before they are
// weighted.

#include "kernels/image_resize.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "base/checked.h"
#include "base/parallel.h"

namespace symbind {
namespace {

constexpr int kFixedBits = 11, kFixedOne = 1 << kFixedBits;
constexpr int kMaxTaps = 8;

/// Rounds half to even and clips, as OpenCV stores a number.
template <class T, class V>
T stored(V value) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return static_cast<T>(std::clamp(std::nearbyint(static_cast<float>(value)), 0.f, 255.f));
  else
    return static_cast<T>(value);
}

/// The types of filtered rows and of weights, for elements T.
template <class T>
using RowSum = std::conditional_t<std::is_same_v<T, std::uint8_t>, int, T>;
template <class T>
using Weight = std::conditional_t<std::is_same_v<T, std::uint8_t>, int, float>;

// ---- Taps ---------------------------------------------------------------------------------------

void cubic_weights(float x, std::array<float, kMaxTaps>& w) {
  constexpr float a = -0.75f;
  w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  w[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  w[3] = 1.f - w[0] - w[1] - w[2];
}

void lanczos_weights(float x, std::array<float, kMaxTaps>& w) {
  if (x < FLT_EPSILON) {
    w = {0, 0, 0, 1, 0, 0, 0, 0};
    return;
  }
  constexpr double s = std::numbers::sqrt2 / 2;
  constexpr double turn[8][2] = {{1, 0},  {-s, -s}, {0, 1},  {s, -s},
                                 {-1, 0}, {s, s},   {0, -1}, {-s, s}};
  const double angle = -(x + 3) * std::numbers::pi * 0.25;
  const double sine = std::sin(angle), cosine = std::cos(angle);
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    const double y = -(x + 3 - static_cast<float>(i)) * std::numbers::pi * 0.25;
    auto& weight = w[static_cast<std::size_t>(i)];
    weight = static_cast<float>((turn[i][0] * sine + turn[i][1] * cosine) / (y * y));
    sum += weight;
  }
  sum = 1.f / sum;
  for (float& weight : w) weight *= sum;
}

int tap_count(Interpolation how) {
  return how == Interpolation::kCubic ? 4 : how == Interpolation::kLanczos ? 8 : 2;
}

/// The taps of target pixel `x` along one axis. `inside`: linear taps are moved inside the border.
ResizeTaps taps_at(std::int64_t x, std::int64_t from, std::int64_t to, Interpolation how,
                   bool inside) {
  const double inverse = static_cast<double>(to) / static_cast<double>(from), scale = 1. / inverse;
  const auto at = static_cast<double>(x);
  ResizeTaps taps;
  float f = 0;
  std::int64_t s = 0;
  if (how == Interpolation::kArea) {
    s = static_cast<std::int64_t>(std::floor(at * scale));
    f = static_cast<float>((at + 1) - static_cast<double>(s + 1) * inverse);
    f = f <= 0 ? 0.f : f - std::floor(f);
  } else {
    f = static_cast<float>((at + 0.5) * scale - 0.5);
    s = static_cast<std::int64_t>(std::floor(f));
    f -= static_cast<float>(s);
  }
  const int count = tap_count(how);
  if (count == 2 && inside && (s < 0 || s >= from - 1)) {
    f = 0;
    s = std::clamp<std::int64_t>(s, 0, from - 1);
  }
  if (how == Interpolation::kCubic)
    cubic_weights(f, taps.weight);
  else if (how == Interpolation::kLanczos)
    lanczos_weights(f, taps.weight);
  else
    taps.weight = {1.f - f, f};
  taps.first = s - (count / 2 - 1);
  return taps;
}

template <class T>
std::array<Weight<T>, kMaxTaps> weights_of(const ResizeTaps& taps) {
  std::array<Weight<T>, kMaxTaps> w{};
  for (std::size_t k = 0; k < kMaxTaps; ++k) {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      w[k] = static_cast<int>(std::nearbyint(taps.weight[k] * kFixedOne));
    else
      w[k] = taps.weight[k];
  }
  return w;
}

// ---- Filters by taps ----------------------------------------------------------------------------

template <class T>
void filter_row(const ResizePlan& p, const T* src, RowSum<T>* dst) {
  for (const ResizeTaps& taps : p.across) {
    const auto w = weights_of<T>(taps);
    for (std::int64_t c = 0; c < p.channels; ++c) {
      RowSum<T> sum = 0;
      for (int k = 0; k < p.taps; ++k) {
        const std::int64_t at = std::clamp<std::int64_t>(taps.first + k, 0, p.from.width - 1);
        sum += static_cast<RowSum<T>>(src[at * p.channels + c]) * w[static_cast<std::size_t>(k)];
      }
      *dst++ = sum;
    }
  }
}

/// Weights filtered rows of bytes and drops the fixed-point bits.
void combine_bytes(const std::array<const int*, kMaxTaps>& rows, const std::array<int, kMaxTaps>& w,
                   int count, std::uint8_t* dst, std::int64_t n) {
  constexpr int shift = 2 * kFixedBits, half = 1 << (shift - 1);
  if (count == 2) {
    for (std::int64_t i = 0; i < n; ++i) {
      const int sum = ((w[0] * (rows[0][i] >> 4)) >> 16) + ((w[1] * (rows[1][i] >> 4)) >> 16);
      dst[i] = static_cast<std::uint8_t>((sum + 2) >> 2);
    }
    return;
  }
  std::int64_t i = 0;
  if (count == 4) {  // OpenCV computes whole groups of 8 in float
    constexpr float unit = 1.f / (static_cast<float>(kFixedOne) * kFixedOne);
    for (; i < n / 8 * 8; ++i) {
      float sum = static_cast<float>(rows[0][i]) * (static_cast<float>(w[0]) * unit);
      for (std::size_t k = 1; k < 4; ++k)
        sum += static_cast<float>(rows[k][i]) * (static_cast<float>(w[k]) * unit);
      dst[i] = stored<std::uint8_t>(sum);
    }
  }
  for (; i < n; ++i) {
    int sum = half;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) sum += rows[k][i] * w[k];
    dst[i] = static_cast<std::uint8_t>(std::clamp(sum >> shift, 0, 255));
  }
}

template <class T>
void by_taps(const ResizePlan& p, const T* src, T* dst, void* workspace) {
  auto* filtered = static_cast<RowSum<T>*>(workspace);
  const std::int64_t n = p.to.width * p.channels;
  const std::int64_t grain = std::max<std::int64_t>(1, 4096 / n);
  parallel_for(p.from.height, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t y = begin; y < end; ++y)
      filter_row(p, src + y * p.from.width * p.channels, filtered + y * n);
  });
  parallel_for(p.to.height, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t y = begin; y < end; ++y) {
      const ResizeTaps& taps = p.down[static_cast<std::size_t>(y)];
      const auto w = weights_of<T>(taps);
      std::array<const RowSum<T>*, kMaxTaps> rows{};
      for (int k = 0; k < p.taps; ++k)
        rows[static_cast<std::size_t>(k)] =
            filtered + std::clamp<std::int64_t>(taps.first + k, 0, p.from.height - 1) * n;
      T* out = dst + y * n;
      if constexpr (std::is_same_v<T, std::uint8_t>) {
        combine_bytes(rows, w, p.taps, out, n);
      } else {
        for (std::int64_t i = 0; i < n; ++i) {
          T sum = rows[0][i] * w[0];
          for (std::size_t k = 1; k < static_cast<std::size_t>(p.taps); ++k)
            sum += rows[k][i] * w[k];
          out[i] = sum;
        }
      }
    }
  });
}

// ---- Nearest, area ------------------------------------------------------------------------------

std::vector<std::int64_t> nearest_sources(std::int64_t from, std::int64_t to) {
  const double scale = 1. / (static_cast<double>(to) / static_cast<double>(from));
  std::vector<std::int64_t> sources;
  sources.reserve(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const auto at = static_cast<std::int64_t>(std::floor(static_cast<double>(i) * scale));
    sources.push_back(std::min(at, from - 1));
  }
  return sources;
}

template <class T>
void nearest(const ResizePlan& p, const T* src, T* dst) {
  for (const std::int64_t y : p.rows)
    for (const std::int64_t x : p.columns)
      dst = std::copy_n(src + (y * p.from.width + x) * p.channels, p.channels, dst);
}

/// Each pixel is the mean of a block of whole pixels.
template <class T>
void block_means(const ResizePlan& p, const T* src, T* dst) {
  using Scale = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::int64_t sy = p.from.height / p.to.height, sx = p.from.width / p.to.width;
  const Scale scale = Scale(1) / static_cast<Scale>(sy * sx);
  const bool halves = std::is_same_v<T, std::uint8_t> && sy == 2 && sx == 2 && p.channels != 2 &&
                      p.channels <= 4;  // which OpenCV rounds half up
  for (std::int64_t y = 0; y < p.to.height; ++y)
    for (std::int64_t x = 0; x < p.to.width; ++x)
      for (std::int64_t c = 0; c < p.channels; ++c) {
        // A block of bytes may have more than 2^23 pixels: their sum needs 64 bits.
        std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int64_t, T> sum = 0;
        for (std::int64_t j = 0; j < sy; ++j)
          for (std::int64_t i = 0; i < sx; ++i)
            sum += src[((y * sy + j) * p.from.width + x * sx + i) * p.channels + c];
        *dst++ = halves ? static_cast<T>((static_cast<int>(sum) + 2) >> 2)
                        : stored<T>(static_cast<Scale>(sum) * scale);
      }
}

std::vector<ResizeShare> area_shares(std::int64_t from, std::int64_t to) {
  const double scale = 1. / (static_cast<double>(to) / static_cast<double>(from));
  std::vector<ResizeShare> shares;
  for (std::int64_t x = 0; x < to; ++x) {
    const double begin = static_cast<double>(x) * scale, end = begin + scale;
    const double cell = std::min(scale, static_cast<double>(from) - begin);
    const auto last = std::min(static_cast<std::int64_t>(std::floor(end)), from - 1);
    const auto first = std::min(static_cast<std::int64_t>(std::ceil(begin)), last);
    const auto share = [&](std::int64_t at, double covered) {
      shares.push_back({x, at, static_cast<float>(covered / cell)});
    };
    const double before = static_cast<double>(first) - begin;
    const double after = end - static_cast<double>(last);
    if (before > 1e-3) share(first - 1, before);
    for (std::int64_t at = first; at < last; ++at) share(at, 1.0);
    if (after > 1e-3) share(last, std::min(std::min(after, 1.), cell));
  }
  return shares;
}

template <class T>
void area_means(const ResizePlan& p, const T* src, T* dst, void* workspace) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const std::int64_t n = p.to.width * p.channels;
  Sum* row = static_cast<Sum*>(workspace);
  Sum* sum = row + n;
  for (std::size_t j = 0; j < p.shared_rows.size(); ++j) {
    const ResizeShare& down = p.shared_rows[j];
    std::fill_n(row, n, Sum(0));
    const T* source = src + down.from * p.from.width * p.channels;
    for (const ResizeShare& s : p.sharing)
      for (std::int64_t c = 0; c < p.channels; ++c)
        row[s.to * p.channels + c] += static_cast<Sum>(source[s.from * p.channels + c]) * s.weight;
    const bool first = j == 0 || p.shared_rows[j - 1].to != down.to;
    for (std::int64_t i = 0; i < n; ++i)
      sum[i] = first ? down.weight * row[i] : sum[i] + down.weight * row[i];
    if (j + 1 == p.shared_rows.size() || p.shared_rows[j + 1].to != down.to)
      for (std::int64_t i = 0; i < n; ++i) dst[down.to * n + i] = stored<T>(sum[i]);
  }
}

}  // namespace

ResizeSizes::ResizeSizes(ImageSize from, ImageSize to, std::int64_t channels, Interpolation given)
    : from(from), to(to), channels(channels), how(given), taps(tap_count(given)) {
  const std::int64_t sy = from.height / to.height, sx = from.width / to.width;
  const bool whole = sy >= 1 && sx >= 1 && from == ImageSize{to.height * sy, to.width * sx};
  const bool shrinks = from.height >= to.height && from.width >= to.width;
  if (how == Interpolation::kLinear && whole && sy == 2 && sx == 2) how = Interpolation::kArea;
  if (from == to)
    way = Way::kCopy;
  else if (how == Interpolation::kNearest)
    way = Way::kNearest;
  else if (how == Interpolation::kArea && whole)
    way = Way::kBlocks;
  else if (how == Interpolation::kArea && shrinks)
    way = Way::kShares;
}

ResizePlan::ResizePlan(const ResizeSizes& sizes) : ResizeSizes(sizes) {
  if (way == Way::kNearest) {
    rows = nearest_sources(from.height, to.height);
    columns = nearest_sources(from.width, to.width);
  } else if (way == Way::kShares) {
    sharing = area_shares(from.width, to.width);
    shared_rows = area_shares(from.height, to.height);
  } else if (way == Way::kTaps) {
    across.reserve(static_cast<std::size_t>(to.width));
    down.reserve(static_cast<std::size_t>(to.height));
    for (std::int64_t x = 0; x < to.width; ++x)
      across.push_back(taps_at(x, from.width, to.width, how, true));
    for (std::int64_t y = 0; y < to.height; ++y)
      down.push_back(taps_at(y, from.height, to.height, how, false));
  }
}

std::size_t ResizeSizes::workspace(std::size_t element_bytes) const {
  if (way != Way::kShares && way != Way::kTaps) return 0;
  constexpr const char* kWhat = "the workspace of a resized image";
  const std::int64_t row = checked_mul(checked_mul(to.width, channels, kWhat),
                                       std::max<std::int64_t>(sizeof(int), element_bytes), kWhat);
  return static_cast<std::size_t>(checked_mul(row, way == Way::kTaps ? from.height : 2, kWhat));
}

template <class T>
void resize_image(const ResizePlan& plan, const T* src, T* dst, void* workspace) {
  switch (plan.way) {
    case ResizePlan::Way::kCopy:
      std::copy_n(src, plan.from.height * plan.from.width * plan.channels, dst);
      return;
    case ResizePlan::Way::kNearest: return nearest(plan, src, dst);
    case ResizePlan::Way::kBlocks: return block_means(plan, src, dst);
    case ResizePlan::Way::kShares: return area_means(plan, src, dst, workspace);
    case ResizePlan::Way::kTaps: return by_taps(plan, src, dst, workspace);
  }
}

template void resize_image(const ResizePlan&, const std::uint8_t*, std::uint8_t*, void*);
template void resize_image(const ResizePlan&, const float*, float*, void*);
template void resize_image(const ResizePlan&, const double*, double*, void*);

}  // namespace symbind
