// Writing MXNet's array files: V2 records, which every MXNet since 0.12 reads, on cpu(0).
//
// Decided here: a scalar of rank 0 has no V2 form and becomes V3 (MXNet reads it under np_shape
// only; the log says so); NDArray() becomes V2's empty record. An array loaded as sparse is written
// as sparse (stored_form.h).

#include "ndarray/params_write.h"

#include <cstring>
#include <string_view>

#include <symbind/log.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "ndarray/access.h"
#include "ndarray/params_format.h"
#include "ndarray/stored_form.h"

namespace symbind {
namespace {

/// A FileWriter's interface over memory.
class MemoryWriter {
 public:
  void write(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  template <class T>
  void put(T value) {
    write(&value, sizeof value);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

template <class Writer>
void put_shape(Writer& out, const Shape& shape) {
  out.put(static_cast<std::int32_t>(shape.rank()));
  for (const std::int64_t dim : shape) out.put(dim);
}

template <class Writer>
void put_data(Writer& out, const NDArray& host) {
  if (host.nbytes() > 0) out.write(read_pointer(host), host.nbytes());
}

/// The stored elements of `host`, in the order of the index.
NDArray stored_values(const NDArray& host, const StoredForm& form) {
  const auto places = form.index.back().to_vector<std::int64_t>();
  const bool rows = form.type == params::kRowSparse;
  Shape shape = rows ? host.shape() : Shape{0};
  shape[0] = static_cast<std::int64_t>(places.size());
  NDArray values(shape, cpu(), host.dtype());
  const std::size_t item =
      size_of(host.dtype()) * static_cast<std::size_t>(rows ? host.shape().count(1) : 1);
  std::byte* to = write_pointer(values);
  const auto copy = [&](std::int64_t from) {
    if (item > 0) std::memcpy(to, read_pointer(host) + static_cast<std::size_t>(from) * item, item);
    to += item;
  };
  if (rows) {
    for (const std::int64_t row : places) copy(row);
    return values;
  }
  const auto starts = form.index.front().to_vector<std::int64_t>();
  for (std::size_t r = 0; r + 1 < starts.size(); ++r)
    for (std::int64_t i = starts[r]; i < starts[r + 1]; ++i)
      copy(static_cast<std::int64_t>(r) * host.shape()[1] + places[static_cast<std::size_t>(i)]);
  return values;
}

template <class Writer>
void put_sparse(Writer& out, const NDArray& host, const StoredForm& form) {
  const NDArray values = stored_values(host, form);
  out.put(is_np_shape() ? params::kV3 : params::kV2);
  out.put(std::int32_t{form.type});
  put_shape(out, values.shape());
  put_shape(out, host.shape());
  out.put(static_cast<std::int32_t>(DeviceType::kCpu));
  out.put(std::int32_t{0});
  out.put(static_cast<std::int32_t>(host.dtype()));
  for (const NDArray& one : form.index) {
    out.put(static_cast<std::int32_t>(one.dtype()));
    put_shape(out, one.shape());
  }
  put_data(out, values);
  for (const NDArray& one : form.index) put_data(out, one);
}

template <class Writer>
void put_record(Writer& out, const NDArray& array) {
  if (array.defined()) array.wait_to_read();
  if (const auto form = current_form(array))
    return put_sparse(out, array.as_in_context(cpu()), *form);
  const int rank = array.defined() ? array.ndim() : 0;
  const bool scalar = array.defined() && rank == 0;
  const bool v3 = scalar || is_np_shape();
  if (scalar) log_debug("a scalar is saved as a V3 record: MXNet reads it under np_shape only");
  out.put(v3 ? params::kV3 : params::kV2);
  out.put(std::int32_t{params::kDense});
  out.put(static_cast<std::int32_t>(v3 && !array.defined() ? -1 : rank));
  if (!array.defined()) return;
  for (const std::int64_t dim : array.shape()) out.put(dim);
  out.put(static_cast<std::int32_t>(DeviceType::kCpu));
  out.put(std::int32_t{0});
  out.put(static_cast<std::int32_t>(array.dtype()));
  put_data(out, in_gpu_memory(array.context()) ? array.as_in_context(cpu()) : array);
}

}  // namespace

void put_arrays(FileWriter& out, const NamedArrays& arrays) {
  const std::size_t names = arrays.names.size(), count = arrays.arrays.size();
  check(names == 0 || names == count, "save was given {} names for {} arrays", names, count);
  out.put(params::kListMagic);
  out.put(std::uint64_t{0});
  out.put(static_cast<std::uint64_t>(count));
  for (const NDArray& array : arrays.arrays) put_record(out, array);
  out.put(static_cast<std::uint64_t>(names));
  for (const std::string& name : arrays.names) {
    out.put(static_cast<std::uint64_t>(name.size()));
    out.write(name);
  }
}

NamedArrays in_name_order(const NDArrayMap& arrays) {
  NamedArrays named;
  for (const auto& [name, array] : arrays) {
    named.names.push_back(name);
    named.arrays.push_back(array);
  }
  return named;
}

void save(const std::string& path, const NDArrayMap& arrays) {
  write_file_atomic(path, [&](FileWriter& out) { put_arrays(out, in_name_order(arrays)); });
}

void save(const std::string& path, const std::vector<NDArray>& arrays) {
  write_file_atomic(path,
                    [&](FileWriter& out) { put_arrays(out, {.names = {}, .arrays = arrays}); });
}

std::vector<std::byte> to_record(const NDArray& array) {
  MemoryWriter out;
  put_record(out, array);
  return out.take();
}

}  // namespace symbind
