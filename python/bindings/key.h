#pragma once
// Keys: int or str in Python.

#include <symbind/detail/key.h>

#include "convert.h"

namespace symbind::python {

/// An int, a NumPy integer or a str; anything else is a TypeError.
inline Key key_from(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (PyIndex_Check(value.ptr()))
    return nb::cast<std::int64_t>(nb::steal(PyNumber_Index(value.ptr())));
  throw Error(ErrorKind::kType,
              "a key is an int or a str, not " + nb::cast<std::string>(nb::repr(value.type())));
}

inline nb::object key_to(const Key& key) {
  if (const auto* number = std::get_if<std::int64_t>(&key)) return nb::cast(*number);
  return nb::cast(std::get<std::string>(key));
}

}  // namespace symbind::python
