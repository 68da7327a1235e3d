#pragma once
// What bindings of the training stack need of one another.

#include <memory>

#include <symbind/kvstore.h>
#include <symbind/state_value.h>

#include "convert.h"

namespace symbind::python {

/// The store in a bound KVStore; null for None.
std::shared_ptr<KVStore> store_from(nb::handle handle);

/// Plain data from a Python object; `take_apart` is called for what is none.
StateValue value_from(nb::handle v, nb::handle take_apart, int depth = 0);
/// The way back; `put_together` is called for objects.
nb::object value_to(const StateValue& v, nb::handle put_together);
/// The same where no objects are.
StateValue plain_from(nb::handle v);
nb::object plain_to(const StateValue& v);

void bind_resume(nb::module_& m);

}  // namespace symbind::python
