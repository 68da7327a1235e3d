// dry_run: a step on a copy of the module.
//
// Decided here: the module itself does not run, so only the iterators' positions and the random
// state must be restored. Labels that are not classes are errors, whatever the setting. The first
// step warms up; the faster of the next two is reported.

#include <symbind/dry_run.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/log.h>
#include <symbind/module.h>
#include <symbind/random.h>

#include "base/check.h"
#include "base/settings.h"

namespace symbind {
namespace {

std::string mega(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / (1 << 20));
}

class KeptRandomState {
 public:
  KeptRandomState() : state_(random_state()) {}
  ~KeptRandomState() { set_random_state(state_); }
  KeptRandomState(const KeptRandomState&) = delete;
  KeptRandomState& operator=(const KeptRandomState&) = delete;

 private:
  RandomState state_;
};

/// A scheduler of the same class with the same fields; a constant rate for a custom class.
std::shared_ptr<LRScheduler> copy_of(LRScheduler& scheduler) {
  if (std::ranges::find(lr_scheduler_names(), scheduler.class_name()) == lr_scheduler_names().end())
    return std::make_shared<FunctionScheduler>(
        [lr = scheduler.base_lr()](std::int64_t) { return lr; });
  std::shared_ptr<LRScheduler> copy = make_lr_scheduler(scheduler.class_name());
  Fields from, to;
  scheduler.describe(from);
  copy->describe(to);
  for (AttrField& field : to.attributes.fields()) {
    const AttrField* source = from.find(field.name);
    std::visit(
        [&](auto* into) {
          *into = *std::get<std::remove_reference_t<decltype(into)>>(source->slot);
        },
        field.slot);
  }
  return copy;
}

/// The optimizer for a copy of the module. A ready-made optimizer is copied by saving and loading,
/// which only built-in ones support.
InitOptimizerOptions copied(const FitOptions& o, std::vector<std::string>& notes) {
  InitOptimizerOptions own{
      .kvstore = o.kvstore, .optimizer = o.optimizer, .optimizer_params = o.optimizer_params};
  if (o.kvstore.store()) own.kvstore = o.kvstore.store()->type();
  if (const std::shared_ptr<Optimizer>& made = o.optimizer.optimizer()) {
    try {
      Updater from(made), to(create_optimizer("sgd"));
      to.set_states(from.get_states(true), "a copy of the optimizer");
      own.optimizer = to.optimizer();
    } catch (const Error&) {
      own.optimizer = "sgd";
      notes.push_back(fmt::format("the update was tried with plain SGD: {} is a custom class",
                                  made->class_name()));
    }
    return own;
  }
  for (auto& [name, value] : own.optimizer_params)
    if (const auto scheduler = value.scheduler()) value = copy_of(*scheduler);
  return own;
}

DataBatch peeked(DataIter& iterator, std::vector<std::string>& notes) {
  DataBatch batch;
  const std::optional<std::string> note =
      peek({.next =
                [&] {
                  const bool found = iterator.next(batch);
                  for (std::vector<NDArray>* arrays : {&batch.data, &batch.label})
                    for (NDArray& array : *arrays) array = array.copy();  // they may be reused
                  return found;
                },
            .reset = [&] { iterator.reset(); },
            .state = [&] { return iterator.state(); },
            .set_state = [&](const StateValue& state) { iterator.set_state(state); }});
  if (note) notes.push_back(*note);
  return batch;
}

}  // namespace

std::optional<std::string> peek(const PeekSource& source) {
  const std::optional<StateValue> place = source.state();
  bool found = source.next();
  if (!found) {  // at the end of an epoch: the first batch of the next
    source.reset();
    found = source.next();
  }
  place ? source.set_state(*place) : source.reset();
  check(found, ErrorKind::kValue, "there is no batch to try: the iterator is empty");
  if (place) return std::nullopt;
  return "an iterator without state was reset";
}

DryRunReport measure(const std::vector<const ExecutorGroup*>& groups) {
  DryRunReport report;
  std::set<const void*> seen;
  const auto once = [&](const NDArray& array) -> std::size_t {
    return array.defined() && seen.insert(array.storage().get()).second ? array.nbytes() : 0;
  };
  for (const ExecutorGroup* group : groups) {
    for (std::size_t i = 0; i < group->param_arrays().size(); ++i) {
      report.parameters += group->param_arrays()[i].front().size();
      for (const NDArray& weight : group->param_arrays()[i]) report.weight_bytes += once(weight);
      if (!group->options().for_training || !group->grad_arrays()[i].front().defined()) continue;
      report.trained += group->param_arrays()[i].front().size();
      for (const NDArray& grad : group->grad_arrays()[i]) report.gradient_bytes += once(grad);
    }
    for (const DeviceArrays& arrays : group->aux_arrays()) {
      report.auxiliary += arrays.front().size();
      for (const NDArray& array : arrays) report.weight_bytes += once(array);
    }
    for (const Executor& executor : group->execs()) {
      report.arena_bytes += executor.stats().arena_bytes;
      for (const std::vector<NDArray>* arrays : {&executor.arg_arrays(), &executor.outputs()})
        for (const NDArray& array : *arrays) report.batch_bytes += once(array);
    }
  }
  if (groups.empty()) return report;
  report.batch_size = groups.front()->batch_size();
  report.outputs = groups.back()->output_shapes();
  return report;
}

std::string DryRunReport::text() const {
  std::string all = fmt::format(
      "dry run: {} parameters ({} trained), {} numbers in auxiliary states\n"
      "memory:  {} (weights {}, gradients {}, batch {}, activations and workspace {})\n"
      "time:    {:.4f} s for a step of {} rows, {:.1f} rows/s\n",
      parameters, trained, auxiliary, mega(total_bytes()), mega(weight_bytes), mega(gradient_bytes),
      mega(batch_bytes), mega(arena_bytes), seconds_per_step, batch_size,
      seconds_per_step > 0 ? static_cast<double>(batch_size) / seconds_per_step : 0);
  for (const auto& [name, shape] : outputs)
    all += fmt::format("output:  {} {}\n", name, shape.str());
  for (const auto& [name, value] : train) all += fmt::format("train:   {}={:f}\n", name, value);
  for (const auto& [name, value] : validation)
    all += fmt::format("valid.:  {}={:f}\n", name, value);
  for (const std::string& note : notes) all += fmt::format("note:    {}\n", note);
  all.pop_back();
  return all;
}

DryRunReport try_training(const Trial& trial) {
  const KeptRandomState kept;
  const settings::override_for_test checked("SYMBIND_CHECK", "1");
  trial.begin();
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    trial.step();
    waitall();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i > 0) best = std::min(best, seconds);
  }
  DryRunReport report = measure(trial.groups());
  report.seconds_per_step = best;
  report.train = trial.train_values();
  report.validation = trial.evaluate();
  report.notes = trial.notes();
  return report;
}

DryRunReport BaseModule::dry_run(DataIter& train, const FitOptions& o) {
  const std::shared_ptr<BaseModule> copy = blank_copy();
  EvalMetric& metric = *o.eval_metric.metric();
  DataBatch batch;
  std::vector<std::string> notes;
  Trial trial;
  trial.notes = [&] { return notes; };
  trial.begin = [&] {
    batch = peeked(train, notes);
    copy->bind(train.provide_data(), train.provide_label());
    InitParamsOptions params{.initializer = o.initializer,
                             .arg_params = o.arg_params,
                             .aux_params = o.aux_params,
                             .allow_missing = o.allow_missing};
    if (params_initialized_) {
      const ModelParams own = get_params();
      params.arg_params = own.args;
      params.aux_params = own.aux;
    }
    copy->init_params(params);
    copy->init_optimizer(copied(o, notes));
    UpdatePolicyOptions updates = o.updates;
    updates.accumulate = 1;  // so that there is an update to try
    copy->begin_updates(updates);
  };
  trial.step = [&] {
    metric.reset();
    copy->step(batch, metric);
  };
  trial.groups = [&] {
    std::vector<const ExecutorGroup*> groups;
    for (const Module* module : copy->modules(Which::kAllWeights))
      groups.push_back(module->group());
    return groups;
  };
  trial.train_values = [&] {
    const std::vector<NameValue> values = metric.get();
    metric.reset();
    return values;
  };
  trial.evaluate = [&] {
    if (o.eval_data == nullptr) return std::vector<NameValue>{};
    batch = peeked(*o.eval_data, notes);
    EvalMetric& validation = *o.validation_metric.value_or(o.eval_metric).metric();
    validation.reset();
    copy->prepare(batch);
    copy->forward(batch, false);
    copy->update_metric(validation, batch.label);
    const std::vector<NameValue> values = validation.get();
    validation.reset();
    return values;
  };
  return try_training(trial);
}

std::shared_ptr<BaseModule> BaseModule::blank_copy() const {
  fail(ErrorKind::kNotImplemented,
       "dry_run works on a copy, which a custom module does not provide\n  fix:  override "
       "blank_copy");
}
std::shared_ptr<BaseModule> Module::blank_copy() const {
  return std::make_shared<Module>(symbol(), options());
}

}  // namespace symbind
