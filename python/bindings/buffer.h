#pragma once
// Memory of Python objects.

#include <bit>
#include <string>

#include <nanobind/nanobind.h>

#include <symbind/dtype.h>
#include <symbind/error.h>

namespace symbind::python {

/// A contiguous buffer of another object, released with this.
class Buffer {
 public:
  Buffer(nanobind::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags | PyBUF_FORMAT) != 0)
      throw nanobind::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return view_.buf; }
  std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }

  const Py_buffer& view() const { return view_; }

  /// Throws unless it holds exactly `count` elements of this type in this machine's byte order.
  void check_holds(DType dtype, std::int64_t count) const {
    const std::string format = view_.format == nullptr ? "B" : view_.format;
    if (format.find_first_of(kOtherOrder) != std::string::npos)
      throw Error(ErrorKind::kType,
                  "the elements of a buffer (format '" + format +
                      "') are in another byte order than this machine's; convert them first: "
                      "array.astype(array.dtype.newbyteorder('='))");
    const std::size_t needed = static_cast<std::size_t>(count) * size_of(dtype);
    if (bytes() != needed)
      throw Error(ErrorKind::kShape,
                  "given " + std::to_string(bytes()) + " bytes, needed " + std::to_string(needed));
  }

 private:
  static constexpr const char* kOtherOrder =
      std::endian::native == std::endian::little ? ">!" : "<";
  Py_buffer view_{};
};

}  // namespace symbind::python
