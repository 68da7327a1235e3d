#include "in_python.h"

namespace symbind::python {
namespace {

ErrorKind kind_of(const nb::python_error& error) {
  if (error.matches(registered("NameError"))) return ErrorKind::kName;
  const std::pair<PyObject*, ErrorKind> kinds[] = {
      {PyExc_ValueError, ErrorKind::kValue},
      {PyExc_TypeError, ErrorKind::kType},
      {PyExc_IndexError, ErrorKind::kIndex},
      {PyExc_NotImplementedError, ErrorKind::kNotImplemented},
      {PyExc_MemoryError, ErrorKind::kMemory},
      {PyExc_OSError, ErrorKind::kIo}};
  for (const auto& [type, kind] : kinds)
    if (error.matches(type)) return kind;
  return ErrorKind::kState;
}

std::string traceback_text(const nb::python_error& error) {
  // An exception from our own conversions has no traceback.
  const nb::object trace =
      error.traceback().is_valid() ? nb::borrow(error.traceback()) : nb::none();
  const nb::object lines = nb::module_::import_("traceback")
                               .attr("format_exception")(error.type(), error.value(), trace);
  return nb::cast<std::string>(nb::str("").attr("join")(lines).attr("rstrip")());
}

/// Whether the package's function raised it, not user code.
bool is_our_own(const nb::python_error& error) {
  return error.matches(registered("MXNetError")) && error.traceback().is_valid() &&
         error.traceback().attr("tb_next").is_none();
}

}  // namespace

Error error_from(const nb::python_error& error, const std::string& what) {
  if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();  // the main thread raises it
  if (is_our_own(error)) return Error(kind_of(error), nb::str(error.value()).c_str());
  return Error(kind_of(error), what + " raised\n" + traceback_text(error));
}

}  // namespace symbind::python
