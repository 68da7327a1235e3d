#pragma once
// The sum of one array per device, and its copy back to the devices.

#include <vector>

#include <symbind/ndarray.h>

namespace symbind {

/// target = values[0] + values[1] + …, in this order. All of one shape and dtype; `target` may be
/// one of them only if it is the first.
void sum_in_order(const std::vector<NDArray>& values, NDArray& target);

}  // namespace symbind
