#pragma once
// An operator's interface for callers, independent of its attributes: signatures, stubs and the
// manual are generated from this.

#include <string>
#include <utility>
#include <vector>

#include <symbind/operator.h>

namespace symbind {

/// Whether users and files may name the operator; only gradients and passes create the others.
bool is_public(const OpDef& op);
/// The longest list of inputs of a non-variadic operator (with bias, LeakyReLU's gamma).
std::vector<std::string> most_input_names(const OpDef& op);
/// The fewest and the most outputs a caller may see.
std::pair<int, int> visible_outputs(const OpDef& op);

}  // namespace symbind
