// symbind convert: between file formats and element types.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>

#include <symbind/model.h>

#include "arrays.h"
#include "model.h"

namespace symbind::program {
namespace {

struct ConvertOptions {
  std::string input, output, dtype;
  std::optional<int> epoch;
  bool all = false;
};

/// Names of BatchNorm's parameters, which stay float32 in half-precision networks: auxiliary
/// states, and the gamma and beta that belong to a moving mean.
std::set<std::string> batch_norm_names(const std::vector<std::string>& names) {
  std::set<std::string> found;
  for (const std::string& name : names) {
    if (name.starts_with("aux:")) found.insert(name);
    const std::string plain =
        name.starts_with("aux:") || name.starts_with("arg:") ? name.substr(4) : name;
    for (const char* ending : {"moving_mean", "running_mean"}) {
      if (!plain.ends_with(ending)) continue;
      const std::string layer = plain.substr(0, plain.size() - std::string_view(ending).size());
      for (const char* part :
           {"gamma", "beta", "moving_mean", "moving_var", "running_mean", "running_var"})
        for (const char* prefix : {"", "arg:", "aux:"}) found.insert(prefix + layer + part);
    }
  }
  return found;
}

std::int64_t count_finite(const NDArray& array) {
  const std::vector<double> numbers = array.to_vector<double>();
  return std::ranges::count_if(numbers, [](double x) { return std::isfinite(x); });
}

/// Floating-point arrays in another type; returns how many were converted.
int change_types(NamedArrays& arrays, DType dtype, bool all) {
  int changed = 0;
  const bool narrow = size_of(dtype) < 4;
  const std::set<std::string> kept =
      narrow && !all ? batch_norm_names(arrays.names) : std::set<std::string>{};
  for (std::size_t i = 0; i < arrays.arrays.size(); ++i) {
    NDArray& array = arrays.arrays[i];
    const std::string name = i < arrays.names.size() ? arrays.names[i] : "";
    if (!is_float(array.dtype()) || array.dtype() == dtype || kept.contains(name)) continue;
    const NDArray converted = array.astype(dtype);
    if (narrow)
      if (const auto lost = count_finite(array) - count_finite(converted); lost > 0)
        write_line(fmt::format("warning: {} numbers of '{}' are beyond {} and become infinity",
                               lost, name, dtype_name(dtype)));
    array = converted;
    ++changed;
  }
  return changed;
}

DType parse_dtype(const std::string& text) {
  DType dtype = DType::kUnknown;
  try {
    dtype = dtype_from_name(text);
  } catch (const Error& error) {
    throw UsageError(std::string("--dtype: ") + error.what());
  }
  if (!is_float(dtype))
    throw UsageError(fmt::format("--dtype {}: use float16, bfloat16, float32 or float64", text));
  return dtype;
}

/// "params" entries read in; what was written and how much.
void convert_arrays(const std::string& from, const std::string& to, const ConvertOptions& o,
                    Result& result) {
  NamedArrays arrays = read_arrays(from);
  const int changed = o.dtype.empty() ? 0 : change_types(arrays, parse_dtype(o.dtype), o.all);
  write_arrays(to, arrays);
  std::uint64_t bytes = 0;
  for (const NDArray& array : arrays.arrays) bytes += array.nbytes();
  result.document["files"].push_back({{"from", from},
                                      {"to", to},
                                      {"arrays", arrays.arrays.size()},
                                      {"bytes", bytes},
                                      {"converted", changed}});
  result.text +=
      fmt::format("{} -> {}: {}, {}{}\n", from, to,
                  counted(static_cast<std::int64_t>(arrays.arrays.size()), "array"),
                  amount(static_cast<double>(bytes), "B"),
                  changed == 0 ? "" : fmt::format(", {} converted to {}", changed, o.dtype));
}

void convert_symbol(const std::string& from, const std::string& to, Result& result) {
  const Symbol symbol = Symbol::load(from);
  write_file_guarded(to, symbol.tojson());
  result.document["files"].push_back({{"from", from}, {"to", to}});
  result.text += fmt::format("{} -> {}\n", from, to);
}

int epoch_of(const std::string& params) {
  std::smatch match;
  static const std::regex kEpoch(R"(.*-(\d{4})\.params)");
  return std::regex_match(params, match, kEpoch) ? std::stoi(match[1]) : 0;
}

Result run_convert(const ConvertOptions& o) {
  Result result;
  result.document = {{"command", "convert"}, {"files", Json::array()}};
  std::error_code ignored;
  const bool input_exists = std::filesystem::is_regular_file(o.input, ignored);
  if (o.input.ends_with(".json")) {
    if (!o.output.ends_with(".json"))
      throw UsageError(fmt::format("a symbol is written to a .json file, not to '{}'", o.output));
    if (!o.dtype.empty()) throw UsageError("--dtype is for parameters, not for a symbol");
    convert_symbol(o.input, o.output, result);
  } else if (has_array_ending(o.input) || (input_exists && has_array_ending(o.output))) {
    convert_arrays(o.input, o.output, o, result);
  } else {
    const ModelFiles files = find_model(o.input, o.epoch);
    if (has_array_ending(o.output)) {
      if (files.params.empty())
        fail(ErrorKind::kIo, fmt::format("'{}' has no parameters", o.input));
      convert_arrays(files.params, o.output, o, result);
      return result;
    }
    // Parameters first: a prefix counts as a checkpoint once both files are there.
    if (!files.params.empty())
      convert_arrays(files.params, checkpoint_path(o.output, epoch_of(files.params)), o, result);
    if (!files.symbol.empty()) convert_symbol(files.symbol, o.output + "-symbol.json", result);
  }
  return result;
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* command = add_command(
      app, "convert", "Converts checkpoints and arrays between formats and element types",
      "  symbind convert old-prefix new-prefix               files of MXNet 0.x to today's\n"
      "  symbind convert lenet-0003.params lenet.safetensors\n"
      "  symbind convert lenet-0003.params half.params --dtype float16\n"
      "An existing output is replaced, whole or not at all.");
  const auto o = std::make_shared<ConvertOptions>();
  command
      ->add_option("input", o->input,
                   "A symbol .json, a file .params, .nd, .npy, .npz or .safetensors, or a "
                   "checkpoint prefix")
      ->required();
  command->add_option("output", o->output, "The same; its ending decides the format")->required();
  command->add_option("--dtype", o->dtype,
                      "Element type of floating-point arrays: float16, bfloat16, float32, float64");
  command->add_flag("--all", o->all, "With --dtype float16: convert BatchNorm's parameters too");
  command->add_option("--epoch", o->epoch, "Epoch of a prefix; the newest by default");
  on_run(command, [o] { return run_convert(*o); });
}

}  // namespace symbind::program
