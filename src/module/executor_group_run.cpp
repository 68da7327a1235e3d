// Running a group: copy rows to the devices, run them in parallel, collect results.

#include <symbind/detail/executor_group.h>

#include <algorithm>
#include <utility>

#include <symbind/metric.h>

#include "base/check.h"
#include "base/profiling.h"
#include "kvstore/reduce.h"
#include "module/device_threads.h"
#include "ndarray/recorder.h"

namespace symbind {
namespace {

NDArray rows_of(const NDArray& source, int axis, const BatchSlice& rows) {
  if (axis < 0 || (rows.begin == 0 && rows.end == source.shape()[axis])) return source;
  if (axis == 0) return source.slice(rows.begin, rows.end);
  return invoke("slice_axis", {source},
                {{"axis", std::to_string(axis)},
                 {"begin", std::to_string(rows.begin)},
                 {"end", std::to_string(rows.end)}})
      .front();
}

// (N, 1) and (N,) are interchangeable, because labels come in both forms.
bool same_but_for_ones(const Shape& a, const Shape& b) {
  const auto trimmed = [](const Shape& s) {
    std::vector<std::int64_t> dims(s.begin(), s.end());
    while (dims.size() > 1 && dims.back() == 1) dims.pop_back();
    return dims;
  };
  return trimmed(a) == trimmed(b);
}

NDArray joined(const DeviceArrays& parts, int axis) {
  if (axis < 0 || parts.size() == 1) return parts.front();
  std::vector<NDArray> here;
  for (const NDArray& p : parts) here.push_back(p.as_in_context(parts.front().context()));
  return invoke("Concat", here,
                {{"dim", std::to_string(axis)}, {"num_args", std::to_string(here.size())}})
      .front();
}

std::vector<NDArray> joined(const std::vector<DeviceArrays>& arrays, const std::vector<int>& axes) {
  std::vector<NDArray> result;
  for (std::size_t i = 0; i < arrays.size(); ++i) result.push_back(joined(arrays[i], axes[i]));
  return result;
}

void write_mean(const DeviceArrays& block, NDArray& target) {
  if (block.size() == 1) return block.front().copy_to(target);
  NDArray mean(block.front().shape(), cpu(), block.front().dtype());
  sum_in_order(block, mean);
  mean /= static_cast<double>(block.size());
  mean.copy_to(target);
}

}  // namespace

void ExecutorGroup::set_params(const NDArrayMap& args, const NDArrayMap& aux, bool allow_extra) {
  for (Executor& e : execs_) e.copy_params_from(args, aux, allow_extra);
}

void ExecutorGroup::get_params(NDArrayMap& args, NDArrayMap& aux) const {
  for (std::size_t i = 0; i < options_.param_names.size(); ++i)
    write_mean(param_arrays_[i], args.at(options_.param_names[i]));
  for (std::size_t i = 0; i < aux_names_.size(); ++i)
    write_mean(aux_arrays_[i], aux.at(aux_names_[i]));
}

void ExecutorGroup::load_slices(const std::vector<NDArray>& sources,
                                const std::vector<std::vector<SlicedArray>>& targets,
                                const std::vector<int>& axes, const char* what) const {
  check(sources.size() >= targets.size(), "the batch has {} {} arrays, the module needs {}",
        sources.size(), what, targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (const SlicedArray& target : targets[i]) {
      if (!target.array.defined()) continue;  // a label the network does not read
      check(axes[i] < 0 ||
                (axes[i] < sources[i].ndim() && sources[i].shape()[axes[i]] >= target.rows.end),
            ErrorKind::kShape, "Batch size miss match. Expected {}, got {}", batch_size_,
            axes[i] >= 0 && axes[i] < sources[i].ndim() ? sources[i].shape()[axes[i]] : 0);
      NDArray part = rows_of(sources[i], axes[i], target.rows);
      if (part.shape() != target.array.shape() &&
          same_but_for_ones(part.shape(), target.array.shape()))
        part = part.reshape(target.array.shape());
      part.copy_to(target.array);
    }
  }
}

void ExecutorGroup::load(const DataBatch& batch) {
  const Unrecorded within;
  const profiling::ApiSpan span("Module.load_batch");
  const TeamScope scope(threads_->team());
  load_slices(batch.data, data_arrays_, data_layouts_, "data");
  if (!label_arrays_.empty() && !batch.label.empty())
    load_slices(batch.label, label_arrays_, label_layouts_, "label");
}

void ExecutorGroup::load(const std::vector<DataBatch>& batches) {
  const Unrecorded within;
  check(batches.size() == contexts_.size(), "{} batches for {} devices", batches.size(),
        contexts_.size());
  const auto copy = [](const std::vector<NDArray>& from, const auto& to, std::size_t device,
                       const char* what) {
    check(from.size() >= to.size(), "the batch of device {} has {} {} arrays, the module needs {}",
          device, from.size(), what, to.size());
    for (std::size_t i = 0; i < to.size(); ++i)
      if (to[i][device].array.defined()) from[i].copy_to(to[i][device].array);
  };
  for (std::size_t d = 0; d < batches.size(); ++d) {
    copy(batches[d].data, data_arrays_, d, "data");
    if (!batches.front().label.empty()) copy(batches[d].label, label_arrays_, d, "label");
  }
}

void ExecutorGroup::forward(std::optional<bool> is_train) {
  const profiling::ApiSpan span("Module.forward");
  const bool training = is_train.value_or(options_.for_training);
  threads_->run([&](std::size_t device) { execs_[device].forward(training); });
}

void ExecutorGroup::backward(const std::vector<NDArray>& out_grads) {
  const profiling::ApiSpan span("Module.backward");
  check(options_.for_training, ErrorKind::kState, "re-bind with for_training=True to run backward");
  threads_->run([&](std::size_t device) {
    std::vector<NDArray> own;
    for (std::size_t i = 0; i < out_grads.size() && i < output_layouts_.size(); ++i) {
      const NDArray part = slices_.empty()
                               ? out_grads[i]
                               : rows_of(out_grads[i], output_layouts_[i], slices_[device]);
      own.push_back(part.as_in_context(contexts_[device]));
    }
    execs_[device].backward(own);
  });
}

void ExecutorGroup::forward_backward() {
  const profiling::ApiSpan span("Module.forward_backward");
  threads_->run([&](std::size_t device) {
    execs_[device].forward(true);
    execs_[device].backward();
  });
}

std::vector<DeviceArrays> ExecutorGroup::device_outputs() const {
  std::vector<DeviceArrays> all(output_names_.size());
  for (const Executor& e : execs_)
    for (std::size_t i = 0; i < all.size(); ++i) all[i].push_back(e.outputs()[i]);
  return all;
}

std::vector<NDArray> ExecutorGroup::get_outputs() const {
  return joined(device_outputs(), output_layouts_);
}

std::vector<NDArray> ExecutorGroup::get_input_grads() const {
  check(options_.inputs_need_grad, ErrorKind::kState,
        "bind with inputs_need_grad=True to get the gradients of the inputs");
  return joined(input_grad_arrays_, data_layouts_);
}

std::vector<std::pair<std::string, Shape>> ExecutorGroup::output_shapes() const {
  std::vector<std::pair<std::string, Shape>> shapes;
  for (std::size_t i = 0; i < output_names_.size(); ++i) {
    const Shape& one = execs_.front().outputs()[i].shape();
    std::vector<std::int64_t> dims(one.begin(), one.end());
    const int axis = output_layouts_[i];
    if (axis >= 0 && axis < one.rank() && batch_size_ > 0)
      dims[static_cast<std::size_t>(axis)] = batch_size_;
    shapes.emplace_back(output_names_[i], Shape(dims));
  }
  return shapes;
}

void ExecutorGroup::set_states(const std::vector<DeviceArrays>& states) {
  check(states.size() == state_arrays_.size(), "{} states were given, the module has {}",
        states.size(), state_arrays_.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    check(states[i].size() == contexts_.size(), "state {} has {} arrays for {} devices", i,
          states[i].size(), contexts_.size());
    for (std::size_t d = 0; d < contexts_.size(); ++d) states[i][d].copy_to(state_arrays_[i][d]);
  }
}

void ExecutorGroup::set_states(double value) {
  for (DeviceArrays& row : state_arrays_)
    for (NDArray& array : row) array.set(value);
}

// The lists are kept between calls, so a step allocates none; the arrays in them are not kept. A
// metric that calls this recursively gets other lists.
void ExecutorGroup::show(EvalMetric& metric, std::span<const NDArray> labels,
                         std::size_t device) const {
  auto [named, preds, rows] = std::exchange(shown_, {});
  std::size_t count = 0;
  if (options_.label_shapes) count = std::min(options_.label_shapes->size(), labels.size());
  named.names.resize(count);
  for (std::size_t i = 0; i < count; ++i) named.names[i] = (*options_.label_shapes)[i].name;
  named.arrays.assign(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count));
  preds.names = output_names_;
  preds.arrays = execs_[device].outputs();
  metric.update_dict(named, preds);
  named.arrays.clear();
  preds.arrays.clear();
  shown_ = {std::move(named), std::move(preds), std::move(rows)};
}

void ExecutorGroup::update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const {
  const profiling::ApiSpan span("Module.update_metric");
  const TeamScope scope(threads_->team());
  const auto given = std::span(labels).first(std::min(labels.size(), label_layouts_.size()));
  for (std::size_t d = 0; d < execs_.size(); ++d) {
    if (slices_.empty()) {
      show(metric, given, d);
      continue;
    }
    std::vector<NDArray> rows = std::exchange(shown_.rows, {});
    for (std::size_t i = 0; i < given.size(); ++i)
      rows.push_back(rows_of(given[i], label_layouts_[i], slices_[d]));
    show(metric, rows, d);
    rows.clear();
    shown_.rows = std::move(rows);
  }
}

void ExecutorGroup::update_metric(EvalMetric& metric,
                                  const std::vector<std::vector<NDArray>>& labels) const {
  for (std::size_t d = 0; d < execs_.size(); ++d) show(metric, labels.at(d), d);
}

void ExecutorGroup::set_monitor_callback(const MonitorCallback& callback, bool all) {
  for (Executor& e : execs_) e.set_monitor_callback(callback, all);
}

}  // namespace symbind
