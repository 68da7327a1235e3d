// The NaN guard. Monitors are Python and use Executor.set_monitor_callback.

#include <symbind/monitor.h>

#include "convert.h"

namespace symbind::python {

void bind_monitor(nb::module_& m) {
  m.def("nan_guard_is_on", &nan_guard_is_on);
  nb::class_<NanGuard>(m, "NanGuard")
      .def(nb::init<>())
      .def("install", [](NanGuard& guard, Executor& executor) { guard.install(executor); })
      .def("tic", &NanGuard::tic)
      .def("release", &NanGuard::release)
      .def("toc", [](NanGuard& guard) { guard.toc(); });
}

}  // namespace symbind::python
