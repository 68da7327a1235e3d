#pragma once
// Calls from the library into what users wrote in Python. The interpreter is taken for the call and
// given back behind it; what Python raises becomes an Error that carries the traceback.

#include <string>

#include "convert.h"

namespace symbind::python {

/// What was raised, as an Error; `what` opens its message.
Error error_from(const nb::python_error& error, const std::string& what);

/// Calls `f` with the interpreter; `what` opens the message of what it raises.
template <class F>
auto in_python(const std::string& what, F&& f) {
  const nb::gil_scoped_acquire acquire;
  try {
    return f();
  } catch (const nb::python_error& error) {
    throw error_from(error, what);
  } catch (const Error& error) {
    throw Error(error.kind(), what + ": " + error.what());
  } catch (const std::bad_cast&) {
    throw Error(ErrorKind::kType, what + " gave something of another type than it must");
  }
}

}  // namespace symbind::python
