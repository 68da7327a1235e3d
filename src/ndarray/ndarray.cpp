// Construction and views of arrays. A view shares storage and differs in shape and offset only;
// only the constructors from host memory copy numbers.

#include <symbind/ndarray.h>
#include <symbind/runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "device/runtime.h"
#include "ndarray/access.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"
#include "ndarray/recorder.h"
#include "ndarray/reshape_codes.h"

namespace symbind {

void check_extents(const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 47;  // bytes a process can address
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent <= 0) continue;
    if (extent > kMost / product)
      fail(ErrorKind::kMemory,
           "the shape {} has more elements than any memory: its extents multiply to more than 2^47",
           shape.str());
    product *= extent;
  }
}

std::size_t bytes_of(const Shape& shape, DType dtype) {
  const std::size_t item = size_of(dtype);
  check(item > 0, ErrorKind::kType, "an array needs a known dtype");
  const auto count = static_cast<std::size_t>(shape.size());
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / item)
    fail(ErrorKind::kMemory, "an array of shape {} and dtype {} is beyond what can be addressed",
         shape.str(), dtype_name(dtype));
  check_extents(shape);
  return count * item;
}

void check_defined(const NDArray& array, const char* what) {
  check(array.defined(), ErrorKind::kState, "{}: the array is empty (made by NDArray())", what);
}

NDArray::NDArray(const Shape& shape, Context context, DType dtype)
    : storage_(Storage::allocate(context, bytes_of(shape, dtype))), shape_(shape), dtype_(dtype) {}

NDArray::NDArray(std::initializer_list<float> values, const Shape& shape, Context context) {
  check_count(values.size(), shape);
  *this = from_host(values.begin(), shape, DType::kFloat32, context);
}

NDArray::NDArray(std::shared_ptr<Storage> storage, const Shape& shape, DType dtype,
                 std::size_t byte_offset)
    : storage_(std::move(storage)), shape_(shape), dtype_(dtype), offset_(byte_offset) {
  const std::size_t bytes = bytes_of(shape, dtype);
  check(storage_ != nullptr, ErrorKind::kState, "an array needs a storage");
  if (offset_ > storage_->bytes() || bytes > storage_->bytes() - offset_)
    fail(ErrorKind::kShape, "shape {} at byte {} is beyond a storage of {} bytes", shape.str(),
         offset_, storage_->bytes());
}

NDArray NDArray::zeros(const Shape& shape, Context context, DType dtype) {
  NDArray array(shape, context, dtype);
  runtime(context).zero(write_pointer(array), array.nbytes());
  return array;
}

NDArray NDArray::ones(const Shape& shape, Context context, DType dtype) {
  return full(shape, 1, context, dtype);
}

NDArray NDArray::full(const Shape& shape, double value, Context context, DType dtype) {
  NDArray array(shape, context, dtype);
  array.set(value);
  return array;
}

NDArray NDArray::arange(double start, double stop, double step, Context context, DType dtype) {
  check(step != 0, "arange needs a step other than 0");
  const double count = std::ceil((stop - start) / step);
  check(std::isfinite(count) && count < 0x1p53, "arange from {} to {} by {} has no usable length",
        start, stop, step);
  const auto n = static_cast<std::int64_t>(std::max(count, 0.0));
  NDArray host(Shape{n}, cpu(), dtype);
  dispatch_dtype(dtype, [&]<class T>() {
    auto* out = reinterpret_cast<T*>(write_pointer(host));
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = convert_element<T>(start + static_cast<double>(i) * step);
  });
  if (context == cpu()) return host;
  return from_host(read_pointer(host), host.shape(), dtype, context);
}

NDArray NDArray::from_host(const void* data, const Shape& shape, DType dtype, Context context) {
  NDArray array(shape, context, dtype);
  array.copy_from_host(data, dtype);
  return array;
}

NDArray NDArray::wrap(void* data, const Shape& shape, DType dtype, Context context,
                      std::function<void()> on_release) {
  auto storage = Storage::wrap(data, bytes_of(shape, dtype), context, std::move(on_release));
  storage->mark_escaped();
  return {std::move(storage), shape, dtype};
}

void NDArray::check_count(std::size_t count, const Shape& shape) {
  check(static_cast<std::int64_t>(count) == shape.size(), ErrorKind::kShape,
        "given {} numbers, needed {} for the shape {}", count, shape.size(), shape.str());
}

std::int64_t NDArray::size() const { return defined() ? shape_.size() : 0; }

std::size_t NDArray::nbytes() const { return static_cast<std::size_t>(size()) * size_of(dtype_); }

Context NDArray::context() const {
  check_defined(*this, "context");
  return storage_->context();
}

bool NDArray::aliases(const NDArray& other) const {
  if (!defined() || storage_ != other.storage_) return false;
  return offset_ < other.offset_ + other.nbytes() && other.offset_ < offset_ + nbytes();
}

namespace {

NDArray reshaped(const NDArray& source, NDArray view) {
  if (should_record(source) && source.shape() == view.shape())
    view.set_tape(source.tape());
  else if (should_record(source))
    record_derived("Reshape", {{"shape", view.shape().str()}}, {source}, view);
  return view;
}

}  // namespace

NDArray NDArray::reshape(const std::vector<std::int64_t>& codes, bool reverse) const {
  check_defined(*this, "reshape");
  return reshaped(*this, {storage_, apply_reshape_codes(shape_, codes, reverse), dtype_, offset_});
}

NDArray NDArray::reshape(const Shape& shape) const {
  check_defined(*this, "reshape");
  check(shape.size() == size(), ErrorKind::kShape,
        "cannot reshape {} into {}: given {} elements, needed {}", shape_.str(), shape.str(),
        size(), shape.size());
  return reshaped(*this, {storage_, shape, dtype_, offset_});
}

NDArray NDArray::slice(std::int64_t begin, std::int64_t end) const {
  check_defined(*this, "slice");
  check(ndim() > 0, ErrorKind::kIndex, "a scalar has no axis to slice");
  const std::int64_t rows = shape_[0];
  const std::int64_t first = begin < 0 ? begin + rows : begin;
  const std::int64_t last = end < 0 ? end + rows : end;
  check(first >= 0 && first <= last && last <= rows, ErrorKind::kIndex,
        "slice {}:{} is out of bounds for axis 0 with size {}", begin, end, rows);
  Shape shape = shape_;
  shape[0] = last - first;
  const std::int64_t row = shape_.count(1);
  NDArray view(storage_, shape, dtype_,
               offset_ + static_cast<std::size_t>(first * row) * size_of(dtype_));
  if (should_record(*this))
    record_derived("slice_axis",
                   {{"axis", "0"}, {"begin", std::to_string(first)}, {"end", std::to_string(last)}},
                   {*this}, view);
  return view;
}

NDArray NDArray::detach() const {
  NDArray apart = *this;
  apart.tape_ = {};
  return apart;
}

NDArray NDArray::at(std::int64_t i) const { return index({Index(i)}); }

void NDArray::wait_to_read() const {
  if (!defined()) return;
  if (in_gpu_memory(storage_->context())) runtime(storage_->context()).synchronize();
  if (std::optional<Error> error = storage_->take_error()) throw *std::move(error);
}

const void* NDArray::data() const {
  check_defined(*this, "data");
  return read_pointer(*this);
}

void* NDArray::mutable_data() {
  check_defined(*this, "mutable_data");
  check_write(*this);
  storage_->mark_escaped();
  return write_pointer(*this);
}

}  // namespace symbind
