// From one memory layout of a tensor to another.
#pragma once

#include <symbind/kernel.h>

namespace symbind {

/// A step with one input and one output of equal shape and dtype. GPUs only support a plain copy so
/// far.
Prepared prepare_reorder(const TensorDesc& from, const TensorDesc& to,
                         DeviceType device = DeviceType::kCpu);

}  // namespace symbind
