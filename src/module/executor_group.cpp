// One executor per device over slices of the batch.
//
// Decided here: a group that shares another's memory takes its parameters, gradients, auxiliary
// states and output memory, so that all buckets together need what the largest needs; inputs come
// from a pool by name. Arrays are collected once per bind: they are the executors' own, so nothing
// has to be collected again after a run.

#include <symbind/executor_group.h>

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>
#include <symbind/metric.h>

#include "base/check.h"
#include "executor/bind.h"
#include "kvstore/reduce.h"
#include "module/device_threads.h"
#include "module/grad_req.h"

namespace symbind {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<int> batch_axes(const std::vector<DataDesc>& shapes) {
  std::vector<int> axes;
  for (const DataDesc& d : shapes) axes.push_back(DataDesc::batch_axis(d.layout));
  return axes;
}

NDArray rows_of(const NDArray& source, int axis, const BatchSlice& rows) {
  if (axis < 0 || (rows.begin == 0 && rows.end == source.shape()[axis])) return source;
  if (axis == 0) return source.slice(rows.begin, rows.end);
  return invoke("slice_axis", {source},
                {{"axis", std::to_string(axis)},
                 {"begin", std::to_string(rows.begin)},
                 {"end", std::to_string(rows.end)}})
      .front();
}

// (N, 1) is taken for (N,) and the other way round, as labels come in both forms.
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

ExecutorGroup::ExecutorGroup(const Symbol& symbol, const std::vector<Context>& contexts,
                             const GroupOptions& options)
    : symbol_(symbol),
      contexts_(contexts),
      options_(options),
      bound_labels_(options.label_shapes),
      arg_names_(symbol.list_arguments()),
      aux_names_(symbol.list_auxiliary_states()),
      output_names_(symbol.list_outputs()) {
  if (options_.work_load.empty()) options_.work_load.assign(contexts_.size(), 1);
  check(options_.work_load.size() == contexts_.size(), ErrorKind::kState,
        "{} work loads for {} devices", options_.work_load.size(), contexts_.size());
  check(options_.group2ctxs.empty() || options_.group2ctxs.size() == contexts_.size(),
        ErrorKind::kState, "length of group2ctxs should be {}", contexts_.size());
  std::vector<std::string> data_names;
  for (const DataDesc& d : options_.data_shapes) data_names.push_back(d.name);
  grad_req_ =
      resolve_grad_req(options_.for_training ? options_.grad_req : GradReqArg("null"), arg_names_,
                       {.params = options_.param_names,
                        .fixed = options_.fixed_param_names,
                        .data = data_names,
                        .inputs_need_grad = options_.inputs_need_grad});
  const ExecutorGroup* shared = options_.shared_group;
  threads_ = shared && shared->contexts_.size() == contexts_.size()
                 ? shared->threads_
                 : std::make_shared<DeviceThreads>(contexts_.size());
  shared_data_arrays_ = shared ? shared->shared_data_arrays_
                               : std::make_shared<std::vector<NDArrayMap>>(contexts_.size());
  for (std::size_t i = 0; i < output_names_.size(); ++i) {
    output_layouts_.push_back(DataDesc::batch_axis(symbol_[i].attr("__layout__").value_or("")));
  }
  decide_slices();
  bind_all();
  options_.shared_group = nullptr;  // it may die before us; what it lent is ours now
}

void ExecutorGroup::decide_slices() {
  check(!options_.data_shapes.empty(), ErrorKind::kState, "a module needs the shape of some data");
  data_layouts_ = batch_axes(options_.data_shapes);
  label_layouts_ = batch_axes(options_.label_shapes.value_or(std::vector<DataDesc>{}));
  batch_size_ = 0;
  slices_.clear();
  const auto decide = [&](const std::vector<DataDesc>& shapes, const std::vector<int>& axes) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (axes[i] < 0) continue;
      check(axes[i] < shapes[i].shape.rank(), ErrorKind::kShape,
            "{} has the shape {}, its layout {} puts the batch on axis {}", shapes[i].name,
            shapes[i].shape.str(), shapes[i].layout, axes[i]);
      const std::int64_t size = shapes[i].shape[axes[i]];
      if (slices_.empty()) {
        batch_size_ = size;
        slices_ = split_batch(size, options_.work_load);
      }
      check(size == batch_size_, ErrorKind::kState,
            "all data must have the same batch size: batch_size = {}, but {} has shape {}",
            batch_size_, shapes[i].name, shapes[i].shape.str());
    }
  };
  decide(options_.data_shapes, data_layouts_);
  if (options_.label_shapes) decide(*options_.label_shapes, label_layouts_);
}

std::vector<DataDesc> ExecutorGroup::sliced(const std::vector<DataDesc>& shapes,
                                            const std::vector<int>& axes,
                                            std::size_t device) const {
  std::vector<DataDesc> own = shapes;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (axes[i] < 0) continue;
    std::vector<std::int64_t> dims(own[i].shape.begin(), own[i].shape.end());
    dims[static_cast<std::size_t>(axes[i])] = slices_[device].size();
    own[i].shape = Shape(dims);
  }
  return own;
}

void ExecutorGroup::bind_all() {
  execs_.assign(contexts_.size(), Executor());
  threads_->run([&](std::size_t device) { execs_[device] = bind_one(device); });
  collect_arrays();
}

Executor ExecutorGroup::bind_one(std::size_t device) {
  ShapeMap shapes;
  DTypeMap types;
  const auto attrs = symbol_.attr_dict();
  for (const DataDesc& d : sliced(options_.data_shapes, data_layouts_, device)) {
    shapes[d.name] = d.shape;
    const auto it = attrs.find(d.name);
    const bool typed =
        it != attrs.end() && it->second.contains("__dtype__") && it->second.at("__dtype__") != "-1";
    types[d.name] = typed ? static_cast<DType>(std::stoi(it->second.at("__dtype__"))) : d.dtype;
  }
  for (const DataDesc& d :
       sliced(options_.label_shapes.value_or(std::vector<DataDesc>{}), label_layouts_, device)) {
    if (!has(arg_names_, d.name)) continue;
    shapes[d.name] = d.shape;
    types[d.name] = d.dtype;
  }
  const Executor* lender = options_.shared_group ? &options_.shared_group->execs_[device] : nullptr;
  NDArrayMap args, grads, aux;
  if (lender) {
    args = lender->arg_dict();
    grads = lender->grad_dict();
    aux = lender->aux_dict();
  }
  const auto find = [](const NDArrayMap& from, const ArraySlot& slot) {
    const auto it = from.find(slot.name);
    if (it == from.end() || !it->second.defined()) return NDArray();
    check(it->second.shape() == slot.shape && it->second.dtype() == slot.dtype, ErrorKind::kShape,
          "'{}' is {} {} in the module that shares it, {} {} here", slot.name,
          it->second.shape().str(), dtype_name(it->second.dtype()), slot.shape.str(),
          dtype_name(slot.dtype));
    return it->second;
  };
  NDArrayMap& pool = (*shared_data_arrays_)[device];
  const auto pooled = [&pool](const ArraySlot& slot) {
    NDArray& kept = pool[slot.name];
    const bool fits = kept.defined() && kept.dtype() == slot.dtype &&
                      kept.context() == slot.context && kept.size() >= slot.shape.size();
    if (kept.defined() && !fits) {
      log_warning(fmt::format(
          "bucketing: data \"{}\" has a shape {}, which is larger than already allocated shape {}. "
          "Need to re-allocate. Consider putting default_bucket_key to be the bucket taking the "
          "largest input for better memory sharing.",
          slot.name, slot.shape.str(), kept.shape().str()));
    }
    if (!fits) kept = NDArray::zeros(slot.shape, slot.context, slot.dtype);
    return NDArray(kept.storage(), slot.shape, slot.dtype, kept.byte_offset());
  };
  const auto is_param = [&](const ArraySlot& s) { return has(options_.param_names, s.name); };
  Executor made = simple_bind_lent(
      symbol_, contexts_[device], shapes,
      {.grad_req = grad_req_,
       .types = types,
       .group2ctx = options_.group2ctxs.empty() ? ContextMap{} : options_.group2ctxs[device],
       .shared_exec = lender},
      {.argument = [&](const ArraySlot& s) { return is_param(s) ? find(args, s) : pooled(s); },
       .gradient = [&](const ArraySlot& s) { return is_param(s) ? find(grads, s) : NDArray(); },
       .auxiliary = [&](const ArraySlot& s) { return find(aux, s); },
       .outputs = lender ? lender->outputs() : std::vector<NDArray>{}});
  return made;
}

void ExecutorGroup::collect_arrays() {
  const auto names_of = [](const std::vector<DataDesc>& shapes) {
    std::vector<std::string> names;
    for (const DataDesc& d : shapes) names.push_back(d.name);
    return names;
  };
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < arg_names_.size(); ++i) place.emplace(arg_names_[i], i);
  const auto per_device = [&](const std::vector<std::string>& names, auto&& arrays_of) {
    std::vector<DeviceArrays> found;
    for (const std::string& name : names) {
      DeviceArrays row;
      const auto it = place.find(name);
      for (const Executor& e : execs_)
        row.push_back(it == place.end() ? NDArray() : arrays_of(e)[it->second]);
      found.push_back(std::move(row));
    }
    return found;
  };
  const auto args = [](const Executor& e) -> const auto& { return e.arg_arrays(); };
  const auto grads = [](const Executor& e) -> const auto& { return e.grad_arrays(); };
  const auto with_rows = [&](const std::vector<std::string>& names) {
    std::vector<std::vector<SlicedArray>> found;
    for (const DeviceArrays& row : per_device(names, args)) {
      std::vector<SlicedArray>& added = found.emplace_back();
      for (std::size_t d = 0; d < row.size(); ++d) {
        const auto at = static_cast<std::int64_t>(d);
        added.push_back({slices_.empty() ? BatchSlice{at, at + 1} : slices_[d], row[d]});
      }
    }
    return found;
  };
  const std::vector<std::string> data_names = names_of(options_.data_shapes);
  data_arrays_ = with_rows(data_names);
  label_arrays_ = options_.label_shapes ? with_rows(names_of(*options_.label_shapes))
                                        : std::vector<std::vector<SlicedArray>>{};
  std::vector<std::string> params;
  for (const std::string& name : arg_names_)
    if (has(options_.param_names, name)) params.push_back(name);
  param_arrays_ = per_device(params, args);
  grad_arrays_ = options_.for_training ? per_device(params, grads) : std::vector<DeviceArrays>{};
  state_arrays_ = per_device(options_.state_names, args);
  input_grad_arrays_ =
      options_.inputs_need_grad ? per_device(data_names, grads) : std::vector<DeviceArrays>{};
  aux_arrays_.clear();
  for (std::size_t i = 0; i < aux_names_.size(); ++i) {
    DeviceArrays& row = aux_arrays_.emplace_back();
    for (const Executor& e : execs_) row.push_back(e.aux_arrays()[i]);
  }
  total_exec_megabytes_ = 0;
  for (const Executor& e : execs_)
    total_exec_megabytes_ += static_cast<std::int64_t>(e.stats().arena_bytes >> 20);
}

// The shapes of a device's inputs. Labels that were not given follow from the data, so that a batch
// of another size can be predicted without them; parameters keep their shapes or reshape says why.
ShapeMap ExecutorGroup::input_shapes(std::size_t device) const {
  ShapeMap shapes;
  for (const DataDesc& d : sliced(options_.data_shapes, data_layouts_, device))
    shapes[d.name] = d.shape;
  for (const DataDesc& d :
       sliced(options_.label_shapes.value_or(std::vector<DataDesc>{}), label_layouts_, device))
    if (has(arg_names_, d.name)) shapes[d.name] = d.shape;
  const InferredShapes inferred = symbol_.infer_shape_partial(shapes);
  for (std::size_t i = 0; i < arg_names_.size(); ++i) {
    const std::string& name = arg_names_[i];
    const bool kept = has(options_.param_names, name) || has(options_.state_names, name);
    if (!kept && !shapes.contains(name)) shapes[name] = inferred.args[i];
  }
  return shapes;
}

void ExecutorGroup::reshape(const std::vector<DataDesc>& data_shapes,
                            const std::optional<std::vector<DataDesc>>& label_shapes) {
  if (data_shapes == options_.data_shapes && label_shapes == options_.label_shapes) return;
  if (default_execs_.empty()) default_execs_ = execs_;
  GroupOptions before = options_;
  options_.data_shapes = data_shapes;
  options_.label_shapes = label_shapes;
  try {
    decide_slices();
    std::vector<Executor> fresh(contexts_.size());
    threads_->run([&](std::size_t device) {
      fresh[device] =
          default_execs_[device].reshape(input_shapes(device), {.allow_up_sizing = true});
    });
    execs_ = std::move(fresh);
  } catch (...) {  // as it was
    options_ = std::move(before);
    decide_slices();
    throw;
  }
  collect_arrays();
}

bool ExecutorGroup::fits(const DataBatch& batch) const {
  if (!batch.label.empty() && bound_labels_ && !options_.label_shapes) return false;
  return std::ranges::equal(
      batch.data, options_.data_shapes,
      [](const NDArray& a, const DataDesc& d) { return a.shape() == d.shape; });
}

void ExecutorGroup::reshape_for(const DataBatch& batch) {
  const std::vector<DataDesc>& bound = options_.data_shapes;
  check(batch.data.size() == bound.size(), "the batch has {} data arrays, the module {}",
        batch.data.size(), bound.size());
  if (fits(batch)) return;
  const auto resized = [](const std::vector<DataDesc>& shapes, const std::vector<NDArray>& arrays) {
    std::vector<DataDesc> fresh = shapes;
    for (std::size_t i = 0; i < fresh.size() && i < arrays.size(); ++i)
      fresh[i].shape = arrays[i].shape();
    return fresh;
  };
  std::optional<std::vector<DataDesc>> labels;
  if (!batch.provide_label.empty())
    labels = batch.provide_label;
  else if (!batch.label.empty() && bound_labels_)
    labels = resized(options_.label_shapes.value_or(*bound_labels_), batch.label);
  reshape(batch.provide_data.empty() ? resized(bound, batch.data) : batch.provide_data, labels);
}

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
  load_slices(batch.data, data_arrays_, data_layouts_, "data");
  if (!label_arrays_.empty() && !batch.label.empty())
    load_slices(batch.label, label_arrays_, label_layouts_, "label");
}

void ExecutorGroup::load(const std::vector<DataBatch>& batches) {
  check(batches.size() == contexts_.size(), "{} batches for {} devices", batches.size(),
        contexts_.size());
  for (std::size_t d = 0; d < batches.size(); ++d) {
    for (std::size_t i = 0; i < data_arrays_.size(); ++i)
      batches[d].data.at(i).copy_to(data_arrays_[i][d].array);
    if (batches.front().label.empty()) continue;
    for (std::size_t i = 0; i < label_arrays_.size(); ++i)
      batches[d].label.at(i).copy_to(label_arrays_[i][d].array);
  }
}

void ExecutorGroup::forward(std::optional<bool> is_train) {
  const bool training = is_train.value_or(options_.for_training);
  threads_->run([&](std::size_t device) { execs_[device].forward(training); });
}

void ExecutorGroup::backward(const std::vector<NDArray>& out_grads) {
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

void ExecutorGroup::show(EvalMetric& metric, const std::vector<NDArray>& labels,
                         std::size_t device) const {
  NamedArrays named_labels, preds;
  if (options_.label_shapes)
    for (const DataDesc& d : *options_.label_shapes) named_labels.names.push_back(d.name);
  named_labels.names.resize(std::min(named_labels.names.size(), labels.size()));
  named_labels.arrays.assign(
      labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(named_labels.names.size()));
  preds.names = output_names_;
  preds.arrays = execs_[device].outputs();
  metric.update_dict(named_labels, preds);
}

void ExecutorGroup::update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const {
  for (std::size_t d = 0; d < execs_.size(); ++d) {
    std::vector<NDArray> own;
    for (std::size_t i = 0; i < labels.size() && i < label_layouts_.size(); ++i)
      own.push_back(rows_of(labels[i], label_layouts_[i], slices_[d]));
    show(metric, own, d);
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
