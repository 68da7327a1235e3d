#pragma once
// The sparse form in which files hold an array that is dense in memory.
//
// Decided here: the form is kept in a separate table, not in Storage: few arrays have one, and
// every kernel includes storage.h. The index that was read is part of it, so an unchanged array is
// written back byte for byte, rows of zeros included. After a write to the array the index lists
// the nonzero elements.

#include <memory>
#include <vector>

#include <symbind/detail/storage_type.h>

#include "ndarray/params_format.h"

namespace symbind {

struct StoredForm {
  params::StorageType type = params::kDense;
  std::size_t offset = 0;  ///< of the array in its storage
  Shape shape;
  DType dtype = DType::kUnknown;
  std::uint64_t version = 0;        ///< of the storage that `index` fits; 0: there is no index
  std::vector<NDArray> index = {};  ///< row_sparse: the rows; csr: starts of rows, columns
};

/// Sets the form of `array` in files; `index` matches its current contents, or is empty.
void note_stored_form(const NDArray& array, params::StorageType type, std::vector<NDArray> index);
/// The form of exactly this array, with an index that fits what it contains; null if it is dense.
std::shared_ptr<const StoredForm> current_form(const NDArray& array);
/// Gives a copy the form of its source.
void copy_stored_form(const NDArray& from, const NDArray& to);

}  // namespace symbind
