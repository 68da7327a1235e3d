// One executor per device over slices of the batch: binding and reshaping. Running is in
// executor_group_run.cpp.
//
// Decided here: a group that shares another's memory takes its parameters, gradients, auxiliary
// states and output memory, so that all buckets together need only the memory of the largest;
// inputs come from a pool by name. Arrays are collected once per bind: they are the executors' own
// arrays, so a run does not change the lists.

#include <symbind/detail/executor_group.h>

#include <algorithm>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/check.h"
#include "executor/bind.h"
#include "executor/watchers.h"
#include "graph/node.h"
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

bool devices_meet(const Symbol& symbol) {
  return std::ranges::any_of(post_order(symbol.heads()), [](const NodePtr& node) {
    return !node->is_variable() && node->op->meets_devices;
  });
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
  if (devices_meet(symbol_)) threads_->give_each_a_thread();
  shared_data_arrays_ = shared ? shared->shared_data_arrays_
                               : std::make_shared<std::vector<NDArrayMap>>(contexts_.size());
  for (std::size_t i = 0; i < output_names_.size(); ++i) {
    output_layouts_.push_back(DataDesc::batch_axis(symbol_[i].attr("__layout__").value_or("")));
  }
  decide_slices();
  bind_all();
  options_.shared_group = nullptr;  // it may be destroyed before us; we share its arrays now
}

Team* ExecutorGroup::team() const { return threads_->team(); }

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
            "{} has the shape {}, but its layout {} has the batch on axis {}", shapes[i].name,
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
    if (!typed) types[d.name] = d.dtype;  // else inference reads the attribute
  }
  for (const DataDesc& d :
       sliced(options_.label_shapes.value_or(std::vector<DataDesc>{}), label_layouts_, device)) {
    if (!has(arg_names_, d.name)) continue;
    shapes[d.name] = d.shape;
    types[d.name] = d.dtype;
  }
  const Executor* shared = options_.shared_group ? &options_.shared_group->execs_[device] : nullptr;
  NDArrayMap args, grads, aux;
  if (shared) {
    args = shared->arg_dict();
    grads = shared->grad_dict();
    aux = shared->aux_dict();
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
  Executor made = simple_bind_with(
      symbol_, contexts_[device], shapes,
      {.grad_req = grad_req_,
       .types = types,
       .group2ctx = options_.group2ctxs.empty() ? ContextMap{} : options_.group2ctxs[device],
       .shared_exec = shared,
       .exact = options_.exact,
       .compute_dtype = options_.compute_dtype},
      {.argument = [&](const ArraySlot& s) { return is_param(s) ? find(args, s) : pooled(s); },
       .gradient = [&](const ArraySlot& s) { return is_param(s) ? find(grads, s) : NDArray(); },
       .auxiliary = [&](const ArraySlot& s) { return find(aux, s); },
       .outputs = shared ? shared->outputs() : std::vector<NDArray>{}});
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

// The shapes of a device's inputs. Missing labels are inferred from the data, so that a batch of
// another size can be predicted without them; parameters keep their shapes, or reshape reports why
// not.
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
  } catch (...) {  // restore
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

bool ExecutorGroup::is_watched() const {
  return std::ranges::any_of(execs_, [](const Executor& e) { return watchers_of(e).see_values(); });
}

}  // namespace symbind
