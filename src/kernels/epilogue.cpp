// Rows are processed in tiles that fit the first-level cache: all operations on one tile, then the
// next tile. So a list of operations reads and writes memory once.
#include "kernels/epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/vector/activation.h"
#include "kernels/vector/elementwise.h"

namespace symbind {
namespace {

using Kind = EpilogueItem::Kind;

constexpr std::int64_t kTile = 2048;

/// The loop of an operation without operands.
const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kRelu: return "relu";
    case Kind::kLeaky:
    case Kind::kPRelu: return "leaky";  // of one slope
    case Kind::kElu: return "elu";
    case Kind::kClip: return "clip";
    case Kind::kSigmoid:
    case Kind::kSwish: return "sigmoid";  // times x
    case Kind::kTanh: return "tanh";
    case Kind::kSoftRelu: return "softrelu";
    case Kind::kGelu: return "gelu";
    case Kind::kBatchNorm:
    case Kind::kSum:
    case Kind::kProduct: break;
  }
  return nullptr;
}

template <class Loops>
const Loops* find(std::span<const Loops> all, const char* name) {
  if (name == nullptr) return nullptr;
  const auto it = std::ranges::find(all, std::string_view(name), &Loops::name);
  SYMBIND_ASSERT(it != all.end());
  return &*it;
}

BinaryLoop loop_of(const char* name) {
  return find(vector::binary_loops().best().functions, name)->loops[0];
}

}  // namespace

EpiloguePass::EpiloguePass(Epilogue items, int first_operand, const TensorDesc& y,
                           const KernelRequest& request)
    : items_(std::move(items)),
      add_(loop_of("add")),
      multiply_(loop_of("mul")),
      prelu_(vector::activation_loops().best().prelu.forward) {
  for (const EpilogueItem& item : items_) {
    operands_.push_back(first_operand);
    shared_.push_back(item.kind == Kind::kPRelu &&
                      request.in[static_cast<std::size_t>(first_operand)].shape.size() == 1);
    functions_.push_back(find(vector::activation_loops().best().functions, name_of(item.kind)));
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

void EpiloguePass::apply(std::size_t i, const Args& args, std::int64_t place, std::int64_t n,
                         std::int64_t channel, float* y) const {
  const EpilogueItem& item = items_[i];
  const int operand = operands_[i];
  const float p = static_cast<float>(item.a), q = static_cast<float>(item.b);
  switch (item.kind) {
    case Kind::kSum: return add_(y, args.in<float>(operand) + place, y, n);
    case Kind::kProduct: return multiply_(y, args.in<float>(operand) + place, y, n);
    case Kind::kSwish: {
      std::array<float, kTile> gate;
      for (std::int64_t at = 0; at < n; at += kTile) {
        const std::int64_t m = std::min(kTile, n - at);
        functions_[i]->forward(y + at, gate.data(), m, p, q);
        multiply_(y + at, gate.data(), y + at, m);
      }
      return;
    }
    case Kind::kPRelu: {
      const float* slopes = args.in<float>(operand);
      if (shared_[i] || period_ == 1)
        functions_[i]->forward(y, y, n, slopes[shared_[i] ? 0 : channel], 0);
      else
        prelu_(y, slopes + channel, y, n / period_, period_);
      return;
    }
    case Kind::kBatchNorm: return normalize(item, args, operand, n, channel, y);
    default: return functions_[i]->forward(y, y, n, p, q);
  }
}

/// Rarely used: kernels fold a BatchNorm into their weights.
void EpiloguePass::normalize(const EpilogueItem& item, const Args& args, int operand,
                             std::int64_t n, std::int64_t channel, float* y) const {
  const float *gamma = args.in<float>(operand), *beta = args.in<float>(operand + 1),
              *mean = args.in<float>(operand + 2), *variance = args.in<float>(operand + 3);
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t c = channel + j % period_;
    const double scale = (item.b != 0 ? 1.0 : static_cast<double>(gamma[c])) /
                         std::sqrt(static_cast<double>(variance[c]) + item.a);
    y[j] = static_cast<float>((static_cast<double>(y[j]) - static_cast<double>(mean[c])) * scale +
                              static_cast<double>(beta[c]));
  }
}

void EpiloguePass::run_row(const Args& args, float* y, std::int64_t row, std::size_t first) const {
  const std::int64_t channel = row * row_channels_ % channels_;
  // A tile begins where a period does.
  const std::int64_t tile = std::max<std::int64_t>(kTile / period_, 1) * period_;
  for (std::int64_t begin = 0; begin < length_; begin += tile) {
    const std::int64_t n = std::min(tile, length_ - begin), place = row * length_ + begin;
    for (std::size_t i = first; i < items_.size(); ++i)
      apply(i, args, place, n, channel, y + place);
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
