#pragma once
// The kernel of a node that has nothing to compute.

#include <vector>

#include <symbind/operator.h>

namespace symbind {

/// The kernel that does nothing, if none of the outputs described by `out` has an element and the
/// operator neither writes an input nor runs a user's code; null otherwise. Chosen when a graph is
/// bound, in place of the operator's kernels: those always have something to compute.
const KernelDef* empty_kernel(const OpDef& op, const void* attrs,
                              const std::vector<TensorDesc>& out);

}  // namespace symbind
