// Passes the library's messages to a Python function; the package sends them to `logging`.

#include <symbind/log.h>

#include "convert.h"

namespace symbind::python {
namespace {

void set_sink(nb::handle function) {
  if (function.is_none()) return set_log_sink({});
  auto held = std::make_shared<HeldObject>(nb::borrow(function));
  set_log_sink([held](LogLevel level, std::string_view text) {
    if (Py_IsInitialized() == 0) throw std::runtime_error("the interpreter has ended");
    const nb::gil_scoped_acquire acquire;
    // logging's numbers: DEBUG is 10, INFO 20, WARNING 30, ERROR 40.
    held->object((static_cast<int>(level) + 1) * 10, nb::str(text.data(), text.size()));
  });
}

}  // namespace

void bind_log(nb::module_& m) {
  m.def("set_log_sink", &set_sink, nb::arg("function").none(),
        "Every message goes to function(level, text) from now on; None restores the error output.");
}

}  // namespace symbind::python
