#pragma once
// What bindings of the training stack need of one another.

#include <memory>

#include <symbind/kvstore.h>

#include "convert.h"

namespace symbind::python {

/// The store in a bound KVStore; null for None.
std::shared_ptr<KVStore> store_from(nb::handle handle);

}  // namespace symbind::python
