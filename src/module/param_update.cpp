// Updates of the weights.
//
// Decided here: on one device whose optimizer is one operator per weight, the updates are wired
// into the executor: `step` runs them after backward as one, `update` runs them alone. This fixes
// the arrays of weights, gradients and states; they are wired again when a state is replaced
// (loaded), the executor changes (reshape) or a hyper-parameter selects another operator.
// Everything else updates weight by weight, or on the store.

#include <symbind/detail/param_update.h>

#include <algorithm>

#include <symbind/operator.h>

#include "base/profiling.h"
#include "base/team.h"
#include "executor/fused_step.h"

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

/// The updates of one executor, wired.
struct ParamUpdate::Fused {
  struct Place {
    std::string attr;
    std::size_t place;  ///< among the values of the update
  };
  struct Entry {
    Key key;
    NDArray weight;
    const OptimizerState* state;
    int number;                 ///< of the executor's update
    std::vector<Place> places;  ///< in the order update_values gives them
  };
  std::shared_ptr<Executor::Impl> executor;
  FusedStep* step = nullptr;  ///< of that executor
  std::uint64_t step_version = 0;
  std::shared_ptr<Optimizer> optimizer;
  std::uint64_t states_version = 0;
  std::string op;  ///< the first entry's; others differ only in their arrays
  std::vector<Entry> entries;

  /// Sets the values of one update. Names are looked up once; after that they are only compared.
  void set_values(Entry& entry);
};

ParamUpdate::ParamUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store,
                         bool on_store)
    : updater_(std::move(updater)), store_(std::move(store)), on_store_(on_store) {}
ParamUpdate::~ParamUpdate() = default;

void ParamUpdate::update(ExecutorGroup& group) {
  const profiling::ApiSpan span("Module.update");
  if (fuse(group)) {
    set_values();
    fused_->step->run_updates();
    return;
  }
  const auto& params = group.param_arrays();
  const auto& grads = group.grad_arrays();
  const std::vector<std::string>& names = group.options().param_names;
  const std::size_t devices = group.contexts().size();
  const TeamScope scope(group.team());  // these threads run before and after
  std::vector<std::vector<Key>> keys(devices);
  std::vector<std::vector<NDArray>> gradients(devices), weights(devices);
  // Over several workers all sums are under way before the first one is waited for.
  const bool spread = store_ && store_->num_workers() > 1;
  for (std::size_t i = 0; spread && i < grads.size(); ++i)
    if (grads[i].front().defined()) store_->push(names[i], grads[i], -static_cast<int>(i));
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].front().defined()) continue;
    const DeviceArrays& out = on_store_ ? params[i] : grads[i];
    if (spread)
      store_->pull(names[i], out, -static_cast<int>(i));
    else if (store_)
      store_->pushpull(names[i], grads[i], out, -static_cast<int>(i));
    if (on_store_) continue;
    for (std::size_t d = 0; d < devices; ++d) {
      keys[d].emplace_back(static_cast<std::int64_t>(i * devices + d));
      gradients[d].push_back(grads[i][d]);
      weights[d].push_back(params[i][d]);
    }
  }
  for (std::size_t d = 0; d < devices; ++d)
    if (!keys[d].empty()) updater_->update(keys[d], gradients[d], weights[d]);
}

// Whether the wiring matches these arrays and this operator.
bool ParamUpdate::is_current(const Executor& executor) const {
  if (!fused_ || fused_->executor != executor.impl() ||
      fused_->optimizer != updater_->optimizer() || fused_->states_version != updater_->version() ||
      fused_->step_version != fused_->step->version())
    return false;
  if (fused_->entries.empty()) return true;
  const Fused::Entry& first = fused_->entries.front();
  return fused_->optimizer->update_op(first.weight, *first.state) == fused_->op;
}

// Whether the updates can run wired; wires them if necessary.
bool ParamUpdate::fuse(ExecutorGroup& group) {
  if (store_ || group.contexts().size() != 1 || !group.options().for_training) return false;
  const Executor& executor = group.execs().front();
  if (is_current(executor)) return true;
  auto fused = std::make_unique<Fused>();
  fused->executor = executor.impl();
  fused->step = &fused_step_of(executor);
  fused->optimizer = updater_->optimizer();
  std::vector<std::vector<NDArray>> inputs;
  for (std::size_t i = 0; i < group.grad_arrays().size(); ++i) {
    const NDArray& grad = group.grad_arrays()[i].front();
    if (!grad.defined()) continue;
    const NDArray& weight = group.param_arrays()[i].front();
    const Key key = static_cast<std::int64_t>(i);
    const OptimizerState& state = updater_->state_for(key, weight);
    const std::string_view op = fused->optimizer->update_op(weight, state);
    if (op.empty()) return false;
    if (fused->entries.empty()) fused->op = op;
    inputs.push_back(fused->optimizer->update_inputs(weight, grad, state));
    fused->entries.push_back(
        {.key = key, .weight = weight, .state = &state, .number = 0, .places = {}});
  }
  fused->states_version = updater_->version();
  fused->step->clear();
  fused_.reset();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Fused::Entry& e = fused->entries[i];
    const std::string op(fused->optimizer->update_op(e.weight, *e.state));
    e.number = fused->step->add(op, inputs[i], e.weight, with_places(op));
  }
  fused->step_version = fused->step->version();
  fused_ = std::move(fused);
  return true;
}

void ParamUpdate::Fused::set_values(Entry& entry) {
  struct Cursor {
    FusedStep& step;
    Entry& entry;
    std::size_t at;
  } cursor{*step, entry, 0};
  optimizer->set_current_context(entry.weight.context().id);
  optimizer->update_values(entry.key, [&cursor](std::string_view attr, double value) {
    auto& [step, entry, at] = cursor;
    if (at == entry.places.size()) entry.places.push_back({"", 0});
    Place& place = entry.places[at++];
    if (place.attr != attr) place = {std::string(attr), step.place_of(entry.number, attr)};
    step.set(entry.number, place.place, value);
  });
}

void ParamUpdate::set_values() {
  for (Fused::Entry& entry : fused_->entries) fused_->set_values(entry);
}

void ParamUpdate::step(ExecutorGroup& group, UpdatePolicy& policy) {
  const profiling::ApiSpan span("Module.step");
  const bool fused = !policy.changes_gradients() && fuse(group);
  if (!fused) group.forward_backward();
  const auto change = [&] {
    if (!fused) return update(group);
    set_values();
    Executor(fused_->executor).step();
  };
  // One reference each: a std::function with a larger capture allocates.
  policy.step(
      [&](bool) {
        return UpdatePolicy::Parts{
            {&group, updater_->optimizer()->rescale_grad, store_ ? store_->workers() : nullptr}};
      },
      [&change] { change(); });
}

}  // namespace symbind
