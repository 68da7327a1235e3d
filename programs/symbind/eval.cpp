// symbind eval: the metrics of a checkpoint over examples.

#include <chrono>

#include <fmt/format.h>

#include "config.h"
#include "model.h"

namespace symbind::program {
namespace {

struct EvalOptions {
  std::string model, metric, devices = "cpu";
  std::optional<int> epoch;
  std::int64_t batch_size = 64;
  DataSource source;
};

Result run_eval(EvalOptions o) {
  const Model model = load_model(o.model, o.epoch);
  fill_from_run(o.source, model.files.config);
  const MetricPtr metric =
      parse_metrics(o.metric.empty() ? default_metrics(model.symbol) : o.metric);
  Examples examples = read_examples(o.source, Part::kTest, model.symbol);
  shape_labels(examples, model.symbol, o.batch_size);
  const std::vector<std::string> labels = label_arguments(model.symbol);
  if (examples.label.empty() && !labels.empty())
    throw UsageError(fmt::format("'{}' has no labels: use --label FILE or --label-column NAME",
                                 examples.source));
  ModuleOptions options{.data_names = {}, .label_names = {}, .context = parse_devices(o.devices)};
  for (const auto& [name, array] : examples.data) options.data_names.push_back(name);
  for (const auto& [name, array] : examples.label) options.label_names.push_back(name);
  const auto iter = make_eval_iter(examples, o.batch_size, options.context.size());
  Module module(model.symbol, options);
  module.bind(iter->provide_data(), iter->provide_label(), {.for_training = false});
  module.set_params(model.args, model.aux);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<NameValue> values = module.score(*iter, metric);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  Result result;
  result.document = {{"command", "eval"},
                     {"symbol", model.files.symbol},
                     {"params", model.files.params},
                     {"data", examples.source},
                     {"examples", examples.count},
                     {"metrics", values_json(values)},
                     {"seconds", seconds},
                     {"samples_per_second", static_cast<double>(examples.count) / seconds}};
  result.text = fmt::format("{} on {} examples of {}\n", model.files.params,
                            grouped(examples.count), examples.source);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : values) rows.push_back({name, fmt::format("{:.6g}", value)});
  result.text += table(rows);
  return result;
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = add_command(
      app, "eval", "Measures a checkpoint on examples with labels",
      "  symbind eval runs/first                             the validation data of a run\n"
      "  symbind eval lenet --epoch 3 --data test.csv --label-column 0 --shape 1,28,28");
  const auto o = std::make_shared<EvalOptions>();
  command->add_option("model", o->model, kModelHelp)->required();
  command->add_option("--epoch", o->epoch, "Epoch of the checkpoint; the newest by default");
  add_data_flags(command, o->source);
  command->add_option("--metric", o->metric,
                      "Comma list: acc, ce, mse, top_k_accuracy:top_k=5, …; by default as the "
                      "network ends");
  command->add_option("--batch-size", o->batch_size, "Examples per step")
      ->check(CLI::PositiveNumber);
  command->add_option("--devices", o->devices, "cpu, gpu, or a list such as gpu(0),gpu(1)");
  on_run(command, [o] { return run_eval(*o); });
}

}  // namespace symbind::program
