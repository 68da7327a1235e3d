// The run loop. Everything was decided at compilation: a run iterates over prepared kernels with
// fixed pointers.

#include "executor/runner.h"

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"
#include "base/profiling.h"
#include "executor/random_state.h"
#include "executor/run_guarded.h"
#include "executor/watchers.h"
#include "ndarray/access.h"
#include "ndarray/storage.h"

namespace symbind {

Runner::Runner(Bound bound, std::shared_ptr<Arenas> arenas)
    : bound_(std::move(bound)),
      arenas_(arenas ? std::move(arenas) : std::make_shared<Arenas>()),
      predicts_(std::ranges::all_of(bound_.grad_req,
                                    [](GradReq req) { return req == GradReq::kNull; })) {}

Runner::Runner(Bound bound, std::shared_ptr<Arenas> arenas, std::shared_ptr<const Plan> plan)
    : Runner(std::move(bound), std::move(arenas)) {
  plan_ = std::move(plan);
  outputs_.resize(plan_->outputs.size());
  head_grads_.resize(plan_->outputs.size());
  take_arenas(*plan_);
  device_values_ = value_blocks(*plan_);
  wire();
}

void Runner::run_step(std::size_t i, Watchers& watchers) {
  const Runnable& step = runnables_[i];
  if (step.enter != nullptr) step.enter->make_current();
  if (step.draws != nullptr) {
    const auto [seed, draw] = next_random_draw(plan_->steps[i].context);
    step.draws->random_seed = seed;
    step.draws->random_draw = draw;
  }
  if (profiling::on(profiling::kSymbolic | profiling::kTimes)) [[unlikely]]
    watchers.run_timed(*this, i);
  else
    (*step.run)(step.args);
  if (watchers.see_values()) watchers.show(*this, i);
}

void Runner::move_to_slice(std::size_t slice) {
  for (const auto& [place, tensor] : sliced_) {
    void*& data = tensor_args_[place].data;
    const auto bytes =
        static_cast<std::ptrdiff_t>(plan_->tensors[static_cast<std::size_t>(tensor)].desc.bytes());
    const auto slices = static_cast<std::ptrdiff_t>(slice) - static_cast<std::ptrdiff_t>(slice_);
    if (data != nullptr) data = static_cast<std::byte*>(data) + slices * bytes;
  }
  slice_ = slice;
}

std::optional<Runner::Failure> Runner::run(std::size_t first, std::size_t last,
                                           Watchers& watchers) {
  const VendorThreads threads;
  const std::size_t steps = plan_->steps.size();
  while (first < last) {
    const std::size_t slice = first / steps, before = slice * steps,
                      end = std::min(last, before + steps);
    move_to_slice(slice);
    if (std::optional<Failure> failure = run_steps(first - before, end - before, watchers)) {
      failure->step += before;
      return failure;
    }
    first = end;
  }
  return std::nullopt;
}

std::optional<Runner::Failure> Runner::run_steps(std::size_t first, std::size_t last,
                                                 Watchers& watchers) {
  const auto from = [first](const auto& list) {
    return std::ranges::lower_bound(list, first, {}, [](const auto& one) { return one.first; });
  };
  auto read = from(first_reads_);
  auto written = from(last_writes_);
  for (std::size_t i = first; i < last; ++i) {
    for (; read != first_reads_.end() && read->first == i; ++read) read->second->settle();
    std::optional<Error> error = run_guarded(plan_->steps[i].title, runnables_[i].nanoseconds,
                                             [&] { run_step(i, watchers); });
    if (error) [[unlikely]]
      return Failure{i, std::move(*error)};
    for (; written != last_writes_.end() && written->first == i; ++written)
      if (observer_ != nullptr) observer_->gradient_is_final(written->second);
  }
  return std::nullopt;
}

void Runner::predict(std::size_t first, std::size_t last, Watchers& watchers) {
  set_training(false);
  if (std::optional<Failure> failure = run(first, last, watchers)) throw std::move(failure->error);
}

void Runner::set_training(bool is_train) {
  for (RunState& state : run_state_) state.is_train = is_train;
}

std::pair<std::size_t, std::size_t> Runner::steps_of(Phase phase) const {
  const auto slices = static_cast<std::size_t>(plan_->slices.count);
  if (phase == Phase::kForward) return {0, plan_->num_forward * slices};
  return {plan_->num_forward * slices, plan_->steps.size() * slices};
}

void Runner::touch_written(Phase phase) const {
  for (Storage* storage : written(phase)) storage->touch();
}

std::shared_ptr<PendingError> Runner::fail(std::size_t first, std::size_t last,
                                           const Error& error) const {
  const auto pending = std::make_shared<PendingError>(error);
  for (std::size_t i = first; i < last; ++i) {
    for (Storage* storage : written_by(plan_->steps[i % plan_->steps.size()]))
      storage->set_error(pending);
  }
  return pending;
}

void Runner::zero_unreached_gradients() {
  for (const int arg : plan_->zero_gradients) {
    bound_.grads[static_cast<std::size_t>(arg)].set(0.0);
    if (observer_ != nullptr) observer_->gradient_is_final(static_cast<std::size_t>(arg));
  }
}

std::vector<std::size_t> Runner::gradient_order() const {
  std::vector<std::size_t> order;
  for (const auto& [step, argument] : last_writes_) order.push_back(argument);
  for (const int argument : plan_->zero_gradients)
    order.push_back(static_cast<std::size_t>(argument));
  return order;
}

void Runner::settle_reads() const {
  for (const auto& [step, storage] : first_reads_) storage->settle();
}

void Runner::fill(const std::vector<std::pair<std::size_t, NDArray>>& args,
                  std::vector<NDArray> outputs) {
  SYMBIND_ASSERT(outputs.size() == outputs_.size());
  move_to_slice(0);
  for (const auto& [number, array] : args) {
    bound_.args[number] = array;
    filled_.push_back(number);
  }
  outputs_ = std::move(outputs);
  for (const auto& [place, tensor] : open_) {
    SYMBIND_ASSERT(!is_open(tensor));
    tensor_args_[place] = resolve(tensor);
  }
}

void Runner::empty() {
  for (const auto& [place, tensor] : open_) tensor_args_[place] = {};
  for (const std::size_t number : filled_) bound_.args[number] = {};
  filled_.clear();
  for (NDArray& output : outputs_) output = {};
}

}  // namespace symbind
