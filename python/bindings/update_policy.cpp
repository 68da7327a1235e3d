// What fit may do around updates, and clipping by global norm of any arrays.

#include <symbind/update_policy.h>

#include "convert.h"
#include "training.h"

namespace symbind::python {
namespace {

UpdatePolicy::Parts parts_from(nb::handle pairs) {
  UpdatePolicy::Parts parts;
  for (nb::handle pair : pairs)
    parts.push_back({nb::cast<ExecutorGroup*>(pair[0]), nb::cast<double>(pair[1])});
  return parts;
}

nb::dict dict_of(const NDArrayMap& arrays) {
  nb::dict by_name;
  for (const auto& [name, array] : arrays) by_name[name.c_str()] = array_to(array);
  return by_name;
}

/// A method over parts that runs without the interpreter.
template <auto kMethod>
auto over_parts() {
  return [](UpdatePolicy& policy, nb::handle pairs) {
    const UpdatePolicy::Parts parts = parts_from(pairs);
    const nb::gil_scoped_release release;
    return (policy.*kMethod)(parts);
  };
}

}  // namespace

void bind_update_policy(nb::module_& m) {
  using P = UpdatePolicy;
  nb::class_<P>(m, "UpdatePolicy")
      .def(
          "__init__",
          [](P* self, int accumulate, double clip_global_norm, double ema_decay, bool eval_ema) {
            new (self) P(UpdatePolicyOptions{.accumulate = accumulate,
                                             .clip_global_norm = clip_global_norm,
                                             .ema_decay = ema_decay,
                                             .eval_ema = eval_ema});
          },
          nb::arg("accumulate") = 1, nb::arg("clip_global_norm") = 0.0, nb::arg("ema_decay") = 0.0,
          nb::arg("eval_ema") = false)
      .def_prop_ro("is_needed", [](const P& p) { return p.options() != UpdatePolicyOptions{}; })
      .def("begin", over_parts<&P::begin>())
      .def("take", over_parts<&P::take>())
      .def("take_rest", over_parts<&P::take_rest>())
      .def("updated", over_parts<&P::updated>())
      .def("swap_average",
           [](P& p, nb::handle pairs) {
             const P::Parts parts = parts_from(pairs);
             const nb::gil_scoped_release release;
             p.shows_average() ? p.show_weights(parts) : p.show_average(parts);
           })
      .def_prop_ro("shows_average", &P::shows_average)
      .def_prop_ro("waiting_batches", &P::waiting_batches)
      .def("average", [](const P& p) { return dict_of(p.average()); })
      .def("set_average",
           [](P& p, nb::handle arrays) { p.set_average(array_map_from(arrays, "an average")); })
      .def("state_dict", [](const P& p) { return dict_of(p.state()); })
      .def("load_state_dict", [](P& p, nb::handle arrays) {
        p.set_state(array_map_from(arrays, "a part of an update policy's state"));
      });
  m.def(
      "clip_global_norm",
      [](nb::handle arrays, double max_norm) {
        const std::vector<NDArray> all = writables_from(arrays, "an array to clip");
        const nb::gil_scoped_release release;
        return clip_global_norm(all, max_norm, false);
      },
      nb::arg("arrays"), nb::arg("max_norm"));
}

}  // namespace symbind::python
