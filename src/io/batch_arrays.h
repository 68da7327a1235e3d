#pragma once
// Arrays of a batch that may be overwritten: one rule for every iterator.

#include <vector>

#include <symbind/io.h>

namespace symbind {

/// Makes arrays[at] an array of this shape and type on the CPU whose contents may be replaced: the
/// existing one if nothing else uses its memory, else a new one.
const NDArray& writable_array(std::vector<NDArray>& arrays, std::size_t at, const Shape& shape,
                              DType dtype);

}  // namespace symbind
