// symbind predict: the outputs of a checkpoint for examples without labels.

#include <algorithm>

#include <fmt/format.h>

#include <symbind/predictor.h>

#include "arrays.h"
#include "config.h"
#include "model.h"

namespace symbind::program {
namespace {

struct PredictOptions {
  std::string model, out, devices = "cpu";
  std::vector<std::string> outputs;
  std::optional<int> epoch;
  std::int64_t batch_size = 64;
  bool argmax = false;
  DataSource source;
};

/// Rows of one output, as they come batch by batch.
struct Collected {
  std::string bytes;
  Shape shape;
  DType dtype = DType::kFloat32;

  void add(const NDArray& rows) {
    const NDArray host = rows.as_in_context(cpu());
    bytes += raw_bytes(host);
    const std::int64_t before = shape.rank() > 0 ? shape[0] : 0;
    shape = host.shape();
    dtype = host.dtype();
    if (shape.rank() > 0) shape[0] += before;
  }
  NDArray array() const { return NDArray::from_host(bytes.data(), shape, dtype, cpu()); }
};

NamedArrays predict_all(const Predictor& predictor, const Examples& examples,
                        std::int64_t batch_size) {
  std::vector<Collected> collected(predictor.output_names().size());
  for (std::int64_t row = 0; row < examples.count; row += batch_size) {
    const std::int64_t end = std::min(examples.count, row + batch_size);
    InputMap inputs;
    for (const auto& [name, array] : examples.data) inputs.insert({name, array.slice(row, end)});
    const std::vector<NDArray> outputs = predictor.predict(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].ndim() < 1 || outputs[i].shape()[0] % (end - row) != 0)
        fail(ErrorKind::kShape,
             fmt::format("output '{}' has the shape {}, which has no rows per example",
                         predictor.output_names()[i], outputs[i].shape().str()));
      collected[i].add(outputs[i]);
    }
    draw_status(fmt::format("{}/{} examples", grouped(end), grouped(examples.count)));
  }
  NamedArrays arrays;
  for (std::size_t i = 0; i < collected.size(); ++i) {
    arrays.names.push_back(predictor.output_names()[i]);
    arrays.arrays.push_back(collected[i].array());
  }
  return arrays;
}

/// The position of the largest number of each row.
NDArray argmax_rows(const NDArray& array) {
  const std::int64_t rows = array.shape()[0], width = array.size() / rows;
  const std::vector<float> numbers = array.to_vector<float>();
  std::vector<std::int64_t> best;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = numbers.begin() + row * width;
    best.push_back(std::max_element(first, first + width) - first);
  }
  return NDArray::from_vector(best, {rows}, cpu());
}

/// One line per row, with the columns of all outputs.
std::string csv(const NamedArrays& arrays) {
  std::vector<std::vector<double>> numbers;
  const std::int64_t rows = arrays.arrays.front().shape()[0];
  for (const NDArray& array : arrays.arrays) {
    if (array.shape()[0] != rows)
      fail(ErrorKind::kShape,
           "the outputs have different numbers of rows: choose one with --output, or use .npz");
    numbers.push_back(array.to_vector<double>());
  }
  std::string text;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const std::size_t begin = text.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t width = numbers[i].size() / static_cast<std::size_t>(rows);
      const bool is_double = arrays.arrays[i].dtype() == DType::kFloat64;
      for (std::size_t column = 0; column < width; ++column) {
        const double value = numbers[i][row * width + column];
        if (text.size() > begin) text += ',';
        text += is_double ? fmt::format("{}", value) : fmt::format("{:.9g}", value);
      }
    }
    text += '\n';
  }
  return text;
}

Json rows_json(const NDArray& array) {
  Json rows = Json::array();
  const std::int64_t count = array.shape()[0], width = array.size() / count;
  const std::vector<double> numbers = array.to_vector<double>();
  for (std::int64_t row = 0; row < count; ++row) {
    const auto first = numbers.begin() + row * width;
    if (array.ndim() == 1)
      rows.push_back(*first);
    else
      rows.push_back(std::vector<double>(first, first + width));
  }
  return rows;
}

Result run_predict(PredictOptions o) {
  if (!o.out.empty() && !o.out.ends_with(".csv") && !has_array_ending(o.out))
    throw UsageError(fmt::format("--out {}: use an ending .csv, {}", o.out, kArrayEndings));
  const Model model = load_model(o.model, o.epoch);
  const bool own_data = !o.source.data.empty();
  const std::string label_column = o.source.label_column;
  fill_from_run(o.source, model.files.config);
  if (own_data) o.source.label_column = label_column;  // new data may have no such column
  o.source.label.clear();
  const Examples examples = read_examples(o.source, Part::kTest, model.symbol);
  PredictorOptions options;
  options.context = parse_devices(o.devices).front();
  options.outputs = o.outputs;
  for (const auto& [name, array] : examples.data) options.data_names.push_back(name);
  const Predictor predictor(model.symbol, model.args, model.aux, options);
  NamedArrays outputs = predict_all(predictor, examples, o.batch_size);
  if (o.argmax)
    for (NDArray& array : outputs.arrays) array = argmax_rows(array);

  Result result;
  result.document = {{"command", "predict"},
                     {"params", model.files.params},
                     {"data", examples.source},
                     {"examples", examples.count},
                     {"outputs", Json::array()}};
  for (std::size_t i = 0; i < outputs.arrays.size(); ++i) {
    Json entry = {{"name", outputs.names[i]},
                  {"shape", shape_json(outputs.arrays[i].shape())},
                  {"dtype", dtype_name(outputs.arrays[i].dtype())}};
    if (o.out.empty()) entry["values"] = rows_json(outputs.arrays[i]);
    result.document["outputs"].push_back(std::move(entry));
  }
  if (o.out.empty()) {
    result.text = csv(outputs);
    return result;
  }
  if (o.out.ends_with(".csv"))
    write_file_guarded(o.out, csv(outputs));
  else
    write_arrays(o.out, outputs);
  result.document["file"] = o.out;
  result.text = fmt::format("{} predictions in {}\n", grouped(examples.count), o.out);
  return result;
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* command =
      add_command(app, "predict", "Runs a checkpoint on examples",
                  "  symbind predict runs/first --data new.csv --argmax        classes on stdout\n"
                  "  symbind predict lenet --epoch 3 --data x.npy --out y.npy");
  const auto o = std::make_shared<PredictOptions>();
  command->add_option("model", o->model, kModelHelp)->required();
  command->add_option("--epoch", o->epoch, "Epoch of the checkpoint; the newest by default");
  add_data_flags(command, o->source);
  command->add_option("--out", o->out,
                      "File to write: .csv, .npy, .npz, .params or .safetensors; CSV on stdout by "
                      "default");
  command->add_option("--output", o->outputs, "Outputs to compute instead, also of inner layers");
  command->add_flag("--argmax", o->argmax, "The class with the largest output of each row");
  command->add_option("--batch-size", o->batch_size, "Examples per step")
      ->check(CLI::PositiveNumber);
  command->add_option("--device", o->devices, "cpu, gpu or gpu(1)");
  on_run(command, [o] { return run_predict(*o); });
}

}  // namespace symbind::program
