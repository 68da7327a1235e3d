#pragma once
// Reading data sets.

#include <string>

#include <symbind/ndarray.h>

namespace symbind {

/// An idx file, plain or gzipped, as MNIST and its kin come: unsigned bytes, shape as the file
/// says, on the CPU. Anything else is an Error kIo that names the path and the byte.
NDArray read_idx(const std::string& path);

}  // namespace symbind
