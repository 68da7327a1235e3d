#pragma once
// The storage type under which files hold an array. In memory every array is dense.

#include <string_view>

#include <symbind/ndarray.h>

namespace symbind {

/// "default", "row_sparse" or "csr". What load reads as a sparse array, save writes as one again,
/// byte for byte until something writes to the array; after that it stores what is not 0.
std::string_view storage_type(const NDArray& array);
/// kValue for another name, kShape for an array that has no such form.
void set_storage_type(const NDArray& array, std::string_view type);

}  // namespace symbind
