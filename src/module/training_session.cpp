// Decided here: everything is checked before anything changes; a checkpoint overrides what was
// given; an interrupt takes effect after a batch, where everything is consistent.

#include <symbind/detail/training_session.h>

#include <fmt/format.h>

#include <symbind/detail/resume.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "module/manifest.h"
#include "module/together.h"
#include "module/training_record.h"

namespace symbind {
namespace {

std::map<Key, NDArray> weights_by_key(TrainedNetwork& network) {
  std::map<Key, NDArray> weights;
  const auto& arrays = network.group().param_arrays();
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (std::size_t d = 0; d < arrays[i].size(); ++d)
      weights[network.update_on_store()
                  ? Key(network.group().options().param_names[i])
                  : Key(static_cast<std::int64_t>(i * arrays[i].size() + d))] = arrays[i][d];
  return weights;
}

// Worker 0 records the run and shows the progress.
SessionOptions for_worker(int rank, SessionOptions options) {
  if (rank == 0) return options;
  options.run.reset();
  options.progress = options.progress.value_or(false);
  return options;
}

NDArrayMap on_host(const NDArrayMap& arrays) {
  NDArrayMap result;
  for (const auto& [name, array] : arrays)
    result[name] = array.context() == cpu() ? array.copy() : array.as_in_context(cpu());
  return result;
}

}  // namespace

TrainingSession::TrainingSession(Training& training, SessionOptions options)
    : training_(training),
      workers_(training.workers()),
      options_(for_worker(training.rank(), std::move(options))),
      record_(std::make_unique<TrainingRecord>(training, options_)) {
  find_places();
  if (workers_ != nullptr) begin_together(*workers_, training);
  if (options_.checkpoint) {
    // Worker 0 first: it finishes or removes what an interrupted save has left.
    const char* what = "the checkpoints of worker 0";
    if (workers_ != nullptr && training.rank() != 0) workers_->barrier(what);
    checkpointer_ = std::make_unique<Checkpointer>(*options_.checkpoint, training.rank() == 0);
    if (workers_ != nullptr && training.rank() == 0) workers_->barrier(what);
    if (keeps_best())
      watched_value(training.metric_values(), options_.checkpoint->keep_best, "keep_best");
  }
  if (checkpointer_ || !options_.resume.empty()) {
    for (const auto& network : training.networks()) {
      kernels_.push_back(kernel_facts(network->group()));
      symbols_.push_back(network->symbol_json());
    }
  }
  record_->begin(!options_.resume.empty() && resume());
}

// Where checkpoints are: in the folder of the run, if there is one. Worker 0 has that.
void TrainingSession::find_places() {
  const RunFolder* folder = record_->folder();
  std::string prefix = folder != nullptr ? folder->prefix() : "";
  if (workers_ != nullptr) prefix = text_of_first(*workers_, "the folder of the run", prefix);
  if (!prefix.empty()) {
    if (!options_.checkpoint) options_.checkpoint.emplace();
    if (options_.checkpoint->prefix.empty()) options_.checkpoint->prefix = prefix;
    if (options_.resume.empty()) options_.resume = options_.checkpoint->prefix;
  }
  if (workers_ == nullptr || !options_.checkpoint) return;
  workers_->set_loss_note([checkpoints = options_.checkpoint->prefix] {
    const std::vector<CheckpointInfo> sets = list_checkpoints(checkpoints);
    return sets.empty() ? std::string("there is no complete checkpoint yet")
                        : "last complete checkpoint " + sets.back().manifest;
  });
}

TrainingSession::~TrainingSession() = default;

bool TrainingSession::resume() {
  // Worker 0 of an asynchronous job may be saving now; the others of a synchronous one wait for it.
  resumed_ = workers_ == nullptr && training_.rank() != 0 ? load_beside_writer(options_.resume)
                                                          : load_training(options_.resume);
  if (workers_ != nullptr)
    workers_->agree("resume from " + options_.resume,
                    resumed_ ? "there is a checkpoint" : "there is none");
  if (!resumed_) {
    training_.info(
        fmt::format("resume: there is no checkpoint of '{}' yet: the training begins at epoch {}",
                    options_.resume, begin_epoch()));
    return false;
  }
  take_own_facts(workers_, training_.rank(), *resumed_);
  restore(*resumed_);
  options_.begin_epoch = resumed_->epoch;
  training_.info(fmt::format("resume: continues from {} at epoch {}, batch {}", resumed_->source,
                             resumed_->epoch, resumed_->batch));
  if (!resumed_->exact) resumed_.reset();
  return true;
}

bool TrainingSession::keeps_best() const {
  return options_.checkpoint && !options_.checkpoint->keep_best.empty();
}

void TrainingSession::restore(const TrainingState& state) {
  const std::string& source = state.source;
  const ModelParams now = training_.params();
  check_resumed_params(state, now.args, now.aux);
  const auto networks = training_.networks();
  const StateValue* facts = state.exact ? &state.facts.at("parts", source.c_str()) : nullptr;
  check(!facts || (state.parts.size() == networks.size() && facts->items.size() == networks.size()),
        "{} is from a training of {} networks, but this one has {}: nothing was loaded", source,
        state.parts.size(), networks.size());
  const auto saved = [&](std::size_t i) {
    return i < state.parts.size() ? state.parts[i] : TrainingPart{};
  };
  const auto facts_of = [&](std::size_t i) { return facts ? &facts->items[i] : nullptr; };
  for (std::size_t i = 0; i < networks.size(); ++i) {
    TrainedNetwork& network = *networks[i];
    if (facts) {
      network.check_facts(*facts_of(i), source);
      check_optimizer_config(network.optimizer(), facts_of(i)->at("optimizer", source.c_str()),
                             source);
    }
    if (const TrainingPart part = saved(i); part.states.kind != StateValue::Kind::kNone)
      check_states(network.read_states(part.states.text, source), weights_by_key(network), source);
  }
  for (std::size_t i = 0; i < networks.size(); ++i)
    restore_optimizer(*networks[i], kernels_[i], saved(i), facts_of(i), source);
  training_.set_params(state.args, state.aux);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (networks[i]->update_on_store()) networks[i]->give_to_store();
    if (facts) set_device_facts(networks[i]->group(), facts_of(i)->at("devices", source.c_str()));
  }
  if (state.exact) restore_named(state);
}

void TrainingSession::restore_optimizer(TrainedNetwork& network, const StateValue& kernels,
                                        const TrainingPart& saved, const StateValue* facts,
                                        const std::string& source) {
  const StateValue before = optimizer_config(network.optimizer());
  if (facts != nullptr) {
    set_optimizer_config(network.optimizer(), facts->at("optimizer", source.c_str()), source);
    network.take_facts(*facts);
    compare_kernel_facts(kernels, facts->at("kernels", source.c_str()));
  }
  if (saved.states.kind == StateValue::Kind::kNone) return;
  try {
    network.set_states(saved.states.text, source);
  } catch (...) {
    set_optimizer_config(network.optimizer(), before, source);
    throw;
  }
}

void TrainingSession::restore_named(const TrainingState& state) {
  const char* what = state.source.c_str();
  if (!training_.set_metric_facts(state.facts.at("metric", what)) && state.batch > 0)
    training_.warn("resume: the checkpoint has another metric: sums start at zero");
  const StateValue* eval = state.facts.find("eval_iterator");
  if (eval != nullptr && eval->kind != StateValue::Kind::kNone) training_.set_eval_state(*eval);
  const StateValue& named = state.facts.at("named", what);
  for (const auto& [name, part] : training_.named()) {
    if (const StateValue* found = named.find(name))
      part.set_state(*found);
    else
      training_.warn(fmt::format("resume: {} holds nothing for '{}'", state.source, name));
  }
}

void TrainingSession::restore_data(const TrainingState& state) {
  const StateValue& saved = state.facts.at("iterator", state.source.c_str());
  if (saved.kind != StateValue::Kind::kNone) return training_.set_data_state(saved);
  training_.warn(fmt::format(
      "resume: the iterator has no state: it is reset {} times and {} batches are skipped",
      state.epoch, state.batch));
  for (int i = 0; i < state.epoch; ++i) training_.reset_data();
  for (int i = 0; i < state.batch; ++i)
    check(training_.fetch(), "resume: the iterator ends after {} batches, but {} were trained", i,
          state.batch);
  if (state.facts.at("ended", state.source.c_str()).integer != 0) training_.fetch();
}

TrainingSession::Start TrainingSession::start_epoch(int epoch) {
  const Start start = fetch_first();
  record_->begin_epoch(epoch, start.nbatch);
  return start;
}

TrainingSession::Start TrainingSession::fetch_first() {
  if (checkpointer_) training_.defer_interrupts();
  end_.reset();
  if (!resumed_) {
    training_.reset_metric();
    return {0, training_.fetch()};
  }
  const TrainingState state = std::move(*resumed_);
  resumed_.reset();
  const char* what = state.source.c_str();
  restore_data(state);
  training_.set_random(state.facts.at("random_at_fetch", what));
  if (state.batch == 0) {
    training_.reset_metric();
    return {0, training_.fetch()};
  }
  const bool more = state.facts.at("ended", what).integer == 0 && training_.fetch();
  if (more) training_.prepare();
  training_.set_random(state.facts.at("random", what));
  return {state.batch, more};
}

TrainingSession::FetchPoint TrainingSession::fetch_point(bool ended) {
  std::optional<StateValue> iterator = training_.data_state();
  return {std::move(iterator), training_.random(), ended};
}

void TrainingSession::after_update(int batches) {
  fetch_.reset();
  if (!checkpointer_) return;
  interrupted_ = training_.interrupted();
  if (interrupted_ && workers_ != nullptr) throw Interrupted();  // the others are at another batch
  if (interrupted_ || checkpointer_->due_in_epoch(batches)) fetch_ = fetch_point(false);
}

void TrainingSession::after_callbacks(int epoch, int batches, bool more) {
  record_->after_batch(batches);
  if (!fetch_) return;
  if (interrupted_) {
    checkpointer_->finish();  // the last one must not be skipped
    save(capture(epoch, batches, more ? *fetch_ : fetch_point(true)));
    checkpointer_->finish();
    throw Interrupted();
  }
  if (more)
    save(capture(epoch, batches, *fetch_));
  else
    epoch_end_due_ = true;  // after the last batch: save at the end of the epoch
}

void TrainingSession::after_batches(int epoch, int batches) {
  record_->after_batches(epoch, batches);
  if (workers_ != nullptr) average_params(*workers_, training_, epoch, batches);
  if (!checkpointer_) return;
  end_ = capture(epoch, batches, fetch_point(true));
  training_.release_interrupts();
  if (training_.interrupted()) throw Interrupted();
}

void TrainingSession::after_epoch(int epochs, const std::vector<NameValue>& values,
                                  bool evaluated) {
  record_->after_epoch(values, evaluated);
  if (!checkpointer_) return;
  end_.reset();
  interrupted_ = training_.interrupted();
  const bool due = checkpointer_->due_at_border(epochs, options_.num_epoch) || epoch_end_due_;
  epoch_end_due_ = false;
  if (!due && !interrupted_) return;
  TrainingState state = capture(epochs, 0, fetch_point(false));
  if (keeps_best())
    state.score = watched_value(values, options_.checkpoint->keep_best, "keep_best");
  save(std::move(state));
  if (!interrupted_) return;
  checkpointer_->finish();
  throw Interrupted();
}

void TrainingSession::save_epoch() {
  training_.release_interrupts();
  if (!checkpointer_ || !end_) return;
  checkpointer_->finish();
  save(std::move(*end_));
  end_.reset();
}

void TrainingSession::stopped(const std::string& why) {
  save_epoch();
  why_ = why;
}

void TrainingSession::finish() {
  training_.release_interrupts();
  if (checkpointer_) checkpointer_->finish();
  record_->end(why_);
}

void TrainingSession::failed(const std::string& error) {
  training_.release_interrupts();
  record_->fail(error);
}

void TrainingSession::interrupted() {
  save_epoch();
  if (checkpointer_) checkpointer_->finish();
}

void TrainingSession::save(TrainingState state) {
  if (training_.rank() == 0) checkpointer_->save(std::move(state));
}

std::vector<NameValue> TrainingSession::decided(const std::vector<NameValue>& values) {
  return workers_ == nullptr ? values : values_of_first(*workers_, values);
}

std::optional<std::string> TrainingSession::decided_stop(const std::optional<std::string>& why) {
  return workers_ == nullptr ? why : stop_of_first(*workers_, why);
}

TrainingState TrainingSession::capture(int epoch, int batches, const FetchPoint& at) {
  TrainingState state{.epoch = epoch, .batch = batches};
  const ModelParams params = training_.params();
  state.args = on_host(params.args);
  state.aux = on_host(params.aux);
  state.order = training_.param_order();
  StateValue parts = StateValue::sequence(StateValue::Kind::kList), named = StateValue::dict();
  // The saved auxiliary states are those of worker 0; the others keep theirs with their devices.
  const bool saves = training_.rank() == 0;
  const NDArrayMap saved_aux = saves ? params.aux : NDArrayMap();
  for (const auto& network : training_.networks()) {
    const std::size_t i = state.parts.size();
    state.parts.push_back({symbols_[i], network->states()});
    StateValue facts = StateValue::dict();
    facts.add("optimizer", optimizer_config(network->optimizer()));
    facts.add("devices", device_facts(network->group(), params.args, saved_aux));
    facts.add("kernels", kernels_[i]);
    network->add_facts(facts);
    parts.items.push_back(std::move(facts));
  }
  for (const auto& [name, part] : training_.named())
    named.add(StateValue::of(name), part.state().deep_copy());
  state.facts.add("parts", std::move(parts));
  state.facts.add("named", std::move(named));
  state.facts.add("metric", training_.metric_facts());
  state.facts.add("ended", StateValue::of(at.ended));
  state.facts.add("iterator", at.iterator.value_or(StateValue::none()));
  state.facts.add("eval_iterator", training_.eval_state().value_or(StateValue::none()));
  state.facts.add("random_at_fetch", at.random);
  state.facts.add("random", training_.random());
  if (workers_ != nullptr) gather_facts(*workers_, state);
  return state;
}

}  // namespace symbind
