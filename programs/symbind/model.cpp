#include "model.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include <symbind/checkpoint.h>
#include <symbind/metric.h>
#include <symbind/model.h>

namespace symbind::program {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The parameters of the newest set of a prefix, or of an epoch; empty if there are none.
std::string params_of(const std::string& prefix, std::optional<int> epoch) {
  const std::vector<int> epochs = checkpoint_epochs(prefix);
  if (epoch) {
    if (std::ranges::find(epochs, *epoch) == epochs.end())
      fail(
          ErrorKind::kIo,
          fmt::format("there is no {}; epochs of '{}': {}", checkpoint_path(prefix, *epoch), prefix,
                      epochs.empty() ? "none" : fmt::format("{}", fmt::join(epochs, ", "))));
    return checkpoint_path(prefix, *epoch);
  }
  const std::vector<CheckpointInfo> sets = list_checkpoints(prefix);
  if (!sets.empty()) {
    std::string path = sets.back().manifest;
    constexpr std::string_view kEnding = ".manifest.json";
    path.replace(path.size() - kEnding.size(), kEnding.size(), ".params");
    if (is_file(path)) return path;
  }
  return epochs.empty() ? "" : checkpoint_path(prefix, epochs.back());
}

ModelFiles files_of_prefix(const std::string& prefix, std::optional<int> epoch) {
  ModelFiles files;
  if (is_file(prefix + "-symbol.json")) files.symbol = prefix + "-symbol.json";
  files.params = params_of(prefix, epoch);
  return files;
}

bool ends_as_parameter(const std::string& name) {
  static constexpr const char* kEndings[] = {"weight",     "bias",        "gamma",     "beta",
                                             "parameters", "moving_mean", "moving_var"};
  return std::ranges::any_of(kEndings, [&](const char* e) { return name.ends_with(e); });
}

}  // namespace

ModelFiles find_model(const std::string& given, std::optional<int> epoch) {
  std::error_code ignored;
  ModelFiles files;
  std::smatch match;
  static const std::regex kParams(R"((.*)-\d{4}(-b\d+)?\.params)");
  if (fs::is_directory(given, ignored) && !is_file(given + "-symbol.json")) {
    files = files_of_prefix(given + "/model", epoch);
    files.run_folder = given;
    if (is_file(given + "/config.toml")) files.config = given + "/config.toml";
  } else if (given.ends_with(".json")) {
    constexpr std::string_view kEnding = "-symbol.json";
    if (given.ends_with(kEnding))
      files = files_of_prefix(given.substr(0, given.size() - kEnding.size()), epoch);
    files.symbol = is_file(given) ? given : "";
  } else if (is_file(given)) {
    if (std::regex_match(given, match, kParams)) files = files_of_prefix(match[1], {});
    files.params = given;
  } else {
    files = files_of_prefix(given, epoch);
  }
  if (files.symbol.empty() && files.params.empty())
    fail(ErrorKind::kIo,
         fmt::format("there is no model '{}': give a prefix (of PREFIX-symbol.json and "
                     "PREFIX-0001.params), a run folder, or one of the files",
                     given));
  return files;
}

Model load_model(const std::string& given, std::optional<int> epoch) {
  Model model;
  model.files = find_model(given, epoch);
  if (model.files.symbol.empty())
    fail(ErrorKind::kIo, fmt::format("'{}' has no symbol file: PREFIX-symbol.json must be in the "
                                     "same folder as {}",
                                     given, model.files.params));
  if (model.files.params.empty())
    fail(ErrorKind::kIo,
         fmt::format("'{}' has no parameters: there is no PREFIX-0001.params for {}", given,
                     model.files.symbol));
  model.symbol = Symbol::load(model.files.symbol);
  ModelParams params = load_params(model.files.params);
  model.args = std::move(params.args);
  model.aux = std::move(params.aux);
  return model;
}

std::string head_operator(const Symbol& symbol) {
  const auto json = nlohmann::json::parse(symbol.tojson());
  const auto& heads = json.at("heads");
  if (heads.empty()) return {};
  return json.at("nodes").at(heads[0][0].get<std::size_t>()).at("op").get<std::string>();
}

std::vector<std::string> label_arguments(const Symbol& symbol) {
  std::vector<std::string> labels;
  for (const std::string& name : symbol.list_arguments())
    if (name.ends_with("label")) labels.push_back(name);
  return labels;
}

std::string default_metrics(const Symbol& symbol) {
  const std::string head = head_operator(symbol);
  if (head == "LinearRegressionOutput" || head == "LogisticRegressionOutput") return "mse";
  if (head == "MAERegressionOutput") return "mae";
  if (head == "MakeLoss" || head == "make_loss") return "loss";
  if (head == "SVMOutput") return "acc";
  return "acc,ce";
}

MetricPtr parse_metrics(const std::string& text) {
  std::vector<MetricPtr> metrics;
  for (const std::string& item : split_list(text)) {
    const std::vector<std::string> parts = split_list(item, ':');
    MetricParams params;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto sign = parts[i].find('=');
      if (sign == std::string::npos)
        throw UsageError(fmt::format("metric '{}': parameters are written name=value", item));
      params.insert({parts[i].substr(0, sign), MetricValue(parts[i].substr(sign + 1))});
    }
    try {
      metrics.push_back(create_metric(parts.front(), params));
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
  if (metrics.size() == 1) return metrics.front();
  return std::make_shared<CompositeEvalMetric>(metrics);
}

Json values_json(const std::vector<NameValue>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

std::vector<Context> parse_devices(const std::string& text) {
  static const std::regex kDevice(R"((cpu|gpu)(?:[(:](\d{1,4})\)?)?)");
  std::vector<Context> devices;
  for (const std::string& item : split_list(text)) {
    std::smatch match;
    if (!std::regex_match(item, match, kDevice))
      throw UsageError(fmt::format(
          "devices is '{}': write cpu, gpu, gpu(1) or a list such as gpu(0),gpu(1)", text));
    const int id = match[2].matched ? std::stoi(match[2]) : 0;
    devices.push_back(match[1] == "gpu" ? gpu(id) : cpu(id));
  }
  return devices;
}

std::vector<std::string> data_arguments(const Symbol& symbol, const NDArrayMap& params) {
  std::vector<std::string> names;
  for (const std::string& name : symbol.list_arguments()) {
    const bool is_parameter = params.empty() ? ends_as_parameter(name) : params.contains(name);
    if (!is_parameter && !name.ends_with("label")) names.push_back(name);
  }
  return names;
}

ShapeMap parse_shapes(const std::vector<std::string>& texts, const Symbol& symbol,
                      const NDArrayMap& params) {
  ShapeMap shapes;
  const std::vector<std::string> arguments = symbol.list_arguments();
  for (const std::string& text : texts) {
    const auto sign = text.find('=');
    std::string name = sign == std::string::npos ? "" : text.substr(0, sign);
    if (name.empty()) {
      const std::vector<std::string> inputs = data_arguments(symbol, params);
      if (inputs.size() != 1)
        throw UsageError(
            fmt::format("--shape {}: the network has the inputs {}; write "
                        "--shape NAME={} for each",
                        text, fmt::join(inputs, ", "), text));
      name = inputs.front();
    }
    if (std::ranges::find(arguments, name) == arguments.end())
      throw UsageError(fmt::format("--shape {}: the network has no argument '{}'{}", text, name,
                                   nearest_hint(name, arguments)));
    shapes[name] = parse_shape(std::string_view(text).substr(sign + 1), "--shape " + text);
  }
  return shapes;
}

}  // namespace symbind::program
