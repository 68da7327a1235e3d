#pragma once
// How many floating-point operations a run takes: a column of an operator's definition, over the
// arrays of the run. It counts the additions and multiplications of the mathematics in its direct
// form, whatever algorithm a kernel uses.

#include <functional>
#include <span>

#include <symbind/kernel.h>

namespace symbind {

/// An input or output of a run; absent outputs are not computed.
struct CostTensor {
  TensorDesc desc;
  std::size_t bytes = 0;
  bool is_there = true;
  double size() const { return is_there ? static_cast<double>(desc.shape.size()) : 0; }
};

/// The arrays of one run.
struct Work {
  std::span<const CostTensor> in, out;
  double all_in() const;
  double all_out() const;
};

/// FLOPs over the attribute struct, which is type-erased.
using FlopsRule = std::function<double(const void* attrs, const Work&)>;

/// The elements that a per-element count multiplies.
enum class Per : std::uint8_t { kOutput, kFirstInput, kInputs };
/// A fixed number per element.
FlopsRule flops_per_element(double count, Per per);

}  // namespace symbind
