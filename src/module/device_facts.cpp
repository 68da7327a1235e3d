// State of the devices beyond the parameters, and the kernels they use.
#include <cstring>

#include <fmt/format.h>

#include <symbind/detail/resume.h>
#include <symbind/log.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/sha256.h"
#include "executor/runner.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

bool same_bits(const NDArray& a, const NDArray& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (in_gpu_memory(a.context()) || in_gpu_memory(b.context())) {
    const NDArray left = a.as_in_context(cpu()), right = b.as_in_context(cpu());
    return same_bits(left, right);
  }
  a.wait_to_read();
  b.wait_to_read();
  return a.nbytes() == 0 || std::memcmp(read_pointer(a), read_pointer(b), a.nbytes()) == 0;
}

std::string device_name(const char* kind, const std::string& name, std::size_t device) {
  return fmt::format("{}:{}:{}", kind, device, name);
}

using Visit =
    std::function<void(const std::string& name, const NDArray& array, const NDArray* host)>;

/// Every array of the devices that may differ from the parameters.
void visit_arrays(const ExecutorGroup& group, const NDArrayMap& args, const NDArrayMap& aux,
                  const Visit& visit) {
  const auto all = [&](const char* kind, const std::vector<std::string>& names,
                       const std::vector<DeviceArrays>& arrays, const NDArrayMap* host) {
    for (std::size_t i = 0; i < arrays.size() && i < names.size(); ++i)
      for (std::size_t d = 0; d < arrays[i].size(); ++d) {
        if (!arrays[i][d].defined()) continue;
        const NDArray* value = nullptr;
        if (host != nullptr) {
          const auto found = host->find(names[i]);
          value = found == host->end() ? nullptr : &found->second;
        }
        visit(device_name(kind, names[i], d), arrays[i][d], value);
      }
  };
  all("arg", group.options().param_names, group.param_arrays(), &args);
  all("aux", group.aux_names(), group.aux_arrays(), &aux);
  all("state", group.options().state_names, group.state_arrays(), nullptr);
  const auto& params = group.options().param_names;
  for (std::size_t i = 0; i < params.size() && i < group.grad_arrays().size(); ++i) {
    const auto request = group.grad_req().find(params[i]);
    if (request == group.grad_req().end() || request->second != "add") continue;
    all("grad", {params[i]}, {group.grad_arrays()[i]}, nullptr);
  }
}

}  // namespace

StateValue device_facts(const ExecutorGroup& group, const NDArrayMap& args, const NDArrayMap& aux) {
  StateValue arrays = StateValue::dict();
  visit_arrays(group, args, aux,
               [&](const std::string& name, const NDArray& array, const NDArray* host) {
                 if (host == nullptr || !same_bits(array, *host))
                   arrays.add(StateValue::of(name), StateValue::of(array).deep_copy());
               });
  StateValue facts = StateValue::dict();
  facts.add("count", StateValue::of(static_cast<std::int64_t>(group.contexts().size())));
  facts.add("arrays", std::move(arrays));
  return facts;
}

void set_device_facts(ExecutorGroup& group, const StateValue& facts) {
  const auto count = static_cast<std::int64_t>(group.contexts().size());
  const std::int64_t saved = facts.integer_at("count", "devices of a checkpoint");
  if (saved != count) {
    log_warning(
        fmt::format("resume: the checkpoint has {} devices and this training has {}: it will not "
                    "resume bit for bit",
                    saved, count));
    return;
  }
  const StateValue& arrays = facts.at("arrays", "devices of a checkpoint");
  visit_arrays(group, {}, {}, [&](const std::string& name, const NDArray& array, const NDArray*) {
    const StateValue* value = arrays.find(name);
    if (value == nullptr) return;
    check(value->kind == StateValue::Kind::kArray && value->array.shape() == array.shape() &&
              value->array.dtype() == array.dtype(),
          ErrorKind::kIo, "the checkpoint's array {} has another shape or type", name);
    value->array.copy_to(array);
  });
}

StateValue kernel_facts(const ExecutorGroup& group) {
  Sha256 hash;
  std::map<std::string, std::int64_t> counts;
  const auto add = [&](std::string_view text) {
    hash.add(std::as_bytes(std::span(text)));
    hash.add(std::as_bytes(std::span("\n", 1)));
  };
  for (const Executor& executor : group.execs()) {
    for (const PlanStep& step : runner_of(executor).plan().steps) {
      add(step.title);
      add(step.kernel);
      ++counts[step.kernel.empty() ? "reorder" : step.kernel];
    }
  }
  StateValue facts = StateValue::dict(), kernels = StateValue::dict();
  for (const auto& [name, count] : counts) kernels.add(StateValue::of(name), StateValue::of(count));
  facts.add("fingerprint", StateValue::of(hash.digest()));
  facts.add("kernels", std::move(kernels));
  facts.add("threads", StateValue::of(std::int64_t{num_threads()}));
  return facts;
}

void compare_kernel_facts(const StateValue& now, const StateValue& saved) {
  constexpr const char* kWhat = "kernels of a checkpoint";
  const std::int64_t threads = now.integer_at("threads", kWhat);
  const std::int64_t before = saved.integer_at("threads", kWhat);
  if (threads != before)
    log_warning(
        fmt::format("resume: the checkpoint was made with {} threads and this run has {}: sums may "
                    "round differently, so the training may not resume bit for bit",
                    before, threads));
  if (now.at("fingerprint", kWhat).text == saved.at("fingerprint", kWhat).text) return;
  std::string text;
  const auto list = [&](const StateValue& facts) {
    std::string line;
    const StateValue& kernels = facts.at("kernels", kWhat);
    for (std::size_t i = 0; i + 1 < kernels.items.size(); i += 2)
      line += fmt::format(" {}×{}", kernels.items[i + 1].integer, kernels.items[i].text);
    return line;
  };
  log_warning(
      fmt::format("resume: other kernels were chosen than in the checkpoint, so the training may "
                  "not resume bit for bit\n  then:{}\n  now: {}",
                  list(saved), list(now)));
}

}  // namespace symbind
