// NDArray: memory, views, copies, and the arithmetic operators. All other methods are Python
// (symbind/ndarray) and use these functions and the operators of the registry.

#include <memory>

#include <nanobind/stl/vector.h>

#include <symbind/autograd.h>
#include <symbind/detail/storage_type.h>
#include <symbind/model.h>
#include <symbind/operator.h>
#include <symbind/runtime.h>

#include "buffer.h"
#include "convert.h"
#include "flag.h"

namespace symbind::python {
namespace {

// For fewer bytes, releasing the GIL takes longer than the work.
constexpr std::size_t kWorthReleasing = 1 << 15;

template <class F>
auto released_if(bool large, F&& work) {
  if (!large) return work();
  const nb::gil_scoped_release release;
  return work();
}

// ------------------------------------------------------------------ arithmetic

enum class Operator { kAdd, kSub, kMul, kDiv, kMod, kPow, kEq, kNe, kLt, kLe, kGt, kGe };

struct OperatorNames {
  const char *arrays, *scalar, *reversed;
};
struct OperatorDefs {
  const OpDef *arrays, *scalar, *reversed;
};
constexpr OperatorNames kNames[] = {
    {"broadcast_add", "_plus_scalar", "_plus_scalar"},
    {"broadcast_sub", "_minus_scalar", "_rminus_scalar"},
    {"broadcast_mul", "_mul_scalar", "_mul_scalar"},
    {"broadcast_div", "_div_scalar", "_rdiv_scalar"},
    {"broadcast_mod", "_mod_scalar", "_rmod_scalar"},
    {"broadcast_power", "_power_scalar", "_rpower_scalar"},
    {"broadcast_equal", "_equal_scalar", "_equal_scalar"},
    {"broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar"},
    {"broadcast_lesser", "_lesser_scalar", "_greater_scalar"},
    {"broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"},
    {"broadcast_greater", "_greater_scalar", "_lesser_scalar"},
    {"broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"},
};

const OperatorDefs& defs_of(Operator which) {
  static const std::vector<OperatorDefs> all = [] {
    std::vector<OperatorDefs> found;
    const OpRegistry& registry = OpRegistry::global();
    for (const OperatorNames& n : kNames)
      found.push_back(
          {&registry.get(n.arrays), &registry.get(n.scalar), &registry.get(n.reversed)});
    return found;
  }();
  return all[static_cast<std::size_t>(which)];
}

bool is_number(PyObject* value) {
  return PyFloat_Check(value) || PyLong_Check(value) ||
         (PyNumber_Check(value) && PyIndex_Check(value) && !PySequence_Check(value)) ||
         nb::isinstance(value, nb::module_::import_("numbers").attr("Number"));
}

std::string number_text(PyObject* value) {
  if (PyBool_Check(value)) return value == Py_True ? "1" : "0";
  const nb::object number =
      nb::steal(PyIndex_Check(value) ? PyNumber_Index(value) : PyNumber_Float(value));
  if (!number.is_valid()) throw nb::python_error();
  if (!PyLong_Check(number.ptr())) return nb::str(number).c_str();
  // Not str(): that of an IntEnum is its name.
  const nb::object digits = nb::steal(PyNumber_ToBase(number.ptr(), 10));
  if (!digits.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(digits);
}

/// Null without an exception if the types of `a` and `b` are not supported.
PyObject* arithmetic(PyObject* a, PyObject* b, Operator which, PyObject* in_place) {
  const OperatorDefs& defs = defs_of(which);
  const NDArray *x = array_in(a), *y = array_in(b);
  std::vector<NDArray> inputs, out;
  AttrDict attrs;
  const OpDef* op = defs.arrays;
  if (x != nullptr && y != nullptr) {
    inputs = {*x, *y};
  } else {
    PyObject* number = x != nullptr ? b : a;
    if (!is_number(number)) return nullptr;
    inputs = {x != nullptr ? *x : *y};
    attrs.emplace("scalar", number_text(number));
    op = x != nullptr ? defs.scalar : defs.reversed;
  }
  if (in_place != nullptr) out = {inputs.front()};
  const bool large =
      inputs.front().nbytes() > kWorthReleasing || (y != nullptr && y->nbytes() > kWorthReleasing);
  std::vector<NDArray> result = released_if(large, [&] { return invoke(*op, inputs, attrs, out); });
  if (autograd::is_recording()) {  // copy autograd's link from the handles to the objects
    if (x != nullptr) x->set_tape((in_place != nullptr ? result : inputs).front().tape());
    if (y != nullptr) y->set_tape(inputs.back().tape());
  }
  if (in_place != nullptr) return Py_NewRef(in_place);
  return array_to(std::move(result.front())).release().ptr();
}

void set_error_from_current() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Interrupted&) {
    raise_interrupt();
  } catch (const Error& error) {
    set_error(registered(kind_class(error.kind())), error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

template <Operator which>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
  try {
    PyObject* result = arithmetic(a, b, which, nullptr);
    return result != nullptr ? result : Py_NewRef(Py_NotImplemented);
  } catch (...) {
    set_error_from_current();
    return nullptr;
  }
}
template <Operator which>
PyObject* in_place(PyObject* a, PyObject* b) noexcept {
  try {
    writable_from(a, "the array that is changed in place");
    PyObject* result = arithmetic(a, b, which, a);
    return result != nullptr ? result : Py_NewRef(Py_NotImplemented);
  } catch (...) {
    set_error_from_current();
    return nullptr;
  }
}
PyObject* power(PyObject* a, PyObject* b, PyObject*) noexcept {
  return binary<Operator::kPow>(a, b);
}
PyObject* compare(PyObject* a, PyObject* b, int op) noexcept {
  static constexpr Operator kByOp[] = {Operator::kLt, Operator::kLe, Operator::kEq,
                                       Operator::kNe, Operator::kGt, Operator::kGe};
  try {
    PyObject* result = arithmetic(a, b, kByOp[op], nullptr);
    if (result != nullptr) return result;
    // Not Python's default, which would silently make every array unequal to None.
    throw Error(ErrorKind::kType, "an NDArray compares with NDArrays and numbers, not with " +
                                      std::string(nb::repr(nb::handle(b).type()).c_str()));
  } catch (...) {
    set_error_from_current();
    return nullptr;
  }
}
PyObject* negative(PyObject* a) noexcept {
  try {
    const NDArray& x = array_from(a);
    return array_to(released_if(x.nbytes() > kWorthReleasing, [&] { return -x; })).release().ptr();
  } catch (...) {
    set_error_from_current();
    return nullptr;
  }
}

// --------------------------------------------------------------------- buffers

struct Exported {
  NDArray array;  // keeps the memory alive even if __setstate__ gives the object another array
  std::vector<std::byte> snapshot;
  std::vector<Py_ssize_t> shape, strides;
};

const char* buffer_format(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return "f";
    case DType::kFloat64: return "d";
    case DType::kFloat16: return "e";
    case DType::kUint8: return "B";
    case DType::kInt32: return "i";
    case DType::kInt8: return "b";
    case DType::kInt64: return "q";
    case DType::kBool: return "?";
    case DType::kInt16: return "h";
    case DType::kUint16:
    case DType::kBFloat16: return "H";
    case DType::kUint32: return "I";
    case DType::kUint64: return "Q";
    case DType::kUnknown: break;
  }
  return "B";
}

// A read-only request gets a copy of the current numbers (np.asarray stays valid when the array
// changes later). A request for a writable buffer gets the memory itself, and after that the array
// counts as changed at every run.
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  try {
    NDArray array = array_from(self);
    if (!array.defined()) throw Error(ErrorKind::kState, "the NDArray is empty");
    const bool write = (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE;
    if (write && !is_writable(self)) {
      PyErr_SetString(PyExc_BufferError, "a read-only NDArray has no writable buffer");
      throw nb::python_error();
    }
    if (write && in_gpu_memory(array.context()))
      throw Error(ErrorKind::kNotImplemented, "a GPU array has no writable buffer; use DLPack");
    auto exported = std::make_unique<Exported>();
    if (write) {
      array.wait_to_read();
      view->buf = array.mutable_data();
    } else {
      exported->snapshot.resize(std::max<std::size_t>(array.nbytes(), 1));
      const nb::gil_scoped_release release;
      array.copy_to_host(exported->snapshot.data(), array.dtype());
      view->buf = exported->snapshot.data();
    }
    Py_ssize_t stride = static_cast<Py_ssize_t>(size_of(array.dtype()));
    view->itemsize = stride;
    exported->strides.resize(static_cast<std::size_t>(array.ndim()));
    for (int axis = array.ndim() - 1; axis >= 0; --axis) {
      exported->strides[static_cast<std::size_t>(axis)] = stride;
      stride *= array.shape()[axis];
    }
    exported->shape.assign(array.shape().begin(), array.shape().end());
    exported->array = array;
    view->obj = Py_NewRef(self);
    view->len = static_cast<Py_ssize_t>(array.nbytes());
    view->readonly = 0;
    view->ndim = array.ndim();
    view->format =
        (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(buffer_format(array.dtype())) : nullptr;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = exported.release();
    return 0;
  } catch (...) {
    view->obj = nullptr;
    set_error_from_current();
    return -1;
  }
}
void release_buffer(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<Exported*>(view->internal);
}

template <auto function>
void* slot() {
  return reinterpret_cast<void*>(function);
}

PyType_Slot kSlots[] = {{Py_nb_add, slot<binary<Operator::kAdd>>()},
                        {Py_nb_subtract, slot<binary<Operator::kSub>>()},
                        {Py_nb_multiply, slot<binary<Operator::kMul>>()},
                        {Py_nb_true_divide, slot<binary<Operator::kDiv>>()},
                        {Py_nb_remainder, slot<binary<Operator::kMod>>()},
                        {Py_nb_power, slot<power>()},
                        {Py_nb_negative, slot<negative>()},
                        {Py_nb_inplace_add, slot<in_place<Operator::kAdd>>()},
                        {Py_nb_inplace_subtract, slot<in_place<Operator::kSub>>()},
                        {Py_nb_inplace_multiply, slot<in_place<Operator::kMul>>()},
                        {Py_nb_inplace_true_divide, slot<in_place<Operator::kDiv>>()},
                        {Py_nb_inplace_remainder, slot<in_place<Operator::kMod>>()},
                        {Py_tp_richcompare, slot<compare>()},
                        {Py_bf_getbuffer, slot<get_buffer>()},
                        {Py_bf_releasebuffer, slot<release_buffer>()},
                        {0, nullptr}};

// ---------------------------------------------------------------- NumPy arrays

// By value because the GIL is released: another thread may give the object another array.
nb::object asnumpy(NDArray array) {
  static nb::object& empty = *new nb::object(nb::module_::import_("numpy").attr("empty"));
  if (!array.defined()) throw Error(ErrorKind::kState, "asnumpy: the NDArray is empty");
  nb::object result = empty(shape_to(array.shape()), dtype_to(array.dtype()));
  if (array.size() == 0) {
    array.wait_to_read();
    return result;
  }
  const Buffer buffer(result, PyBUF_WRITABLE | PyBUF_ANY_CONTIGUOUS);
  released_if(array.nbytes() > kWorthReleasing,
              [&] { array.copy_to_host(buffer.data(), array.dtype()); });
  return result;
}

void copy_from(nb::handle self, nb::handle host, nb::handle dtype) {
  NDArray array = writable_from(self, "the array that is filled");
  const DType type = dtype_from(dtype);
  const Buffer buffer(host, PyBUF_C_CONTIGUOUS);
  buffer.check_holds(type, array.size());
  released_if(buffer.bytes() > kWorthReleasing, [&] { array.copy_from_host(buffer.data(), type); });
}

/// An array that uses the memory of a NumPy array and keeps it alive.
nb::object from_numpy(nb::handle source, nb::handle dtype) {
  const DType type = dtype_from(dtype);
  auto buffer = std::make_unique<Buffer>(source, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
  const Py_buffer& view = buffer->view();
  const Shape shape(std::vector<std::int64_t>(view.shape, view.shape + view.ndim));
  buffer->check_holds(type, shape.size());
  NDArray array = NDArray::wrap(view.buf, shape, type, cpu(), [kept = buffer.get()] {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire acquire;
    delete kept;
  });
  static_cast<void>(buffer.release());
  return array_to(std::move(array));
}

std::vector<Index> key_from(const nb::list& entries) {
  std::vector<Index> key;
  const auto bound = [](nb::handle value) {
    return value.is_none() ? std::nullopt : std::optional(nb::cast<std::int64_t>(value));
  };
  for (const nb::handle entry : entries) {
    if (nb::isinstance<nb::tuple>(entry))
      key.emplace_back(bound(entry[0]), bound(entry[1]),
                       entry[2].is_none() ? 1 : nb::cast<std::int64_t>(entry[2]));
    else
      key.emplace_back(nb::cast<std::int64_t>(entry));
  }
  return key;
}

std::vector<std::byte> bytes_from(nb::handle object) {
  const Buffer buffer(object, PyBUF_C_CONTIGUOUS);
  const auto* first = static_cast<const std::byte*>(buffer.data());
  return {first, first + buffer.bytes()};
}

/// Bytes that are not UTF-8 are kept (surrogateescape), as in Python's file names.
nb::object text_to(const std::string& bytes) {
  nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

nb::tuple named_to(const NamedArrays& loaded) {
  nb::list names;
  for (const std::string& name : loaded.names) names.append(text_to(name));
  return nb::make_tuple(arrays_to(loaded.arrays), names);
}

void bind_class(nb::class_<NDArray>& c) {
  using A = NDArray;
  c.def(nb::init<>())
      .def("_assign", [](A& self, const A& other) { self = other; })
      .def_prop_ro("shape", [](const A& a) { return shape_to(a.shape()); })
      .def_prop_ro("ndim", &A::ndim)
      .def_prop_ro("size", &A::size)
      .def_prop_ro("dtype", [](const A& a) { return dtype_to(a.dtype()); })
      .def_prop_ro("context", [](const A& a) { return context_to(a.context()); })
      .def_prop_ro("_defined", &A::defined)
      .def("asnumpy", &asnumpy, "A copy as a NumPy array. Waits.")
      .def("_copy_from", &copy_from)
      .def("_reshape",
           [](nb::handle self, const std::vector<std::int64_t>& codes, Flag reverse) {
             return view_to(self, array_from(self).reshape(codes, reverse));
           })
      .def("_view",
           [](nb::handle self, nb::handle shape) {
             return view_to(self, array_from(self).reshape(shape_from(shape)));
           })
      .def("_slice",
           [](nb::handle self, std::int64_t begin, std::int64_t end) {
             return view_to(self, array_from(self).slice(begin, end));
           })
      .def("_at",
           [](nb::handle self, std::int64_t i) { return view_to(self, array_from(self).at(i)); })
      .def("_index",
           [](nb::handle self, const nb::list& key) {
             return view_to(self, array_from(self).index(key_from(key)));
           })
      .def("_set", [](nb::handle self, const nb::list& key,
                      const A& value) { writable_from(self).set(key_from(key), value); })
      .def("_set_number", [](nb::handle self, const nb::list& key,
                             double value) { writable_from(self).set(key_from(key), value); })
      .def("_fill", [](nb::handle self, double value) { writable_from(self).set(value); })
      .def("_write", [](nb::handle self, const A& value) { writable_from(self).set(value); })
      .def("_copy_to",
           [](A a, nb::handle to) {
             const NDArray target = writable_from(to, "the target of a copy");
             released_if(a.nbytes() > kWorthReleasing, [&] { a.copy_to(target); });
             if (autograd::is_recording())  // copy autograd's link from the handle to the object
               array_from(to).set_tape(target.tape());
           })
      .def("_copy", [](const A& a) { return array_to(a.copy()); })
      .def("_as_in_context",
           [](nb::handle self, nb::handle context) {
             const A& a = array_from(self);
             const Context to = context_from(context);
             return to == a.context() ? view_to(self, a) : array_to(a.as_in_context(to));
           })
      .def("_astype",
           [](const A& a, nb::handle dtype) { return array_to(a.astype(dtype_from(dtype), true)); })
      .def("_detach", [](nb::handle self) { return view_to(self, array_from(self).detach()); })
      .def("_stand_as", [](const A& a, const A& other) { a.set_tape(other.tape()); })
      .def("_record",
           [](const A& a) {
             const std::vector<std::byte> bytes = to_record(a);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def(
          "wait_to_read",
          [](A a) {
            const nb::gil_scoped_release release;
            a.wait_to_read();
          },
          "Blocks until written; raises the error of the operator that failed to write it.")
      .def("_text", &A::str);
}

}  // namespace

void bind_ndarray(nb::module_& m) {
  nb::class_<NDArray> c(m, "NDArray", nb::type_slots(kSlots), nb::is_weak_referenceable(),
                        nb::dynamic_attr());
  bind_class(c);
  bind_dlpack(m, c);
  m.def(
      "empty",
      [](nb::handle shape, nb::handle context, nb::handle dtype) {
        return array_to(NDArray(shape_from(shape), context_from(context), dtype_from(dtype)));
      },
      nb::arg("shape"), nb::arg("ctx").none(), nb::arg("dtype"));
  m.def(
      "is_ready", [](nb::handle object) { return nb::inst_ready(object); },
      "Whether an object of a bound class is initialised (pickle makes some that are not).");
  m.def("waitall", &waitall, nb::call_guard<nb::gil_scoped_release>());
  m.def("storage_type",
        [](nb::handle array) { return std::string(storage_type(array_from(array))); });
  m.def("set_storage_type", [](nb::handle array, const std::string& type) {
    set_storage_type(array_from(array), type);
  });
  m.def("save", [](const std::string& path, nb::handle arrays) {
    if (nb::isinstance<nb::dict>(arrays)) {
      NamedArrays named;
      for (const auto& [name, array] : nb::cast<nb::dict>(arrays)) {
        named.names.push_back(nb::cast<std::string>(name));
        named.arrays.push_back(array_from(array, "an array to save"));
      }
      const nb::gil_scoped_release release;
      save_in_order(path, named);
    } else {
      const std::vector<NDArray> list = arrays_from(arrays, "an array to save");
      const nb::gil_scoped_release release;
      save(path, list);
    }
  });
  m.def("load", [](const std::string& path) {
    NamedArrays loaded;
    {
      const nb::gil_scoped_release release;
      loaded = load(path);
    }
    return named_to(loaded);
  });
  m.def("load_frombuffer",
        [](nb::handle buffer) { return named_to(load_frombuffer(bytes_from(buffer))); });
  m.def("from_numpy", &from_numpy);
  m.def("from_record", [](nb::handle bytes) { return array_to(from_record(bytes_from(bytes))); });
}

}  // namespace symbind::python
