// Running with the clock beside it. A GPU is waited for behind every operator, so that its time is
// the operator's own; the whole is slower then, the parts are right.

#include "executor/profile.h"

#include <algorithm>

#include <fmt/format.h>

#include <symbind/runtime.h>

#include "device/runtime.h"
#include "executor/executor_impl.h"

namespace symbind {
namespace {

using profiling::Subject;

std::string shapes_text(const Plan& plan, const PlanStep& step) {
  std::string text;
  const auto add = [&](const std::vector<int>& tensors) {
    for (const int t : tensors) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      if (tensor.home == Home::kNowhere || tensor.home == Home::kScratch || tensor.is_opaque)
        continue;
      if (!text.empty() && !text.ends_with("-> ")) text += " ";
      text += tensor.desc.shape.str();
    }
  };
  add(step.in);
  text += " -> ";
  add(step.out);
  return text;
}

std::vector<CostTensor> described(const std::vector<NDArray>& arrays) {
  std::vector<CostTensor> all;
  for (const NDArray& a : arrays)
    all.push_back({.desc = {.shape = a.shape(), .dtype = a.dtype()}, .bytes = a.nbytes()});
  return all;
}

std::vector<CostTensor> described(const ImperativeKernel& kernel) {
  std::vector<CostTensor> all;
  for (std::size_t o = 0; o < kernel.out.size(); ++o)
    all.push_back({.desc = kernel.out[o],
                   .bytes = kernel.out[o].bytes(),
                   .is_there = o < static_cast<std::size_t>(kernel.num_visible)});
  return all;
}

/// Calls `work` and returns when it began and ended.
template <class F>
std::pair<std::int64_t, std::int64_t> timed(Context context, F&& work) {
  const std::int64_t start = profiling::now();
  work();
  if (in_gpu_memory(context)) runtime(context).synchronize();
  return {start, profiling::now()};
}

}  // namespace

Profile& Executor::Impl::current_profile() {
  const std::uint64_t generation = profiling::generation();
  if (profile_ != nullptr) {
    if (profile_->generation != generation) {
      for (auto* list : {&profile_->steps, &profile_->updates})
        for (StepTimes& s : *list) s.times = {};
      profile_->generation = generation;
    }
    return *profile_;
  }
  auto made = std::make_unique<Profile>();
  made->generation = generation;
  for (const PlanStep& step : plan_->steps) {
    Subject s{.category = "operator",
              .name = step.node ? step.node->op->name : "reorder",
              .node = step.node ? step.node->name
                                : plan_->tensors[static_cast<std::size_t>(step.out.front())].name,
              .kernel = step.kernel,
              .device = step.context.str(),
              .shapes = shapes_text(*plan_, step)};
    made->steps.push_back(
        {.subject = profiling::intern(std::move(s)), .cost = cost_of(*plan_, step)});
  }
  for (const Update& u : updates_) {
    // Which weight: the bound argument the update writes.
    std::string node = u.kernel->op->name;
    for (std::size_t i = 0; i < bound_.args.size(); ++i)
      if (bound_.args[i].storage() == u.out.storage()) node = bound_.arg_names[i] + "_update";
    Subject s{.category = "operator",
              .name = u.kernel->op->name,
              .node = node,
              .kernel = {},
              .device = u.out.context().str(),
              .shapes = u.out.shape().str()};
    const auto parsed = u.kernel->op->make_attrs();
    const std::vector<CostTensor> out = {
        {.desc = {.shape = u.out.shape(), .dtype = u.out.dtype()}, .bytes = u.out.nbytes()}};
    made->updates.push_back(
        {.subject = profiling::intern(std::move(s)),
         .cost = cost_of(*u.kernel->op, parsed.get(), described(u.inputs), out)});
  }
  profile_ = std::move(made);
  return *profile_;
}

void Executor::Impl::run_timed(std::size_t number) {
  StepTimes& step = current_profile().steps[number];
  const Runnable& r = runnables_[number];
  const auto [start, end] = timed(plan_->steps[number].context, [&] { (*r.run)(r.args); });
  step.times.add(static_cast<double>(end - start));
  profiling::record(profiling::kSymbolic, step.subject, start, end, step.cost);
}

void Executor::Impl::run_timed(const Update& update, std::size_t number, const Args& args) {
  StepTimes& step = current_profile().updates[number];
  const auto [start, end] = timed(update.out.context(), [&] { update.kernel->run(args); });
  step.times.add(static_cast<double>(end - start));
  profiling::record(profiling::kSymbolic, step.subject, start, end, step.cost);
}

void run_timed(const ImperativeCall& call, const std::vector<NDArray>& inputs, Context context,
               const Args& args) {
  const ImperativeKernel& kernel = *call.kernel;
  const auto [start, end] = timed(context, [&] { kernel.run(args); });
  const std::string& custom = profiling::current_custom();
  const Subject* subject = profiling::intern(
      {.category = custom.empty() ? "operator" : "Custom Operator",
       .name = custom.empty() ? kernel.op->name : custom + "::" + kernel.op->name});
  // Gradients may read the shape of an array that is gone: such a call has a time and no cost.
  Cost cost;
  if (std::ranges::all_of(inputs, &NDArray::defined))
    cost = cost_of(*kernel.op, call.attrs.get(), described(inputs), described(kernel));
  profiling::record(profiling::kImperative, subject, start, end, cost);
}

}  // namespace symbind
