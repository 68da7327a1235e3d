// Buckets: every verb is forwarded to the bucket of the current batch.

#include <symbind/bucketing_module.h>

#include <algorithm>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"

namespace symbind {

BucketingModule::BucketingModule(BucketGenerator generator, std::int64_t default_bucket_key,
                                 ModuleOptions options)
    : generator_(std::move(generator)),
      default_key_(default_bucket_key),
      current_key_(default_bucket_key),
      options_(std::move(options)) {
  make_module(default_key_);  // a wrong name is an error now, not at bind
}

std::unique_ptr<Module> BucketingModule::make_module(std::int64_t key) const {
  const NameManager names;
  const BucketNetwork network = generator_(key);
  ModuleOptions options = options_;
  options.data_names = network.data_names;
  options.label_names = network.label_names;
  return std::make_unique<Module>(network.symbol, options);
}

Module& BucketingModule::current() const {
  check_bound();
  return *current_;
}

const Symbol& BucketingModule::symbol() const { return current().symbol(); }
std::vector<std::string> BucketingModule::data_names() const {
  return binded_ ? current_->data_names() : make_module(default_key_)->data_names();
}
std::vector<std::string> BucketingModule::output_names() const {
  return binded_ ? current_->output_names() : make_module(default_key_)->output_names();
}
const Shapes& BucketingModule::data_shapes() const { return current().data_shapes(); }
Shapes BucketingModule::label_shapes() const { return current().label_shapes(); }
std::vector<std::pair<std::string, Shape>> BucketingModule::output_shapes() const {
  return current().output_shapes();
}

void BucketingModule::bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes,
                           const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return log_warning("Already bound, ignoring bind()");
  check(!options.shared_module, ErrorKind::kState,
        "shared_module for BucketingModule is not supported");
  std::optional<ModelParams> params;
  if (params_initialized_) params = get_params();
  auto module = make_module(default_key_);
  module->bind(data_shapes, label_shapes, options);
  binded_ = false;
  buckets_.clear();
  current_ = module.get();
  current_key_ = default_key_;
  buckets_[default_key_] = std::move(module);
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  grad_req_ = options.grad_req;
  binded_ = true;
  if (params) set_params(params->args, params->aux);
}

void BucketingModule::switch_bucket(std::int64_t key, const Shapes& data_shapes,
                                    const std::optional<Shapes>& label_shapes) {
  check_bound();
  auto it = buckets_.find(key);
  if (it == buckets_.end()) {
    auto module = make_module(key);
    module->bind(data_shapes, label_shapes,
                 {.for_training = for_training_,
                  .inputs_need_grad = inputs_need_grad_,
                  .shared_module = buckets_.at(default_key_).get(),
                  .grad_req = grad_req_});
    if (monitor_) module->install_monitor(*monitor_);
    it = buckets_.emplace(key, std::move(module)).first;
  }
  current_ = it->second.get();
  current_key_ = key;
}

void BucketingModule::switch_to(const DataBatch& batch) {
  check(batch.bucket_key.has_value(), "the batch has no bucket_key");
  switch_bucket(*batch.bucket_key, batch.provide_data, batch.provide_label);
}

void BucketingModule::init_params(const InitParamsOptions& options) {
  if (params_initialized_ && !options.force_init) return;
  check(binded_, ErrorKind::kState, "call bind before initializing the parameters");
  InitParamsOptions forced = options;
  forced.force_init = forced.force_init || params_initialized_;
  current_->init_params(forced);
  params_initialized_ = true;
}

void BucketingModule::set_params(const NDArrayMap& args, const NDArrayMap& aux,
                                 const SetParamsOptions& options) {
  current().set_params(args, aux, options);
  params_initialized_ = true;
}

ModelParams BucketingModule::get_params() {
  check_initialized();
  return current_->get_params();
}

void BucketingModule::init_optimizer(const InitOptimizerOptions& options) {
  check_initialized();
  if (optimizer_initialized_ && !options.force_init)
    return log_warning("optimizer already initialized, ignoring.");
  current_->init_optimizer(options);
  for (const auto& [key, module] : buckets_)
    if (module.get() != current_) module->borrow_optimizer(*current_);
  optimizer_initialized_ = true;
}

void BucketingModule::prepare(const DataBatch& batch) {
  check_initialized();
  const std::int64_t before = current_key_;
  switch_to(batch);
  switch_bucket(before, {});
}

void BucketingModule::forward(const DataBatch& batch, std::optional<bool> is_train) {
  check_initialized();
  switch_to(batch);
  current_->forward(batch, is_train);
}

void BucketingModule::backward(const std::vector<NDArray>& out_grads) {
  current().backward(out_grads);
}

void BucketingModule::update() { current().update(); }

void BucketingModule::step(const DataBatch& batch, EvalMetric& metric) {
  check_initialized();
  if (policy_.is_used())
    return BaseModule::step(batch, metric);  // over all buckets, not one bucket's step
  switch_to(batch);
  current_->step(batch, metric);
}

std::shared_ptr<BaseModule> BucketingModule::blank_copy() const {
  return std::make_shared<BucketingModule>(generator_, default_key_, options_);
}

std::vector<Module*> BucketingModule::modules(Which which) {
  check_bound();
  return {which == Which::kRanLast ? current_ : buckets_.at(default_key_).get()};
}

std::vector<NDArray> BucketingModule::get_outputs() const { return current().get_outputs(); }
std::vector<NDArray> BucketingModule::get_input_grads() const {
  return current().get_input_grads();
}

void BucketingModule::update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const {
  current().update_metric(metric, labels);
}

void BucketingModule::install_monitor(Monitor& monitor) {
  check_bound();
  monitor_ = &monitor;
  for (const auto& [key, module] : buckets_) module->install_monitor(monitor);
}

void BucketingModule::save_checkpoint(const std::string& prefix, int epoch) {
  check_initialized();
  save_params(checkpoint_path(prefix, epoch));
  std::vector<std::int32_t> keys;
  for (const auto& [key, module] : buckets_) {
    module->symbol().save(fmt::format("{}-{}-symbol.json", prefix, key));
    keys.push_back(static_cast<std::int32_t>(key));
  }
  const auto count = static_cast<std::int64_t>(keys.size());
  symbind::save(prefix + ".buckets", {NDArray::from_vector(keys, Shape({count}))});
}

}  // namespace symbind
