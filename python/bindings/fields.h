#pragma once
// Fields of optimizers and schedulers as Python attributes.

#include <symbind/lr_scheduler.h>

#include "convert.h"

namespace symbind::python {

/// The value of a field: a number, a string, None, a list.
nb::object field_to(const AttrField& field);
/// Sets a field; if the value does not fit, the message begins with `owner`.
void field_from(AttrField& field, nb::handle value, const std::string& owner);
/// The attribute called `name`; kName if there is none.
AttrField& field_of(Fields& fields, const std::string& name, const std::string& owner);

}  // namespace symbind::python
