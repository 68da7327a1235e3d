// DLPack import and export, in the old form and the versioned one (1.x). The structs are the ABI of
// the DLPack specification; they are defined here to avoid a dependency on its header.

#include <nanobind/stl/pair.h>

#include <symbind/runtime.h>

#include "convert.h"

namespace symbind::python {
namespace {

struct DLDevice {
  std::int32_t type, id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct Managed {
  DLTensor tensor;
  void* manager;
  void (*deleter)(Managed*);
};
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* manager;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  DLTensor tensor;
};

constexpr std::int32_t kDLCpu = 1, kDLCuda = 2, kDLCudaHost = 3;
constexpr std::uint64_t kReadOnly = 1, kCopied = 2;
constexpr std::uint32_t kMajor = 1, kMinor = 0;
constexpr std::int32_t kMostAxes = 64;  // as NumPy
constexpr const char *kName = "dltensor", *kVersionedName = "dltensor_versioned";

constexpr struct {
  DType dtype;
  DLDataType dl;
} kTypes[] = {
    {DType::kFloat32, {2, 32, 1}},  {DType::kFloat64, {2, 64, 1}}, {DType::kFloat16, {2, 16, 1}},
    {DType::kUint8, {1, 8, 1}},     {DType::kInt32, {0, 32, 1}},   {DType::kInt8, {0, 8, 1}},
    {DType::kInt64, {0, 64, 1}},    {DType::kBool, {6, 8, 1}},     {DType::kInt16, {0, 16, 1}},
    {DType::kUint16, {1, 16, 1}},   {DType::kUint32, {1, 32, 1}},  {DType::kUint64, {1, 64, 1}},
    {DType::kBFloat16, {4, 16, 1}},
};

DLDevice device_of(const NDArray& array) {
  const Context context = array.context();
  if (in_gpu_memory(context)) return {kDLCuda, context.id};
  switch (context.type) {
    case DeviceType::kCpuPinned: return {kDLCudaHost, 0};
    default: return {kDLCpu, 0};
  }
}

/// What an exported tensor keeps alive.
template <class M>
struct Holder {
  NDArray array;
  std::vector<std::int64_t> shape, strides;
  M managed{};
};

template <class M>
M* export_tensor(NDArray array) {
  auto holder = std::make_unique<Holder<M>>();
  array.wait_to_read();
  DLTensor& t = holder->managed.tensor;
  t.data = array.mutable_data();
  t.device = device_of(array);
  t.ndim = array.ndim();
  for (const auto& [dtype, dl] : kTypes)
    if (dtype == array.dtype()) t.dtype = dl;
  holder->shape = array.shape().dims();
  holder->strides.resize(holder->shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = holder->shape.size(); axis-- > 0;) {
    holder->strides[axis] = stride;
    stride *= holder->shape[axis];
  }
  t.shape = holder->shape.data();
  t.strides = holder->strides.data();
  t.byte_offset = 0;
  holder->array = std::move(array);
  holder->managed.manager = holder.get();
  holder->managed.deleter = [](M* m) { delete static_cast<Holder<M>*>(m->manager); };
  return &holder.release()->managed;
}

template <class M>
void delete_unused(PyObject* capsule) {
  const char* name = std::is_same_v<M, Managed> ? kName : kVersionedName;
  if (PyCapsule_IsValid(capsule, name) == 0) return;  // a consumer took it
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class M>
nb::object capsule_of(M* managed) {
  const char* name = std::is_same_v<M, Managed> ? kName : kVersionedName;
  PyObject* capsule = PyCapsule_New(managed, name, delete_unused<M>);
  if (capsule == nullptr) managed->deleter(managed);
  return nb::steal(capsule);
}

[[noreturn]] void fail_buffer(const std::string& text) {
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw nb::python_error();
}

std::pair<int, int> pair_from(nb::handle value, const char* what) {
  std::pair<int, int> pair;
  if (!nb::try_cast(value, pair))
    throw Error(ErrorKind::kType, std::string("__dlpack__: ") + what +
                                      " is a tuple of two integers, not " +
                                      nb::repr(value).c_str());
  return pair;
}

/// The versioned form marks a read-only array; the old form has no flag and gets a copy.
nb::object to_dlpack(nb::handle self, bool versioned, bool copy) {
  const NDArray& array = array_from(self);
  if (!array.defined()) throw Error(ErrorKind::kState, "__dlpack__: the NDArray is empty");
  const bool writable = is_writable(self);
  copy = copy || (!versioned && !writable);
  NDArray source = copy ? array.copy() : array;
  if (!versioned) return capsule_of(export_tensor<Managed>(std::move(source)));
  auto* managed = export_tensor<ManagedVersioned>(std::move(source));
  managed->major = kMajor;
  managed->minor = kMinor;
  managed->flags = copy ? kCopied : writable ? 0 : kReadOnly;
  return capsule_of(managed);
}

nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                  nb::handle copy) {
  const DLDevice device = device_of(array_from(self));
  if (!stream.is_none() && device.type != kDLCuda)
    fail_buffer("__dlpack__: a CPU array belongs to no stream, but stream is " +
                std::string(nb::repr(stream).c_str()));
  if (!dl_device.is_none()) {
    const auto [type, id] = pair_from(dl_device, "dl_device");
    if (type != device.type || id != device.id)
      fail_buffer("__dlpack__: the array is on DLPack device (" + std::to_string(device.type) +
                  ", " + std::to_string(device.id) + "), not on (" + std::to_string(type) + ", " +
                  std::to_string(id) + "); copy it there first");
  }
  const bool versioned = !max_version.is_none() && pair_from(max_version, "max_version").first >= 1;
  if (!copy.is_none() && !nb::cast<bool>(copy) && !versioned && !is_writable(self))
    fail_buffer(
        "__dlpack__: a read-only array is copied unless max_version is (1, 0) or above, "
        "and copy is False");
  return to_dlpack(self, versioned, !copy.is_none() && nb::cast<bool>(copy));
}

bool is_contiguous(const DLTensor& t) {
  if (t.strides == nullptr) return true;
  std::int64_t stride = 1;
  for (std::int32_t axis = t.ndim; axis-- > 0;) {
    if (t.shape[axis] != 1 && t.strides[axis] != stride) return false;
    stride *= t.shape[axis];
  }
  return true;
}

/// Memory that does not begin at a multiple of the element size is copied byte by byte.
NDArray copy_of(const void* data, const NDArray& array, bool aligned) {
  if (aligned || in_gpu_memory(array.context())) return array.copy();
  return NDArray::from_host(data, array.shape(), array.dtype(), cpu());
}

/// The shape, after checking every field that a producer may set wrongly.
Shape checked_shape(const DLTensor& t, DType dtype) {
  if (t.ndim < 0 || t.ndim > kMostAxes || (t.ndim > 0 && t.shape == nullptr))
    throw Error(ErrorKind::kValue,
                "from_dlpack: a tensor of " + std::to_string(t.ndim) + " axes, or without a shape");
  std::int64_t bytes = static_cast<std::int64_t>(size_of(dtype));
  bool is_empty = false, overflows = false;
  for (std::int32_t axis = 0; axis < t.ndim; ++axis) {
    if (t.shape[axis] < 0)
      throw Error(ErrorKind::kValue, "from_dlpack: an extent of " + std::to_string(t.shape[axis]));
    is_empty = is_empty || t.shape[axis] == 0;
    overflows = overflows || __builtin_mul_overflow(bytes, t.shape[axis], &bytes);
  }
  if (!is_empty && (overflows || t.data == nullptr))
    throw Error(ErrorKind::kValue,
                "from_dlpack: the tensor is larger than memory can be, or has "
                "no memory");
  return Shape(std::span<const std::int64_t>(t.shape, static_cast<std::size_t>(t.ndim)));
}

template <class M>
nb::object take(nb::handle capsule, const char* name, const char* used) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), name));
  bool read_only = false;
  if constexpr (std::is_same_v<M, ManagedVersioned>) {
    if (managed->major != kMajor)  // the rest of the struct is unknown then
      throw Error(ErrorKind::kValue, "from_dlpack: the capsule is of DLPack version " +
                                         std::to_string(managed->major) + "." +
                                         std::to_string(managed->minor) + "; 1.x is read here");
    read_only = (managed->flags & kReadOnly) != 0;
  }
  const DLTensor& t = managed->tensor;
  DType dtype = DType::kUnknown;
  for (const auto& [ours, dl] : kTypes)
    if (dl.code == t.dtype.code && dl.bits == t.dtype.bits && t.dtype.lanes == 1) dtype = ours;
  if (dtype == DType::kUnknown)
    throw Error(ErrorKind::kType, "from_dlpack: element type code " + std::to_string(t.dtype.code) +
                                      " with " + std::to_string(t.dtype.bits) + " bits and " +
                                      std::to_string(t.dtype.lanes) + " lanes is not known here");
  const Shape shape = checked_shape(t, dtype);
  if (shape.size() > 0 && !is_contiguous(t))
    throw Error(ErrorKind::kValue, "from_dlpack: the tensor is not contiguous; copy it first");
  const bool cuda = t.device.type == kDLCuda;
  if (!cuda && t.device.type != kDLCpu && t.device.type != kDLCudaHost)
    throw Error(ErrorKind::kValue, "from_dlpack: DLPack device type " +
                                       std::to_string(t.device.type) + " is neither CPU nor CUDA");
  if (cuda && (t.device.id < 0 || t.device.id >= num_gpus() || !in_gpu_memory(gpu(t.device.id))))
    throw Error(ErrorKind::kValue, "from_dlpack: the tensor is on CUDA device " +
                                       std::to_string(t.device.id) +
                                       ", whose memory is not in reach here");
  if (t.byte_offset > PTRDIFF_MAX)
    throw Error(ErrorKind::kValue,
                "from_dlpack: a byte_offset of " + std::to_string(t.byte_offset));
  void* data = static_cast<char*>(t.data) + t.byte_offset;
  NDArray array = NDArray::wrap(data, shape, dtype, cuda ? gpu(t.device.id) : cpu(), [managed] {
    // The producer's deleter may be Python.
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire acquire;
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  PyCapsule_SetName(capsule.ptr(), used);
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  // Arrays here can be written, and kernels read whole elements.
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) == 0;
  return array_to(read_only || !aligned ? copy_of(data, array, aligned) : std::move(array));
}

nb::object from_dlpack(nb::object source) {
  if (nb::hasattr(source, "__dlpack__")) {
    try {
      source = source.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(kMajor, kMinor));
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      source = source.attr("__dlpack__")();
    }
  }
  if (PyCapsule_IsValid(source.ptr(), kVersionedName) != 0)
    return take<ManagedVersioned>(source, kVersionedName, "used_dltensor_versioned");
  if (PyCapsule_IsValid(source.ptr(), kName) != 0)
    return take<Managed>(source, kName, "used_dltensor");
  throw Error(ErrorKind::kValue,
              "from_dlpack wants an object with __dlpack__ or an unused DLPack capsule, not " +
                  std::string(nb::repr(source).c_str()));
}

}  // namespace

void bind_dlpack(nb::module_& m, nb::handle array_class) {
  auto c = nb::borrow<nb::class_<NDArray>>(array_class);
  c.def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
        nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
        nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const NDArray& array) {
        const DLDevice device = device_of(array);
        return nb::make_tuple(device.type, device.id);
      });
  m.def("to_dlpack", [](nb::handle self, bool for_write) {
    if (for_write) writable_from(self, "the array of a capsule for writing");
    return to_dlpack(self, false, false);
  });
  m.def("from_dlpack", &from_dlpack);
}

}  // namespace symbind::python
