#include "module/training_session.h"

#include <fmt/format.h>

#include <symbind/log.h>
#include <symbind/runtime.h>
#include <symbind/states.h>

#include "base/check.h"

namespace symbind {
namespace {

std::map<Key, NDArray> weights_by_key(const Module& part) {
  std::map<Key, NDArray> weights;
  const auto& arrays = part.group()->param_arrays();
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (std::size_t d = 0; d < arrays[i].size(); ++d)
      weights[part.update_on_kvstore() ? Key(part.param_names()[i])
                                       : Key(static_cast<std::int64_t>(i * arrays[i].size() + d))] =
          arrays[i][d];
  return weights;
}

/// A store that runs the updates has weights of its own.
void give_to_store(Module& part, const NDArrayMap& args) {
  if (!part.update_on_kvstore()) return;
  KVStore& store = *part.kvstore();
  store.set_updater(
      [](const Key&, const NDArray& merged, NDArray& stored) { merged.copy_to(stored); });
  for (const std::string& name : part.param_names()) store.push(name, {args.at(name)});
  store.set_updater([updater = part.updater()](const Key& key, const NDArray& grad,
                                               NDArray& weight) { (*updater)(key, grad, weight); });
}

NDArrayMap copies(const NDArrayMap& arrays) {
  NDArrayMap result;
  for (const auto& [name, array] : arrays) result[name] = array.copy();
  return result;
}

}  // namespace

TrainingSession::TrainingSession(BaseModule& module, DataIter& train, EvalMetric& metric,
                                 const FitOptions& options)
    : module_(module),
      train_(train),
      metric_(metric),
      options_(options),
      begin_epoch_(options.begin_epoch) {
  if (options.checkpoint) {
    checkpointer_ = std::make_unique<Checkpointer>(*options.checkpoint);
    if (!options.checkpoint->keep_best.empty())
      watched_value(metric.get(), options.checkpoint->keep_best, "keep_best");
  }
  for (const Module* part : module.modules(BaseModule::Which::kAllWeights)) {
    kernels_.push_back(kernel_facts(*part->group()));
    symbols_.push_back(part->symbol().tojson());
  }
  if (options.resume.empty()) return;
  resumed_ = load_training(options.resume);
  if (!resumed_) {
    log_info(
        fmt::format("resume: there is no checkpoint of '{}' yet: the training begins at epoch {}",
                    options.resume, begin_epoch_));
    return;
  }
  restore(*resumed_);
  begin_epoch_ = resumed_->epoch;
  log_info(fmt::format("resume: goes on from {} at epoch {}, batch {}", resumed_->source,
                       resumed_->epoch, resumed_->batch));
}

// Everything is checked before the first thing changes.
void TrainingSession::restore(const TrainingState& state) {
  const ModelParams now = module_.get_params();
  check_resumed_params(state, now.args, now.aux);
  const std::vector<Module*> parts = module_.modules(BaseModule::Which::kAllWeights);
  const StateValue* part_facts = state.facts.find("parts");
  check(!state.exact || (state.parts.size() == parts.size() && part_facts != nullptr &&
                         part_facts->items.size() == parts.size()),
        "{} is of a training of {} networks, and this one has {}: nothing was loaded", state.source,
        state.parts.size(), parts.size());
  const auto saved = [&](std::size_t i) {
    return i < state.parts.size() ? state.parts[i] : TrainingPart{};
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const StateValue* facts = state.exact ? &part_facts->items[i] : nullptr;
    if (facts != nullptr)
      check_optimizer_facts(*parts[i]->optimizer(), facts->at("optimizer", state.source.c_str()),
                            state.source);
    if (const TrainingPart part = saved(i); part.states.kind != StateValue::Kind::kNone)
      check_states(load_states(part.states.text, state.source), weights_by_key(*parts[i]),
                   state.source);
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    restore_part(*parts[i], saved(i), state.exact ? &part_facts->items[i] : nullptr, state);
  module_.set_params(state.args, state.aux);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    give_to_store(*parts[i], parts[i]->get_params().args);
    if (state.exact)
      set_device_facts(*parts[i]->group(),
                       part_facts->items[i].at("devices", state.source.c_str()));
  }
  if (!state.exact) return;
  if (!set_metric_facts(metric_, state.facts.at("metric", state.source.c_str())) && state.batch > 0)
    log_warning("resume: the checkpoint is of another metric: its sums begin anew");
  if (const StateValue* eval = state.facts.find("eval_iterator"); eval && options_.eval_data)
    options_.eval_data->set_state(*eval);
  const StateValue& named = state.facts.at("named", state.source.c_str());
  for (const auto& [name, part] : module_.kept_in_checkpoints()) {
    if (const StateValue* found = named.find(name))
      part.set_state(*found);
    else
      log_warning(fmt::format("resume: {} holds nothing for '{}'", state.source, name));
  }
}

void TrainingSession::restore_part(Module& part, const TrainingPart& saved, const StateValue* facts,
                                   const TrainingState& state) {
  Optimizer& optimizer = *part.optimizer();
  const StateValue before = optimizer_facts(optimizer);
  if (facts != nullptr) {
    set_optimizer_facts(optimizer, facts->at("optimizer", state.source.c_str()), state.source);
    compare_kernel_facts(kernel_facts(*part.group()), facts->at("kernels", state.source.c_str()));
  }
  if (saved.states.kind == StateValue::Kind::kNone) return;
  try {
    part.updater()->set_states(saved.states.text, state.source);
  } catch (...) {
    set_optimizer_facts(optimizer, before, state.source);
    throw;
  }
}

void TrainingSession::give_iterator(const TrainingState& state) {
  if (!state.exact) return;
  const StateValue& saved = state.facts.at("iterator", state.source.c_str());
  if (saved.kind != StateValue::Kind::kNone) return train_.set_state(saved);
  log_warning(
      fmt::format("resume: the iterator cannot say where it stands: it is reset {} times "
                  "and {} batches are passed over",
                  state.epoch, state.batch));
  for (int i = 0; i < state.epoch; ++i) train_.reset();
  DataBatch passed;
  for (int i = 0; i < state.batch; ++i)
    check(train_.next(passed), "resume: the iterator ends behind {} batches, and {} were trained",
          i, state.batch);
  if (state.facts.at("ended", state.source.c_str()).integer != 0) train_.next(passed);
}

TrainingSession::Start TrainingSession::start_epoch(DataBatch& batch) {
  if (checkpointer_) deferral_.emplace();
  end_.reset();
  if (!resumed_ || !resumed_->exact) {
    resumed_.reset();
    metric_.reset();
    return {0, train_.next(batch)};
  }
  const TrainingState state = std::move(*resumed_);
  resumed_.reset();
  const char* what = state.source.c_str();
  give_iterator(state);
  set_random_facts(state.facts.at("random_at_fetch", what));
  if (state.batch == 0) metric_.reset();
  if (state.facts.at("ended", what).integer != 0) {
    set_random_facts(state.facts.at("random", what));
    return {state.batch, false};
  }
  const bool more = train_.next(batch);
  if (more && state.batch > 0) module_.prepare(batch);
  if (state.batch > 0) set_random_facts(state.facts.at("random", what));
  return {state.batch, more};
}

TrainingSession::FetchPoint TrainingSession::fetch_point(bool ended) {
  return {train_.state(), random_facts(), ended};
}

void TrainingSession::behind_step(int batches) {
  fetch_.reset();
  if (!checkpointer_) return;
  interrupted_ = interrupt_wanted();
  if (interrupted_ || checkpointer_->due_in_epoch(batches)) fetch_ = fetch_point(false);
}

void TrainingSession::behind_batch(int epoch, int batches, bool more) {
  if (!fetch_) return;
  if (interrupted_) {
    checkpointer_->finish();  // the last one must not be passed over
    checkpointer_->save(capture(epoch, batches, more ? *fetch_ : fetch_point(true)));
    checkpointer_->finish();
    throw Interrupted();
  }
  if (more)
    checkpointer_->save(capture(epoch, batches, *fetch_));
  else
    border_due_ = true;  // behind the last batch: the border of the epoch is where to save
}

void TrainingSession::behind_batches(int epoch, int batches) {
  if (!checkpointer_) return;
  end_ = capture(epoch, batches, fetch_point(true));
  deferral_.reset();
}

void TrainingSession::behind_epoch(int epochs, const std::vector<NameValue>& values) {
  if (!checkpointer_) return;
  end_.reset();
  interrupted_ = interrupt_wanted();
  const bool due = checkpointer_->due_at_border(epochs, options_.num_epoch) || border_due_;
  border_due_ = false;
  if (!due && !interrupted_) return;
  TrainingState state = capture(epochs, 0, fetch_point(false));
  const std::string& best = checkpointer_->options().keep_best;
  if (!best.empty()) state.score = watched_value(values, best, "keep_best");
  checkpointer_->save(std::move(state));
  if (!interrupted_) return;
  checkpointer_->finish();
  throw Interrupted();
}

void TrainingSession::stopped() {
  deferral_.reset();
  if (!checkpointer_ || !end_) return;
  checkpointer_->finish();
  checkpointer_->save(std::move(*end_));
  end_.reset();
}

void TrainingSession::finish() {
  if (checkpointer_) checkpointer_->finish();
}

TrainingState TrainingSession::capture(int epoch, int batches, const FetchPoint& at) {
  TrainingState state{.epoch = epoch, .batch = batches};
  const ModelParams params = module_.get_params();
  state.args = copies(params.args);
  state.aux = copies(params.aux);
  state.order = module_.param_order();
  StateValue parts = StateValue::sequence(StateValue::Kind::kList), named = StateValue::dict();
  for (Module* part : module_.modules(BaseModule::Which::kAllWeights)) {
    const std::size_t i = state.parts.size();
    state.parts.push_back({symbols_[i], states_facts(part->updater()->states())});
    StateValue facts = StateValue::dict();
    facts.add("optimizer", optimizer_facts(*part->optimizer()));
    facts.add("devices", device_facts(*part->group(), params.args, params.aux));
    facts.add("kernels", kernels_[i]);
    parts.items.push_back(std::move(facts));
  }
  for (const auto& [name, part] : module_.kept_in_checkpoints())
    named.add(StateValue::of(name), part.state().deep_copy());
  state.facts.add("parts", std::move(parts));
  state.facts.add("named", std::move(named));
  state.facts.add("metric", metric_facts(metric_));
  state.facts.add("ended", StateValue::of(at.ended));
  state.facts.add("iterator", at.iterator.value_or(StateValue::none()));
  if (options_.eval_data != nullptr)
    if (std::optional<StateValue> eval = options_.eval_data->state())
      state.facts.add("eval_iterator", std::move(*eval));
  state.facts.add("random_at_fetch", at.random);
  state.facts.add("random", random_facts());
  return state;
}

}  // namespace symbind
