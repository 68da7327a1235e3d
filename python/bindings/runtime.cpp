// Seeds, shape convention, environment, and the features of this build.

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <nanobind/stl/optional.h>

#include <symbind/random.h>
#include <symbind/runtime.h>

#include "convert.h"

namespace symbind::python {
namespace {

void check_name(const std::string& name) {
  if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
    throw Error(ErrorKind::kValue, std::string("the name of an environment variable is not empty "
                                               "and holds neither '=' nor a NUL byte, unlike ") +
                                       nb::repr(nb::str(name.c_str(), name.size())).c_str());
}

}  // namespace

void bind_runtime(nb::module_& m) {
  m.def("seed", [](std::uint64_t value) { seed(value); });
  m.def("seed",
        [](std::uint64_t value, nb::handle context) { seed(value, context_from(context)); });
  m.def("is_np_shape", &is_np_shape);
  m.def("set_np_shape", &set_np_shape);
  // Python changes the environment while holding the GIL, so the settings are read holding it.
  set_environment_guard([](void (*read)()) {
    if (Py_IsInitialized() == 0) return read();
    const nb::gil_scoped_acquire acquire;
    read();
  });
  refresh_settings();
  m.def("refresh_settings", &refresh_settings);
  m.def("setting", [](const std::string& name) { return setting(name); });
  // Python's os.environ is a copy made at startup; these two access the process's environment.
  m.def("getenv", [](const std::string& name) -> std::optional<std::string> {
    check_name(name);
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
  m.def(
      "setenv",
      [](const std::string& name, const std::optional<std::string>& value) {
        check_name(name);
        if (value && value->find('\0') != std::string::npos)
          throw Error(ErrorKind::kValue, "setenv: the value of " + name + " holds a NUL byte");
        if ((value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str())) != 0)
          throw Error(ErrorKind::kState, "setenv: " + name + ": " + std::strerror(errno));
        refresh_settings();
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
