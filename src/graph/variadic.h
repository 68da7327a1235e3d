#pragma once
// Operators with a count of their inputs.

#include <symbind/operator.h>

namespace symbind {

/// Whether such an operator's inputs have individual names here (UpSampling's data and weight)
/// instead of being a list: the count is then ignored, and omitted inputs become variables.
inline bool has_named_inputs(const OpDef& op, const void* attrs) {
  if (op.group > 0) return false;
  const std::vector<std::string> names = op.input_names(attrs);
  return !names.empty() && names.front().back() != '0';
}

}  // namespace symbind
