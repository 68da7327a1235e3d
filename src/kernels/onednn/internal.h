// Shared by the wrappers in this folder. The only header that includes oneDNN's: nothing outside
// src/kernels/onednn includes it, so another version of oneDNN only affects this folder.
#pragma once

#include <symbind/kernel.h>

#include <atomic>
#include <dnnl.hpp>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "kernels/weight_form.h"

namespace symbind::onednn {

using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

const dnnl::engine& engine();

/// This shape in one of our layouts, float32 or bfloat16; rank 1 to 5.
MemoryDesc describe(const Shape& shape, Layout layout = Layout::kPlain,
                    DType dtype = DType::kFloat32);
MemoryDesc describe_any(const Shape& shape, DType dtype = DType::kFloat32);
/// The layout of ours that equals `desc`, if any. Kernels for bfloat16 prefer channels last;
/// float32 ones never do.
std::optional<Layout> layout_of(const MemoryDesc& desc, const Shape& shape,
                                DType dtype = DType::kFloat32);
/// Whether the plan computes in bfloat16 and this input is stored so.
bool is_stored_in_bfloat16(const KernelRequest& request, std::size_t input);
/// Blocks of one vector, if the channels divide into them, else plain.
Layout widest_layout(const Shape& shape);

/// Whether oneDNN, which counts in 32 bits within a window, can be given these strides, pads, ….
template <class... Axes>
bool windows_fit(const Axes&... all) {
  constexpr std::int64_t kMost = 1 << 15;
  const auto fits = [](const auto& axes) {
    for (const std::int64_t n : axes)
      if (n > kMost) return false;
    return true;
  };
  return (fits(all) && ...);
}

/// Scratch memory is passed in, so that primitives are re-entrant.
dnnl::primitive_attr user_scratchpad();

/// Threads for this many operations. Waking others takes about 10 µs, longer on a busy machine:
/// shorter work uses one thread.
inline int threads_for(double operations) { return operations < 1e6 ? 1 : num_threads(); }

/// A primitive with its arguments. Pointers are given at each run, in the order of the
/// descriptions; any number of threads may run it at once. It runs with the VendorThreads it was
/// made with.
class Call {
 public:
  using Arguments = std::vector<std::pair<int, MemoryDesc>>;

  Call() = default;
  Call(const dnnl::primitive& primitive, const MemoryDesc& scratch, Arguments arguments);
  void operator()(std::initializer_list<void*> pointers, void* scratch) const {
    (*this)(std::span(pointers.begin(), pointers.size()), scratch);
  }
  void operator()(std::span<void* const> pointers, void* scratch) const;

 private:
  struct Lane;
  struct Shared;
  std::shared_ptr<Shared> shared_;
  int threads_ = 1;
};

/// A weight that a primitive needs in another form than the bound array has.
class Packing {
 public:
  Packing() = default;
  /// `constant`: the form is cached with the array and renewed when the array changes.
  Packing(const MemoryDesc& plain, const MemoryDesc& packed, bool constant, Carver& workspace,
          const LayerInputs& inputs = {});
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// The packed form of the weight, and the bias; both with a BatchNorm folded in.
  LayerWeights::Form operator()(const Args& args, void* scratch) const;
  /// Whether a BatchNorm is to be folded in.
  bool folds() const { return inputs_.batch_norm >= 0; }

 private:
  bool is_needed() const {
    return reorders_ || folds() || inputs_.narrow_weight() || inputs_.narrow_bias();
  }

  LayerInputs inputs_;
  std::size_t bytes_ = 0, scratch_bytes_ = 0;
  bool reorders_ = false;
  LayerWeights layer_;
  Call reorder_;
};

/// A gradient that a primitive writes in another form than the bound array has.
class Unpacking {
 public:
  Unpacking() = default;
  Unpacking(const MemoryDesc& packed, const MemoryDesc& plain, Carver& workspace);
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// Where the primitive writes.
  void* target(const Args& args, int output) const;
  /// Converts what it wrote into the output.
  void operator()(const Args& args, int output, void* scratch) const;

 private:
  bool needed_ = false;
  std::size_t offset_ = 0, scratch_bytes_ = 0;
  Call reorder_;
};

/// Runs `f`, which builds an offer, and turns oneDNN's exceptions into refusals.
template <class F>
Offer guarded(F&& f) {
  try {
    return f();
  } catch (const dnnl::error& e) {
    return refuse(std::string("oneDNN: ") + e.what());
  }
}

}  // namespace symbind::onednn
