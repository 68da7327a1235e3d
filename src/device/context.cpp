// Contexts: their text, the current one, and the runtime behind each.
//
// Decided here: the current context is a thread's own; naming a GPU that is not there costs nothing
// until memory is asked of it, as in MXNet.

#include <symbind/context.h>

#include "base/check.h"
#include "device/cuda_runtime.h"
#include "device/runtime.h"

namespace symbind {
namespace {

thread_local Context current;

const char* device_name(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu: return "cpu";
    case DeviceType::kGpu: return "gpu";
    case DeviceType::kCpuPinned: return "cpu_pinned";
    case DeviceType::kCpuShared: return "cpu_shared";
  }
  return "unknown";
}

}  // namespace

std::string Context::str() const { return fmt::format("{}({})", device_name(type), id); }

int num_gpus() { return cuda_device_count(); }

Context current_context() { return current; }
void set_current_context(Context context) { current = context; }

ContextScope::ContextScope(Context context) : previous_(current) { current = context; }

ContextScope::~ContextScope() { current = previous_; }

DeviceRuntime& runtime(Context context) {
  check(context.id >= 0, "{} cannot be used: device ids start at 0", context.str());
  switch (context.type) {
    case DeviceType::kGpu: return cuda_runtime(context.id);
    case DeviceType::kCpu:
    case DeviceType::kCpuPinned:
    case DeviceType::kCpuShared: return cpu_runtime();
  }
  fail(ErrorKind::kValue, "device type {} is unknown", static_cast<int>(context.type));
}

}  // namespace symbind
