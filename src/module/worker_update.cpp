#include "module/worker_update.h"

#include <algorithm>

#include <symbind/detail/param_update.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/team.h"
#include "executor/runner.h"
#include "ndarray/recorder.h"

namespace symbind {

class WorkerUpdate::Observer final : public GradientObserver {
 public:
  explicit Observer(WorkerUpdate& owner) : owner_(owner) {}
  void gradient_is_final(std::size_t argument) noexcept override {
    Param* param = by_argument[argument];
    if (param != nullptr && param->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1)
      owner_.put(*param);
  }
  std::vector<Param*> by_argument;  ///< null: no parameter with a gradient

 private:
  WorkerUpdate& owner_;
};

class WorkerUpdate::Late final : public LateWrite {
 public:
  Late(WorkerUpdate& owner, std::size_t bucket) : owner_(owner), bucket_(bucket) {}

  /// An array that an access must not read before the update.
  void add(const NDArray& array) { arrays_.push_back(array); }
  /// An update, and the devices' weights that become the new value.
  void add(int item, const NDArray& stored, const DeviceArrays& weights) {
    items_.push_back(item);
    for (const NDArray& weight : weights) {
      copies_.emplace_back(stored, weight);
      add(weight);
    }
  }

  void begin() {
    for (const NDArray& array : arrays_) array.storage()->settle();  // another bucket's array
    ++round_;
    pending_ = true;
    for (const NDArray& array : arrays_) array.storage()->set_late(this);
  }

  // Several threads may wait. The mutex is held only while the updates run: one that waits for it
  // may hold Python's lock, which polling for signals needs.
  void finish() override {
    if (owner_.finisher_ == std::this_thread::get_id()) return;
    while (pending_) {
      const std::uint64_t round = round_;
      owner_.buckets_->wait(bucket_);
      const std::lock_guard lock(owner_.finishing_);
      if (pending_ && round == round_) update();
    }
  }

  void forget() {
    pending_ = false;
    for (const NDArray& array : arrays_) array.storage()->set_late(nullptr);
  }

 private:
  /// Lets the thread's own accesses pass.
  struct Finishing {
    explicit Finishing(std::atomic<std::thread::id>& thread) : finisher(thread) {
      finisher = std::this_thread::get_id();
    }
    ~Finishing() { finisher = std::thread::id(); }
    Finishing(const Finishing&) = delete;
    Finishing& operator=(const Finishing&) = delete;
    std::atomic<std::thread::id>& finisher;
  };

  void update() {
    const Finishing within(owner_.finisher_);
    const Unrecorded unrecorded;
    const InterruptDeferral whole;
    owner_.buckets_->take(bucket_);
    owner_.wired_.run(items_);
    for (const auto& [stored, weight] : copies_) stored.copy_to(weight);
    forget();
  }

  WorkerUpdate& owner_;
  std::size_t bucket_;
  std::vector<int> items_;
  std::vector<std::pair<NDArray, NDArray>> copies_;
  std::vector<NDArray> arrays_;
  std::atomic<bool> pending_ = false;
  std::atomic<std::uint64_t> round_ = 0;  ///< of the steps
};

WorkerUpdate::WorkerUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store,
                           bool on_store)
    : updater_(std::move(updater)), store_(std::move(store)), on_store_(on_store) {}

WorkerUpdate::~WorkerUpdate() {
  for (const auto& late : late_) {
    try {
      late->finish();
    } catch (const Error&) {  // the job failed: the weights keep their values
      late->forget();
    }
  }
}

// Makes the table for the group's executors; after a reshape they are new ones.
void WorkerUpdate::prepare(ExecutorGroup& group) {
  const Executor& first = group.execs().front();
  if (executor_ == first.impl() && group_ == &group) return;
  const auto& grads = group.grad_arrays();
  const std::vector<std::string>& names = group.options().param_names;
  const Runner& runner = runner_of(first);
  const std::vector<std::string>& arguments = runner.bound().arg_names;
  std::vector<std::size_t> argument_of(names.size());
  std::vector<PushedKey> keys;
  for (const std::size_t argument : runner.gradient_order()) {
    const auto name = std::ranges::find(names, arguments[argument]);
    if (name == names.end()) continue;  // an input with a gradient
    const auto i = static_cast<std::size_t>(name - names.begin());
    argument_of[i] = argument;
    keys.push_back({names[i], grads[i].front().dtype()});
  }
  params_.clear();
  observers_.clear();
  buckets_ = keys.empty() ? nullptr : store_->buckets(keys);
  for (std::size_t d = 0; d < group.contexts().size(); ++d) {
    observers_.push_back(std::make_unique<Observer>(*this));
    observers_.back()->by_argument.resize(arguments.size());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!grads[i].front().defined()) continue;
    const std::size_t place = buckets_->place_of(names[i]);
    std::size_t bucket = 0;
    while (std::ranges::find(buckets_->buckets()[bucket], place) ==
           buckets_->buckets()[bucket].end())
      ++bucket;
    params_.push_back(std::make_unique<Param>(i, place, bucket));
    for (const auto& observer : observers_)
      observer->by_argument[argument_of[i]] = params_.back().get();
  }
  executor_ = first.impl();
  group_ = &group;
}

void WorkerUpdate::put(const Param& param) noexcept {
  try {
    buckets_->put(param.place, group_->grad_arrays()[param.number]);
  } catch (...) {
    const std::lock_guard lock(failed_guard_);
    if (!failed_) failed_ = std::current_exception();
  }
}

// Another network with the same keys may have left an update; this one need not read its weights.
void WorkerUpdate::begin() {
  for (const auto& param : params_) buckets_->stored(param->place).storage()->settle();
  buckets_->begin();
  failed_ = nullptr;
}

void WorkerUpdate::forward_backward(ExecutorGroup& group) {
  prepare(group);
  group.forward(true);
  if (buckets_) begin();
  for (const auto& param : params_) param->waiting = group.contexts().size();
  started_ = true;
  struct Observed {
    explicit Observed(WorkerUpdate& owner) : execs(owner.group_->execs()) {
      for (std::size_t d = 0; d < execs.size(); ++d)
        set_gradient_observer(execs[d], owner.observers_[d].get());
    }
    ~Observed() {
      for (const Executor& executor : execs) set_gradient_observer(executor, nullptr);
    }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;
    std::vector<Executor> execs;
  };
  const InterruptDeferral whole;  // a step whose sums are started is finished
  const Observed within(*this);
  group.backward();
}

// An error of a gradient is raised here, and reaches the other workers when this one ends.
void WorkerUpdate::finish_puts() {
  if (!std::exchange(started_, false)) {
    if (buckets_) begin();
    for (const auto& param : params_) put(*param);
  } else {
    for (const auto& param : params_)
      for (const NDArray& grad : group_->grad_arrays()[param->number])
        if (param->waiting != 0) grad.wait_to_read();
  }
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

void WorkerUpdate::update(ExecutorGroup& group) {
  prepare(group);
  finish_puts();
  if (params_.empty()) return;
  if (!wire(group)) return update_now(group);
  wired_.set_values();
  for (const auto& late : late_) late->begin();
}

// The updates can wait if they need nothing but the sum: their numbers are those of now.
bool WorkerUpdate::wire(ExecutorGroup& group) {
  if (!on_store_ || !updater_ || updater_ != updater_of(buckets_->update())) return false;
  const Executor& executor = group.execs().front();
  if (wired_.is_current(*updater_, executor)) return true;
  std::vector<WiredUpdate::Item> items;
  for (const auto& param : params_)
    items.push_back({group.options().param_names[param->number], buckets_->stored(param->place),
                     buckets_->sum(param->place)});
  late_.clear();
  if (!wired_.wire(*updater_, executor, items)) return false;
  for (std::size_t b = 0; b < buckets_->buckets().size(); ++b)
    late_.push_back(std::make_unique<Late>(*this, b));
  for (std::size_t i = 0; i < items.size(); ++i) {
    Late& late = *late_[params_[i]->bucket];
    late.add(static_cast<int>(i), items[i].weight, group.param_arrays()[params_[i]->number]);
    for (const NDArray& array : wired_.changed_by(i)) late.add(array);
  }
  return true;
}

// In the order of the parameters: an update may draw random numbers.
void WorkerUpdate::update_now(ExecutorGroup& group) {
  const TeamScope scope(group.team());
  for (const auto& param : params_) {
    buckets_->wait(param->bucket);
    buckets_->take(param->bucket);
    buckets_->apply(param->place);
    const auto& arrays = on_store_ ? group.param_arrays() : group.grad_arrays();
    for (const NDArray& target : arrays[param->number])
      buckets_->stored(param->place).copy_to(target);
  }
}

}  // namespace symbind
