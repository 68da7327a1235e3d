#include "module/device_threads.h"

#include <algorithm>

#include "base/limits.h"
#include "base/parallel.h"

namespace symbind {

DeviceThreads::DeviceThreads(std::size_t devices) : devices_(devices) {}

void DeviceThreads::give_each_a_thread() {
  check_limit(Limit::kThreads, static_cast<std::int64_t>(devices_),
              "A module whose devices wait for each other");
  each_a_thread_ = true;
}

DeviceThreads::~DeviceThreads() {
  if (is_forked_child()) {  // they exist in the parent only
    for (std::thread& t : workers_) t.detach();
    return;
  }
  {
    const std::lock_guard lock(guard_);
    stop_ = true;
  }
  called_.notify_all();
  for (std::thread& t : workers_) t.join();
}

void DeviceThreads::serve(std::size_t worker, std::uint64_t seen) {
  while (true) {
    {
      std::unique_lock lock(guard_);
      called_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    set_num_threads(threads_per_device_);
    for (std::size_t d = worker; d < count_; d += workers_.size()) {
      try {
        (*work_)(d);
      } catch (...) {
        errors_[d] = std::current_exception();
      }
    }
    const std::lock_guard lock(guard_);
    if (--busy_ == 0) done_.notify_one();
  }
}

Team* DeviceThreads::team() {
  const bool one_thread = num_threads() == 1 && !each_a_thread_;
  return devices_ <= 1 || one_thread || is_forked_child() ? nullptr : this;
}

void DeviceThreads::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (!team()) {
    for (std::size_t d = 0; d < count; ++d) work(d);
    return;
  }
  const int threads = num_threads();
  std::unique_lock lock(guard_);
  const auto allowed = std::min<std::size_t>(devices_, static_cast<std::size_t>(threads));
  if (workers_.empty() || each_a_thread_) {
    const std::size_t size = each_a_thread_ ? devices_ : allowed;
    workers_.reserve(size);
    while (workers_.size() < size)
      workers_.emplace_back([this, w = workers_.size(), seen = round_] { serve(w, seen); });
  }
  errors_.assign(count, nullptr);
  work_ = &work;
  count_ = count;
  threads_per_device_ = std::max(1, threads / static_cast<int>(devices_));
  busy_ = workers_.size();
  ++round_;
  called_.notify_all();
  done_.wait(lock, [&] { return busy_ == 0; });
  for (const std::exception_ptr& e : errors_)
    if (e) std::rethrow_exception(e);
}

}  // namespace symbind
