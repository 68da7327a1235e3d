// Machine-readable logs: event files, CSV, JSON lines.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <symbind/event_file.h>
#include <symbind/log_files.h>

#include "convert.h"

namespace symbind::python {

void bind_log_files(nb::module_& m) {
  nb::class_<LogFile>(m, "LogFile")
      .def(
          "write",
          [](LogFile& file, const std::string& phase, int epoch, int nbatch,
             const std::vector<std::pair<std::string, double>>& values) {
            file.write({.phase = phase, .epoch = epoch, .nbatch = nbatch, .values = values});
          },
          nb::arg("phase"), nb::arg("epoch"), nb::arg("nbatch"), nb::arg("values"));
  m.def("csv_log", &make_csv_log, nb::arg("path"));
  m.def("jsonl_log", &make_jsonl_log, nb::arg("path"));
  nb::class_<EventFile>(m, "EventFile")
      .def(nb::init<const std::string&>(), nb::arg("folder"))
      .def("add_scalar", &EventFile::add_scalar, nb::arg("tag"), nb::arg("value"), nb::arg("step"))
      .def("add_histogram", &EventFile::add_histogram, nb::arg("tag"), nb::arg("values"),
           nb::arg("step"))
      .def_prop_ro("path", &EventFile::path);
}

}  // namespace symbind::python
