#pragma once
// Arrays and keys as they travel between workers and servers.

#include <vector>

#include <symbind/detail/key.h>
#include <symbind/detail/remote_updates.h>
#include <symbind/ndarray.h>

#include "net/values.h"

namespace symbind {

/// The array of a call; checks type, shape and size first.
NDArray sent_array(const net::ValueCall& call);
/// Shape and element type of the array of a call.
Shape sent_shape(const net::ValueCall& call);
DType sent_dtype(const net::ValueCall& call);
std::string key_to_wire(const Key& key);
Key key_from_wire(const std::string& text);

/// Arrays of more than `bound` elements are divided evenly over the servers; each other one has a
/// server that follows from its key.
std::vector<RemoteUpdates::Part> parts_of(const Key& key, std::int64_t elements, int servers,
                                          std::int64_t bound);

}  // namespace symbind
