// An executor as data. Decided here: the page computes only layout and colour; every number it
// shows is in this JSON, under a descriptive name.

#include "explain/explanation.h"

#include <algorithm>
#include <map>

#include "kernels/peak.h"

namespace symbind {
namespace {

using Json = nlohmann::ordered_json;

const char* home_name(Home home) {
  switch (home) {
    case Home::kNowhere: return "unused";
    case Home::kScratch: return "scratch";
    case Home::kArena: return "arena";
    case Home::kArgument: return "argument";
    case Home::kAux: return "auxiliary";
    case Home::kGradient: return "gradient";
    case Home::kHeadGradient: return "head gradient";
    case Home::kOutput: return "output";
  }
  return "?";
}

Json tensor_json(const PlanTensor& t) {
  Json shape = Json::array();
  for (const std::int64_t dim : t.desc.shape) shape.push_back(dim);
  Json j = {{"name", t.name},
            {"shape", std::move(shape)},
            {"dtype", dtype_name(t.desc.dtype)},
            {"layout", layout_name(t.desc.layout)},
            {"bytes", t.desc.bytes()},
            {"home", home_name(t.home)},
            {"device", t.context.str()}};
  if (t.in_arena()) j["offset"] = t.offset;
  if (t.index >= 0) j["index"] = t.index;
  if (t.is_opaque) j["opaque"] = true;
  return j;
}

Json times_json(const StepTimes& s) {
  return {{"runs", s.times.count},
          {"total_ns", s.times.total},
          {"min_ns", s.times.min},
          {"max_ns", s.times.max}};
}

void add_cost(Json& j, const Cost& cost) {
  j["flops"] = cost.flops < 0 ? Json() : Json(cost.flops);
  j["bytes"] = cost.bytes;
}

class Explainer {
 public:
  explicit Explainer(const Executor& executor)
      : runner_(runner_of(executor)),
        plan_(runner_.plan()),
        watchers_(watchers_of(executor)),
        updates_(fused_step_of(executor).times()) {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].node) step_of_.emplace(plan_.steps[s].node.get(), static_cast<int>(s));
  }

  Json steps() {
    Json all = Json::array();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) all.push_back(step(s));
    return all;
  }

  Json updates() {
    Json all = Json::array();
    for (const StepTimes& u : updates_.all()) {
      Json j = {{"name", u.subject->node}, {"op", u.subject->name}, {"shapes", u.subject->shapes}};
      add_cost(j, u.cost);
      if (u.times.count > 0) j["time"] = times_json(u);
      all.push_back(std::move(j));
    }
    return all;
  }

  Json memory() {
    Json all = Json::array();
    for (std::size_t slot = 0; slot < plan_.contexts.size(); ++slot) {
      const auto bytes = plan_.arena_bytes.find(static_cast<int>(slot));
      Json blocks = Json::array();
      std::vector<std::size_t> live(plan_.steps.size(), 0);
      for (const MemoryBlock& b :
           memory_blocks(plan_, static_cast<int>(slot), !watchers_.see_values())) {
        blocks.push_back({b.tensor, b.first, b.last, b.offset, b.bytes});
        for (int s = b.first; s <= b.last; ++s) live[static_cast<std::size_t>(s)] += b.bytes;
      }
      all.push_back({{"device", plan_.contexts[slot].str()},
                     {"arena_bytes", bytes == plan_.arena_bytes.end() ? 0 : bytes->second},
                     {"live_bytes", live},
                     {"blocks", std::move(blocks)}});
    }
    return all;
  }

  Json totals() const {
    double flops = 0, bytes = 0;
    int uncounted = 0;
    for (const PlanStep& step : plan_.steps) {
      const Cost cost = cost_of(plan_, step);
      flops += std::max(cost.flops, 0.0);
      bytes += std::max(cost.bytes, 0.0);
      uncounted += cost.flops < 0 ? 1 : 0;
    }
    const auto size = [](const std::vector<NDArray>& arrays) {
      std::size_t all = 0;
      for (const NDArray& a : arrays)
        if (a.defined()) all += a.nbytes();
      return all;
    };
    const Bound& bound = runner_.bound();
    return {{"steps", plan_.steps.size()},
            {"forward_steps", plan_.num_forward},
            {"slices", plan_.slices.count},
            {"flops", flops},
            {"uncounted_steps", uncounted},
            {"bytes", bytes},
            {"arena_bytes", plan_.total_arena_bytes()},
            {"max_live_bytes", plan_.max_live_bytes},
            {"argument_bytes", size(bound.args)},
            {"auxiliary_bytes", size(bound.aux)},
            {"gradient_bytes", size(bound.grads)},
            {"output_bytes", size(runner_.outputs())},
            {"reorders", plan_.reorders}};
  }

  bool is_profiled() const {
    return std::ranges::any_of(watchers_.times().all(),
                               [](const StepTimes& s) { return s.times.count > 0; });
  }

 private:
  Json step(std::size_t number) {
    const PlanStep& step = plan_.steps[number];
    Json j = {{"op", step.node ? step.node->op->name : step.kernel},
              {"name", step.node ? step.node->name : tensor(step.out.front()).name},
              {"kernel", step.kernel},
              {"phase", step.phase == Phase::kForward ? "forward" : "backward"},
              {"device", step.context.str()},
              {"in", step.in},
              {"out", step.out}};
    if (!step.refusals.empty()) j["refused"] = step.refusals;
    if (step.workspace_bytes > 0)
      j["workspace"] = {{"bytes", step.workspace_bytes}, {"offset", step.workspace_offset}};
    if (step.is_random) j["random"] = true;
    add_cost(j, cost_of(plan_, step));
    if (step.node != nullptr) {
      if (!step.node->attrs.empty()) j["attributes"] = step.node->attrs;
      const auto forward = step_of_.find(step.node->forward_node.get());
      if (forward != step_of_.end()) j["of"] = forward->second;
    }
    const std::vector<StepTimes>& times = watchers_.times().all();
    if (!times.empty() && times[number].times.count > 0) j["time"] = times_json(times[number]);
    return j;
  }

  const PlanTensor& tensor(int t) const { return plan_.tensors[static_cast<std::size_t>(t)]; }

  const Runner& runner_;
  const Plan& plan_;
  const Watchers& watchers_;
  const KernelTimes& updates_;
  std::map<const Node*, int> step_of_;
};

}  // namespace

Json explanation(const Executor& executor, const std::string& title) {
  Explainer explainer(executor);
  Json j = {{"title", title},
            {"version", SYMBIND_VERSION},
            {"outputs", runner_of(executor).bound().output_names},
            {"totals", explainer.totals()},
            {"tensors", Json::array()},
            {"steps", explainer.steps()},
            {"updates", explainer.updates()},
            {"memory", explainer.memory()}};
  for (const PlanTensor& t : runner_of(executor).plan().tensors)
    j["tensors"].push_back(tensor_json(t));
  if (explainer.is_profiled()) {
    const Peak peak = cpu_peak();
    j["peak"] = {{"flops", peak.flops}, {"bytes", peak.bytes}};
  }
  return j;
}

}  // namespace symbind
