#include "convert.h"

#include <array>
#include <utility>

#include <symbind/runtime.h>

namespace symbind::python {
namespace {

// Leaked on purpose: the interpreter may be gone when static objects are destroyed.
nb::dict& types() {
  static nb::dict& all = *new nb::dict;
  return all;
}

PyTypeObject *array_class = nullptr, *symbol_class = nullptr;
nb::object* numpy_types = nullptr;  // by type flag

constexpr std::pair<DType, const char*> kNumpyNames[] = {
    {DType::kFloat32, "float32"}, {DType::kFloat64, "float64"}, {DType::kFloat16, "float16"},
    {DType::kUint8, "uint8"},     {DType::kInt32, "int32"},     {DType::kInt8, "int8"},
    {DType::kInt64, "int64"},     {DType::kBool, "bool_"},      {DType::kInt16, "int16"},
    {DType::kUint16, "uint16"},   {DType::kUint32, "uint32"},   {DType::kUint64, "uint64"},
};

const nb::object& numpy_type(DType dtype) {
  if (numpy_types == nullptr) {
    auto* made = new std::array<nb::object, 13>;
    const nb::module_ numpy = nb::module_::import_("numpy");
    for (const auto& [type, name] : kNumpyNames)
      (*made)[static_cast<std::size_t>(type)] = numpy.attr(name);
    (*made)[static_cast<std::size_t>(DType::kBFloat16)] = registered("bfloat16");
    numpy_types = made->data();
  }
  return numpy_types[static_cast<std::size_t>(dtype)];
}

std::int64_t integer_from(nb::handle value, const char* what) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw Error(ErrorKind::kType,
                std::string(what) + " must be an integer, not " + nb::repr(value.type()).c_str());
  }
  return nb::cast<std::int64_t>(index);
}

bool is_plain_sequence(nb::handle value) {
  return nb::isinstance<nb::tuple>(value) || nb::isinstance<nb::list>(value);
}

}  // namespace

nb::object registered(const char* name) {
  if (!types().contains(name))
    throw nb::attribute_error(
        ("symbind._core: nothing registered as " + std::string(name)).c_str());
  return nb::object(types()[name]);
}

void register_types(const nb::dict& given) {
  for (const auto& [name, type] : given) types()[name] = type;
  if (given.contains("NDArray"))
    array_class = reinterpret_cast<PyTypeObject*>(nb::object(given["NDArray"]).ptr());
  if (given.contains("Symbol"))
    symbol_class = reinterpret_cast<PyTypeObject*>(nb::object(given["Symbol"]).ptr());
}

Shape shape_from(nb::handle value) {
  if (value.is_none()) return Shape::unknown();
  if (PyIndex_Check(value.ptr())) return Shape{integer_from(value, "an extent of a shape")};
  const nb::object items = nb::steal(PySequence_Fast(value.ptr(), ""));
  if (!items.is_valid()) {
    PyErr_Clear();
    throw Error(ErrorKind::kType, "a shape must be a tuple of integers, not " +
                                      std::string(nb::repr(value.type()).c_str()));
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.ptr());
  std::vector<std::int64_t> dims;
  dims.reserve(static_cast<std::size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i)
    dims.push_back(integer_from(PySequence_Fast_GET_ITEM(items.ptr(), i), "an extent of a shape"));
  return Shape(dims);
}

nb::object shape_to(const Shape& shape) {
  const Shape user = to_user(shape);
  if (!user.rank_known()) return nb::none();
  PyObject* tuple = PyTuple_New(user.rank());
  for (int i = 0; i < user.rank(); ++i) PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(user[i]));
  return nb::steal(tuple);
}

namespace {

DType find_dtype(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) {
    const std::string name = nb::cast<std::string>(value);
    if (name == "bfloat16") return DType::kBFloat16;
    try {
      return dtype_from_name(name);
    } catch (const Error&) {
      // perhaps a spelling only NumPy knows ('<f4', 'float')
    }
  }
  if (nb::isinstance<nb::int_>(value)) return dtype_from_name(std::to_string(nb::cast<int>(value)));
  if (value.is(registered("bfloat16"))) return DType::kBFloat16;
  for (const auto& [dtype, name] : kNumpyNames)
    if (value.is(numpy_type(dtype))) return dtype;
  nb::object described;
  try {
    described = nb::module_::import_("numpy").attr("dtype")(value);
  } catch (nb::python_error& error) {
    throw Error(ErrorKind::kType, std::string("no element type: ") + nb::repr(value).c_str());
  }
  if (described.equal(registered("bfloat16"))) return DType::kBFloat16;
  return dtype_from_name(nb::cast<std::string>(described.attr("name")));
}

}  // namespace

DType dtype_from(nb::handle value) {
  static nb::dict& seen = *new nb::dict;  // cache of hashable spellings
  PyObject* known = PyDict_GetItemWithError(seen.ptr(), value.ptr());
  if (known != nullptr) return static_cast<DType>(PyLong_AsLong(known));
  PyErr_Clear();  // not hashable
  const DType dtype = find_dtype(value);
  if (PyObject_Hash(value.ptr()) != -1 && seen.size() < 256) seen[value] = static_cast<int>(dtype);
  PyErr_Clear();
  return dtype;
}

nb::object dtype_to(DType dtype) {
  if (dtype == DType::kUnknown) return nb::none();
  return numpy_type(dtype);
}

Context context_from(nb::handle value) {
  if (value.is_none()) return current_context();
  if (nb::hasattr(value, "device_typeid") && nb::hasattr(value, "device_id"))
    return {static_cast<DeviceType>(nb::cast<int>(value.attr("device_typeid"))),
            nb::cast<int>(value.attr("device_id"))};
  throw Error(ErrorKind::kType,
              std::string("a context is wanted, like mx.cpu(0), not ") + nb::repr(value).c_str());
}

nb::object context_to(Context context) {
  return registered("Context")(static_cast<int>(context.type), context.id);
}

namespace {

std::int64_t texts_made = 0;

/// `depth` lists and tuples are around the value. One that contains itself is deeper than any
/// limit.
std::string text_of(nb::handle value, std::int64_t depth) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (is_plain_sequence(value)) {
    if (depth > 0 && depth >= std::stoll(setting("SYMBIND_LIMIT_NESTING")))
      throw Error(ErrorKind::kValue, "an attribute nests deeper than " +
                                         setting("SYMBIND_LIMIT_NESTING") +
                                         " levels, or contains itself (the environment variable "
                                         "SYMBIND_LIMIT_NESTING sets the limit)");
    const bool tuple = nb::isinstance<nb::tuple>(value);
    std::string text(1, tuple ? '(' : '[');
    std::size_t count = 0;
    for (const nb::handle item : value) {
      if (count++ > 0) text += ", ";
      text += text_of(item, depth + 1);
    }
    if (tuple && count == 1) text += ',';
    return text + (tuple ? ')' : ']');
  }
  static nb::object& dtype_class = *new nb::object(nb::module_::import_("numpy").attr("dtype"));
  if (nb::isinstance<nb::type_object>(value) || nb::isinstance(value, dtype_class)) {
    const DType dtype = dtype_from(value);
    return std::string(dtype_name(dtype));
  }
  return nb::str(value).c_str();
}

}  // namespace

std::string attr_text(nb::handle value) {
  ++texts_made;
  return text_of(value, 0);
}
std::int64_t attr_texts_made() { return texts_made; }

AttrDict attr_dict_from(nb::handle mapping) {
  AttrDict result;
  if (mapping.is_none()) return result;
  for (const auto& [key, value] : nb::cast<nb::dict>(mapping))
    result[nb::cast<std::string>(key)] = attr_text(value);
  return result;
}

bool is_array(nb::handle value) { return nb::isinstance<NDArray>(value); }
bool is_symbol(nb::handle value) { return nb::isinstance<Symbol>(value); }

namespace {

/// Not nb::try_cast: for an uninitialised object it warns and reports that it is not an array.
template <class T>
T* value_in(nb::handle value) {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
  if (!PyObject_TypeCheck(value.ptr(), type)) return nullptr;
  if (!nb::inst_ready(value))
    throw Error(ErrorKind::kType, "the object of " + std::string(nb::repr(value.type()).c_str()) +
                                      " was not initialised: its __init__ must call "
                                      "super().__init__()");
  return nb::inst_ptr<T>(value);
}

}  // namespace

NDArray* array_in(nb::handle value) { return value_in<NDArray>(value); }
Symbol* symbol_in(nb::handle value) { return value_in<Symbol>(value); }

const NDArray& array_from(nb::handle value, const char* what) {
  const NDArray* array = array_in(value);
  if (array == nullptr)
    throw Error(ErrorKind::kType,
                std::string(what) + " must be an NDArray, not " + nb::repr(value.type()).c_str());
  return *array;
}

bool is_writable(nb::handle array) {
  static PyObject* const name = PyUnicode_InternFromString("writable");
  const nb::object flag = nb::steal(PyObject_GetAttr(array.ptr(), name));
  if (!flag.is_valid()) PyErr_Clear();  // an instance of the bound class, not of the Python class
  return !flag.is_valid() || PyObject_IsTrue(flag.ptr()) != 0;
}

NDArray& writable_from(nb::handle value, const char* what) {
  array_from(value, what);
  if (!is_writable(value))
    throw Error(ErrorKind::kValue, std::string(what) +
                                       " is a read-only NDArray, which cannot be "
                                       "written to; copy() makes one that can");
  return *array_in(value);
}

std::vector<NDArray> writables_from(nb::handle sequence, const char* what) {
  std::vector<NDArray> arrays;
  if (sequence.is_none()) return arrays;
  if (is_array(sequence)) return {writable_from(sequence, what)};
  for (const nb::handle item : sequence)
    arrays.push_back(item.is_none() ? NDArray() : writable_from(item, what));
  return arrays;
}

std::vector<NDArray> arrays_from(nb::handle sequence, const char* what) {
  std::vector<NDArray> arrays;
  if (sequence.is_none()) return arrays;
  if (is_array(sequence)) return {array_from(sequence)};
  for (const nb::handle item : sequence)
    arrays.push_back(item.is_none() ? NDArray() : array_from(item, what));
  return arrays;
}

NDArrayMap array_map_from(nb::handle mapping, const char* what) {
  NDArrayMap arrays;
  if (mapping.is_none()) return arrays;
  for (const auto& [key, value] : nb::cast<nb::dict>(mapping))
    if (!nb::handle(value).is_none()) arrays[nb::cast<std::string>(key)] = array_from(value, what);
  return arrays;
}

HeldObject::~HeldObject() {
  if (Py_IsInitialized() == 0) {
    object.release();
    return;
  }
  const nb::gil_scoped_acquire acquire;
  object.reset();
}

template <class T>
nb::object instance_of(PyTypeObject* type, T value) {
  nb::object object = nb::inst_alloc(reinterpret_cast<PyObject*>(type));
  new (nb::inst_ptr<T>(object)) T(std::move(value));
  nb::inst_mark_ready(object);
  return object;
}

nb::object array_to(NDArray array) { return instance_of(array_class, std::move(array)); }
nb::object symbol_to(Symbol symbol) { return instance_of(symbol_class, std::move(symbol)); }

nb::object view_to(nb::handle source, NDArray array) {
  nb::object view = array_to(std::move(array));
  if (!is_writable(source)) view.attr("writable") = false;
  return view;
}

nb::list arrays_to(const std::vector<NDArray>& arrays) {
  nb::list list;
  for (const NDArray& array : arrays) list.append(array.defined() ? array_to(array) : nb::none());
  return list;
}

}  // namespace symbind::python
