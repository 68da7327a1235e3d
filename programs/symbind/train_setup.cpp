#include "train_setup.h"

#include <algorithm>

#include <fmt/format.h>

#include <symbind/lr_scheduler.h>
#include <symbind/models.h>

#include "model.h"

namespace symbind::program {
namespace {

bool is_network_file(const std::string& network) { return network.ends_with(".json"); }

/// Builds the network; numbers of classes and image shapes that are not given follow from the data.
Symbol build_network(const Config& config, const Examples* examples) {
  const std::string network = config.text("network");
  AttrDict params = config.pairs("network-params");
  if (is_network_file(network)) {
    if (!params.empty())
      throw UsageError("network-params are for networks by name, and network is a file");
    return Symbol::load(network);
  }
  std::vector<models::Option> options;
  try {
    options = models::options_of(network);
  } catch (const Error& error) {
    throw UsageError(std::string(error.what()) + "; or give the path of a symbol's .json file");
  }
  for (const models::Option& option : options) {
    if (examples == nullptr || params.contains(option.name)) continue;
    if (option.name == "num_classes" && !examples->label.empty()) {
      const std::vector<float> labels = examples->label.begin()->second.to_vector<float>();
      const float most = *std::ranges::max_element(labels);
      if (most < 0 || most > 1e6)
        fail(ErrorKind::kValue,
             fmt::format("the largest label is {}: labels are classes from 0", most));
      params["num_classes"] = std::to_string(static_cast<int>(most) + 1);
    }
    const Shape& shape = examples->data.begin()->second.shape();
    if (option.name == "image_shape" && shape.rank() == 4)
      params["image_shape"] = fmt::format("({}, {}, {})", shape[1], shape[2], shape[3]);
  }
  try {
    return models::create(network, params);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

OptimizerParams optimizer_params(const Config& config, std::int64_t batches) {
  OptimizerParams params;
  const double lr = config.number("lr");
  params.insert({"learning_rate", lr});
  params.insert({"wd", config.number("wd")});
  if (!config.text("momentum").empty()) params.insert({"momentum", config.number("momentum")});
  for (const auto& [name, value] : config.pairs("optimizer-params"))
    params.insert_or_assign(name, OptimizerParam(value));
  if (!config.text("lr-steps").empty()) {
    Tuple steps;
    for (const std::string& epoch : split_list(config.text("lr-steps")))
      steps.push_back(parse_integer(epoch, "lr-steps") * batches);
    params.insert(
        {"lr_scheduler", MultiFactorScheduler(steps, config.number("lr-factor"), {.base_lr = lr})});
    params.erase("learning_rate");
  }
  try {
    create_optimizer(config.text("optimizer"), params);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return params;
}

}  // namespace

Prepared prepare(Config config) {
  Prepared p;
  for (const char* key : {"network", "data"})
    if (config.text(key).empty()) throw UsageError(fmt::format("no {0} is given: use --{0}", key));
  p.devices = parse_devices(config.text("devices"));
  const auto seed_value = static_cast<std::uint64_t>(config.integer("seed"));
  // Names of the inputs come from the network, and the number of classes from the labels.
  const Symbol draft = build_network(config, nullptr);
  p.train = read_examples(config.source(), Part::kTrain, draft);
  const std::vector<std::string> labels = label_arguments(draft);
  if (p.train.label.empty() && !labels.empty())
    throw UsageError(
        fmt::format("'{}' has no labels: use --label FILE or --label-column NAME", p.train.source));
  {
    const NameManager names;  // made-up names begin at 0 again
    p.symbol = build_network(config, &p.train);
  }
  p.batch_size = std::min(config.integer("batch-size"), p.train.count);
  shape_labels(p.train, p.symbol, p.batch_size);
  p.train_iter = make_train_iter(p.train, p.batch_size, config.flag("shuffle"), seed_value);
  p.batches = (p.train.count + p.batch_size - 1) / p.batch_size;
  DataSource validation = config.source(true);
  if (validation.data.empty() && has_test_part(config.text("data")))
    validation.data = config.text("data");
  if (!validation.data.empty()) {
    validation.columns = p.train.data.begin()->second.size() / p.train.count;
    p.validation = read_examples(validation, Part::kTest, p.symbol);
    if (p.validation.label.size() != p.train.label.size())
      throw UsageError(fmt::format("validation: '{}' has no labels: use --validation-label FILE",
                                   p.validation.source));
    shape_labels(p.validation, p.symbol, p.batch_size);
    p.validation_iter = make_eval_iter(p.validation, p.batch_size, p.devices.size());
  }
  const std::string metric = config.text("metric");
  p.metric = parse_metrics(metric.empty() ? default_metrics(p.symbol) : metric);
  p.validation_metric = parse_metrics(metric.empty() ? default_metrics(p.symbol) : metric);
  try {
    p.initializer = create_initializer(config.text("initializer"));
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  p.optimizer = optimizer_params(config, p.batches);
  p.config = std::move(config);
  return p;
}

}  // namespace symbind::program
