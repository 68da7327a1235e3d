// Devices. The class Context is the package's; only the thread's current one lives in C++.

#include "convert.h"

namespace symbind::python {

void bind_context(nb::module_& m) {
  m.def("num_gpus", &num_gpus, "CUDA devices this process can use.");
  m.def(
      "current_context",
      [] {
        const Context context = current_context();
        return nb::make_tuple(static_cast<int>(context.type), context.id);
      },
      "Device type and number where arrays are made when nothing is said.");
  m.def(
      "set_current_context",
      [](int type, int id) {
        set_current_context({static_cast<DeviceType>(type), id});
      },
      nb::arg("type"), nb::arg("id"));
}

}  // namespace symbind::python
