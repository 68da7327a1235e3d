#pragma once
// The sizes of an affine map of rows, as its kernels for every vendor take them.

#include <cstdint>

namespace symbind {

/// x is rows × in, W is out × in, y is rows × out.
struct MatrixSizes {
  std::int64_t rows = 0, in = 0, out = 0;
};

}  // namespace symbind
