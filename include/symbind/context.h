#pragma once
// A device: kind and number. cpu(0), cpu(1), … are distinct devices that share the same cores.

#include <cstdint>
#include <functional>
#include <string>

namespace symbind {

enum class DeviceType : std::int8_t { kCpu = 1, kGpu = 2, kCpuPinned = 3, kCpuShared = 5 };

struct Context {
  DeviceType type = DeviceType::kCpu;
  int id = 0;
  bool operator==(const Context&) const = default;
  bool is_gpu() const { return type == DeviceType::kGpu; }
  /// "cpu(0)".
  std::string str() const;
};

inline Context cpu(int id = 0) { return {DeviceType::kCpu, id}; }
inline Context gpu(int id = 0) { return {DeviceType::kGpu, id}; }
inline Context cpu_pinned(int id = 0) { return {DeviceType::kCpuPinned, id}; }
inline Context cpu_shared(int id = 0) { return {DeviceType::kCpuShared, id}; }

/// CUDA devices that this process can use; 0 in a CPU build or without a driver.
int num_gpus();
/// The default device of new arrays; thread-local, initially cpu(0).
Context current_context();
void set_current_context(Context context);

/// Makes `context` the current one for the lifetime of the scope.
class ContextScope {
 public:
  explicit ContextScope(Context context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  Context previous_;
};

}  // namespace symbind

template <>
struct std::hash<symbind::Context> {
  std::size_t operator()(const symbind::Context& c) const noexcept {
    return static_cast<std::size_t>(c.id) * 8 + static_cast<std::size_t>(c.type);
  }
};
