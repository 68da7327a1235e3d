// The global list of waitall() holds unread errors only. With a thousand unread errors it drops new
// ones. It is never destroyed, so storages in statics may outlive it.

#include "ndarray/storage.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <symbind/ndarray.h>

#include "base/check.h"
#include "base/profiling.h"
#include "device/cuda_runtime.h"
#include "device/runtime.h"

namespace symbind {
namespace {

constexpr std::size_t kMostUnread = 1000;

struct UnreadErrors {
  std::mutex guard;
  std::vector<std::shared_ptr<PendingError>> errors;
};

UnreadErrors& unread() {
  static UnreadErrors& instance = *new UnreadErrors;
  return instance;
}

// Memory allocated while the profiler ran is also freed in its record, even if it has stopped.
std::shared_ptr<Storage> wrap_counted(DeviceRuntime& device, Context context, void* data,
                                      std::size_t bytes) {
  const std::string name = fmt::format("{}/{}", context.is_gpu() ? "gpu" : "cpu", context.id);
  auto made = Storage::wrap(data, bytes, context, [&device, data, bytes, name] {
    device.release(data, bytes);
    profiling::memory_changed(name, -static_cast<std::int64_t>(bytes));
  });
  profiling::memory_changed(name, static_cast<std::int64_t>(bytes));
  return made;
}

}  // namespace

DerivedForm::DerivedForm(Context context, std::size_t bytes)
    : context_(context), data_(runtime(context).allocate(bytes)), bytes_(bytes) {}

DerivedForm::~DerivedForm() { runtime(context_).release(data_, bytes_); }

namespace {

/// An array without elements has an address as well: loops that do not run may compute pointers
/// past it.
void* place_of(void* data, std::size_t bytes) {
  alignas(64) static std::byte nothing[64];
  return data == nullptr && bytes == 0 ? nothing : data;
}

}  // namespace

std::shared_ptr<Storage> Storage::allocate(Context context, std::size_t bytes) {
  DeviceRuntime& device = runtime(context);
  void* data = device.allocate(bytes);
  if (profiling::on(profiling::kMemory)) [[unlikely]]
    return wrap_counted(device, context, data, bytes);
  auto give_back = [&device, data, bytes] { device.release(data, bytes); };
  return std::shared_ptr<Storage>(
      new Storage(place_of(data, bytes), bytes, context, std::move(give_back)));
}

std::shared_ptr<Storage> Storage::wrap(void* data, std::size_t bytes, Context context,
                                       std::function<void()> on_release) {
  return std::shared_ptr<Storage>(
      new Storage(place_of(data, bytes), bytes, context, std::move(on_release)));
}

Storage::~Storage() {
  if (on_release_) on_release_();
}

std::uint64_t Storage::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

DerivedForm& Storage::derived(std::string_view key, std::size_t bytes, std::size_t offset,
                              const std::shared_ptr<const void>& user, const FormSources& also) {
  const std::lock_guard lock(guard_);
  const auto [it, is_new] = derived_.try_emplace({offset, bytes, std::string(key), also});
  KeptForm& kept = it->second;
  if (is_new) {
    kept.has_user = user != nullptr;
    kept.user = user;
    std::erase_if(derived_, [&](const auto& other) {
      const KeptForm& one = other.second;
      return &one != &kept && one.has_user && one.user.expired();
    });
  } else if (kept.has_user && kept.user.expired()) {
    kept.user = user;
    kept.has_user = user != nullptr;
  }
  if (kept.form == nullptr) kept.form = std::make_unique<DerivedForm>(context_, bytes);
  return *kept.form;
}

std::size_t Storage::num_derived() const {
  const std::lock_guard lock(guard_);
  return derived_.size();
}

void Storage::set_error(std::shared_ptr<PendingError> error) {
  {
    const std::lock_guard lock(guard_);
    error_ = error;
    failed_.store(true, std::memory_order_release);
  }
  UnreadErrors& all = unread();
  const std::lock_guard lock(all.guard);
  std::erase_if(all.errors, [](const auto& e) { return e->read.load(); });
  if (std::find(all.errors.begin(), all.errors.end(), error) == all.errors.end() &&
      all.errors.size() < kMostUnread)
    all.errors.push_back(std::move(error));
}

std::shared_ptr<PendingError> Storage::error() const {
  const std::lock_guard lock(guard_);
  return error_ != nullptr && !error_->read.load() ? error_ : nullptr;
}

std::optional<Error> Storage::take_error() {
  if (!failed_.load(std::memory_order_acquire)) return std::nullopt;
  std::shared_ptr<PendingError> taken;
  {
    const std::lock_guard lock(guard_);
    failed_.store(false, std::memory_order_release);
    taken = std::exchange(error_, nullptr);
  }
  if (taken == nullptr || taken->read.exchange(true)) return std::nullopt;
  // MXNet's rule: raising one error clears waitall's list. Older errors stay on their arrays.
  UnreadErrors& all = unread();
  const std::lock_guard lock(all.guard);
  all.errors.clear();
  return taken->error;
}

void waitall() {
  for (int id = 0; id < cuda_device_count(); ++id) cuda_runtime(id).synchronize();
  std::vector<std::shared_ptr<PendingError>> errors;
  {
    UnreadErrors& all = unread();
    const std::lock_guard lock(all.guard);
    errors.swap(all.errors);
  }
  std::shared_ptr<PendingError> first;
  for (auto& error : errors)
    if (!error->read.exchange(true) && first == nullptr) first = std::move(error);
  if (first != nullptr) throw first->error;
}

}  // namespace symbind
