// What all optimizers share: parameters by name, multipliers, counts, the float16 master copy, and
// the update that is one operator.
//
// Decided here: a rate and a decay are looked up by key first, then by the key's name, as in MXNet.
// Parameters whose names end neither in _weight nor in _gamma do not decay by default. A learning
// rate given in addition to a scheduler replaces the scheduler's, with a warning.
#include <symbind/optimizer.h>

#include <algorithm>

#include <fmt/format.h>
#include <symbind/executor.h>
#include <symbind/log.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {

std::shared_ptr<LRScheduler> OptimizerParam::scheduler() const {
  const auto* scheduler = std::get_if<std::shared_ptr<LRScheduler>>(&value_);
  return scheduler ? *scheduler : nullptr;
}

std::string OptimizerParam::text() const {
  if (const auto* b = std::get_if<bool>(&value_)) return *b ? "True" : "False";
  if (const auto* i = std::get_if<std::int64_t>(&value_)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&value_)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&value_)) return *s;
  return {};
}

OptimizerParams default_optimizer_params() { return {{"learning_rate", 0.01}}; }

Optimizer::Optimizer() { all_counts_[0]; }

Optimizer::Counts& Optimizer::counts() { return all_counts_[device_]; }

void Optimizer::describe(Fields& f) {
  f.param("rescale_grad", rescale_grad, "Multiplies every gradient.");
  f.param("wd", wd, "Weight decay.");
  f.param("clip_gradient", clip_gradient, "Gradients are clipped to [-c, c].");
  f.param("learning_rate", lr, "The rate; 0.01 unless a scheduler decides.", "lr");
  f.param("begin_num_update", begin_num_update, "Counts of updates start here.");
  f.param("multi_precision", multi_precision, "float16 weights get a float32 master copy.");
  f.attribute("num_update", num_update, "The highest count of updates so far.");
  f.attribute("aggregate_num", aggregate_num, "Weights per group; 0 updates them one by one.");
}

Fields& Optimizer::fields() {
  if (!fields_) {
    fields_ = std::make_unique<Fields>();
    describe(*fields_);
  }
  return *fields_;
}

void Optimizer::configure(const OptimizerParams& params) {
  AttrDict texts;
  for (const auto& [name, value] : params) {
    if (name == "lr_scheduler") {
      check(value.scheduler() != nullptr || value.text() == "None", ErrorKind::kType,
            "{}: lr_scheduler must be an LRScheduler, not '{}'", class_name(), value.text());
      lr_scheduler_ = value.scheduler();
      continue;
    }
    check(value.scheduler() == nullptr, ErrorKind::kType, "{}: {} cannot be a scheduler",
          class_name(), name);
    // Not a misspelling, but the name people expect.
    check(name != "lr", ErrorKind::kName,
          "{}: there is no parameter 'lr'; did you mean 'learning_rate'?", class_name());
    texts[name] = value.text();
  }
  parse_attrs(fields().params.fields(), texts, class_name());
  if (!lr && !lr_scheduler_) lr = 0.01;
  if (lr && lr_scheduler_ && !keeps_scheduler_ && lr_scheduler_->base_lr() != *lr) {
    log_warning(
        fmt::format("learning rate {} of the scheduler has been overwritten by "
                    "learning_rate {} of the optimizer",
                    lr_scheduler_->base_lr(), *lr));
    lr_scheduler_->set_base_lr(*lr);
  }
  num_update = begin_num_update;
  set_lr_mult({});
  set_wd_mult({});
  on_configured();
}

void Optimizer::set_parameters(Names idx2name, const SymbolFacts& symbol) {
  idx2name_ = std::move(idx2name);
  symbol_ = symbol;
  set_lr_mult({});
  set_wd_mult({});
}

void Optimizer::set_parameters(Names idx2name, const Symbol& symbol) {
  set_parameters(std::move(idx2name),
                 SymbolFacts{.attrs = symbol.attr_dict(), .arguments = symbol.list_arguments()});
}

// ---- Rates and counts ---------------------------------------------------------------------------

double Optimizer::current_lr() {
  if (lr_scheduler_) return (*lr_scheduler_)(num_update);
  return lr.value_or(0.01);
}

double Optimizer::learning_rate() const {
  if (lr_scheduler_) return (*lr_scheduler_)(num_update);
  return lr.value_or(0.01);
}

void Optimizer::set_learning_rate(double rate) {
  check(
      lr_scheduler_ == nullptr, ErrorKind::kState,
      "the optimizer's LRScheduler decides the learning rate; set_learning_rate works without one");
  lr = rate;
}

void Optimizer::set_lr_mult(const Multipliers& mult) {
  lr_mult_ = symbol_multipliers(symbol_, "__lr_mult__");
  for (const auto& [key, value] : mult) lr_mult_[key] = value;
}

void Optimizer::set_wd_mult(const Multipliers& mult) {
  wd_mult_.clear();
  for (const auto& [key, name] : idx2name_)
    if (!decays(name)) wd_mult_[name] = 0;
  for (const auto& [key, value] : symbol_multipliers(symbol_, "__wd_mult__")) wd_mult_[key] = value;
  for (const auto& [key, value] : mult) wd_mult_[key] = value;
}

bool Optimizer::decays(const std::string& name) const {
  return name.ends_with("_weight") || name.ends_with("_gamma");
}

double Optimizer::multiplied(double value, const Key& key, const Multipliers& mult) const {
  if (const auto it = mult.find(key); it != mult.end()) return value * it->second;
  const auto name = idx2name_.find(key);
  if (name == idx2name_.end()) return value;
  const auto it = mult.find(name->second);
  return it == mult.end() ? value : value * it->second;
}

double Optimizer::get_lr(const Key& key) { return multiplied(current_lr(), key, lr_mult_); }
double Optimizer::get_wd(const Key& key) const { return multiplied(wd, key, wd_mult_); }

void Optimizer::set_current_context(int device_id) {
  device_ = device_id;
  all_counts_[device_];
}

void Optimizer::update_count(const Key& key) {
  const auto it = counts().try_emplace(key, begin_num_update).first;
  num_update = std::max(++it->second, num_update);
}

std::int64_t Optimizer::count_of(const Key& key) const {
  const Counts& counts = all_counts_.at(device_);
  const auto it = counts.find(key);
  return it == counts.end() ? begin_num_update : it->second;
}

double Optimizer::step_lr(const Key& key) { return hooks_.lr ? hooks_.lr(key) : get_lr(key); }
double Optimizer::step_wd(const Key& key) { return hooks_.wd ? hooks_.wd(key) : get_wd(key); }
void Optimizer::step_count(const Key& key) { hooks_.count ? hooks_.count(key) : update_count(key); }

std::vector<double> Optimizer::step_lrs(std::span<const Key> keys) {
  std::vector<double> rates;
  rates.reserve(keys.size());
  const double now = hooks_.lr ? 0 : current_lr();
  for (const Key& key : keys)
    rates.push_back(hooks_.lr ? hooks_.lr(key) : multiplied(now, key, lr_mult_));
  return rates;
}

// ---- States and updates -------------------------------------------------------------------------

bool Optimizer::is_mixed(const NDArray& weight) const {
  return multi_precision && weight.dtype() == DType::kFloat16;
}

void Optimizer::warn_half(const NDArray& weight, const char* who) const {
  if (weight.dtype() != DType::kFloat16 || multi_precision) return;
  const std::string text = fmt::format(
      "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
      "Consider using multi_precision=True option of the {}",
      who);
  hooks_.warn ? hooks_.warn(text) : log_warning(text);
}

NDArray Optimizer::prepared(const NDArray& grad) const { return clipped(grad * rescale_grad); }

NDArray Optimizer::prepared(const NDArray& grad, double decay, const NDArray& weight) const {
  return clipped(grad * rescale_grad + decay * weight);
}

NDArray Optimizer::clipped(const NDArray& grad) const {
  if (!clip_gradient) return grad;
  return invoke("clip", {grad},
                {{"a_min", fmt::format("{}", -*clip_gradient)},
                 {"a_max", fmt::format("{}", *clip_gradient)}})
      .front();
}

OptimizerState Optimizer::create_state(const Key&, const NDArray&) { return {}; }

OptimizerState Optimizer::create_state_multi_precision(const Key& key, const NDArray& weight) {
  if (is_mixed(weight)) {
    const NDArray master = weight.astype(DType::kFloat32);
    return OptimizerState({master, create_state(key, master)});
  }
  warn_half(weight, "optimizer");
  return create_state(key, weight);
}

std::string_view Optimizer::update_op(const NDArray&, const OptimizerState&) const { return {}; }

std::vector<NDArray> Optimizer::update_inputs(const NDArray& weight, const NDArray& grad,
                                              const OptimizerState& state) const {
  std::vector<NDArray> inputs = {weight, grad};
  state.append_arrays(inputs);
  return inputs;
}

void Optimizer::update_values(const Key& key, const UpdateValue&) { step_count(key); }

// NOLINTNEXTLINE(performance-unnecessary-value-param): those that override it write to them
void Optimizer::update(const Key& key, NDArray weight, NDArray grad, const OptimizerState& state) {
  const std::string_view op = update_op(weight, state);
  check(!op.empty(), ErrorKind::kNotImplemented, "{} does not implement update", class_name());
  AttrDict attrs;
  update_values(key, [&attrs](std::string_view attr, double value) {
    attrs.insert_or_assign(std::string(attr), fmt::format("{}", value));
  });
  invoke(op, update_inputs(weight, grad, state), attrs, {weight});
}

void Optimizer::update_multi_precision(const Key& key, NDArray weight, NDArray grad,
                                       const OptimizerState& state) {
  if (!is_mixed(weight)) return update(key, std::move(weight), std::move(grad), state);
  const NDArray& master = state.array(0);
  update(key, master, grad.astype(DType::kFloat32), state.part(1));
  master.copy_to(weight);
}

void Optimizer::update_group(std::span<const Key> keys, std::span<const NDArray> weights,
                             std::span<const NDArray> grads,
                             std::span<const OptimizerState> states) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    update_multi_precision(keys[i], weights[i], grads[i], states[i]);
}

bool Optimizer::takes_plain_state(const OptimizerState&) const { return true; }

bool Optimizer::takes_state(const OptimizerState& state) const {
  if (takes_plain_state(state)) return true;
  return multi_precision && state.is_sequence() && state.parts().size() == 2 &&
         state.parts()[0].is_array() && takes_plain_state(state.parts()[1]);
}

}  // namespace symbind
