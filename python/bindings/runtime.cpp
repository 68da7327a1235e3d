// What is left: seeds, shape convention, environment, and what this build can do.

#include <cstdlib>

#include <nanobind/stl/optional.h>

#include <symbind/random.h>
#include <symbind/runtime.h>

#include "convert.h"

namespace symbind::python {

void bind_runtime(nb::module_& m) {
  m.def("seed", [](std::uint64_t value) { seed(value); });
  m.def("seed",
        [](std::uint64_t value, nb::handle context) { seed(value, context_from(context)); });
  m.def("is_np_shape", &is_np_shape);
  m.def("set_np_shape", &set_np_shape);
  // os.environ of Python copies the environment at start; these two see the process's own.
  m.def("getenv", [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
  m.def(
      "setenv",
      [](const std::string& name, const std::optional<std::string>& value) {
        if (value)
          ::setenv(name.c_str(), value->c_str(), 1);
        else
          ::unsetenv(name.c_str());
      },
      nb::arg("name"), nb::arg("value").none());
  m.def("features", [] {
    nb::dict result;
    for (const auto& [name, enabled] : features()) result[name.c_str()] = enabled;
    return result;
  });
  m.def("version", &version);
}

}  // namespace symbind::python
