// Record files: bytes in, bytes out.

#include <symbind/recordio.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "convert.h"

namespace symbind::python {
namespace {

/// Bytes, or any object with the buffer protocol.
class Bytes {
 public:
  explicit Bytes(nb::handle value) {
    if (PyObject_GetBuffer(value.ptr(), &view_, PyBUF_SIMPLE) == 0) return;
    PyErr_Clear();
    throw Error(ErrorKind::kType,
                std::string("a record is bytes, not ") + nb::repr(value.type()).c_str());
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::span<const std::byte> span() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

}  // namespace

void bind_recordio(nb::module_& m) {
  nb::class_<RecordWriter>(m, "RecordWriter")
      .def(nb::init<const std::string&>())
      .def("write",
           [](RecordWriter& writer, nb::handle record) { writer.write(Bytes(record).span()); })
      .def("tell", &RecordWriter::tell)
      .def("close", &RecordWriter::close);
  nb::class_<RecordReader>(m, "RecordReader")
      .def(nb::init<const std::string&, int, int>(), nb::arg("path"), nb::arg("num_parts") = 1,
           nb::arg("part_index") = 0)
      .def("read",
           [](RecordReader& reader) -> nb::object {
             std::vector<std::byte> record;
             if (!reader.next(record)) return nb::none();
             return nb::bytes(record.data(), record.size());
           })
      .def("seek", &RecordReader::seek)
      .def("tell", &RecordReader::tell)
      .def("reset", &RecordReader::reset)
      .def("close", &RecordReader::close);
}

}  // namespace symbind::python
