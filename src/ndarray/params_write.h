#pragma once
// MXNet's array files, written into a file that is already open.

#include <symbind/ndarray.h>

#include "base/files.h"

namespace symbind {

/// What `save` writes.
void put_arrays(FileWriter& out, const NamedArrays& arrays);
NamedArrays in_name_order(const NDArrayMap& arrays);

}  // namespace symbind
