#pragma once
// Pointers into an array for the library's own code: NDArray::mutable_data() is for users and marks
// the memory as escaped, these do not.

#include <cstddef>

#include <symbind/ndarray.h>

#include "ndarray/storage.h"

namespace symbind {

/// For reading; neither waits nor checks errors.
inline const std::byte* read_pointer(const NDArray& array) {
  return static_cast<const std::byte*>(array.storage()->data()) + array.byte_offset();
}

/// For one write that follows at once: counts as a new version.
inline std::byte* write_pointer(const NDArray& array) {
  array.storage()->touch();
  return static_cast<std::byte*>(array.storage()->data()) + array.byte_offset();
}

/// Passes an unread error of `from` to `to`; true if there was one, in which case the caller must
/// do nothing else.
bool pass_error(const NDArray& from, const NDArray& to);

/// Throws kState for NDArray().
void check_defined(const NDArray& array, const char* what);

/// The bytes of `shape` × `dtype`; throws kShape or kType when unknown, kMemory beyond the address
/// space.
std::size_t bytes_of(const Shape& shape, DType dtype);
/// Throws if the known extents other than 0 multiply to more than 2^47: no memory holds that many
/// elements, and a 0 would hide the overflow. After this check every product of extents fits into
/// 64 bits.
void check_extents(const Shape& shape);

}  // namespace symbind
