#pragma once
// The sum of one array per device, and its copy back to the devices.

#include <cstddef>
#include <span>
#include <vector>

#include <symbind/ndarray.h>

namespace symbind {

/// target = values[0] + values[1] + …, in this order. All of one shape and dtype; `target` may be
/// one of them only if it is the first.
void sum_in_order(const std::vector<NDArray>& values, NDArray& target);
/// Throws unless all values have the shape and dtype of `target`. False if one of them has an
/// unread error, which `target` then has instead of a sum.
bool check_sum(const std::vector<NDArray>& values, const NDArray& target);

/// The same over plain memory, in the calling thread: out = in[0] + in[1] + … over `bytes` bytes.
/// `out` may be one of them.
void add_in_order(DType dtype, std::span<const std::byte* const> in, std::byte* out,
                  std::size_t bytes);

}  // namespace symbind
