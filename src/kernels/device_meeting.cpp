#include "kernels/device_meeting.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/limits.h"

namespace symbind {
namespace {

/// One sum over devices, while it waits for some of them.
struct Meeting {
  std::map<int, std::vector<double>> brought;  ///< by device
  std::vector<double> sums;
  bool done = false;
};

std::mutex guard;
std::condition_variable changed;
std::map<std::string, std::shared_ptr<Meeting>>& open_meetings() {
  static auto& all = *new std::map<std::string, std::shared_ptr<Meeting>>;
  return all;
}

void add_up(Meeting& meeting) {
  meeting.sums.assign(meeting.brought.begin()->second.size(), 0.0);
  for (const auto& [device, numbers] : meeting.brought)
    for (std::size_t i = 0; i < numbers.size(); ++i) meeting.sums[i] += numbers[i];
  meeting.done = true;
}

}  // namespace

void sum_over_devices(const std::string& key, int count, int device, std::span<double> numbers) {
  if (count <= 1) return;
  std::unique_lock lock(guard);
  std::shared_ptr<Meeting>& open = open_meetings()[key];
  if (!open) open = std::make_shared<Meeting>();
  const std::shared_ptr<Meeting> meeting = open;
  const bool first_time =
      meeting->brought.emplace(device, std::vector(numbers.begin(), numbers.end())).second;
  check(first_time, ErrorKind::kState,
        "device {} contributes to '{}' twice before the other {} devices: each layer needs its own "
        "own",
        device, key, count - 1);
  check(meeting->brought.begin()->second.size() == numbers.size(), ErrorKind::kShape,
        "devices contribute {} and {} numbers to '{}': layers of different sizes share this key",
        meeting->brought.begin()->second.size(), numbers.size(), key);
  if (meeting->brought.size() == static_cast<std::size_t>(count)) {
    add_up(*meeting);
    open_meetings().erase(key);
    changed.notify_all();
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    while (!meeting->done) {
      changed.wait_for(lock, std::chrono::milliseconds(50));
      if (meeting->done) break;
      interruption_point();
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      check(waited.count() < static_cast<double>(limit(Limit::kDeviceWait)), ErrorKind::kState,
            "device {} waited {:.0f} s at '{}' for {} devices, of which {} arrived; run all of "
            "them at the same time, each in a thread (a Module does), or set ndev to their number",
            device, waited.count(), key, count, meeting->brought.size());
    }
  } catch (...) {
    // Late ones start a new sum, without this device's numbers.
    const auto found = open_meetings().find(key);
    if (found != open_meetings().end() && found->second == meeting) open_meetings().erase(found);
    throw;
  }
  std::copy(meeting->sums.begin(), meeting->sums.end(), numbers.begin());
}

}  // namespace symbind
