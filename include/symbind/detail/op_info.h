#pragma once
// How an operator looks to those who call it, whatever its attributes: signatures, stubs and the
// manual are written from this.

#include <string>
#include <utility>
#include <vector>

#include <symbind/operator.h>

namespace symbind {

/// Whether users and files may name the operator; gradients and passes alone make the others.
bool is_public(const OpDef& op);
/// The longest list of inputs the operator may take (bias, LeakyReLU's gamma); those of no variadic
/// operator.
std::vector<std::string> most_input_names(const OpDef& op);
/// The fewest and the most outputs a caller may see.
std::pair<int, int> visible_outputs(const OpDef& op);

}  // namespace symbind
