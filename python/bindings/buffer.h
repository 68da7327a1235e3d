#pragma once
// Memory of Python objects.

#include <nanobind/nanobind.h>

namespace symbind::python {

/// A contiguous buffer of somebody else, released when this goes.
class Buffer {
 public:
  Buffer(nanobind::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nanobind::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return view_.buf; }
  std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

}  // namespace symbind::python
