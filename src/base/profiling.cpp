// Recording: events and the statistics of their kind.

#include "base/profiling.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/profiling_recorder.h"

namespace symbind::profiling {

void Statistics::add(double value) {
  ++count;
  total += value;
  min = std::min(min, value);
  max = std::max(max, value);
  last = value;
}

const Subject* intern(Subject s) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  auto key = std::make_tuple(s.category, s.name, s.node, s.kernel, s.device, s.shapes);
  return &r.subjects.try_emplace(std::move(key), std::move(s)).first->second;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void record(unsigned part, const Subject* subject, std::int64_t start, std::int64_t end,
            Cost cost) {
  if (!on(part)) return;
  if ((part & (kSymbolic | kImperative)) != 0) thread_state().nested += end - start;
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  subject->statistics.add(static_cast<double>(end - start));
  subject->statistics.flops += std::max(cost.flops, 0.0);
  subject->statistics.bytes += std::max(cost.bytes, 0.0);
  push(r,
       {.subject = subject, .phase = 'X', .start = start, .duration = end - start, .cost = cost});
}

void record_async(const Subject* subject, std::int64_t start, std::int64_t end) {
  if (!on(kOwn)) return;
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  subject->statistics.add(static_cast<double>(end - start));
  push(r, {.subject = subject, .phase = 'b', .start = start, .duration = end - start});
}

void record_counter(unsigned part, const Subject* subject, double value) {
  if (!on(part)) return;
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  subject->statistics.add(value);
  push(r, {.subject = subject, .phase = 'C', .start = now(), .value = value});
}

void record_moment(const Subject* subject, char scope) {
  if (!on(kOwn)) return;
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  push(r, {.subject = subject, .phase = 'i', .scope = scope, .start = now()});
}

// Called while arrays are destroyed: an event is dropped if memory runs out.
void memory_changed(const std::string& device, std::int64_t bytes) noexcept {
  try {
    const Subject* subject = intern({.category = "Device Storage", .name = "Memory: " + device});
    std::int64_t live = 0;
    {
      Recorder& r = recorder();
      const std::lock_guard lock(r.guard);
      live = r.live_bytes[device] += bytes;
    }
    record_counter(kMemory, subject, static_cast<double>(live));
  } catch (...) {
  }
}

void ApiSpan::begin(const char* name) {
  name_ = name;
  start_ = now();
}

void ApiSpan::end() noexcept {
  try {
    record(kApi, intern({.category = "api", .name = name_}), start_, now());
  } catch (...) {  // no memory for the event: the call itself went well
  }
}

void CustomScope::begin(const std::string& name) {
  active_ = true;
  name_ = name;
  outer_ = std::exchange(thread_state().custom, name);
  outer_nested_ = std::exchange(thread_state().nested, 0);
  start_ = now();
}

void CustomScope::end() noexcept {
  ThreadState& state = thread_state();
  const std::int64_t stop = now(), nested = state.nested;
  state.custom = std::move(outer_);
  state.nested = outer_nested_;
  try {
    const Subject* subject =
        intern({.category = "Custom Operator", .name = name_ + "::pure_python"});
    if (!on(kSymbolic | kImperative)) return;
    Recorder& r = recorder();
    const std::lock_guard lock(r.guard);
    subject->statistics.add(static_cast<double>(stop - start_ - nested));
    push(r, {.subject = subject, .phase = 'X', .start = start_, .duration = stop - start_});
  } catch (...) {
  }
}

const std::string& current_custom() { return thread_state().custom; }

std::uint64_t generation() {
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  return r.generation;
}

Snapshot snapshot(bool reset) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  Snapshot s;
  for (auto& [key, subject] : r.subjects) {
    if (subject.statistics.count == 0) continue;
    auto& rows = subject.category == "Device Storage"     ? s.memory
                 : subject.category.ends_with(",counter") ? s.counters
                                                          : s.spans;
    rows.push_back({&subject, subject.statistics});
    if (reset) subject.statistics = {};
  }
  if (reset) ++r.generation;
  return s;
}

}  // namespace symbind::profiling
