// MNISTIter: MNIST and data sets in its format (Fashion-MNIST, EMNIST), as MXNet reads them: pixels
// times 1/256, an incomplete last batch dropped.
//
// Decided here: everything is read into memory once and ordered there, so batches are views.
// `shuffle` draws the same order as MXNet 1.9.1, once for all epochs, so a seed gives the same
// order in both.
#include <numeric>
#include <random>

#include <symbind/io.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/settings.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

struct Part {
  std::int64_t begin, end;
};

Part part_of(std::int64_t count, const MNISTIterOptions& o) {
  const double share = static_cast<double>(count) / o.num_parts;
  return {static_cast<std::int64_t>(share * o.part_index),
          static_cast<std::int64_t>(share * (o.part_index + 1))};
}

/// Rows `rows` of an array of bytes, times `scale`, as floats.
NDArray scaled_rows(const NDArray& bytes, const std::vector<std::int64_t>& rows, float scale) {
  Shape shape = bytes.shape();
  shape[0] = static_cast<std::int64_t>(rows.size());
  NDArray result(shape, cpu());
  const std::int64_t row = bytes.shape().count(1);
  const auto* source = reinterpret_cast<const std::uint8_t*>(read_pointer(bytes));
  auto* target = reinterpret_cast<float*>(write_pointer(result));
  for (const std::int64_t r : rows)
    for (std::int64_t i = 0; i < row; ++i)
      *target++ = static_cast<float>(source[r * row + i]) * scale;
  return result;
}

/// The shuffle of the C++ library MXNet was built with, over a Mersenne twister.
void shuffle_as_mxnet(std::vector<std::int64_t>& rows, std::uint32_t seed) {
  std::mt19937 twister(seed);
  for (std::uint32_t i = 1; i < rows.size(); ++i) {
    const std::uint32_t scale = std::mt19937::max() / (i + 1);
    std::uint32_t draw = 0;
    do draw = static_cast<std::uint32_t>(twister());
    while (draw >= scale * (i + 1));
    std::swap(rows[i], rows[draw / scale]);
  }
}

void check_options(const MNISTIterOptions& o) {
  check(o.batch_size > 0, "MNISTIter: batch_size is {}; it must be positive", o.batch_size);
  check(
      o.num_parts > 0 && o.part_index >= 0 && o.part_index < o.num_parts,
      "MNISTIter: part_index is {} and num_parts is {}; it must be at least 0 and below num_parts",
      o.part_index, o.num_parts);
}

}  // namespace

void MNISTIterOptions::describe(AttrVisitor& v) {
  v.field("image", image, "Path of the images, an idx file, plain or gzipped.");
  v.field("label", label, "Path of the labels, an idx file, plain or gzipped.");
  v.field("batch_size", batch_size, "Rows of a batch.").at_least(1);
  v.field("shuffle", shuffle, "Whether to shuffle the rows, once.");
  v.field("flat", flat, "Whether an image is one row of numbers.");
  v.field("seed", seed, "Seed of the random order.");
  v.field("silent", silent, "Whether to log nothing.");
  v.field("num_parts", num_parts, "Number of parts the data is split into.");
  v.field("part_index", part_index, "The part to read.");
  v.field("data_name", data_name, "Name of the data.");
  v.field("label_name", label_name, "Name of the labels.");
}

MNISTIter::MNISTIter(const MNISTIterOptions& o) {
  settings::refresh();
  check_options(o);
  const NDArray images = read_idx(o.image), labels = read_idx(o.label);
  check(images.ndim() == 3, ErrorKind::kIo, "{}: not a file of images: the idx file has shape {}",
        o.image, images.shape().str());
  check(labels.ndim() == 1, ErrorKind::kIo, "{}: not a file of labels: the idx file has shape {}",
        o.label, labels.shape().str());
  check(images.shape()[0] == labels.shape()[0], "{} has {} images, {} has {} labels", o.image,
        images.shape()[0], o.label, labels.shape()[0]);
  const Part part = part_of(images.shape()[0], o);
  check(part.end - part.begin >= o.batch_size,
        "MNISTIter: {} images in part {} of {} of {} do not fill a batch of {}",
        part.end - part.begin, o.part_index, o.num_parts, o.image, o.batch_size);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(part.end - part.begin));
  std::iota(rows.begin(), rows.end(), part.begin);
  if (o.shuffle) shuffle_as_mxnet(rows, static_cast<std::uint32_t>(o.seed));
  NDArray data = scaled_rows(images, rows, 1.0F / 256);
  const Shape& image = images.shape();
  data =
      o.flat ? data.reshape({-1, image[1] * image[2]}) : data.reshape({-1, 1, image[1], image[2]});
  rows_ = std::make_unique<NDArrayIter>(data, scaled_rows(labels, rows, 1),
                                        NDArrayIterOptions{.batch_size = o.batch_size,
                                                           .last_batch_handle = "discard",
                                                           .data_name = o.data_name,
                                                           .label_name = o.label_name});
  if (!o.silent)
    log_info(fmt::format("MNISTIter: load {} images, shuffle={}, shape={}", rows.size(),
                         o.shuffle ? 1 : 0, provide_data().front().shape.str()));
}

MNISTIter::~MNISTIter() = default;
const std::vector<DataDesc>& MNISTIter::provide_data() const { return rows_->provide_data(); }
const std::vector<DataDesc>& MNISTIter::provide_label() const { return rows_->provide_label(); }
void MNISTIter::reset() { rows_->reset(); }
bool MNISTIter::next(DataBatch& batch) { return rows_->next(batch); }
std::optional<StateValue> MNISTIter::state() { return rows_->state(); }
void MNISTIter::set_state(const StateValue& state) { rows_->set_state(state); }

}  // namespace symbind
