// The update policy of fit (accumulation, clipping, EMA), and clipping of arrays by global norm.

#include <symbind/update_policy.h>

#include "convert.h"
#include "training.h"

namespace symbind::python {
namespace {

UpdatePolicy::Parts parts_from(nb::handle pairs) {
  UpdatePolicy::Parts parts;
  for (nb::handle pair : pairs) {
    const std::shared_ptr<KVStore> store = store_from(pair[2]);
    parts.push_back({nb::cast<ExecutorGroup*>(pair[0]), nb::cast<double>(pair[1]),
                     store ? store->workers() : nullptr});
  }
  return parts;
}

/// The groups of a module: `parts(all_weights)` gives (group, rescale_grad, store) for each.
UpdatePolicy::PartsOf parts_of(const nb::callable& parts) {
  return [&parts](bool all_weights) {
    const nb::gil_scoped_acquire acquire;
    return parts_from(parts(all_weights));
  };
}

/// Runs a decision of the policy with the GIL released, except for the module's methods.
template <auto kMethod>
void decide(UpdatePolicy& policy, const nb::callable& parts, const nb::callable& update) {
  const nb::gil_scoped_release release;
  (policy.*kMethod)(parts_of(parts), [&] {
    const nb::gil_scoped_acquire acquire;
    update();
  });
}

}  // namespace

void bind_update_policy(nb::module_& m) {
  using P = UpdatePolicy;
  nb::class_<P>(m, "UpdatePolicy")
      .def(nb::init<>())
      .def(
          "begin_fit",
          [](P& p, const nb::callable& parts, int accumulate, double clip_global_norm,
             double ema_decay, bool eval_ema) {
            const nb::gil_scoped_release release;
            p.begin_fit({accumulate, clip_global_norm, ema_decay, eval_ema}, parts_of(parts));
          },
          nb::arg("parts"), nb::arg("accumulate") = 1, nb::arg("clip_global_norm") = 0.0,
          nb::arg("ema_decay") = 0.0, nb::arg("eval_ema") = false)
      .def("step", &decide<&P::step>)
      .def("finish_epoch", &decide<&P::finish_epoch>)
      .def_prop_ro("is_used", &P::is_used)
      .def("swap_average",
           [](P& p, nb::handle pairs) {
             const P::Parts parts = parts_from(pairs);
             const nb::gil_scoped_release release;
             p.swap_average(parts);
           })
      .def("average", [](const P& p) { return arrays_dict(p.average()); })
      .def("set_average",
           [](P& p, nb::handle arrays) { p.set_average(array_map_from(arrays, "an average")); })
      .def("state_dict", [](const P& p) { return plain_to(p.state()); })
      .def("load_state_dict", [](P& p, nb::handle state) { p.set_state(plain_from(state)); });
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
