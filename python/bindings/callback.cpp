// Callbacks whose decisions are made in C++; the others are Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <symbind/callback.h>

#include "training.h"

namespace symbind::python {
namespace {

/// An attribute that scripts read and set.
template <auto kMember>
void add_member(nb::class_<EarlyStopping>& to, const char* name) {
  using T = std::remove_cvref_t<decltype(std::declval<EarlyStopping::Seen>().*kMember)>;
  to.def_prop_rw(
      name, [](const EarlyStopping& e) { return e.seen().*kMember; },
      [](EarlyStopping& e, const T& value) { e.seen().*kMember = value; });
}

}  // namespace

void bind_callback(nb::module_& m) {
  using E = EarlyStopping;
  using Metric = std::optional<std::string>;
  nb::class_<E> early(m, "EarlyStopping");
  early
      .def(
          "__init__",
          [](E* self, const Metric& metric, int patience, const std::string& mode,
             double min_delta) {
            new (self) E({metric.value_or(""), patience, mode, min_delta});
          },
          nb::arg("metric").none(), nb::arg("patience"), nb::arg("mode"), nb::arg("min_delta"))
      .def("_observe", &E::observe)
      .def(
          "state_dict", [](const E& e) { return plain_to(e.state()); },
          "For checkpoints: the best value so far and the number of evaluations since then.")
      .def(
          "load_state_dict", [](E& e, nb::handle state) { e.set_state(plain_from(state)); },
          "Takes them back.")
      .def_prop_rw(
          "metric",
          [](const E& e) { return e.seen().metric.empty() ? Metric() : Metric(e.seen().metric); },
          [](E& e, const Metric& name) { e.seen().metric = name.value_or(""); },
          nb::for_setter(nb::arg("metric").none()));
  add_member<&E::Seen::patience>(early, "patience");
  add_member<&E::Seen::mode>(early, "mode");
  add_member<&E::Seen::min_delta>(early, "min_delta");
  add_member<&E::Seen::best>(early, "best");
  add_member<&E::Seen::waited>(early, "waited");
}

}  // namespace symbind::python
