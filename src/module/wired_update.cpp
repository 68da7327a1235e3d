// Decided here: wiring fixes the arrays of weights, gradients and states. They are wired again when
// a state is replaced (loaded), the executor changes (reshape) or a hyper-parameter selects another
// operator.

#include "module/wired_update.h"

#include <algorithm>

#include <symbind/operator.h>

namespace symbind {
namespace {

// A slot for each number that update_values returns later.
AttrDict with_places(std::string_view name) {
  const OpDef& op = OpRegistry::global().get(name);
  AttrDict attrs;
  const auto defaults = op.make_attrs();
  for (const AttrField& field : op.describe(defaults.get()))
    if (field.is_required && field.is_per_call) attrs.emplace(field.name, "0");
  return attrs;
}

}  // namespace

bool WiredUpdate::is_current(const Updater& updater, const Executor& executor) const {
  if (step_ == nullptr || executor_ != executor.impl() || optimizer_ != updater.optimizer() ||
      states_version_ != updater.version() || step_version_ != step_->version())
    return false;
  if (entries_.empty()) return true;
  const Entry& first = entries_.front();
  return optimizer_->update_op(first.weight, *first.state) == op_;
}

bool WiredUpdate::wire(Updater& updater, const Executor& executor, const std::vector<Item>& items) {
  WiredUpdate next;
  next.executor_ = executor.impl();
  next.step_ = &fused_step_of(executor);
  next.optimizer_ = updater.optimizer();
  const std::vector<Context>& contexts = runner_of(executor).plan().contexts;
  std::vector<std::vector<NDArray>> inputs;
  for (const Item& item : items) {
    if (std::ranges::find(contexts, item.weight.context()) == contexts.end()) return false;
    const OptimizerState& state = updater.state_for(item.key, item.weight);
    const std::string_view op = next.optimizer_->update_op(item.weight, state);
    if (op.empty()) return false;
    if (next.entries_.empty()) next.op_ = op;
    inputs.push_back(next.optimizer_->update_inputs(item.weight, item.grad, state));
    next.entries_.push_back(
        {.key = item.key, .weight = item.weight, .state = &state, .places = {}});
  }
  next.states_version_ = updater.version();
  step_ = nullptr;  // its updates are replaced, whatever happens
  next.step_->clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Entry& e = next.entries_[i];
    const std::string op(next.optimizer_->update_op(e.weight, *e.state));
    next.step_->add(op, inputs[i], e.weight, with_places(op));
  }
  next.step_version_ = next.step_->version();
  *this = std::move(next);
  return true;
}

void WiredUpdate::set_values(int number) {
  struct Cursor {
    FusedStep& step;
    Entry& entry;
    int number;
    std::size_t at;
  } cursor{*step_, entries_[static_cast<std::size_t>(number)], number, 0};
  optimizer_->set_current_context(cursor.entry.weight.context().id);
  optimizer_->update_values(cursor.entry.key, [&cursor](std::string_view attr, double value) {
    auto& [step, entry, number, at] = cursor;
    if (at == entry.places.size()) entry.places.push_back({"", 0});
    Place& place = entry.places[at++];
    if (place.attr != attr) place = {std::string(attr), step.place_of(number, attr)};
    step.set(number, place.place, value);
  });
}

void WiredUpdate::set_values() {
  for (std::size_t i = 0; i < entries_.size(); ++i) set_values(static_cast<int>(i));
}

std::vector<NDArray> WiredUpdate::changed_by(std::size_t item) const {
  std::vector<NDArray> arrays = {entries_[item].weight};
  entries_[item].state->append_arrays(arrays);
  return arrays;
}

}  // namespace symbind
