#pragma once
// The sum of one array per device, and its copy back to the devices.

#include <vector>

#include <symbind/ndarray.h>

namespace symbind {

/// target = values[0] + values[1] + …, in this order. All of one shape and dtype; `target` may be
/// one of them only if it is the first.
void sum_in_order(const std::vector<NDArray>& values, NDArray& target);
/// Throws unless all values have the shape and dtype of `target`. False if one of them has an
/// unread error, which `target` then has instead of a sum.
bool check_sum(const std::vector<NDArray>& values, const NDArray& target);

}  // namespace symbind
