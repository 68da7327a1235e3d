// From one memory layout of a tensor to another.
#pragma once

#include <symbind/kernel.h>

namespace symbind {

/// A step with one input and one output of equal shape and dtype, on the CPU.
Prepared prepare_reorder(const TensorDesc& from, const TensorDesc& to);

}  // namespace symbind
