// Contexts: their text, the current one, and the runtime of each.
//
// Decided here: the current context is thread-local; a missing GPU is an error only when memory is
// allocated on it, as in MXNet. With SYMBIND_GPU_AS_CPU=n the process acts as if it had n GPUs,
// whose memory and cores are the host's: a script that uses gpu() runs on the CPU, while its
// devices stay distinct and keep their names. The choice is fixed when the first GPU is used,
// because code for one kind cannot use memory of the other.

#include <symbind/context.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include <symbind/runtime.h>

#include "base/check.h"
#include "base/settings.h"
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

enum class GpuMeans : std::uint8_t { kUnsettled, kCpu, kCuda };
std::atomic<GpuMeans> gpu_means{GpuMeans::kUnsettled};

int gpus_of_the_setting() {
  return static_cast<int>(settings::number("SYMBIND_GPU_AS_CPU", INT_MIN, INT_MAX));
}

bool gpus_are_cpus() {
  GpuMeans means = gpu_means.load(std::memory_order_acquire);
  if (means == GpuMeans::kUnsettled && gpus_of_the_setting() > 0) {
    if (gpu_means.compare_exchange_strong(means, GpuMeans::kCpu)) means = GpuMeans::kCpu;
  }
  return means == GpuMeans::kCpu;
}

DeviceRuntime& gpu_runtime(int id) {
  if (gpus_are_cpus()) return cpu_runtime();
  DeviceRuntime& found = cuda_runtime(id);
  gpu_means.store(GpuMeans::kCuda, std::memory_order_release);
  return found;
}

}  // namespace

std::string Context::str() const { return fmt::format("{}({})", device_name(type), id); }

int num_gpus() {
  return gpus_are_cpus() ? std::max(1, gpus_of_the_setting()) : cuda_device_count();
}

bool in_gpu_memory(Context context) { return context.type == DeviceType::kGpu && !gpus_are_cpus(); }

Context current_context() { return current; }
void set_current_context(Context context) { current = context; }

ContextScope::ContextScope(Context context) : previous_(current) { current = context; }

ContextScope::~ContextScope() { current = previous_; }

DeviceRuntime& runtime(Context context) {
  if (context.id < 0)
    fail(ErrorKind::kValue, "{} cannot be used: device ids start at 0", context.str());
  switch (context.type) {
    case DeviceType::kGpu: return gpu_runtime(context.id);
    case DeviceType::kCpu:
    case DeviceType::kCpuPinned:
    case DeviceType::kCpuShared: return cpu_runtime();
  }
  fail(ErrorKind::kValue, "device type {} is unknown", static_cast<int>(context.type));
}

}  // namespace symbind
