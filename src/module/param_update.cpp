// Where the weights change.
//
// Decided here: on one device whose optimizer is one operator per weight, the updates are wired
// into the executor behind backward and a step is one run; the arrays of weights, gradients and
// states are fixed then, so the wiring is checked at every step and made anew when a state was
// replaced (loaded), the executor changed (reshape) or a hyper-parameter chooses another operator.
// Everything else goes the way of the verbs.

#include <symbind/param_update.h>

#include <algorithm>

#include <symbind/operator.h>

#include "base/profiling.h"
#include "base/team.h"
#include "executor/executor_impl.h"

namespace symbind {
namespace {

// The arrays of a state, one after the other.
void flatten(const OptimizerState& state, std::vector<const Storage*>& into) {
  if (state.is_array()) into.push_back(state.array().storage().get());
  if (!state.is_sequence()) return;
  for (const OptimizerState& part : state.parts()) flatten(part, into);
}

// The call's attributes, with a place for each number that update_values gives later.
AttrDict with_places(const UpdateCall& call) {
  const OpDef& op = OpRegistry::global().get(call.op);
  AttrDict attrs = call.attrs;
  const auto defaults = op.make_attrs();
  for (const AttrField& field : op.describe(defaults.get()))
    if (field.is_required && field.is_per_call) attrs.emplace(field.name, "0");
  return attrs;
}

}  // namespace

struct ParamUpdate::Fused {
  struct Entry {
    Key key;
    NDArray weight;
    std::vector<const Storage*> state;
    std::vector<std::string> value_names;  // as update_values gives them, kept as text
    int number;                            // of the executor's update
  };
  std::shared_ptr<Executor::Impl> executor;
  const Optimizer* optimizer = nullptr;
  std::string op;  // the first entry's call: others differ in their arrays alone
  AttrDict attrs;
  std::vector<Entry> entries;
  std::vector<const Storage*> scratch;
};

ParamUpdate::ParamUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store,
                         bool on_store)
    : updater_(std::move(updater)), store_(std::move(store)), on_store_(on_store) {}
ParamUpdate::~ParamUpdate() = default;

void ParamUpdate::update(ExecutorGroup& group) {
  const profiling::ApiSpan span("Module.update");
  const auto& params = group.param_arrays();
  const auto& grads = group.grad_arrays();
  const std::vector<std::string>& names = group.options().param_names;
  const std::size_t devices = group.contexts().size();
  const TeamScope scope(group.team());  // these threads are at work before and after
  std::vector<std::vector<Key>> keys(devices);
  std::vector<std::vector<NDArray>> gradients(devices), weights(devices);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].front().defined()) continue;
    const int priority = -static_cast<int>(i);
    if (on_store_) {
      store_->pushpull(names[i], grads[i], params[i], priority);
      continue;
    }
    if (store_) store_->pushpull(names[i], grads[i], grads[i], priority);
    for (std::size_t d = 0; d < devices; ++d) {
      keys[d].emplace_back(static_cast<std::int64_t>(i * devices + d));
      gradients[d].push_back(grads[i][d]);
      weights[d].push_back(params[i][d]);
    }
  }
  for (std::size_t d = 0; d < devices; ++d)
    if (!keys[d].empty()) updater_->update(keys[d], gradients[d], weights[d]);
}

// Hyper-parameters may choose another operator (a momentum that was set to 0).
bool ParamUpdate::same_call(ExecutorGroup& group) {
  if (fused_->entries.empty()) return true;
  const Fused::Entry& first = fused_->entries.front();
  const auto i = static_cast<std::size_t>(std::get<std::int64_t>(first.key));
  const std::optional<UpdateCall> call =
      updater_->optimizer()->update_call(first.key, first.weight, group.grad_arrays()[i].front(),
                                         updater_->state_for(first.key, first.weight));
  return call && call->op == fused_->op && call->attrs == fused_->attrs;
}

// Whether the step can run fused, wiring it if it is not wired as things stand.
bool ParamUpdate::fuse(ExecutorGroup& group) {
  if (store_ || group.contexts().size() != 1 || !group.options().for_training) return false;
  const std::shared_ptr<Executor::Impl>& executor = group.execs().front().impl();
  const std::shared_ptr<Optimizer>& optimizer = updater_->optimizer();
  if (fused_ && fused_->executor == executor && fused_->optimizer == optimizer.get()) {
    const bool current = std::ranges::all_of(fused_->entries, [&](const Fused::Entry& e) {
      fused_->scratch.clear();
      flatten(updater_->state_for(e.key, e.weight), fused_->scratch);
      return fused_->scratch == e.state;
    });
    if (current && same_call(group)) return true;
  }
  auto fused = std::make_unique<Fused>();
  fused->executor = executor;
  fused->optimizer = optimizer.get();
  std::vector<UpdateCall> calls;
  for (std::size_t i = 0; i < group.grad_arrays().size(); ++i) {
    const NDArray& grad = group.grad_arrays()[i].front();
    if (!grad.defined()) continue;
    const NDArray& weight = group.param_arrays()[i].front();
    const Key key = static_cast<std::int64_t>(i);
    const OptimizerState& state = updater_->state_for(key, weight);
    std::optional<UpdateCall> call = optimizer->update_call(key, weight, grad, state);
    if (!call) return false;
    calls.push_back(std::move(*call));
    Fused::Entry& entry = fused->entries.emplace_back();
    entry.key = key;
    entry.weight = weight;
    flatten(state, entry.state);
  }
  if (!calls.empty()) {
    fused->op = calls.front().op;
    fused->attrs = calls.front().attrs;
  }
  executor->clear_updates();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    fused->entries[i].number =
        executor->add_update(calls[i].op, calls[i].inputs, calls[i].out, with_places(calls[i]));
  }
  fused_ = std::move(fused);
  return true;
}

void ParamUpdate::step(ExecutorGroup& group, UpdatePolicy& policy) {
  const profiling::ApiSpan span("Module.step");
  const bool fused = !policy.changes_gradients() && fuse(group);
  if (!fused) group.forward_backward();
  policy.step(
      [&](bool) {
        return UpdatePolicy::Parts{{&group, updater_->optimizer()->rescale_grad}};
      },
      [&] { fused ? run_fused() : update(group); });
}

void ParamUpdate::run_fused() {
  Optimizer& optimizer = *updater_->optimizer();
  for (Fused::Entry& e : fused_->entries) {
    optimizer.set_current_context(e.weight.context().id);
    std::size_t at = 0;
    optimizer.update_values(e.key, [&](std::string_view attr, double value) {
      if (at == e.value_names.size()) e.value_names.emplace_back(attr);
      fused_->executor->set_update_value(e.number, e.value_names[at++], value);
    });
  }
  fused_->executor->step({});
}

}  // namespace symbind
