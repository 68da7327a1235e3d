// Forms of weights that kernels need instead of the bound array: packed, transformed, with a
// BatchNorm folded in. A constant weight keeps the form with its array; the form is made again when
// an array that it depends on changes.
#pragma once

#include <symbind/epilogue.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "base/function_ref.h"
#include "kernels/workspace.h"

namespace symbind {

/// A short name of a form: equal numbers give equal names. It fits std::string's internal buffer,
/// so that looking up a form allocates nothing.
std::string form_key(const void* bytes, std::size_t count);
std::string form_key(std::initializer_list<std::int64_t> numbers);

class WeightForm {
 public:
  WeightForm() = default;
  /// `key` names how the form is made of the array. `constant`: it is kept with the array; else its
  /// memory is part of the workspace. Forms of the same key and size are shared by all plans.
  WeightForm(std::string key, std::size_t bytes, bool constant, Carver& workspace);

  /// The form of an input. `make(array, form)` writes it where it is not current.
  template <class F>
  void* operator()(const Args& args, int input, F&& make) const {
    const int sources[] = {input};
    return get(args, sources, [&](void* form) { make(args.inputs[input].data, form); });
  }
  /// The form of several inputs, kept with the first. Arrays that users may write at any time
  /// (escaped ones) get a new form at every call, in memory of the calling thread.
  void* get(const Args& args, std::span<const int> sources, FunctionRef<void(void*)> make) const;

 private:
  std::size_t bytes_ = 0, offset_ = 0;
  bool constant_ = false;
  std::string key_;
  std::shared_ptr<const void> use_;  ///< keeps forms of this key with their arrays
};

/// Which inputs a layer's weights come from.
struct LayerInputs {
  int weight = 1;
  int bias = -1;        ///< -1: none
  int batch_norm = -1;  ///< the first of gamma, beta, mean and variance; -1: no BatchNorm to fold
  double eps = 0;
  bool fix_gamma = false;
  std::int64_t channels = 1;  ///< of the output: rows of the weight
  /// Of a constant weight and bias: the types in which they are stored. Others are float32.
  DType weight_dtype = DType::kFloat32, bias_dtype = DType::kFloat32;

  bool narrow_weight() const { return weight_dtype != DType::kFloat32; }
  bool narrow_bias() const { return bias >= 0 && bias_dtype != DType::kFloat32; }
};
/// Of a layer with inputs data, weight[, bias] and an epilogue after them.
LayerInputs layer_inputs(bool bias, std::int64_t channels, const Epilogue& epilogue,
                         const KernelRequest& request);
/// The offer takes the weight and the bias in the types that `inputs` says.
void take_stored(Offer& offer, const KernelRequest& request, const LayerInputs& inputs);

/// A layer's weight in another form, and its bias, both float32, with a BatchNorm folded into both:
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
  /// pack(plain, form)
  using Pack = FunctionRef<void(const float*, void*)>;

  LayerWeights() = default;
  /// `bytes` of the form, which `key` identifies; `size` numbers of the plain weight. A BatchNorm
  /// needs `constant`, and so does a narrow weight or bias. Without a key the form is the plain
  /// weight: the bound array, unless a BatchNorm is folded in or the array is narrow.
  LayerWeights(const std::string& key, std::size_t bytes, std::int64_t size, bool constant,
               Carver& workspace, const LayerInputs& inputs);

  bool folds() const { return inputs_.batch_norm >= 0; }
  const LayerInputs& inputs() const { return inputs_; }
  /// Calls `pack` where no current form exists.
  Form get(const Args& args, Pack pack) const;

 private:
  /// Whether the bias is part of the form.
  bool keeps_bias() const { return folds() || inputs_.narrow_bias(); }
  bool has_form() const { return keeps_bias() || !is_plain_ || inputs_.narrow_weight(); }
  void make(const Args& args, void* memory, Pack pack) const;
  void make_unfolded(const float* weight, const float* bias, void* memory, Pack pack) const;

  WeightForm form_;
  std::size_t weight_bytes_ = 0;
  std::int64_t row_ = 0;   ///< numbers of the plain weight per channel
  std::int64_t size_ = 0;  ///< numbers of the plain weight
  bool is_plain_ = true;
  LayerInputs inputs_;
};

}  // namespace symbind
