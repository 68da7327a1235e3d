// Descriptions of batches: the texts MXNet prints, and which arrays of a batch may be overwritten.
//
// Decided here: an array of a batch is reused only if the batch holds the last handle to all of its
// memory and no pointer to it was ever handed out. So keeping an array, or a NumPy view of it, is
// always safe, and a loop that keeps nothing allocates nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/io.h>

#include "io/batch_arrays.h"
#include "ndarray/storage.h"

namespace symbind {

std::string DataDesc::str() const {
  return fmt::format("DataDesc[{},{},<class 'numpy.{}'>,{}]", name, shape.str(), dtype_name(dtype),
                     layout.empty() ? "None" : layout);
}

int DataDesc::batch_axis(std::string_view layout) {
  if (layout.empty()) return 0;
  const std::size_t at = layout.find('N');
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string DataBatch::str() const {
  const auto shapes = [](const std::vector<NDArray>& arrays) {
    std::vector<std::string> texts;
    for (const NDArray& array : arrays) texts.push_back(array.shape().str());
    return fmt::format("[{}]", fmt::join(texts, ", "));
  };
  return fmt::format("DataBatch: data shapes: {} label shapes: {}", shapes(data),
                     label.empty() ? "None" : shapes(label));
}

std::int64_t DataIter::batch_size() const {
  const std::vector<DataDesc>& data = provide_data();
  if (data.empty()) return 0;
  const int axis = DataDesc::batch_axis(data.front().layout);
  return axis >= 0 && axis < data.front().shape.rank() ? data.front().shape[axis] : 0;
}

const NDArray& writable_array(std::vector<NDArray>& arrays, std::size_t at, const Shape& shape,
                              DType dtype) {
  if (arrays.size() <= at) arrays.resize(at + 1);
  NDArray& array = arrays[at];
  const auto is_ours = [&] {
    const Storage& storage = *array.storage();
    return array.storage().use_count() == 1 && !storage.escaped() && !storage.has_error() &&
           storage.bytes() == array.nbytes() && storage.context() == cpu();
  };
  if (!array.defined() || array.shape() != shape || array.dtype() != dtype || !is_ours())
    array = NDArray(shape, cpu(), dtype);
  return array;
}

}  // namespace symbind
