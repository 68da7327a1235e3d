// Numbers between arrays, contexts and dtypes.
//
// Decided here: dtypes change on the host only, and GPUs exchange numbers through it. Copying from
// an array whose operator failed does not raise; the error is passed to the copy.

#include <vector>

#include <symbind/ndarray.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "device/runtime.h"
#include "ndarray/access.h"
#include "ndarray/convert.h"
#include "ndarray/recorder.h"
#include "ndarray/stored_form.h"

namespace symbind {

bool pass_error(const NDArray& from, const NDArray& to) {
  if (!from.storage()->has_error()) return false;
  std::shared_ptr<PendingError> error = from.storage()->error();
  if (error == nullptr) return false;
  if (from.storage() != to.storage()) to.storage()->set_error(std::move(error));
  return true;
}

namespace {

/// Records a copy as the equivalent operators: for another dtype, for another device.
void record_copied(const NDArray& source, const NDArray& target) {
  const bool moves = source.context() != target.context();
  NDArray here = target;
  if (moves && source.dtype() != target.dtype())
    here = NDArray(source.shape(), source.context(), target.dtype());
  if (source.dtype() != target.dtype())
    record_derived("Cast", {{"dtype", std::string(dtype_name(target.dtype()))}}, {source}, here);
  else if (!moves)
    return record_derived("_copy", {}, {source}, target);
  else
    here = source;
  if (moves)
    record_derived("_CrossDeviceCopy", {}, {here}, target);
  else
    target.set_tape(here.tape());
}

}  // namespace

void NDArray::copy_to(const NDArray& target) const {
  check_defined(*this, "copy_to");
  check_defined(target, "copy_to");
  check_write(target);
  check(
      shape_ == target.shape(), ErrorKind::kShape,
      "copy_to cannot take its target\n  target  given {}   needed {}   because that is the source",
      target.shape().str(), shape_.str());
  if (should_record(*this)) record_copied(*this, target);
  const Unrecorded within;
  if (pass_error(*this, target)) return;
  const bool same_dtype = dtype_ == target.dtype();
  const Context from = context(), to = target.context();
  if (same_dtype && storage_ == target.storage() && offset_ == target.byte_offset()) return;
  if (!in_gpu_memory(from) && !in_gpu_memory(to)) {
    if (same_dtype || !aliases(target)) {
      convert(write_pointer(target), target.dtype(), read_pointer(*this), dtype_, size());
    } else {
      const NDArray apart = copy();
      convert(write_pointer(target), target.dtype(), read_pointer(apart), dtype_, size());
    }
  } else if (same_dtype && from == to) {
    runtime(to).copy(write_pointer(target), read_pointer(*this), nbytes(),
                     CopyKind::kDeviceToDevice);
  } else if (same_dtype && !in_gpu_memory(from)) {
    runtime(to).copy(write_pointer(target), read_pointer(*this), nbytes(), CopyKind::kHostToDevice);
  } else if (same_dtype && !in_gpu_memory(to)) {
    runtime(from).copy(write_pointer(target), read_pointer(*this), nbytes(),
                       CopyKind::kDeviceToHost);
  } else {
    const NDArray host = as_in_context(cpu());
    if (in_gpu_memory(to)) {
      host.astype(target.dtype(), false).copy_to(target);
    } else {
      host.copy_to(target);
    }
  }
}

NDArray NDArray::copy() const {
  check_defined(*this, "copy");
  NDArray result(shape_, context(), dtype_);
  copy_to(result);
  copy_stored_form(*this, result);
  return result;
}

NDArray NDArray::as_in_context(Context context) const {
  check_defined(*this, "as_in_context");
  if (context == this->context()) return *this;
  NDArray result(shape_, context, dtype_);
  copy_to(result);
  copy_stored_form(*this, result);
  return result;
}

NDArray NDArray::astype(DType dtype, bool copy) const {
  check_defined(*this, "astype");
  if (!copy && dtype == dtype_) return *this;
  NDArray result(shape_, context(), dtype);
  copy_to(result);
  return result;
}

void NDArray::copy_to_host(void* out, DType dtype) const {
  check_defined(*this, "copy_to_host");
  wait_to_read();
  if (!in_gpu_memory(context())) {
    convert(out, dtype, read_pointer(*this), dtype_, size());
  } else if (dtype == dtype_) {
    runtime(context()).copy(out, read_pointer(*this), nbytes(), CopyKind::kDeviceToHost);
  } else {
    const NDArray host = as_in_context(cpu());
    convert(out, dtype, read_pointer(host), dtype_, size());
  }
}

void NDArray::copy_from_host(const void* data, DType dtype) {
  check_defined(*this, "copy_from_host");
  check_write(*this);
  if (!in_gpu_memory(context())) {
    convert(write_pointer(*this), dtype_, data, dtype, size());
  } else if (dtype == dtype_) {
    runtime(context()).copy(write_pointer(*this), data, nbytes(), CopyKind::kHostToDevice);
  } else {
    from_host(data, shape_, dtype, cpu()).copy_to(*this);
  }
}

double NDArray::scalar() const {
  check(size() == 1, "only an array of size 1 is a scalar, this one has the shape {}",
        defined() ? shape_.str() : "of NDArray()");
  double value = 0;
  copy_to_host(&value, DType::kFloat64);
  return value;
}

}  // namespace symbind
