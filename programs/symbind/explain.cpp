// symbind explain: the plan of a network as a page, JSON or text.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <symbind/executor.h>
#include <symbind/explain.h>
#include <symbind/model.h>
#include <symbind/models.h>
#include <symbind/profiler.h>

#include "arrays.h"
#include "model.h"

namespace symbind::program {
namespace {

struct ExplainCommand {
  std::string model, out, device = "cpu";
  std::vector<std::string> shapes;
  std::optional<int> epoch;
  bool train = false;
  int profile = 0;
};

std::string format_of(const std::string& out) {
  if (out.empty() || out.ends_with(".txt")) return "text";
  if (out.ends_with(".html")) return "html";
  if (out.ends_with(".json")) return "json";
  throw UsageError(fmt::format("--out {}: use an ending .html, .json or .txt", out));
}

/// A network by name, unless there are files of that name.
Symbol read_symbol(const ExplainCommand& o, NDArrayMap& args, NDArrayMap& aux) {
  const std::vector<std::string> names = models::names();
  std::error_code ignored;
  if (std::ranges::find(names, o.model) != names.end() &&
      !std::filesystem::exists(o.model + "-symbol.json", ignored))
    return models::create(o.model);
  const ModelFiles files = find_model(o.model, o.epoch);
  if (files.symbol.empty()) fail(ErrorKind::kIo, fmt::format("'{}' has no symbol file", o.model));
  if (!files.params.empty()) {
    ModelParams params = load_params(files.params);
    args = std::move(params.args);
    aux = std::move(params.aux);
  }
  return Symbol::load(files.symbol);
}

Result run_explain(const ExplainCommand& o) {
  const std::string format = format_of(o.out);
  NDArrayMap args, aux;
  const Symbol symbol = read_symbol(o, args, aux);
  const ShapeMap shapes = parse_shapes(o.shapes, symbol, args);
  SimpleBindOptions options{.grad_req = "null"};
  if (o.train) {
    std::map<std::string, std::string> requests;
    const std::vector<std::string> inputs = data_arguments(symbol, args);
    for (const std::string& name : symbol.list_arguments())
      requests[name] = name.ends_with("label") || std::ranges::find(inputs, name) != inputs.end()
                           ? "null"
                           : "write";
    options.grad_req = requests;
  }
  for (const auto& [name, array] : args)
    if (array.dtype() != DType::kFloat32) options.types[name] = array.dtype();
  Executor executor = symbol.simple_bind(parse_devices(o.device).front(), shapes, options);
  executor.copy_params_from(args, aux, /*allow_extra=*/true);
  if (o.profile > 0) {
    profiler::set_config({{"profile_symbolic", "1"}, {"filename", "/dev/null"}});
    profiler::set_running(true);
    for (int i = 0; i < o.profile; ++i) {
      executor.forward(o.train);
      if (o.train) executor.backward();
    }
    waitall();
    profiler::set_running(false);
  }
  Result result;
  const std::string text = explain(executor, {.format = format});
  const Json plan = Json::parse(explain(executor, {.format = "json"}));
  result.document = {{"command", "explain"}, {"totals", plan["totals"]}};
  if (o.out.empty()) {
    result.document["plan"] = plan;
    result.text = text;
    return result;
  }
  write_file_guarded(o.out, text);
  result.document["file"] = o.out;
  result.text = fmt::format("{} written: {} steps, {}\n", o.out, plan["totals"]["steps"].get<int>(),
                            amount(plan["totals"]["flops"].get<double>(), "FLOP"));
  return result;
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command = add_command(
      app, "explain", "Writes a page about how a network runs: kernels, layouts, memory, FLOPs",
      "  symbind explain lenet --shape data=1,1,28,28 --out lenet.html\n"
      "  symbind explain runs/first --shape data=64,1,28,28 --train     text on stdout");
  const auto o = std::make_shared<ExplainCommand>();
  command
      ->add_option("model", o->model,
                   "A checkpoint prefix, run folder or symbol JSON, or a network by name")
      ->required();
  command->add_option("--shape", o->shapes, "Shape of an input with its batch, NAME=1,3,224,224")
      ->required();
  command->add_option("--epoch", o->epoch, "Epoch of the checkpoint; the newest by default");
  command->add_option("--out", o->out,
                      "File to write: .html, .json or .txt; text on stdout by default");
  command->add_flag("--train", o->train, "With the backward pass");
  command->add_option("--profile", o->profile, "Run so many times and show how long steps take")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--device", o->device, "cpu, gpu or gpu(1)");
  on_run(command, [o] { return run_explain(*o); });
}

}  // namespace symbind::program
