// symbind inspect: what is in a checkpoint, a symbol, a file of arrays, or a folder of models.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include <symbind/executor.h>
#include <symbind/explain.h>
#include <symbind/model.h>
#include <symbind/operator.h>

#include "arrays.h"
#include "model.h"

namespace symbind::program {
namespace {

namespace fs = std::filesystem;

struct InspectOptions {
  std::string path;
  std::vector<std::string> shapes;
  std::optional<int> epoch;
  bool params = false, layers = false;
};

/// The operators of a symbol file with counts, read without the library: also of files it refuses.
std::map<std::string, int> operators_in(const std::string& path) {
  std::map<std::string, int> counts;
  const auto json = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array()) return counts;
  for (const auto& node : json["nodes"])
    if (node.is_object() && node.contains("op") && node["op"].is_string() && node["op"] != "null")
      ++counts[node["op"].get<std::string>()];
  return counts;
}

std::vector<std::string> missing_operators(const std::map<std::string, int>& counts) {
  std::vector<std::string> missing;
  const OpRegistry& registry = OpRegistry::global();
  for (const auto& [name, count] : counts)
    if (registry.find(name) == nullptr && registry.find("_contrib_" + name) == nullptr)
      missing.push_back(name);
  return missing;
}

/// Numbers, bytes and types of the arrays of a file.
Json arrays_json(const NamedArrays& arrays, bool list) {
  std::int64_t numbers = 0;
  std::uint64_t bytes = 0;
  std::set<std::string> types;
  Json entries = Json::array();
  for (std::size_t i = 0; i < arrays.arrays.size(); ++i) {
    const NDArray& array = arrays.arrays[i];
    numbers += array.size();
    bytes += array.nbytes();
    types.insert(std::string(dtype_name(array.dtype())));
    entries.push_back({{"name", i < arrays.names.size() ? arrays.names[i] : ""},
                       {"shape", shape_json(array.shape())},
                       {"dtype", dtype_name(array.dtype())},
                       {"bytes", array.nbytes()}});
  }
  Json json = {
      {"arrays", arrays.arrays.size()}, {"numbers", numbers}, {"bytes", bytes}, {"dtypes", types}};
  if (list) json["list"] = std::move(entries);
  return json;
}

std::string arrays_text(const Json& json) {
  std::vector<std::string> types = json["dtypes"];
  std::string text = fmt::format(
      "  {} in {}, {}, {}\n", counted(json["numbers"].get<std::int64_t>(), "number"),
      counted(json["arrays"].get<int>(), "array"), amount(json["bytes"].get<double>(), "B"),
      types.empty() ? "none" : fmt::format("{}", fmt::join(types, ", ")));
  if (!json.contains("list")) return text;
  std::vector<std::vector<std::string>> rows;
  for (const Json& entry : json["list"])
    rows.push_back({"  " + entry["name"].get<std::string>(),
                    Shape(entry["shape"].get<std::vector<std::int64_t>>()).str(),
                    entry["dtype"].get<std::string>()});
  return text + table(rows);
}

/// Parameters the network needs and the file lacks, and those only the file has.
void compare_params(const Symbol& symbol, const NamedArrays& arrays, Json& document) {
  NDArrayMap known;
  for (std::size_t i = 0; i < arrays.names.size(); ++i) {
    const std::string& name = arrays.names[i];
    const bool has_prefix = name.starts_with("arg:") || name.starts_with("aux:");
    known[has_prefix ? name.substr(4) : name] = arrays.arrays[i];
  }
  const std::vector<std::string> inputs = data_arguments(symbol, {});
  std::vector<std::string> missing, extra;
  std::set<std::string> needed;
  for (const std::string& name : symbol.list_inputs()) {
    needed.insert(name);
    const bool is_input =
        name.ends_with("label") || std::ranges::find(inputs, name) != inputs.end();
    if (!known.contains(name) && !is_input) missing.push_back(name);
  }
  for (const auto& [name, array] : known)
    if (!needed.contains(name)) extra.push_back(name);
  document["missing_parameters"] = missing;
  document["extra_parameters"] = extra;
}

Json named_shapes(const std::vector<std::string>& names, const std::vector<Shape>& shapes,
                  const std::set<std::string>& only) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!only.empty() && !only.contains(names[i])) continue;
    Json entry = {{"name", names[i]}, {"shape", nullptr}};
    if (i < shapes.size() && shapes[i].known()) entry["shape"] = shape_json(shapes[i]);
    list.push_back(std::move(entry));
  }
  return list;
}

/// FLOPs and memory of one run without gradients, by binding it.
void add_costs(const Symbol& symbol, const ShapeMap& shapes, const NDArrayMap& args, bool layers,
               Json& document) {
  SimpleBindOptions options{.grad_req = "null"};
  for (const auto& [name, array] : args)
    if (array.dtype() != DType::kFloat32) options.types[name] = array.dtype();
  const Executor executor = symbol.simple_bind(cpu(), shapes, options);
  const Json plan = Json::parse(explain(executor, {.format = "json"}));
  document["flops"] = plan["totals"]["flops"];
  document["uncounted_steps"] = plan["totals"]["uncounted_steps"];
  document["arena_bytes"] = plan["totals"]["arena_bytes"];
  if (!layers) return;
  document["layers"] = Json::array();
  for (const Json& step : plan["steps"]) {
    const Json& out = plan["tensors"][step["out"][0].get<std::size_t>()];
    document["layers"].push_back({{"name", step["name"]},
                                  {"op", step["op"]},
                                  {"shape", out["shape"]},
                                  {"flops", step["flops"]},
                                  {"kernel", step["kernel"]}});
  }
}

/// Everything about one symbol file and its parameters; a file that cannot be used has an "error".
Json inspect_model(const ModelFiles& files, const InspectOptions& o) {
  Json document = {{"symbol", files.symbol.empty() ? Json() : Json(files.symbol)},
                   {"params", files.params.empty() ? Json() : Json(files.params)}};
  NamedArrays arrays;
  if (!files.params.empty()) {
    arrays = read_arrays(files.params);
    document["parameters"] = arrays_json(arrays, o.params);
  }
  if (files.symbol.empty()) return document;
  const std::map<std::string, int> counts = operators_in(files.symbol);
  document["operators"] = counts;
  document["missing_operators"] = missing_operators(counts);
  Symbol symbol;
  try {
    symbol = Symbol::load(files.symbol);
  } catch (const Error& error) {
    document["error"] = one_line(error.what());
    return document;
  }
  if (!files.params.empty()) compare_params(symbol, arrays, document);
  NDArrayMap args;
  for (std::size_t i = 0; i < arrays.names.size(); ++i)
    if (arrays.names[i].starts_with("arg:")) args[arrays.names[i].substr(4)] = arrays.arrays[i];
  ShapeMap shapes = parse_shapes(o.shapes, symbol, args);
  ShapeMap known = shapes;
  for (const auto& [name, array] : args) known[name] = array.shape();
  const std::vector<std::string> arguments = symbol.list_arguments();
  std::erase_if(known, [&](const auto& entry) {
    return std::ranges::find(arguments, entry.first) == arguments.end();
  });
  const InferredShapes inferred = symbol.infer_shape_partial(known);
  std::set<std::string> inputs;
  for (const std::string& name : data_arguments(symbol, args)) inputs.insert(name);
  for (const std::string& name : label_arguments(symbol)) inputs.insert(name);
  document["inputs"] = named_shapes(arguments, inferred.args, inputs);
  document["outputs"] = named_shapes(symbol.list_outputs(), inferred.outputs, {});
  if (!shapes.empty()) add_costs(symbol, shapes, args, o.layers, document);
  return document;
}

std::string names_text(const Json& list) {
  return fmt::format("{}", fmt::join(list.get<std::vector<std::string>>(), ", "));
}

std::string shapes_text(const Json& list) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& entry : list)
    rows.push_back({entry["name"].get<std::string>(),
                    entry["shape"].is_null()
                        ? "?"
                        : Shape(entry["shape"].get<std::vector<std::int64_t>>()).str()});
  return table(rows);
}

std::string layers_text(const Json& layers) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& layer : layers)
    rows.push_back({layer["name"].get<std::string>(), layer["op"].get<std::string>(),
                    Shape(layer["shape"].get<std::vector<std::int64_t>>()).str(),
                    layer["flops"].is_null() ? "?" : amount(layer["flops"].get<double>(), "FLOP"),
                    layer["kernel"].get<std::string>()});
  return "layers\n" + table(rows);
}

std::string model_text(const Json& d) {
  std::string text;
  if (!d["symbol"].is_null())
    text += fmt::format("symbol      {}\n", d["symbol"].get<std::string>());
  if (!d["params"].is_null())
    text += fmt::format("parameters  {}\n", d["params"].get<std::string>());
  if (d.contains("operators")) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, count] : d["operators"].items())
      rows.push_back({name, std::to_string(count.get<int>())});
    text += "operators\n" + table(rows);
    text += d["missing_operators"].empty()
                ? "all operators are supported\n"
                : "not supported: " + names_text(d["missing_operators"]) + "\n";
  }
  if (d.contains("error")) text += "cannot be used: " + d["error"].get<std::string>() + "\n";
  if (d.contains("inputs"))
    text += "inputs\n" + shapes_text(d["inputs"]) + "outputs\n" + shapes_text(d["outputs"]);
  if (d.contains("parameters")) text += "parameters\n" + arrays_text(d["parameters"]);
  if (d.contains("missing_parameters") && !d["missing_parameters"].empty())
    text += "  missing from the file: " + names_text(d["missing_parameters"]) + "\n";
  if (d.contains("extra_parameters") && !d["extra_parameters"].empty())
    text += "  not used by the network: " + names_text(d["extra_parameters"]) + "\n";
  if (d.contains("layers")) text += layers_text(d["layers"]);
  if (d.contains("flops"))
    text += fmt::format(
        "one forward run: {}{}, {} of intermediates\n", amount(d["flops"].get<double>(), "FLOP"),
        d["uncounted_steps"].get<int>() == 0
            ? ""
            : fmt::format(" ({} steps not counted)", d["uncounted_steps"].get<int>()),
        amount(d["arena_bytes"].get<double>(), "B"));
  else if (d.contains("inputs"))
    text += "give --shape NAME=1,3,224,224 for shapes and FLOPs\n";
  return text;
}

/// The symbol files of a folder and of those in it.
Result inspect_folder(const InspectOptions& o) {
  std::vector<std::string> symbols;
  std::error_code error;
  for (fs::recursive_directory_iterator
           at(o.path, fs::directory_options::skip_permission_denied, error),
       end;
       at != end; at.increment(error)) {
    if (error) break;
    if (at->is_regular_file(error) && at->path().string().ends_with(".json") &&
        !operators_in(at->path().string()).empty())
      symbols.push_back(at->path().string());
  }
  if (error)
    fail(ErrorKind::kIo, fmt::format("cannot read the folder '{}': {}", o.path, error.message()));
  if (symbols.empty())
    fail(ErrorKind::kIo,
         fmt::format("the folder '{}' has no symbol files (*-symbol.json)", o.path));
  std::ranges::sort(symbols);
  Result result;
  result.document = {{"command", "inspect"}, {"folder", o.path}, {"models", Json::array()}};
  std::vector<std::vector<std::string>> rows = {{"model", "operators", "parameters", "missing"}};
  for (const std::string& symbol : symbols) {
    InspectOptions each;
    Json model;
    try {
      model = inspect_model(find_model(symbol), each);
    } catch (const Error& e) {
      model = {{"symbol", symbol}, {"error", one_line(e.what())}};
    }
    int count = 0;
    if (model.contains("operators"))
      for (const auto& [name, times] : model["operators"].items()) count += times.get<int>();
    const bool has_missing =
        model.contains("missing_operators") && !model["missing_operators"].empty();
    rows.push_back({symbol, std::to_string(count),
                    model.contains("parameters")
                        ? grouped(model["parameters"]["numbers"].get<std::int64_t>())
                        : "no file",
                    has_missing               ? names_text(model["missing_operators"])
                    : model.contains("error") ? model["error"].get<std::string>()
                                              : "nothing"});
    result.document["models"].push_back(std::move(model));
  }
  result.text = table(rows);
  return result;
}

Result run_inspect(const InspectOptions& o) {
  std::error_code ignored;
  if (fs::is_directory(o.path, ignored) && !fs::exists(o.path + "/model-symbol.json", ignored))
    return inspect_folder(o);
  Result result;
  ModelFiles files;
  if (has_array_ending(o.path) && fs::exists(o.path, ignored))
    files.params = o.path;
  else
    files = find_model(o.path, o.epoch);
  result.document = {{"command", "inspect"}};
  result.document.update(inspect_model(files, o));
  result.text = model_text(result.document);
  if (result.document.contains("error")) {
    result.exit_code = kFailed;
    write_line("symbind inspect: " + result.document["error"].get<std::string>());
  }
  return result;
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command = add_command(
      app, "inspect", "Shows operators, shapes, parameters and FLOPs of a model or a folder",
      "  symbind inspect resnet-50 --shape data=1,3,224,224 --layers\n"
      "  symbind inspect models/                    what is missing, model by model");
  const auto o = std::make_shared<InspectOptions>();
  command
      ->add_option("model", o->path,
                   "A checkpoint prefix, run folder, symbol JSON, file of arrays, or a folder of "
                   "models")
      ->required();
  command->add_option("--epoch", o->epoch, "Epoch of the checkpoint; the newest by default");
  command->add_option("--shape", o->shapes, "Shape of an input with its batch, NAME=1,3,224,224");
  command->add_flag("--params", o->params, "List every array");
  command->add_flag("--layers", o->layers, "List every layer (needs --shape)");
  on_run(command, [o] { return run_inspect(*o); });
}

}  // namespace symbind::program
