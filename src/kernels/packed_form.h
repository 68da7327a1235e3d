// Forms of weights that kernels need instead of the bound array: packed, transformed, with a
// BatchNorm folded in. A form is cached with the array and made again when an array that it depends
// on changes.
#pragma once

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace symbind {

/// A form of constant inputs, made by one kind of kernel.
class PackedForm {
 public:
  PackedForm() = default;
  /// Forms of the same name and size are shared by all plans, so the name must say how the form is
  /// made. At most 15 characters: looking up a form allocates nothing.
  PackedForm(std::string name, std::size_t bytes);

  std::size_t bytes() const { return bytes_; }
  /// The current form of inputs `sources`; make(memory) is called where there is none. The first
  /// source keeps it. Arrays that users may write at any time (escaped ones) get a new form at
  /// every call, in memory of the calling thread.
  void* get(const Args& args, std::span<const int> sources,
            const std::function<void(void*)>& make) const;

 private:
  std::string name_;
  std::size_t bytes_ = 0;
  std::shared_ptr<const void> use_;  ///< keeps forms of this name with their arrays
};

/// Which inputs a layer's weights come from.
struct LayerInputs {
  int weight = 1;
  int bias = -1;        ///< -1: none
  int batch_norm = -1;  ///< the first of gamma, beta, mean and variance; -1: no BatchNorm to fold
  double eps = 0;
  bool fix_gamma = false;
  std::int64_t channels = 1;  ///< of the output: rows of the weight
};
/// Of a layer with inputs data, weight[, bias] and an epilogue after them.
LayerInputs layer_inputs(bool bias, std::int64_t channels, const Epilogue& epilogue);

/// A layer's weight, packed, and its bias, with a BatchNorm folded into both:
///
///   w' = w · s,   b' = (b − mean) · s + beta        with s = gamma / √(variance + eps)
///
/// A fold that makes a finite number infinite or NaN (a variance of 0 with eps 0, s beyond float)
/// is not used: 0 · ∞ is NaN in a folded weight where the BatchNorm gives ±∞. `folded` is then
/// false and the caller applies the BatchNorm itself.
class LayerWeights {
 public:
  struct Form {
    void* weight = nullptr;
    const float* bias = nullptr;  ///< of all channels; null without bias and BatchNorm
    bool folded = false;
  };

  LayerWeights() = default;
  /// `bytes` of the packed weight, which `name` identifies (8 characters at most); `size` numbers
  /// of the plain one.
  LayerWeights(const std::string& name, std::size_t bytes, std::int64_t size,
               const LayerInputs& inputs);

  /// `pack(plain, packed)` converts a weight; it is called only where no current form exists.
  Form get(const Args& args, const std::function<void(const float*, void*)>& pack) const;

 private:
  void make(const Args& args, void* memory,
            const std::function<void(const float*, void*)>& pack) const;

  PackedForm form_;
  std::size_t weight_bytes_ = 0;
  std::int64_t row_ = 0;  ///< numbers of the plain weight per channel
  LayerInputs inputs_;
};

}  // namespace symbind
