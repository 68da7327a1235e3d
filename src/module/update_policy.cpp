// Accumulation, clipping by global norm, and the average of the weights.
//
// Decided here: a group of batches uses the mean of their gradients, so rescale_grad is the same as
// for one batch and a short last group counts as much as a full one. Sums and averages of 16-bit
// arrays are kept in float32. The norm is that of the gradients summed over devices and workers,
// which the optimizer uses; clipping scales each share, which scales the sum equally.

#include <symbind/update_policy.h>

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/check.h"
#include "base/nearest.h"

namespace symbind {
namespace {

DType wide(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}

/// Sums of squares, one for each array; one call handles all arrays of a device.
std::vector<double> sums_of_squares(const std::vector<NDArray>& arrays) {
  std::map<std::string, std::vector<std::size_t>> by_device;
  for (std::size_t i = 0; i < arrays.size(); ++i) by_device[arrays[i].context().str()].push_back(i);
  std::vector<double> sums(arrays.size());
  for (const auto& [context, members] : by_device) {
    std::vector<NDArray> inputs;
    for (const std::size_t i : members)
      inputs.push_back(arrays[i].astype(wide(arrays[i].dtype()), false));
    const NDArray result =
        invoke("multi_sum_sq", inputs, {{"num_arrays", std::to_string(inputs.size())}}).front();
    const std::vector<double> values = result.to_vector<double>();
    for (std::size_t k = 0; k < members.size(); ++k) sums[members[k]] = values[k];
  }
  return sums;
}

/// What to multiply by so that `norm` becomes at most `max_norm`.
double clip_scale(double norm, double max_norm) { return std::min(1.0, max_norm / (norm + 1e-8)); }

/// Calls f(name, arrays by device) for every parameter that has a gradient.
template <class F>
void for_each_gradient(const UpdatePolicy::Parts& parts, F&& f) {
  for (const UpdatePolicy::Part& part : parts) {
    const auto& grads = part.group->grad_arrays();
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (grads[i].front().defined()) f(part.group->options().param_names[i], grads[i], part);
  }
}

/// Calls f(name, arrays by device) for every parameter.
template <class F>
void for_each_weight(const UpdatePolicy::Parts& parts, F&& f) {
  for (const UpdatePolicy::Part& part : parts) {
    const auto& weights = part.group->param_arrays();
    for (std::size_t i = 0; i < weights.size(); ++i)
      f(part.group->options().param_names[i], weights[i]);
  }
}

/// The sum over the devices; one device's array itself.
NDArray over_devices(const DeviceArrays& arrays) {
  NDArray sum = arrays.front();
  for (std::size_t d = 1; d < arrays.size(); ++d)
    sum = sum + arrays[d].as_in_context(sum.context());
  return sum;
}

NDArray one_number(std::int64_t value) {
  return NDArray::from_vector(std::vector<std::int64_t>{value}, {1}, cpu());
}

void check_known(const NDArrayMap& arrays, const UpdatePolicy::Parts& parts) {
  std::vector<std::string> names;
  for_each_weight(parts, [&](const std::string& name, const DeviceArrays& weights) {
    names.push_back(name);
    const auto it = arrays.find(name);
    check(it == arrays.end() || it->second.shape() == weights.front().shape(), ErrorKind::kShape,
          "the average of '{}' has shape {}, the weight has {}", name,
          it == arrays.end() ? std::string() : it->second.shape().str(),
          weights.front().shape().str());
  });
  for (const auto& [name, array] : arrays)
    check(std::find(names.begin(), names.end(), name) != names.end(), ErrorKind::kName,
          "there is an average of '{}', but no such weight; {}", name, nearest_hint(name, names));
}

}  // namespace

UpdatePolicy::UpdatePolicy(const UpdatePolicyOptions& options) : options_(options) {
  check(options.accumulate >= 1, "accumulate is {}; it counts batches and must be 1 or more",
        options.accumulate);
  check(options.clip_global_norm >= 0 && std::isfinite(options.clip_global_norm),
        "clip_global_norm is {}; it must be a number > 0, or 0 for no clipping",
        options.clip_global_norm);
  check(options.ema_decay >= 0 && options.ema_decay < 1,
        "ema_decay is {}; it must be in (0, 1), e.g. 0.999, or 0 for no average",
        options.ema_decay);
  check(!options.eval_ema || options.ema_decay > 0,
        "eval_ema=True needs an average\n  fix:  give ema_decay, e.g. 0.999");
}

void UpdatePolicy::begin_fit(const UpdatePolicyOptions& options, const PartsOf& parts) {
  check(!shows_average(), ErrorKind::kState,
        "the module holds EMA weights\n  fix:  call swap_ema_params first");
  UpdatePolicy next(options);
  next.set_average(average());
  *this = std::move(next);
  if (is_used()) begin(parts(true));
}

void UpdatePolicy::step(const PartsOf& parts, const std::function<void()>& update) {
  if (changes_gradients() && !take(parts(false))) return;
  update();
  if (is_used()) updated(parts(true));
}

void UpdatePolicy::finish_epoch(const PartsOf& parts, const std::function<void()>& update) {
  if (waiting_batches() == 0) return;
  take_rest(parts(false));
  update();
  updated(parts(true));
}

void UpdatePolicy::begin(const Parts& parts) {
  check(!parts.empty() || (!changes_gradients() && options_.ema_decay == 0),
        ErrorKind::kNotImplemented,
        "accumulate, clip_global_norm and ema_decay need a module with executors of this library");
  batches_ = 0;
  sums_.clear();
  if (options_.accumulate > 1) {
    for (const Part& part : parts) {
      for (const auto& [name, req] : part.group->grad_req()) {
        check(req != "add", ErrorKind::kState,
              "accumulate={} sums gradients itself, but '{}' is bound with grad_req='add', which "
              "would count them twice\n  fix:  bind with grad_req='write'",
              options_.accumulate, name);
      }
    }
  }
  if (options_.ema_decay == 0) return;
  check(!shows_average(), ErrorKind::kState,
        "the module holds EMA weights\n  fix:  call swap_ema_params first");
  check_known(average_, parts);
  for_each_weight(parts, [&](const std::string& name, const DeviceArrays& weights) {
    NDArray& average = average_[name];
    const NDArray& weight = weights.front();
    if (!average.defined()) average = weight.astype(wide(weight.dtype()));
    average = average.as_in_context(weight.context());
  });
}

bool UpdatePolicy::take(const Parts& parts) {
  ++batches_;
  if (options_.accumulate > 1) {
    add(parts);
    if (batches_ < options_.accumulate) return false;
    write_mean(parts);
  }
  batches_ = 0;
  clip(parts);
  return true;
}

bool UpdatePolicy::take_rest(const Parts& parts) {
  if (batches_ == 0) return false;
  write_mean(parts);
  batches_ = 0;
  clip(parts);
  return true;
}

void UpdatePolicy::add(const Parts& parts) {
  for_each_gradient(parts, [&](const std::string& name, const DeviceArrays& grads, const Part&) {
    Sum& sum = sums_[name];
    sum.arrays.resize(grads.size());
    for (std::size_t d = 0; d < grads.size(); ++d) {
      NDArray& into = sum.arrays[d];
      if (!into.defined())
        into = grads[d].astype(wide(grads[d].dtype()));
      else if (sum.empty)
        grads[d].copy_to(into);
      else
        into += grads[d].astype(into.dtype(), false).as_in_context(into.context());
    }
    sum.empty = false;
  });
}

void UpdatePolicy::write_mean(const Parts& parts) {
  const double share = 1.0 / static_cast<double>(batches_);
  for_each_gradient(parts, [&](const std::string& name, const DeviceArrays& grads, const Part&) {
    Sum& sum = sums_.at(name);
    for (std::size_t d = 0; d < grads.size(); ++d) (sum.arrays[d] * share).copy_to(grads[d]);
    sum.empty = true;
  });
}

void UpdatePolicy::clip(const Parts& parts) {
  if (options_.clip_global_norm == 0) return;
  std::vector<NDArray> totals;
  std::vector<double> rescale;
  std::vector<std::string> names;
  for_each_gradient(parts,
                    [&](const std::string& name, const DeviceArrays& grads, const Part& part) {
                      names.push_back(name);
                      totals.push_back(over_devices(grads));
                      rescale.push_back(part.rescale_grad);
                      if (part.workers == nullptr) return;
                      if (grads.size() == 1) totals.back() = totals.back().copy();
                      part.workers->sum("the norm of the gradients", {totals.back()});
                    });
  const std::vector<double> squares = sums_of_squares(totals);
  double sum = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) sum += squares[i] * rescale[i] * rescale[i];
  const double norm = std::sqrt(sum);
  if (!std::isfinite(norm)) {
    if (reported_) return;
    reported_ = true;
    std::size_t first = 0;
    while (first + 1 < squares.size() && std::isfinite(squares[first])) ++first;
    return log_warning(fmt::format(
        "clip_global_norm: before update {} the norm of the gradients is {}, first in the gradient "
        "of '{}'; they are not clipped. NanGuard finds the operator it comes from.",
        updates_ + 1, std::isnan(norm) ? "nan" : "inf", names[first]));
  }
  reported_ = false;
  const double scale = clip_scale(norm, options_.clip_global_norm);
  if (scale == 1) return;
  for_each_gradient(parts, [&](const std::string&, const DeviceArrays& grads, const Part&) {
    for (NDArray grad : grads) grad *= scale;
  });
}

void UpdatePolicy::updated(const Parts& parts) {
  ++updates_;
  if (options_.ema_decay == 0) return;
  check(!shows_average(), ErrorKind::kState,
        "the module holds EMA weights\n  fix:  call swap_ema_params first");
  for_each_weight(parts, [&](const std::string& name, const DeviceArrays& weights) {
    NDArray& average = average_[name];
    const NDArray weight = weights.front().astype(wide(weights.front().dtype()), false);
    if (!average.defined()) {  // a bucket may have a parameter that others lack
      average = weight.copy();
      return;
    }
    if (average.context() != weight.context()) average = average.as_in_context(weight.context());
    average *= options_.ema_decay;
    average += weight * (1 - options_.ema_decay);
  });
}

NDArrayMap UpdatePolicy::average() const {
  NDArrayMap all;
  for (const auto& [name, array] : average_) all[name] = array.copy().as_in_context(cpu());
  return all;
}

void UpdatePolicy::set_average(const NDArrayMap& arrays) {
  check(!shows_average(), ErrorKind::kState,
        "the module holds EMA weights\n  fix:  call swap_ema_params before setting another");
  NDArrayMap taken;
  for (const auto& [name, array] : arrays) taken[name] = array.astype(wide(array.dtype()));
  average_ = std::move(taken);
}

void UpdatePolicy::show_average(const Parts& parts) {
  check(!average_.empty(), ErrorKind::kState,
        "there is no average of the weights\n  fix:  train with ema_decay, or set_ema_params");
  if (shows_average()) return;
  check_known(average_, parts);
  for_each_weight(parts, [&](const std::string& name, const DeviceArrays& weights) {
    const auto average = average_.find(name);
    if (average == average_.end()) return;
    hidden_weights_[name] = {weights.front().copy(), weights};
    for (const NDArray& weight : weights) average->second.copy_to(weight);
  });
}

void UpdatePolicy::swap_average(const Parts& parts) {
  shows_average() ? show_weights(parts) : show_average(parts);
}

void UpdatePolicy::show_weights(const Parts& parts) {
  for (const auto& [name, hidden] : hidden_weights_)
    for (const NDArray& place : hidden.places) hidden.weight.copy_to(place);
  for_each_weight(parts, [&](const std::string& name, const DeviceArrays& weights) {
    const auto hidden = hidden_weights_.find(name);  // after a new bind the arrays differ
    if (hidden == hidden_weights_.end() || hidden->second.places.front().aliases(weights.front()))
      return;
    for (const NDArray& weight : weights) hidden->second.weight.copy_to(weight);
  });
  hidden_weights_.clear();
}

StateValue UpdatePolicy::state() const {
  StateValue all = StateValue::dict();
  const auto add = [&](const std::string& key, NDArray array) {
    all.add(StateValue::of(key), StateValue::of(std::move(array)));
  };
  for (const auto& [name, array] : average()) add("ema:" + name, array);
  for (const auto& [name, sum] : sums_) {
    for (std::size_t d = 0; d < sum.arrays.size() && !sum.empty; ++d)
      add(fmt::format("sum:{}:{}", name, d), sum.arrays[d].copy().as_in_context(cpu()));
  }
  add("batches", one_number(batches_));
  add("updates", one_number(updates_));
  return all;
}

void UpdatePolicy::set_state(const StateValue& state) {
  NDArrayMap average;
  std::map<std::string, Sum> sums;
  std::int64_t batches = 0, updates = 0;
  for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
    const std::string& key = state.items[i].text;
    const NDArray& array = state.items[i + 1].array;
    check(array.defined(), ErrorKind::kType, "'{}' of an update policy's state is not an array",
          key);
    const std::size_t last = key.rfind(':');
    if (key == "batches" || key == "updates") {
      (key == "batches" ? batches : updates) = static_cast<std::int64_t>(array.scalar());
    } else if (key.starts_with("ema:")) {
      average[key.substr(4)] = array;
    } else if (key.starts_with("sum:") && last > 4 && last + 1 < key.size() &&
               key.find_first_not_of("0123456789", last + 1) == key.npos && key.size() - last < 6) {
      Sum& sum = sums[key.substr(4, last - 4)];
      const std::size_t d = std::stoul(key.substr(last + 1));
      if (sum.arrays.size() <= d) sum.arrays.resize(d + 1);
      sum.arrays[d] = array.copy();
      sum.empty = false;
    } else {
      fail(ErrorKind::kName, "'{}' is not a part of an update policy's state", key);
    }
  }
  check(batches >= 0 && batches < options_.accumulate && updates >= 0,
        "an update policy's state has {} batches waiting and {} updates done, but accumulate is {}",
        batches, updates, options_.accumulate);
  set_average(average);
  sums_ = std::move(sums);
  batches_ = batches;
  updates_ = updates;
}

double global_norm(const std::vector<NDArray>& arrays) {
  double sum = 0;
  for (const double squares : sums_of_squares(arrays)) sum += squares;
  return std::sqrt(sum);
}

double clip_global_norm(const std::vector<NDArray>& arrays, double max_norm, bool report) {
  check(!arrays.empty(), ErrorKind::kState, "clip_global_norm needs at least one array");
  check(max_norm > 0, "clip_global_norm: max_norm is {}; it must be > 0", max_norm);
  const double norm = global_norm(arrays);
  if (!std::isfinite(norm)) {
    if (report) {
      log_warning(fmt::format(
          "clip_global_norm: nan or inf is detected (the norm is {}); the arrays are unchanged.",
          norm));
    }
    return norm;
  }
  const double scale = clip_scale(norm, max_norm);
  if (scale < 1)
    for (NDArray array : arrays) array *= scale;
  return norm;
}

}  // namespace symbind
