// Chains of modules: forward passes outputs to the next module, backward passes input gradients to
// the previous one.

#include <symbind/sequential_module.h>

#include <algorithm>

#include <symbind/log.h>

#include "base/check.h"

namespace symbind {

SequentialModule& SequentialModule::add(std::shared_ptr<BaseModule> module,
                                        const ChainOptions& options) {
  links_.push_back({std::move(module), options});
  binded_ = params_initialized_ = optimizer_initialized_ = false;
  return *this;
}

void SequentialModule::check_links() const {
  check(!links_.empty(), ErrorKind::kState, "Attempting to bind an empty SequentialModule");
}

const Symbol& SequentialModule::symbol() const {
  check_links();
  return links_.back().module->symbol();
}
std::vector<std::string> SequentialModule::data_names() const {
  return links_.empty() ? std::vector<std::string>{} : links_.front().module->data_names();
}
std::vector<std::string> SequentialModule::output_names() const {
  return links_.empty() ? std::vector<std::string>{} : links_.back().module->output_names();
}
const Shapes& SequentialModule::data_shapes() const {
  check_bound();
  return links_.front().module->data_shapes();
}
Shapes SequentialModule::label_shapes() const {
  check_bound();
  return label_shapes_;
}
std::vector<std::pair<std::string, Shape>> SequentialModule::output_shapes() const {
  check_bound();
  return links_.back().module->output_shapes();
}

void SequentialModule::bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes,
                            const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return log_warning("Already bound, ignoring bind()");
  check(!options.inputs_need_grad || options.for_training, ErrorKind::kState,
        "inputs_need_grad=True needs for_training=True");
  check(!options.shared_module, ErrorKind::kState, "Shared module is not supported");
  check_links();
  Shapes shapes = data_shapes;
  label_shapes_.clear();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto& [module, link] = links_[i];
    if (link.auto_wiring) {
      const std::vector<std::string> names = module->data_names();
      check(names.size() == shapes.size(), ErrorKind::kState,
            "module {} of the chain takes {} data, but the one before it has {} outputs", i,
            names.size(), shapes.size());
      for (std::size_t k = 0; k < names.size(); ++k) shapes[k].name = names[k];
    }
    ModuleBindOptions own = options;
    own.inputs_need_grad = options.inputs_need_grad || (options.for_training && i > 0);
    module->bind(shapes, link.take_labels ? label_shapes : std::nullopt, own);
    if (link.take_labels && label_shapes) label_shapes_ = *label_shapes;
    shapes.clear();
    for (const auto& [name, shape] : module->output_shapes())
      shapes.push_back({.name = name, .shape = shape});
  }
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  binded_ = true;
}

void SequentialModule::init_params(const InitParamsOptions& options) {
  if (params_initialized_ && !options.force_init) return;
  check(binded_, ErrorKind::kState, "call bind before initializing the parameters");
  for (const Link& link : links_) link.module->init_params(options);
  std::map<std::string, std::size_t> owner;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const ModelParams params = links_[i].module->get_params();
    for (const NDArrayMap* map : {&params.args, &params.aux}) {
      for (const auto& [name, array] : *map) {
        const auto [it, added] = owner.emplace(name, i);
        check(added, ErrorKind::kState,
              "Duplicated parameter names: name \"{}\" in layer {} is already used in layer {}.",
              name, i, it->second);
      }
    }
  }
  params_initialized_ = true;
}

ModelParams SequentialModule::get_params() {
  check_initialized();
  ModelParams all;
  for (const Link& link : links_) {
    ModelParams own = link.module->get_params();
    all.args.merge(own.args);
    all.aux.merge(own.aux);
  }
  return all;
}

void SequentialModule::init_optimizer(const InitOptimizerOptions& options) {
  check_initialized();
  if (optimizer_initialized_ && !options.force_init)
    return log_warning("optimizer already initialized, ignoring.");
  for (const Link& link : links_) link.module->init_optimizer(options);
  optimizer_initialized_ = true;
}

void SequentialModule::forward(const DataBatch& batch, std::optional<bool> is_train) {
  check_initialized();
  DataBatch own = batch;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].module->forward(own, is_train);
    if (i + 1 == links_.size()) break;
    own.data = links_[i].module->get_outputs();
    own.provide_data.clear();
  }
}

void SequentialModule::backward(const std::vector<NDArray>& out_grads) {
  check_initialized();
  std::vector<NDArray> grads = out_grads;
  for (std::size_t i = links_.size(); i-- > 0;) {
    links_[i].module->backward(grads);
    if (i > 0) grads = links_[i].module->get_input_grads();
  }
}

void SequentialModule::update() {
  check_initialized();
  for (const Link& link : links_) link.module->update();
}

std::shared_ptr<BaseModule> SequentialModule::blank_copy() const {
  auto chain = std::make_shared<SequentialModule>();
  for (const Link& link : links_) chain->add(link.module->blank_copy(), link.options);
  return chain;
}

std::vector<Module*> SequentialModule::modules(Which which) {
  std::vector<Module*> all;
  for (const Link& link : links_)
    for (Module* module : link.module->modules(which)) all.push_back(module);
  return all;
}

std::vector<NDArray> SequentialModule::get_outputs() const {
  check_initialized();
  return links_.back().module->get_outputs();
}

std::vector<NDArray> SequentialModule::get_input_grads() const {
  check_initialized();
  return links_.front().module->get_input_grads();
}

void SequentialModule::update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const {
  check_initialized();
  for (const Link& link : links_)
    if (link.options.take_labels) link.module->update_metric(metric, labels);
}

void SequentialModule::install_monitor(Monitor& monitor) {
  check_bound();
  for (const Link& link : links_) link.module->install_monitor(monitor);
}

// ------------------------------------------------------------ a loss as a function

FunctionLossModule::FunctionLossModule(LossGradient gradient, std::string name,
                                       std::string data_name, std::string label_name)
    : compute_(std::move(gradient)),
      name_(std::move(name)),
      data_name_(std::move(data_name)),
      label_name_(std::move(label_name)),
      symbol_(Variable(data_name_)) {}

std::shared_ptr<BaseModule> FunctionLossModule::blank_copy() const {
  return std::make_shared<FunctionLossModule>(compute_, name_, data_name_, label_name_);
}

std::vector<std::pair<std::string, Shape>> FunctionLossModule::output_shapes() const {
  check_bound();
  return {{name_ + "_output", data_shapes_.front().shape}};
}

void FunctionLossModule::bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes,
                              const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return log_warning("Already bound, ignoring bind()");
  check(data_shapes.size() == 1 && data_shapes.front().name == data_name_, ErrorKind::kState,
        "the loss '{}' takes one data, '{}'", name_, data_name_);
  data_shapes_ = data_shapes;
  label_shapes_ = label_shapes.value_or(Shapes{});
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  binded_ = true;
}

void FunctionLossModule::forward(const DataBatch& batch, std::optional<bool> is_train) {
  check_bound();
  scores_ = batch.data.at(0);
  if (!is_train.value_or(for_training_)) return;
  check(!batch.label.empty(), "the loss '{}' needs the label '{}' to train", name_, label_name_);
  labels_ = batch.label.front();
}

void FunctionLossModule::backward(const std::vector<NDArray>& out_grads) {
  check(out_grads.empty(), ErrorKind::kState, "For a loss module, out_grads should be None");
  check(for_training_ && scores_.defined() && labels_.defined(), ErrorKind::kState,
        "backward of the loss '{}' before forward in training", name_);
  gradient_ = compute_(scores_, labels_);
}

void FunctionLossModule::update_metric(EvalMetric& metric,
                                       const std::vector<NDArray>& labels) const {
  if (!label_shapes_.empty()) metric.update(labels, get_outputs());
}

}  // namespace symbind
