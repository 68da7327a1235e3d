// The plan as text, and its verifier.

#include "passes/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "passes/lower.h"

namespace symbind {
namespace {

std::string home_text(const PlanTensor& t) {
  switch (t.home) {
    case Home::kNowhere: return "unused";
    case Home::kScratch: return fmt::format("unread @{}+{}", t.offset, t.bytes);
    case Home::kArena: return fmt::format("@{}+{}", t.offset, t.bytes);
    case Home::kArgument: return fmt::format("arg {}", t.index);
    case Home::kAux: return fmt::format("aux {}", t.index);
    case Home::kGradient: return fmt::format("grad {}", t.index);
    case Home::kHeadGradient: return fmt::format("head gradient {}", t.index);
    case Home::kOutput: return fmt::format("output {}", t.index);
  }
  return "?";
}

std::string tensor_text(const PlanTensor& t) {
  const char* layout = t.desc.layout == Layout::kPlain ? "" : layout_name(t.desc.layout);
  return fmt::format("{} {} {}{}{} {}", t.name, t.desc.shape.str(), dtype_name(t.desc.dtype),
                     *layout ? " " : "", layout, home_text(t));
}

// Who wrote each byte of an arena last: it must be the reader's own producer.
class Memory {
 public:
  void write(std::size_t begin, std::size_t bytes, int tensor) {
    if (bytes == 0) return;
    clear(begin, begin + bytes);
    ranges_[begin] = {begin + bytes, tensor};
  }
  bool holds(std::size_t begin, std::size_t bytes, int tensor) const {
    if (bytes == 0) return true;
    const auto it = ranges_.find(begin);
    return it != ranges_.end() && it->second.second == tensor && it->second.first >= begin + bytes;
  }

 private:
  void clear(std::size_t begin, std::size_t end) {
    auto it = ranges_.lower_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second.first > begin) --it;
    while (it != ranges_.end() && it->first < end) it = ranges_.erase(it);
  }
  std::map<std::size_t, std::pair<std::size_t, int>> ranges_;
};

}  // namespace

bool BindSpec::training() const {
  return std::ranges::any_of(grad_req, [](GradReq r) { return r != GradReq::kNull; });
}

std::size_t Plan::total_arena_bytes() const {
  std::size_t total = 0;
  for (const auto& [slot, bytes] : arena_bytes) total += bytes;
  return total;
}

int Plan::slot_of(Context context) const {
  const auto it = std::ranges::find(contexts, context);
  SYMBIND_ASSERT(it != contexts.end());
  return static_cast<int>(it - contexts.begin());
}

TensorDesc Plan::output(std::size_t i) const {
  TensorDesc whole = tensors[static_cast<std::size_t>(outputs[i])].desc;
  if (slices.count > 1) whole.shape[0] *= slices.count;
  return whole;
}

std::string Plan::text() const {
  std::string out =
      fmt::format("plan: {} steps ({} forward), arena {} bytes, max live {} bytes, {} reorders\n",
                  steps.size(), num_forward, total_arena_bytes(), max_live_bytes, reorders);
  if (!precision.empty()) out += precision + "\n";
  if (slices.count > 1)
    out += fmt::format("forward runs {} times, for one slice of the batch after another\n",
                       slices.count);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const PlanStep& step = steps[s];
    out += fmt::format("{:5} {} [{}] on {}", s, step.title, step.kernel, step.context.str());
    if (step.node != nullptr)
      if (const auto it = step.node->attrs.find("epilogue"); it != step.node->attrs.end())
        out += " epilogue " + it->second;
    if (step.workspace_bytes > 0)
      out += fmt::format(" workspace @{}+{}", step.workspace_offset, step.workspace_bytes);
    out += "\n";
    for (const int t : step.in)
      out += fmt::format("        <- {}\n", tensor_text(tensors[static_cast<std::size_t>(t)]));
    for (const int t : step.out)
      out += fmt::format("        -> {}\n", tensor_text(tensors[static_cast<std::size_t>(t)]));
    for (const std::string& r : step.refusals) out += fmt::format("        refused {}\n", r);
  }
  return out;
}

void verify(const Plan& plan) {
  std::vector<Memory> arenas(plan.contexts.size());
  for (const PlanStep& step : plan.steps) {
    Memory& arena = arenas[static_cast<std::size_t>(plan.slot_of(step.context))];
    for (const int t : step.in) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      if (tensor.home != Home::kArena) continue;
      Memory& home = arenas[static_cast<std::size_t>(plan.slot_of(tensor.context))];
      check(home.holds(tensor.offset, tensor.bytes, t), ErrorKind::kState,
            "{} reads {}, which was overwritten", step.title, tensor.name);
    }
    arena.write(step.workspace_offset, step.workspace_bytes, -1);
    for (const int t : step.in) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      if (tensor.home != Home::kArena || step.workspace_bytes == 0) continue;
      Memory& home = arenas[static_cast<std::size_t>(plan.slot_of(tensor.context))];
      check(home.holds(tensor.offset, tensor.bytes, t), ErrorKind::kState,
            "the workspace of {} covers its input {}", step.title, tensor.name);
    }
    for (const int t : step.out) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      if (tensor.in_arena()) arena.write(tensor.offset, tensor.bytes, t);
    }
    for (const int t : step.out) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      check(!tensor.in_arena() || arena.holds(tensor.offset, tensor.bytes, t), ErrorKind::kState,
            "two outputs of {} share memory", step.title);
    }
  }
}

}  // namespace symbind
