// The Updater: states by key, made at first use, moved to their weight's device after loading.
//
// Decided here: loading checks all states before it takes any: the form of a state shows which
// optimizers could have made it. Groups have one element type and at most aggregate_num weights, in
// the order given.
#include <algorithm>

#include <fmt/format.h>
#include <symbind/detail/states.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

/// Which optimizers keep states of this form, with and without momentum.
std::string makers_of(const OptimizerState& state) {
  std::vector<std::string> names;
  for (const BuiltinOptimizer& one : builtin_optimizers()) {
    const auto plain = one.make(), moving = one.make();
    if (AttrField* momentum = moving->fields().find("momentum"))
      if (auto** slot = std::get_if<double*>(&momentum->slot)) **slot = 0.9;
    if (plain->takes_state(state) || moving->takes_state(state)) names.emplace_back(one.class_name);
  }
  return names.empty() ? "no optimizer known here" : fmt::format("{}", fmt::join(names, ", "));
}

OptimizerState state_from(const StateValue& v, const std::string& source, const Key& key) {
  using Kind = StateValue::Kind;
  if (v.kind == Kind::kNone) return {};
  if (v.kind == Kind::kArray) return {v.array};
  check(v.kind == Kind::kTuple || v.kind == Kind::kList, ErrorKind::kIo,
        "{}: the state of {} is neither an array nor a tuple of arrays", source, key_text(key));
  std::vector<OptimizerState> parts;
  for (const StateValue& item : v.items) parts.push_back(state_from(item, source, key));
  return OptimizerState(std::move(parts), v.kind == Kind::kList);
}

std::map<Key, OptimizerState> states_from(const StateValue& dict, const std::string& source) {
  using Kind = StateValue::Kind;
  check(dict.kind == Kind::kDict, ErrorKind::kIo, "{}: it has no dictionary of states by parameter",
        source);
  std::map<Key, OptimizerState> states;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const StateValue& k = dict.items[i];
    check(
        (k.kind == Kind::kInt && k.text.empty()) || k.kind == Kind::kText || k.kind == Kind::kBytes,
        ErrorKind::kIo, "{}: a key is neither a number nor a name", source);
    const Key key = k.kind == Kind::kInt ? Key(k.integer) : Key(k.text);
    states[key] = state_from(dict.items[i + 1], source, key);
  }
  return states;
}

void check_form(const Optimizer& optimizer, const Key& key, const OptimizerState& state,
                const std::string& source) {
  if (optimizer.takes_state(state)) return;
  fail(ErrorKind::kValue,
       "{}: these are not states of {}: it does not keep {}, which the file has for parameter {}; "
       "states of this form belong to {}. Nothing was loaded",
       source, optimizer.class_name(), state.form(), key_text(key), makers_of(state));
}

}  // namespace

Updater::Updater(std::shared_ptr<Optimizer> optimizer) : optimizer_(std::move(optimizer)) {
  check(optimizer_ != nullptr, ErrorKind::kType, "an Updater needs an optimizer");
}

const OptimizerState& Updater::state_for(const Key& key, const NDArray& weight) {
  const auto it = states_.find(key);
  if (it == states_.end()) {
    ++version_;
    synced_[key] = true;
    return states_.emplace(key, optimizer_->create_state_multi_precision(key, weight))
        .first->second;
  }
  if (bool& synced = synced_[key]; !synced) {
    ++version_;
    it->second = it->second.as_in_context(weight.context());
    synced = true;
  }
  return it->second;
}

void Updater::operator()(const Key& key, const NDArray& grad, const NDArray& weight) {
  optimizer_->set_current_context(weight.context().id);
  optimizer_->update_multi_precision(key, weight, grad, state_for(key, weight));
}

void Updater::update(std::span<const Key> keys, std::span<const NDArray> grads,
                     std::span<const NDArray> weights) {
  check(keys.size() == grads.size() && keys.size() == weights.size(),
        "an update needs as many gradients and weights as keys; there are {}, {} and {}",
        grads.size(), weights.size(), keys.size());
  if (keys.empty()) return;
  if (keys.size() == 1 && optimizer_->aggregate_num <= 0)
    return (*this)(keys[0], grads[0], weights[0]);
  optimizer_->set_current_context(weights[0].context().id);
  std::vector<std::pair<DType, std::vector<std::size_t>>> by_type;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    state_for(keys[i], weights[i]);
    auto it = std::ranges::find(by_type, weights[i].dtype(), &decltype(by_type)::value_type::first);
    if (it == by_type.end()) it = by_type.insert(it, {weights[i].dtype(), {}});
    it->second.push_back(i);
  }
  if (optimizer_->aggregate_num <= 0) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      optimizer_->update_multi_precision(keys[i], weights[i], grads[i], states_.at(keys[i]));
    return;
  }
  const auto most = static_cast<std::size_t>(optimizer_->aggregate_num);
  for (const auto& [dtype, places] : by_type) {
    for (std::size_t begin = 0; begin < places.size(); begin += most) {
      std::vector<Key> group;
      std::vector<NDArray> w, g;
      std::vector<OptimizerState> s;
      for (std::size_t k = begin; k < std::min(begin + most, places.size()); ++k) {
        group.push_back(keys[places[k]]);
        w.push_back(weights[places[k]]);
        g.push_back(grads[places[k]]);
        s.push_back(states_.at(group.back()));
      }
      optimizer_->update_group(group, w, g, s);
    }
  }
}

std::string Updater::get_states(bool dump_optimizer) const {
  using Kind = StateValue::Kind;
  StateValue dict = StateValue::sequence(Kind::kDict);
  for (const auto& [key, state] : states_) dict.add(StateValue::of(key), state_value(state));
  if (!dump_optimizer) return dump_states(dict);
  return dump_states(
      StateValue::sequence(Kind::kTuple, {std::move(dict), optimizer_value(*optimizer_)}));
}

void Updater::set_states(std::string_view bytes, const std::string& source) {
  const StateValue value = load_states(bytes, source);
  const bool pair = value.kind == StateValue::Kind::kTuple && value.items.size() == 2;
  std::map<Key, OptimizerState> states = states_from(pair ? value.items[0] : value, source);
  const std::shared_ptr<Optimizer> optimizer =
      pair ? optimizer_from(value.items[1], source) : optimizer_;
  for (const auto& [key, state] : states) check_form(*optimizer, key, state, source);
  optimizer_ = optimizer;
  set_states(std::move(states), source);
}

void Updater::set_states(std::map<Key, OptimizerState> states, const std::string& source) {
  for (const auto& [key, state] : states) check_form(*optimizer_, key, state, source);
  ++version_;
  states_ = std::move(states);
  synced_.clear();
  for (const auto& [key, state] : states_) synced_[key] = false;
}

}  // namespace symbind
