#pragma once
// Examples to train on, evaluate or predict, from files or from built-in sets, held in memory.

#include <memory>
#include <string>

#include <symbind/io.h>
#include <symbind/symbol.h>

#include "program.h"

namespace symbind::program {

/// Where the examples are and how to read them; what --data and its companions say.
struct DataSource {
  std::string data, label;
  std::string label_column;  ///< of a CSV file: a name of its first line, or a number from 0
  std::string shape;         ///< of one example
  std::string scale;         ///< multiplies the data; empty: 1/256 for idx files, else 1
  std::string data_name = "data", label_name;  ///< empty: the network's argument *label
  std::int64_t columns = 0;                    ///< of LibSVM rows; 0: as many as the file needs
  std::int64_t examples = 0;                   ///< the first so many are used; 0: all
};
/// Adds the flags to a command.
void add_data_flags(CLI::App* command, DataSource& source);
inline constexpr const char* kDataHelp =
    "Examples: a .csv, .npy, .npz, .params, .safetensors, .libsvm or idx file, a folder of "
    "MNIST's files, or mnist, fashion-mnist, shapes (made by formula)";

enum class Part { kTrain, kTest };

struct Examples {
  NDArrayMap data, label;
  std::int64_t count = 0;
  std::string source;  ///< for messages and reports
};

/// Reads them; folders and built-in sets have two parts. `symbol` decides names and label shapes.
Examples read_examples(const DataSource& source, Part part, const Symbol& symbol);
/// Whether the source has a separate part for testing.
bool has_test_part(const std::string& data);

/// Batches to train on; the last one of an epoch is filled up with examples from the start.
std::unique_ptr<DataIter> make_train_iter(const Examples& examples, std::int64_t batch_size,
                                          bool shuffle, std::uint64_t seed);
/// Batches to evaluate, every example once: the last one is shorter, or longer where its rest has
/// fewer rows than there are devices.
std::unique_ptr<DataIter> make_eval_iter(const Examples& examples, std::int64_t batch_size,
                                         std::size_t devices);
/// Gives labels the shape the network expects for this batch size, where the sizes agree.
void shape_labels(Examples& examples, const Symbol& symbol, std::int64_t batch_size);

/// Rows of numbers from text.
struct Rows {
  NDArray data, label;  ///< label is undefined without a label column
};
Rows read_csv(const std::string& path, const std::string& label_column);
Rows read_libsvm(const std::string& path, std::int64_t columns);

}  // namespace symbind::program
