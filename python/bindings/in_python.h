#pragma once
// Calls from the library into users' Python code. The GIL is acquired for the call and released
// after it. A Python exception becomes an Error with the traceback.

#include <string>

#include "convert.h"

namespace symbind::python {

/// The exception as an Error; its message begins with `what`.
Error error_from(const nb::python_error& error, const std::string& what);

/// Calls `f` holding the GIL; the message of its exception begins with `what`.
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
