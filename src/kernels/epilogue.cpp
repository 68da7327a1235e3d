// Rows are processed in tiles that fit the first-level cache: all operations on one tile, then the
// next tile. So a list of operations reads and writes memory once.
#include "kernels/epilogue.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"

namespace symbind {
namespace {

using Kind = EpilogueItem::Kind;

constexpr std::int64_t kTile = 2048;

template <class F>
void each(float* y, std::int64_t n, F f) {
  for (std::int64_t j = 0; j < n; ++j) y[j] = f(y[j]);
}

/// y[j] = f(y[j], channel of j) for a tile that begins with channel `first`.
template <class F>
void each_channel(float* y, std::int64_t n, std::int64_t period, std::int64_t first, F f) {
  if (period == 1) {
    for (std::int64_t j = 0; j < n; ++j) y[j] = f(y[j], first);
    return;
  }
  for (std::int64_t base = 0; base < n; base += period) {
    const std::int64_t count = std::min(period, n - base);
    for (std::int64_t j = 0; j < count; ++j) y[base + j] = f(y[base + j], first + j);
  }
}

/// Operations without operands.
void apply_simple(const EpilogueItem& item, float* y, std::int64_t n) {
  const float a = static_cast<float>(item.a), b = static_cast<float>(item.b);
  switch (item.kind) {
    case Kind::kRelu: return each(y, n, [](float x) { return x > 0 ? x : 0.f; });
    case Kind::kLeaky: return each(y, n, [=](float x) { return x > 0 ? x : a * x; });
    case Kind::kElu: return each(y, n, [=](float x) { return x > 0 ? x : a * std::expm1(x); });
    // Comparisons in this order keep NaN, as MXNet's clip does.
    case Kind::kClip: return each(y, n, [=](float x) { return x > b ? b : x < a ? a : x; });
    case Kind::kSigmoid: return each(y, n, [](float x) { return 1 / (1 + std::exp(-x)); });
    case Kind::kTanh: return each(y, n, [](float x) { return std::tanh(x); });
    case Kind::kSoftRelu:
      return each(y, n, [](float x) {
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      });
    case Kind::kGelu:
      return each(y, n,
                  [](float x) { return x * std::erfc(-x / std::numbers::sqrt2_v<float>) / 2; });
    case Kind::kSwish: return each(y, n, [](float x) { return x / (1 + std::exp(-x)); });
    default: SYMBIND_ASSERT(false);
  }
}

}  // namespace

EpiloguePass::EpiloguePass(Epilogue items, int first_operand, const TensorDesc& y,
                           const KernelRequest& request)
    : items_(std::move(items)) {
  for (const EpilogueItem& item : items_) {
    operands_.push_back(first_operand);
    shared_.push_back(item.kind == Kind::kPRelu &&
                      request.in[static_cast<std::size_t>(first_operand)].shape.size() == 1);
    first_operand += num_operands(item.kind);
  }
  channels_ = std::max<std::int64_t>(1, y.shape.rank() > 2 ? y.shape[1] : y.shape.back());
  const std::int64_t inner = y.shape.rank() > 2 ? y.shape.count(2) : 1;
  const std::int64_t block = y.layout == Layout::kBlocked16  ? 16
                             : y.layout == Layout::kBlocked8 ? 8
                                                             : 0;
  if (block > 0) {
    length_ = inner * block;
    period_ = row_channels_ = block;
  } else if (y.layout == Layout::kChannelsLast || inner == 1) {
    length_ = period_ = channels_;
  } else {
    length_ = inner;
    row_channels_ = 1;
  }
  rows_ = length_ == 0 ? 0 : y.shape.size() / length_;
}

void EpiloguePass::run_row(const Args& args, float* y, std::int64_t row, std::size_t first) const {
  const std::int64_t first_channel = row * row_channels_ % channels_;
  // A tile begins where a period does.
  const std::int64_t tile = std::max<std::int64_t>(kTile / period_, 1) * period_;
  for (std::int64_t begin = 0; begin < length_; begin += tile) {
    const std::int64_t n = std::min(tile, length_ - begin), place = row * length_ + begin;
    float* at = y + place;
    for (std::size_t i = first; i < items_.size(); ++i) {
      const EpilogueItem& item = items_[i];
      const int operand = operands_[i];
      if (item.kind == Kind::kSum) {
        const float* other = args.in<float>(operand) + place;
        for (std::int64_t j = 0; j < n; ++j) at[j] += other[j];
      } else if (item.kind == Kind::kProduct) {
        const float* other = args.in<float>(operand) + place;
        for (std::int64_t j = 0; j < n; ++j) at[j] *= other[j];
      } else if (item.kind == Kind::kPRelu) {
        const float* slope = args.in<float>(operand);
        const bool one = shared_[i];
        each_channel(at, n, period_, first_channel,
                     [=](float x, std::int64_t c) { return x > 0 ? x : slope[one ? 0 : c] * x; });
      } else if (item.kind == Kind::kBatchNorm) {
        const float *gamma = args.in<float>(operand), *beta = args.in<float>(operand + 1),
                    *mean = args.in<float>(operand + 2), *variance = args.in<float>(operand + 3);
        each_channel(at, n, period_, first_channel, [&](float x, std::int64_t c) {
          const double scale = (item.b != 0 ? 1.0 : static_cast<double>(gamma[c])) /
                               std::sqrt(static_cast<double>(variance[c]) + item.a);
          return static_cast<float>((static_cast<double>(x) - static_cast<double>(mean[c])) *
                                        scale +
                                    static_cast<double>(beta[c]));
        });
      } else {
        apply_simple(item, at, n);
      }
    }
  }
}

void EpiloguePass::run(const Args& args, float* y, std::size_t first) const {
  if (first >= items_.size()) return;
  parallel_for(rows_, grain_of(static_cast<double>(length_)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) run_row(args, y, row, first);
               });
}

}  // namespace symbind
