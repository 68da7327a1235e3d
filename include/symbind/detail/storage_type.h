#pragma once
// The storage type under which files hold an array. In memory every array is dense.

#include <string_view>

#include <symbind/ndarray.h>

namespace symbind {

/// "default", "row_sparse" or "csr". An array loaded as sparse is saved as sparse again, byte for
/// byte until something writes to the array; after that its nonzero elements are stored.
std::string_view storage_type(const NDArray& array);
/// kValue for another name, kShape for an array that has no such form.
void set_storage_type(const NDArray& array, std::string_view type);

}  // namespace symbind
