#pragma once
// The option compute_dtype: its names, and when a plan may use it.

#include <string_view>

#include "passes/plan.h"

namespace symbind {

/// The type of this name; empty: SYMBIND_COMPUTE_DTYPE. Throws kName with the valid names.
DType compute_dtype_of(std::string_view name);

struct ComputeDType {
  DType dtype = DType::kFloat32;  ///< what kernels may round to
  std::string text;               ///< a line for the plan; empty where float32 was requested
};
/// What a plan of this kind does with the request.
ComputeDType decide_compute_dtype(const BindSpec& spec);

}  // namespace symbind
