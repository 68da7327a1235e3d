#pragma once
// Pointers into an array for code that plays by the rules: NDArray::mutable_data() is for users and
// marks the memory as escaped, these do not.

#include <cstddef>

#include <symbind/ndarray.h>

#include "ndarray/storage.h"

namespace symbind {

/// For reading; neither waits nor looks at errors.
inline const std::byte* read_pointer(const NDArray& array) {
  return static_cast<const std::byte*>(array.storage()->data()) + array.byte_offset();
}

/// For one write that follows at once: counts as a new version.
inline std::byte* write_pointer(const NDArray& array) {
  array.storage()->touch();
  return static_cast<std::byte*>(array.storage()->data()) + array.byte_offset();
}

/// Hands an unread error of `from` on to `to`; true if there was one, and nothing else is to be
/// done.
bool pass_error(const NDArray& from, const NDArray& to);

/// Throws kState for NDArray().
void check_defined(const NDArray& array, const char* what);

/// The bytes of `shape` × `dtype`; throws kShape or kType when unknown, kMemory beyond what is
/// addressable.
std::size_t bytes_of(const Shape& shape, DType dtype);
/// Throws when the extents that are known, but for zeros, multiply to more than 2^47: no memory
/// holds so many elements, and a zero beside them would hide it. Of a shape that passed, every
/// product of extents fits into 64 bits.
void check_extents(const Shape& shape);

}  // namespace symbind
