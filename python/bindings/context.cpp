// Devices. The class Context is Python; C++ holds only the thread's current context.

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
      "Device type and number of the default context.");
  m.def(
      "set_current_context",
      [](int type, int id) {
        set_current_context({static_cast<DeviceType>(type), id});
      },
      nb::arg("type"), nb::arg("id"));
}

}  // namespace symbind::python
