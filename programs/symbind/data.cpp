// From what --data names to arrays with the network's names.

#include "data.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <symbind/datasets.h>

#include "arrays.h"
#include "model.h"

namespace symbind::program {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_idx(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.find("-idx") != std::string::npos || name.find(".idx") != std::string::npos ||
         name.ends_with("ubyte") || name.ends_with("ubyte.gz");
}

bool is_libsvm(const std::string& path) {
  return path.ends_with(".libsvm") || path.ends_with(".svm");
}

bool is_image_set(const std::string& name) { return name == "mnist" || name == "fashion-mnist"; }

/// A file of a folder in MNIST's form, plain or gzipped.
std::string idx_file(const std::string& folder, const std::string& name) {
  for (const std::string& path : {folder + "/" + name, folder + "/" + name + ".gz"}) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path;
  }
  fail(ErrorKind::kIo, fmt::format("the folder '{}' has no {} (nor .gz); a folder of data has "
                                   "MNIST's four files",
                                   folder, name));
}

struct Paths {
  std::string images, labels;
};

Paths idx_paths(const std::string& data, Part part) {
  const bool train = part == Part::kTrain;
  if (is_image_set(data)) {
    const datasets::ImageSet set = datasets::find_images(data);
    return train ? Paths{set.train_images, set.train_labels}
                 : Paths{set.test_images, set.test_labels};
  }
  const std::string stem = train ? "train" : "t10k";
  return {idx_file(data, stem + "-images-idx3-ubyte"), idx_file(data, stem + "-labels-idx1-ubyte")};
}

/// Pictures as MXNet's MNISTIter gives them, but for the scale: (n, 1, height, width).
NDArray pictures(const NDArray& bytes) {
  const Shape& shape = bytes.shape();
  const NDArray numbers = bytes.astype(DType::kFloat32);
  return shape.rank() == 3 ? numbers.reshape({shape[0], 1, shape[1], shape[2]}) : numbers;
}

/// Labels from a separate file.
NDArray read_label(const std::string& path) {
  if (is_idx(path)) return read_idx(path).astype(DType::kFloat32);
  if (path.ends_with(".csv")) {
    const NDArray rows = read_csv(path, "").data;
    return rows.shape()[1] == 1 ? rows.reshape({rows.shape()[0]}) : rows;
  }
  const NamedArrays arrays = read_arrays(path);
  if (arrays.arrays.size() != 1)
    fail(ErrorKind::kValue,
         fmt::format("'{}' has {} arrays; a label file has one", path, arrays.arrays.size()));
  return arrays.arrays.front().astype(DType::kFloat32);
}

NDArray scaled(const NDArray& data, const std::string& scale, double otherwise) {
  const double factor = scale.empty() ? otherwise : parse_number(scale, "scale");
  return factor == 1 ? data : data * factor;
}

NDArray shaped(const NDArray& data, const std::string& shape, const std::string& source) {
  if (shape.empty()) return data;
  const Shape one = parse_shape(shape, "shape");
  const std::int64_t count = data.shape()[0];
  if (data.size() != count * one.size())
    fail(ErrorKind::kShape,
         fmt::format("'{}' has {} numbers per example, and the shape {} has {}", source,
                     count == 0 ? 0 : data.size() / count, one.str(), one.size()));
  Shape all{count};
  for (const std::int64_t extent : one) all.push_back(extent);
  return data.reshape(all);
}

/// The arrays of a file by name: those that the network takes, with `label` for its label.
void take_named(const NamedArrays& arrays, const DataSource& source, const Symbol& symbol,
                const std::string& label_name, Examples& examples) {
  const std::vector<std::string> arguments = symbol.list_arguments();
  for (std::size_t i = 0; i < arrays.arrays.size(); ++i) {
    std::string name = arrays.names.size() > i ? arrays.names[i] : "";
    for (const char* prefix : {"arg:", "aux:"})
      if (name.starts_with(prefix)) name = name.substr(4);
    if (name.empty() || arrays.arrays.size() == 1) name = source.data_name;
    if (name == "label") name = label_name;
    const NDArray array = arrays.arrays[i].astype(DType::kFloat32);
    if (std::ranges::find(arguments, name) == arguments.end())
      fail(ErrorKind::kName,
           fmt::format("'{}' has an array '{}', which is no input of the network{}", source.data,
                       name, nearest_hint(name, arguments)));
    if (name == label_name)
      examples.label[name] = array;
    else
      examples.data[name] = scaled(array, source.scale, 1);
  }
}

void check_counts(Examples& examples) {
  const auto rows = [&](const NDArray& array, const std::string& name) {
    if (array.ndim() < 1 || array.shape()[0] == 0)
      fail(ErrorKind::kShape, fmt::format("'{}': '{}' of shape {} has no rows", examples.source,
                                          name, array.shape().str()));
    return array.shape()[0];
  };
  examples.count = rows(examples.data.begin()->second, examples.data.begin()->first);
  for (const NDArrayMap* arrays : {&examples.data, &examples.label})
    for (const auto& [name, array] : *arrays)
      if (rows(array, name) != examples.count)
        fail(ErrorKind::kShape,
             fmt::format("'{}': '{}' has {} rows, and '{}' has {}; each example needs one of both",
                         examples.source, examples.data.begin()->first, examples.count, name,
                         array.shape()[0]));
}

/// Every example once, in order.
class EvalIter final : public DataIter {
 public:
  EvalIter(const Examples& examples, std::int64_t batch_size, std::int64_t devices)
      : examples_(examples), batch_size_(batch_size), devices_(devices) {
    for (const auto& [name, array] : examples.data) data_.push_back(describe(name, array));
    for (const auto& [name, array] : examples.label) label_.push_back(describe(name, array));
  }
  const std::vector<DataDesc>& provide_data() const override { return data_; }
  const std::vector<DataDesc>& provide_label() const override { return label_; }
  void reset() override { row_ = 0; }
  bool next(DataBatch& batch) override {
    if (row_ >= examples_.count) return false;
    std::int64_t end = std::min(examples_.count, row_ + batch_size_);
    if (examples_.count - end < devices_) end = examples_.count;
    batch = {};
    for (const auto& [name, array] : examples_.data) batch.data.push_back(array.slice(row_, end));
    for (const auto& [name, array] : examples_.label) batch.label.push_back(array.slice(row_, end));
    row_ = end;
    return true;
  }

 private:
  DataDesc describe(const std::string& name, const NDArray& array) const {
    Shape shape = array.shape();
    shape[0] = batch_size_;
    return {name, shape, array.dtype()};
  }

  Examples examples_;
  std::int64_t batch_size_, devices_, row_ = 0;
  std::vector<DataDesc> data_, label_;
};

void keep_first(Examples& examples, std::int64_t most) {
  if (most == 0 || most >= examples.count) return;
  examples.count = most;
  for (NDArrayMap* arrays : {&examples.data, &examples.label})
    for (auto& [name, array] : *arrays) array = array.slice(0, most);
}

}  // namespace

void add_data_flags(CLI::App* command, DataSource& source) {
  command->add_option("--data", source.data, kDataHelp);
  command->add_option("--label", source.label, "Labels in a separate file");
  command->add_option("--label-column", source.label_column,
                      "Column of a CSV file that is the label: a name or a number from 0");
  command->add_option("--shape", source.shape, "Shape of one example, e.g. 1,28,28");
  command->add_option("--scale", source.scale,
                      "Multiplies the data; 1/256 for idx files by default, else 1");
  command->add_option("--examples", source.examples, "Use only the first so many; 0: all")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--data-name", source.data_name, "The network's data input");
  command->add_option("--label-name", source.label_name, "The network's label input");
}

bool has_test_part(const std::string& data) {
  return is_image_set(data) || data == "shapes" || is_folder(data);
}

Examples read_examples(const DataSource& source, Part part, const Symbol& symbol) {
  if (source.data.empty()) throw UsageError("no data are given: use --data");
  Examples examples;
  examples.source = source.data;
  std::string label_name = source.label_name;
  if (const auto labels = label_arguments(symbol); label_name.empty() && !labels.empty())
    label_name = labels.front();
  NDArray data, label;
  double scale = 1;
  if (source.data == "shapes") {
    const datasets::Shapes shapes = datasets::shapes(part == Part::kTrain);
    data = pictures(shapes.images);
    label = shapes.labels.astype(DType::kFloat32);
    scale = 1.0 / 256;
  } else if (is_image_set(source.data) || is_folder(source.data)) {
    const Paths paths = idx_paths(source.data, part);
    data = pictures(read_idx(paths.images));
    label = read_idx(paths.labels).astype(DType::kFloat32);
    examples.source = paths.images;
    scale = 1.0 / 256;
  } else if (is_idx(source.data)) {
    data = pictures(read_idx(source.data));
    scale = 1.0 / 256;
  } else if (source.data.ends_with(".csv")) {
    const Rows rows = read_csv(source.data, source.label_column);
    data = rows.data;
    label = rows.label;
  } else if (is_libsvm(source.data)) {
    const Rows rows = read_libsvm(source.data, source.columns);
    data = rows.data;
    label = rows.label;
  } else {
    take_named(read_arrays(source.data), source, symbol, label_name, examples);
  }
  if (data.defined()) examples.data[source.data_name] = scaled(data, source.scale, scale);
  if (examples.data.empty())
    fail(ErrorKind::kName, fmt::format("'{}' has no array for the network's data", source.data));
  if (auto found = examples.data.find(source.data_name); found != examples.data.end())
    found->second = shaped(found->second, source.shape, source.data);
  if (!source.label.empty()) label = read_label(source.label);
  if (label.defined() && !label_name.empty()) examples.label[label_name] = label;
  check_counts(examples);
  keep_first(examples, source.examples);
  return examples;
}

std::unique_ptr<DataIter> make_train_iter(const Examples& examples, std::int64_t batch_size,
                                          bool shuffle, std::uint64_t seed) {
  return std::make_unique<NDArrayIter>(
      examples.data, examples.label,
      NDArrayIterOptions{.batch_size = batch_size, .shuffle = shuffle, .seed = seed});
}

std::unique_ptr<DataIter> make_eval_iter(const Examples& examples, std::int64_t batch_size,
                                         std::size_t devices) {
  return std::make_unique<EvalIter>(examples, std::min(batch_size, examples.count),
                                    static_cast<std::int64_t>(devices));
}

void shape_labels(Examples& examples, const Symbol& symbol, std::int64_t batch_size) {
  batch_size = std::min(batch_size, examples.count);
  ShapeMap given;
  for (const auto& [name, array] : examples.data) {
    given[name] = array.shape();
    given[name][0] = batch_size;
  }
  const InferredShapes shapes = symbol.infer_shape_partial(given);
  const std::vector<std::string> arguments = symbol.list_arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto found = examples.label.find(arguments[i]);
    if (found == examples.label.end() || !shapes.args[i].known()) continue;
    Shape wanted = shapes.args[i];
    if (wanted.rank() < 1 || wanted[0] != batch_size) continue;
    wanted[0] = examples.count;
    if (wanted.size() == found->second.size()) found->second = found->second.reshape(wanted);
  }
}

}  // namespace symbind::program
