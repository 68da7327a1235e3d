#pragma once
// Operators with a count of their inputs.

#include <symbind/operator.h>

namespace symbind {

/// Whether such an operator's inputs have names of their own here (UpSampling's data and weight)
/// instead of being a list: the count then says nothing, and those left out become variables.
inline bool has_named_inputs(const OpDef& op, const void* attrs) {
  if (op.group > 0) return false;
  const std::vector<std::string> names = op.input_names(attrs);
  return !names.empty() && names.front().back() != '0';
}

}  // namespace symbind
