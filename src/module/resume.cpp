// The parts of a training as plain data. Everything is checked before anything is restored.
#include <symbind/detail/resume.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/detail/states.h>
#include <symbind/log.h>
#include <symbind/model.h>
#include <symbind/random.h>

#include "base/check.h"

namespace symbind {
namespace {

using Kind = StateValue::Kind;

constexpr std::int64_t kMostDevices = 1 << 16;

StateValue bits(std::uint64_t value) { return StateValue::of(std::bit_cast<std::int64_t>(value)); }
std::uint64_t bits_at(const StateValue& dict, const char* name, const char* what) {
  return std::bit_cast<std::uint64_t>(dict.integer_at(name, what));
}

std::string text_of(const StateValue& v) {
  switch (v.kind) {
    case Kind::kNone: return "none";
    case Kind::kBool: return v.integer != 0 ? "true" : "false";
    case Kind::kInt: return std::to_string(v.integer);
    case Kind::kFloat: return fmt::format("{}", v.number);
    case Kind::kText: return v.text;
    default: break;
  }
  std::vector<std::string> items;
  for (const StateValue& item : v.items) items.push_back(text_of(item));
  return fmt::format("({})", fmt::join(items, ", "));
}

/// Given values that differ from the checkpoint's: parameters of the constructor, except the rate,
/// which a scheduler changes during training.
void note_differences(Fields& fields, const StateValue& saved, std::vector<std::string>& notes) {
  const StateValue now = fields_value(fields);
  for (const AttrField& field : fields.attributes.fields()) {
    const bool given = std::ranges::any_of(
        fields.params.fields(), [&](const AttrField& param) { return param.slot == field.slot; });
    const StateValue* other = saved.find(field.name);
    if (!given || other == nullptr || field.name == "base_lr") continue;
    const std::string here = text_of(*now.find(field.name)), there = text_of(*other);
    if (here != there) notes.push_back(fmt::format("{} {} (given: {})", field.name, there, here));
  }
}

std::string scheduler_name(const Optimizer& optimizer) {
  const auto& scheduler = optimizer.lr_scheduler();
  if (!scheduler) return "none";
  return scheduler->class_name().empty() ? "a function" : scheduler->class_name();
}

}  // namespace

StateValue random_facts() {
  const RandomState state = random_state();
  StateValue devices = StateValue::sequence(Kind::kList);
  for (const RandomState::Generator& one : state.generators) {
    StateValue device = StateValue::dict();
    device.add("type", StateValue::of(static_cast<std::int64_t>(one.context.type)));
    device.add("id", StateValue::of(std::int64_t{one.context.id}));
    device.add("seed", bits(one.seed));
    device.add("draws", bits(one.draws));
    devices.items.push_back(std::move(device));
  }
  StateValue facts = StateValue::dict();
  facts.add("seed", bits(state.common_seed));
  facts.add("devices", std::move(devices));
  return facts;
}

void set_random_facts(const StateValue& facts) {
  constexpr const char* kWhat = "random numbers of a checkpoint";
  RandomState state{.common_seed = bits_at(facts, "seed", kWhat)};
  for (const StateValue& device : facts.at("devices", kWhat).items) {
    const std::int64_t type = device.integer_at("type", kWhat), id = device.integer_at("id", kWhat);
    const bool known = type == static_cast<std::int64_t>(DeviceType::kCpu) ||
                       type == static_cast<std::int64_t>(DeviceType::kGpu) ||
                       type == static_cast<std::int64_t>(DeviceType::kCpuPinned) ||
                       type == static_cast<std::int64_t>(DeviceType::kCpuShared);
    check(known && id >= 0 && id < kMostDevices, ErrorKind::kIo,
          "{}: there is no device of type {} with id {}", kWhat, type, id);
    state.generators.push_back({{static_cast<DeviceType>(type), static_cast<int>(id)},
                                bits_at(device, "seed", kWhat),
                                bits_at(device, "draws", kWhat)});
  }
  set_random_state(state);
}

StateValue optimizer_config(Optimizer& optimizer) {
  StateValue facts = StateValue::dict();
  facts.add("class", StateValue::of(optimizer.class_name()));
  facts.add("fields", fields_value(optimizer.fields()));
  facts.add("lr_mult", multipliers_value(optimizer.lr_mult()));
  facts.add("wd_mult", multipliers_value(optimizer.wd_mult()));
  facts.add("counts", counts_value(optimizer.all_counts()));
  facts.add("scheduler", StateValue::of(scheduler_name(optimizer)));
  if (const auto& scheduler = optimizer.lr_scheduler()) {
    Fields fields;
    scheduler->describe(fields);
    facts.add("scheduler_fields", fields_value(fields));
  }
  return facts;
}

void check_optimizer_config(const Optimizer& optimizer, const StateValue& facts,
                            const std::string& source) {
  const std::string& name = facts.at("class", source.c_str()).text;
  check(name == optimizer.class_name(),
        "{} is from a training with optimizer {}, but this one has {}: nothing was loaded\n"
        "  fix:  train with optimizer {}, or start from the parameters alone (arg_params, "
        "aux_params of load_checkpoint)",
        source, name, optimizer.class_name(), name);
  const std::string& scheduler = facts.at("scheduler", source.c_str()).text;
  check(scheduler == scheduler_name(optimizer),
        "{} is from a training with lr_scheduler {}, but this one has {}: nothing was loaded\n"
        "  fix:  give the same lr_scheduler",
        source, scheduler, scheduler_name(optimizer));
}

void set_optimizer_config(Optimizer& optimizer, const StateValue& facts,
                          const std::string& source) {
  check_optimizer_config(optimizer, facts, source);
  const char* what = source.c_str();
  const StateValue& fields = facts.at("fields", what);
  std::vector<std::string> notes;
  note_differences(optimizer.fields(), fields, notes);
  set_fields(optimizer.fields(), fields);
  if (const auto& scheduler = optimizer.lr_scheduler()) {
    Fields own;
    scheduler->describe(own);
    const StateValue& saved = facts.at("scheduler_fields", what);
    note_differences(own, saved, notes);
    set_fields(own, saved);
  }
  optimizer.lr_mult() = multipliers_from(facts.at("lr_mult", what));
  optimizer.wd_mult() = multipliers_from(facts.at("wd_mult", what));
  optimizer.all_counts() = counts_from(facts.at("counts", what));
  if (!notes.empty())
    log_warning(
        fmt::format("resume: {} overrides what was given: {}", source, fmt::join(notes, ", ")));
}

StateValue metric_facts(const EvalMetric& metric) {
  StateValue facts = StateValue::dict(), sums = StateValue::sequence(Kind::kList);
  facts.add("name", StateValue::of(metric.name));
  for (const double sum :
       {metric.sum_metric, metric.num_inst, metric.global_sum_metric, metric.global_num_inst})
    sums.items.push_back(StateValue::of(sum));
  for (const double number : metric.state()) sums.items.push_back(StateValue::of(number));
  facts.add("sums", std::move(sums));
  if (const auto* several = dynamic_cast<const CompositeEvalMetric*>(&metric)) {
    StateValue within = StateValue::sequence(Kind::kList);
    for (const MetricPtr& one : several->metrics) within.items.push_back(metric_facts(*one));
    facts.add("within", std::move(within));
  }
  return facts;
}

namespace {

bool same_metric(const EvalMetric& metric, const StateValue& facts) {
  const StateValue *name = facts.find("name"), *sums = facts.find("sums");
  if (name == nullptr || name->text != metric.name || sums == nullptr || sums->items.size() < 4)
    return false;
  const auto* several = dynamic_cast<const CompositeEvalMetric*>(&metric);
  const StateValue* within = facts.find("within");
  if ((several == nullptr) != (within == nullptr)) return false;
  if (several == nullptr) return true;
  if (several->metrics.size() != within->items.size()) return false;
  for (std::size_t i = 0; i < within->items.size(); ++i)
    if (!same_metric(*several->metrics[i], within->items[i])) return false;
  return true;
}

/// Sums may be NaN, like the losses; counts may not.
void check_counts(const EvalMetric& metric, const StateValue& facts) {
  const std::vector<StateValue>& sums = facts.find("sums")->items;
  for (const StateValue& sum : sums)
    check(sum.kind == Kind::kFloat, ErrorKind::kIo, "a sum of metric '{}' is not a number",
          metric.name);
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}})
    check(std::isfinite(sums[i].number) && sums[i].number >= 0, ErrorKind::kIo,
          "the count of instances of metric '{}' is {}: it must be finite and not negative",
          metric.name, sums[i].number);
  if (const auto* several = dynamic_cast<const CompositeEvalMetric*>(&metric))
    for (std::size_t i = 0; i < several->metrics.size(); ++i)
      check_counts(*several->metrics[i], facts.find("within")->items[i]);
}

void take_metric(EvalMetric& metric, const StateValue& facts) {
  const std::vector<StateValue>& sums = facts.find("sums")->items;
  metric.sum_metric = sums[0].number;
  metric.num_inst = sums[1].number;
  metric.global_sum_metric = sums[2].number;
  metric.global_num_inst = sums[3].number;
  std::vector<double> rest;
  for (std::size_t i = 4; i < sums.size(); ++i) rest.push_back(sums[i].number);
  metric.set_state(rest);
  if (const auto* several = dynamic_cast<const CompositeEvalMetric*>(&metric))
    for (std::size_t i = 0; i < several->metrics.size(); ++i)
      take_metric(*several->metrics[i], facts.find("within")->items[i]);
}

}  // namespace

bool set_metric_facts(EvalMetric& metric, const StateValue& facts) {
  if (!same_metric(metric, facts)) return false;
  check_counts(metric, facts);
  take_metric(metric, facts);
  return true;
}

StateValue states_facts(const std::map<Key, OptimizerState>& states) {
  StateValue dict = StateValue::dict();
  for (const auto& [key, state] : states)
    dict.add(StateValue::of(key), state_value(state).deep_copy());
  return dict;
}

namespace {

void find_misfits(const StateValue& state, const std::string& key, const NDArray& weight,
                  std::vector<std::string>& misfits) {
  if (state.kind == Kind::kArray && state.array.defined() && state.array.size() > 1 &&
      (state.array.ndim() == 0 || weight.ndim() == 0 ||
       state.array.shape()[0] != weight.shape()[0]))
    misfits.push_back(fmt::format("{} is for a weight {}, but here it is {}", key,
                                  state.array.shape().str(), weight.shape().str()));
  for (const StateValue& item : state.items) find_misfits(item, key, weight, misfits);
}

}  // namespace

void check_states(const StateValue& states, const std::map<Key, NDArray>& weights,
                  const std::string& source) {
  const bool pair = states.kind == Kind::kTuple && states.items.size() == 2;
  const StateValue& dict = pair ? states.items[0] : states;
  if (dict.kind != Kind::kDict) return;  // not states at all: the updater says so
  std::vector<std::string> misfits;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const StateValue& k = dict.items[i];
    const Key key = k.kind == Kind::kInt ? Key(k.integer) : Key(k.text);
    const auto weight = weights.find(key);
    if (weight == weights.end())
      misfits.push_back(fmt::format("{} is not a parameter here", key_text(key)));
    else
      find_misfits(dict.items[i + 1], key_text(key), weight->second, misfits);
  }
  constexpr std::size_t kShown = 5;
  if (misfits.empty()) return;
  const std::size_t more = misfits.size() - std::min(kShown, misfits.size());
  misfits.resize(std::min(kShown, misfits.size()));
  fail(ErrorKind::kValue,
       "{}: these are the optimizer states of other parameters; nothing was "
       "loaded\n  {}{}",
       source, fmt::join(misfits, "\n  "), more > 0 ? fmt::format("\n  and {} more", more) : "");
}

void check_resumed_params(const TrainingState& state, const NDArrayMap& args,
                          const NDArrayMap& aux) {
  try {
    check_params(&state.args, args, &state.aux, aux, false);
    std::vector<std::string> extra;
    for (const auto& [name, array] : state.args)
      if (!args.contains(name)) extra.push_back(name);
    for (const auto& [name, array] : state.aux)
      if (!aux.contains(name)) extra.push_back(name);
    check(extra.empty(), "parameters the network does not have: {}", fmt::join(extra, ", "));
  } catch (const Error& error) {
    fail(ErrorKind::kValue, "{} is a checkpoint of another network; nothing was loaded\n  {}",
         state.source, error.what());
  }
}

}  // namespace symbind
