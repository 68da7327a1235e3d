// A layer of our own kernels with its epilogue. The kernel adds a bias and one tensor and limits
// the result while it writes; everything else of the epilogue is a pass after it.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/element_type.h"
#include "kernels/epilogue.h"
#include "kernels/weight_form.h"

namespace symbind {

/// What a kernel writes: min(high, max(low, product + bias + add)).
struct LayerOutput {
  const void* weight = nullptr;  ///< in the kernel's form
  const float* bias = nullptr;   ///< of all channels, or null
  const float* add = nullptr;    ///< may be y; or null
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool nan_is_low = false;  ///< a NaN becomes `low`, as in ReLU; else it stays
  void* y = nullptr;
  DType y_dtype = DType::kFloat32;  ///< or bfloat16, where the layer has `write_bfloat16`
};

class FusedLayer {
 public:
  FusedLayer() = default;
  /// `y` with its final layout; `key`, `bytes`, `size`, `constant`, `workspace` as of LayerWeights.
  FusedLayer(const Epilogue& epilogue, bool bias, const TensorDesc& y, const KernelRequest& r,
             const std::string& key, std::size_t bytes, std::int64_t size, bool constant,
             Carver& workspace)
      : epilogue_(epilogue, bias ? 3 : 2, y, r),
        weights_(key, bytes, size, constant, workspace,
                 layer_inputs(bias, y.shape.rank() > 2 ? y.shape[1] : y.shape.back(), epilogue, r)),
        size_(y.shape.size()),
        last_(weights_.folds() ? 1 : 0) {
    using Kind = EpilogueItem::Kind;
    const auto next = [&](Kind kind) {
      return last_ < epilogue.size() && epilogue[last_].kind == kind;
    };
    if (next(Kind::kSum)) sum_ = epilogue_.operand(last_++);
    if (next(Kind::kRelu)) {
      low_ = 0;
      nan_is_low_ = true;
      ++last_;
    } else if (next(Kind::kClip)) {
      low_ = static_cast<float>(epilogue[last_].a);
      high_ = static_cast<float>(epilogue[last_].b);
      ++last_;
    }
  }

  /// Sets the types of narrow weights, the layouts of tensors of the output's shape, and that the
  /// output may be written over the one added inside.
  void complete(Offer& offer, const KernelRequest& r) const {
    take_stored(offer, r, weights_.inputs());
    offer.inplace.emplace();
    for (std::size_t i = 0; i < epilogue_.items().size(); ++i) {
      const EpilogueItem::Kind kind = epilogue_.items()[i].kind;
      if (kind == EpilogueItem::Kind::kSum || kind == EpilogueItem::Kind::kProduct)
        offer.in_layouts[static_cast<std::size_t>(epilogue_.operand(i))] = offer.out_layouts[0];
    }
    if (sum_ >= 0) offer.inplace->emplace_back(sum_, 0);
  }

  /// From now on the output is bfloat16, if nothing of the epilogue is left to a pass: its type.
  DType write_bfloat16() {
    if (last_ == epilogue_.items().size() && sum_ < 0) y_dtype_ = DType::kBFloat16;
    return y_dtype_;
  }

  /// `compute(LayerOutput)` is the kernel, `pack(plain, form)` makes the form of its weights.
  template <class Compute>
  void run(const Args& args, LayerWeights::Pack pack, Compute&& compute) const {
    const LayerWeights::Form form = weights_.get(args, pack);
    void* y = args.outputs[0].data;
    if (weights_.folds() && !form.folded) {
      // A BatchNorm that cannot be folded follows the product. Its sum may be in the memory of y.
      std::vector<float> whole(static_cast<std::size_t>(size_));
      compute(LayerOutput{.weight = form.weight, .bias = form.bias, .y = whole.data()});
      epilogue_.run(args, whole.data(), 0);
      converter_from(symbind::Compute::kFloat, y_dtype_)(whole.data(), y, size_);
      return;
    }
    compute(LayerOutput{.weight = form.weight,
                        .bias = form.bias,
                        .add = sum_ < 0 ? nullptr : args.in<float>(sum_),
                        .low = low_,
                        .high = high_,
                        .nan_is_low = nan_is_low_,
                        .y = y,
                        .y_dtype = y_dtype_});
    if (y_dtype_ == DType::kFloat32) epilogue_.run(args, static_cast<float*>(y), last_);
  }

 private:
  EpiloguePass epilogue_;
  LayerWeights weights_;
  std::int64_t size_ = 0;
  std::size_t last_ = 0;  ///< operations from here on are a separate pass
  int sum_ = -1;          ///< the input that is added inside
  DType y_dtype_ = DType::kFloat32;
  float low_ = -std::numeric_limits<float>::infinity();
  float high_ = std::numeric_limits<float>::infinity();
  bool nan_is_low_ = false;
};

}  // namespace symbind
