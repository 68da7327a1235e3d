// KVStore: arrays by number or name. Keys come as int or str, values as lists with one array per
// device; symbind/kvstore converts users' arguments to lists.

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include <nanobind/stl/optional.h>

#include <symbind/detail/param_update.h>
#include <symbind/detail/remote_states.h>
#include <symbind/dist.h>
#include <symbind/kvstore.h>
#include <symbind/optimizer.h>

#include "convert.h"
#include "key.h"
#include "training.h"

namespace symbind::python {
namespace {

using Store = std::shared_ptr<KVStore>;

struct StoreHandle {
  Store store;
};

// With the GIL released, except for the updater's call.
template <class F>
void released(F&& work) {
  const nb::gil_scoped_release release;
  work();
}

void set_updater(StoreHandle& h, nb::handle updater) {
  if (updater.is_none()) return h.store->set_updater(nullptr);
  auto held = std::make_shared<HeldObject>(nb::borrow(updater));
  h.store->set_updater([held](const Key& key, const NDArray& merged, NDArray& stored) {
    const nb::gil_scoped_acquire acquire;
    held->object(key_to(key), array_to(merged), array_to(stored));
  });
}

void set_core_updater(StoreHandle& h, const std::shared_ptr<Updater>& updater) {
  h.store->set_updater(store_update(updater));
}

/// `custom(name, bytes)` returns an Updater of Python.
MakeServerUpdate server_updates_of(nb::object custom) {
  auto held = std::make_shared<HeldObject>(std::move(custom));
  return [held](const std::string& name, const std::string& text) -> ServerUpdate {
    const nb::gil_scoped_acquire acquire;
    auto updater =
        std::make_shared<HeldObject>(held->object(name, nb::bytes(text.data(), text.size())));
    return {.update =
                [updater](const Key& key, const NDArray& gradient, NDArray& value) {
                  const nb::gil_scoped_acquire within;
                  updater->object(key_to(key), array_to(gradient), array_to(value));
                },
            .states =
                [updater] {
                  const nb::gil_scoped_acquire within;
                  const auto bytes = nb::cast<nb::bytes>(updater->object.attr("get_states")(true));
                  return std::string(bytes.c_str(), bytes.size());
                },
            .set_states =
                [updater](const std::string& bytes) {
                  const nb::gil_scoped_acquire within;
                  updater->object.attr("set_states")(nb::bytes(bytes.data(), bytes.size()));
                }};
  };
}

}  // namespace

std::shared_ptr<KVStore> store_from(nb::handle handle) {
  return handle.is_none() ? nullptr : nb::cast<StoreHandle&>(handle).store;
}

void bind_kvstore(nb::module_& m) {
  m.def("check_compression_params", &check_compression_params);
  using H = StoreHandle;
  nb::class_<H>(m, "KVStore")
      .def("__init__",
           [](H* self, const std::string& type) {
             Store store;
             released([&] { store = create_kvstore(type); });
             new (self) H{std::move(store)};
           })
      .def_prop_ro("type", [](const H& h) { return h.store->type(); })
      .def_prop_ro("trains_together", [](const H& h) { return h.store->workers() != nullptr; })
      .def_prop_ro("is_remote", [](const H& h) { return h.store->remote() != nullptr; })
      .def_prop_ro("has_buckets", [](const H& h) { return h.store->has_buckets(); })
      .def_prop_ro("rank", [](const H& h) { return h.store->rank(); })
      .def_prop_ro("bytes_sent",
                   [](const H& h) {
                     const Workers* workers = h.store->workers();
                     return workers == nullptr ? 0 : workers->bytes_sent();
                   })
      .def_prop_ro("num_workers", [](const H& h) { return h.store->num_workers(); })
      .def("init",
           [](H& h, nb::handle key, nb::handle value) {
             const Key k = key_from(key);
             const NDArray array = array_from(value);
             released([&] { h.store->init(k, array); });
           })
      .def("assign",
           [](H& h, nb::handle key, nb::handle value) {
             const Key k = key_from(key);
             const NDArray array = array_from(value);
             released([&] { h.store->assign(k, array); });
           })
      .def("barrier", [](H& h) { released([&] { h.store->barrier(); }); })
      .def("agree",
           [](H& h, const std::string& what, const std::string& facts) {
             released([&] {
               if (Workers* workers = h.store->workers()) workers->agree(what, facts);
             });
           })
      .def("push",
           [](H& h, nb::handle key, nb::handle values) {
             const Key k = key_from(key);
             const auto arrays = arrays_from(values, "a pushed value");
             released([&] { h.store->push(k, arrays); });
           })
      .def("push_rows",
           [](H& h, nb::handle key, nb::handle values) {
             const Key k = key_from(key);
             const auto arrays = arrays_from(values, "a pushed value");
             released([&] { h.store->push_rows(k, arrays); });
           })
      .def("pull",
           [](H& h, nb::handle key, nb::handle out) {
             const Key k = key_from(key);
             const auto arrays = writables_from(out, "an array to pull into");
             released([&] { h.store->pull(k, arrays); });
           })
      .def("pushpull",
           [](H& h, nb::handle key, nb::handle values, nb::handle out) {
             const Key k = key_from(key);
             const auto in = arrays_from(values, "a pushed value");
             const auto to = writables_from(out, "an array to pull into");
             released([&] { h.store->pushpull(k, in, to); });
           })
      .def("set_gradient_compression",
           [](H& h, const AttrDict& params) { h.store->set_gradient_compression(params); })
      .def_prop_rw(
          "state", [](const H& h) { return plain_to(h.store->state()); },
          [](H& h, nb::handle state) { h.store->set_state(plain_from(state)); },
          nb::arg("state").none())
      .def("set_updater", &set_updater, nb::arg("updater").none())
      .def("set_core_updater", &set_core_updater)
      .def("send_optimizer",
           [](H& h, const std::shared_ptr<Optimizer>& optimizer) {
             released([&] { h.store->remote()->set_optimizer(sent_optimizer(*optimizer)); });
           })
      .def("send_custom_optimizer",
           [](H& h, const std::string& name, const nb::bytes& bytes) {
             const std::string text(bytes.c_str(), bytes.size());
             released([&] {
               h.store->remote()->set_optimizer({.text = text, .custom = name, .whole = true});
             });
           })
      .def("remote_states",
           [](H& h) {
             std::string bytes;
             released([&] { bytes = remote_states(*h.store->remote()); });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("set_remote_states", [](H& h, const nb::bytes& bytes) {
        const std::string text(bytes.c_str(), bytes.size());
        released([&] { set_remote_states(*h.store->remote(), text); });
      });
  m.def("serve_role", [](nb::handle custom) {
    std::optional<int> status;
    released([&] {
      status = serve_role([custom] {
        const nb::gil_scoped_acquire acquire;
        return server_updates_of(custom());
      });
    });
    return status;
  });
  m.def("leave_job", [](const std::string& error) { released([&] { leave_job(error); }); });
  m.attr("EXIT_LOST") = kExitLost;
}

}  // namespace symbind::python
