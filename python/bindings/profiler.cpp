// The profiler. Functions that write a file or wait for the writer release the GIL.

#include <nanobind/stl/map.h>

#include <symbind/profiler.h>

#include "convert.h"
#include "flag.h"

namespace symbind::python {

void bind_profiler(nb::module_& m) {
  using profiler::Counter;
  using profiler::Stretch;
  const auto release = nb::call_guard<nb::gil_scoped_release>();
  m.def("profiler_set_config", &profiler::set_config, release);
  m.def("profiler_set_running", &profiler::set_running, release);
  m.def("profiler_records_imperative", &profiler::records_imperative);
  m.def("profiler_pause", &profiler::pause, release);
  m.def("profiler_resume", &profiler::resume, release);
  m.def("profiler_dump", &profiler::dump, release);
  m.def(
      "profiler_dumps",
      [](Flag reset, std::string format, std::string sort_by, Flag ascending) {
        return profiler::dumps({reset, std::move(format), std::move(sort_by), ascending});
      },
      release);
  m.def("profiler_mark", &profiler::mark, release);
  nb::class_<Stretch>(m, "ProfilerStretch", "A time interval of a program.")
      .def("__init__",
           [](Stretch* made, const std::string& kind, std::string domain, std::string name) {
             const auto which = kind == "task"    ? Stretch::Kind::kTask
                                : kind == "frame" ? Stretch::Kind::kFrame
                                                  : Stretch::Kind::kEvent;
             new (made) Stretch(which, std::move(domain), std::move(name));
           })
      .def("start", &Stretch::start)
      .def("stop", &Stretch::stop);
  nb::class_<Counter>(m, "ProfilerCounter", "A number that changes over time.")
      .def(nb::init<std::string, std::string>())
      .def("set", &Counter::set)
      .def("add", &Counter::add)
      .def_prop_ro("value", &Counter::value);
}

}  // namespace symbind::python
