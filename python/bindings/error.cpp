// Every Error of the library becomes the Python exception that MXNet raises, which is also an
// MXNetError. The package defines the classes (symbind/error.py), one per kind.

#include <cstring>

#include <symbind/runtime.h>

#include "convert.h"

namespace symbind::python {

const char* kind_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValue:
    case ErrorKind::kShape: return "ValueError";
    case ErrorKind::kName: return "NameError";
    case ErrorKind::kType: return "TypeError";
    case ErrorKind::kIndex: return "IndexError";
    case ErrorKind::kNotImplemented: return "NotImplementedError";
    case ErrorKind::kMemory: return "MemoryError";
    case ErrorKind::kIo: return "OSError";
    case ErrorKind::kLost: return "WorkerLostError";
    case ErrorKind::kState: return "AssertionError";
  }
  return "MXNetError";
}

void set_error(nb::handle type, const char* text) {
  // A message that quotes a damaged file may be invalid UTF-8.
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "backslashreplace");
  if (decoded == nullptr) return;  // out of memory; Python has set MemoryError
  PyErr_SetObject(type.ptr(), decoded);
  Py_DECREF(decoded);
}

void bind_error(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupted&) {
      raise_interrupt();
    } catch (const Error& error) {
      set_error(registered(kind_class(error.kind())), error.what());
    }
  });
  m.def("register_types", &register_types, nb::arg("types"),
        "Registers the public classes: objects that C++ returns are instances of them.");
}

}  // namespace symbind::python
