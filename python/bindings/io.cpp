// Iterators. Python owns the arrays of its batches: views of an iterator's memory are copied here,
// since scripts change batches in place, as MXNet allows. Only C++ reads the views.

#include <symbind/datasets.h>
#include <symbind/io.h>

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "flag.h"
#include "training.h"

namespace symbind::python {
namespace {

// For a smaller batch, releasing the GIL takes longer than the copy.
constexpr std::size_t kWorthReleasing = 1 << 15;

using IterPtr = std::shared_ptr<DataIter>;

/// Destroying the last handle may wait for threads that need the GIL, so it releases the GIL.
IterPtr released_at_end(IterPtr iter) {
  DataIter* raw = iter.get();
  return {raw, [held = std::move(iter)](DataIter*) mutable {
            if (PyGILState_Check() == 0) return held.reset();
            const nb::gil_scoped_release release;
            held.reset();
          }};
}

nb::list descs_to(const std::vector<DataDesc>& descs) {
  nb::list list;
  for (const DataDesc& desc : descs)
    list.append(nb::make_tuple(
        desc.name, shape_to(desc.shape), dtype_to(desc.dtype),
        desc.layout.empty() ? nb::none() : nb::object(nb::str(desc.layout.c_str()))));
  return list;
}

void own(std::vector<NDArray>& arrays) {
  for (NDArray& array : arrays)
    if (array.storage().use_count() > 1) array = array.copy();
}

/// (data, label, pad, index); the index as bytes of 64-bit numbers, or None.
nb::object batch_to(const DataBatch& batch) {
  nb::object index = nb::none();
  if (!batch.index.empty())
    index = nb::bytes(batch.index.data(), batch.index.size() * sizeof(std::int64_t));
  return nb::make_tuple(arrays_to(batch.data), arrays_to(batch.label), batch.pad, index);
}

nb::object next_of(DataIter& iter, bool copied) {
  DataBatch batch;
  bool more = false;
  {
    const nb::gil_scoped_release release;
    more = iter.next(batch);
    if (copied) own(batch.data), own(batch.label);
  }
  return more ? batch_to(batch) : nb::none();
}

std::size_t bytes_of_batch(const DataIter& iter) {
  std::size_t bytes = 0;
  for (const DataDesc& desc : iter.provide_data())
    bytes += static_cast<std::size_t>(desc.shape.count()) * size_of(desc.dtype);
  return bytes;
}

nb::object next_of_arrays(NDArrayIter& iter) {
  if (bytes_of_batch(iter) > kWorthReleasing) return next_of(iter, true);
  DataBatch batch;
  if (!iter.next(batch)) return nb::none();
  own(batch.data);
  own(batch.label);
  return batch_to(batch);
}

nb::object state_of(DataIter& iter) {
  std::optional<StateValue> state;
  {
    const nb::gil_scoped_release release;
    state = iter.state();
  }
  return state ? plain_to(*state) : nb::none();
}

std::function<std::vector<std::int64_t>()> order_from(nb::object callable) {
  if (callable.is_none()) return {};
  return [held = std::make_shared<HeldObject>(std::move(callable))] {
    const nb::gil_scoped_acquire acquire;
    using Array = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto rows = nb::cast<Array>(held->object());
    return std::vector<std::int64_t>(rows.data(), rows.data() + rows.size());
  };
}

IterPtr make_ndarray_iter(nb::handle data, nb::handle label, std::int64_t batch_size, Flag shuffle,
                          const std::string& last_batch_handle, const std::string& layout,
                          nb::object reorder) {
  return released_at_end(
      std::make_shared<NDArrayIter>(array_map_from(data, "data"), array_map_from(label, "label"),
                                    NDArrayIterOptions{.batch_size = batch_size,
                                                       .shuffle = shuffle,
                                                       .last_batch_handle = last_batch_handle,
                                                       .layout = layout,
                                                       .reorder = order_from(std::move(reorder))}));
}

}  // namespace

void bind_io(nb::module_& m) {
  const auto release = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<DataIter>(m, "DataIter", "Returns batches; see symbind/io.h.")
      .def("provide_data", [](const DataIter& iter) { return descs_to(iter.provide_data()); })
      .def("provide_label", [](const DataIter& iter) { return descs_to(iter.provide_label()); })
      .def("reset", &DataIter::reset, release)
      .def("hard_reset", &DataIter::hard_reset, release)
      .def(
          "next", [](DataIter& iter) { return next_of(iter, true); },
          "(data, label, pad, index), or None at the end of the epoch.")
      .def(
          "next_view", [](DataIter& iter) { return next_of(iter, false); },
          "The same, but the arrays may be views of the source: do not write to them.")
      .def("state", &state_of, "Its position as plain data, or None if it has no state.")
      .def("set_state",
           [](DataIter& iter, nb::handle state) {
             const StateValue value = plain_from(state);
             const nb::gil_scoped_release unlocked;
             iter.set_state(value);
           })
      .def_prop_ro("batch_size", &DataIter::batch_size)
      .def_prop_ro("batches", &DataIter::batches);
  nb::class_<NDArrayIter, DataIter>(m, "NDArrayIter")
      .def("next", &next_of_arrays)
      .def("advance", &NDArrayIter::advance)
      .def("fetch",
           [](NDArrayIter& iter) {
             DataBatch batch;
             iter.fetch(batch);
             own(batch.data);
             own(batch.label);
             return batch_to(batch);
           })
      .def("pad", &NDArrayIter::pad)
      .def_prop_ro("num_data", &NDArrayIter::num_data)
      .def_prop_rw("cursor", &NDArrayIter::cursor, &NDArrayIter::set_cursor);
  m.def("ndarray_iter", &make_ndarray_iter, nb::arg("data"), nb::arg("label"),
        nb::arg("batch_size"), nb::arg("shuffle"), nb::arg("last_batch_handle"), nb::arg("layout"),
        nb::arg("reorder").none());
  m.def("resize_iter", [](IterPtr iter, std::int64_t size, Flag reset_internal) {
    return released_at_end(std::make_shared<ResizeIter>(std::move(iter), size, reset_internal));
  });
  m.def("prefetching_iter",
        [](std::vector<IterPtr> iters, std::vector<std::map<std::string, std::string>> rename_data,
           std::vector<std::map<std::string, std::string>> rename_label) {
          return released_at_end(std::make_shared<PrefetchingIter>(
              std::move(iters), PrefetchOptions{std::move(rename_data), std::move(rename_label)}));
        });
  m.def("find_images", [](const std::string& name) {
    const datasets::ImageSet set = datasets::find_images(name);
    return nb::make_tuple(set.name, set.folder, set.train_images, set.train_labels, set.test_images,
                          set.test_labels);
  });
  m.def("create_iter", [](const std::string& name, nb::handle options) {
    const AttrDict given = attr_dict_from(options);
    const nb::gil_scoped_release unlocked;
    return released_at_end(create_iter(name, given));
  });
}

}  // namespace symbind::python
