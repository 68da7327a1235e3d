// The profiler's public functions: they check options, then call the recorder.

#include <symbind/profiler.h>

#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/nearest.h"
#include "base/profiling_recorder.h"

namespace symbind::profiler {

using namespace profiling;  // NOLINT: the recorder is this file's own

namespace {

bool flag_of(const std::string& name, const std::string& value) {
  for (const char* yes : {"1", "True", "true"})
    if (value == yes) return true;
  for (const char* no : {"0", "False", "false"})
    if (value == no) return false;
  fail(ErrorKind::kValue, "set_config: {}='{}' is neither True nor False", name, value);
}

double seconds_of(const std::string& name, const std::string& value) {
  char* end = nullptr;
  const double seconds = std::strtod(value.c_str(), &end);
  check(end != value.c_str() && *end == '\0' && seconds > 0 && seconds < 1e6,
        "set_config: {}='{}' is not a number of seconds", name, value);
  return seconds;
}

}  // namespace

void set_config(const std::map<std::string, std::string>& options) {
  const std::map<std::string, unsigned> parts = {
      {"profile_all", kSymbolic | kImperative | kMemory | kApi},
      {"profile_symbolic", kSymbolic},
      {"profile_imperative", kImperative},
      {"profile_memory", kMemory},
      {"profile_api", kApi}};
  const std::vector<std::string> names = {
      "aggregate_stats", "continuous_dump", "dump_period",        "filename",
      "profile_all",     "profile_api",     "profile_imperative", "profile_memory",
      "profile_process", "profile_symbolic"};
  Config config;
  for (const auto& [name, value] : options) {
    if (const auto part = parts.find(name); part != parts.end()) {
      if (flag_of(name, value)) config.parts |= part->second;
    } else if (name == "filename") {
      check(!value.empty(), "set_config: the filename is empty");
      config.filename = value;
    } else if (name == "continuous_dump") {
      config.continuous = flag_of(name, value);
    } else if (name == "dump_period") {
      config.period = seconds_of(name, value);
    } else if (name == "aggregate_stats") {
      flag_of(name, value);
    } else if (name == "profile_process") {
      check(value == "worker",
            "set_config: profile_process='{}'; there are no servers here, only "
            "'worker'",
            value);
    } else {
      fail(ErrorKind::kName, "set_config has no option '{}'; {}", name, nearest_hint(name, names));
    }
  }
  profiling::detail::decide();
  Recorder& r = recorder();
  stop_writer(r);
  const std::lock_guard lock(r.guard);
  if (config.filename != r.config.filename) r.appending = false;
  r.config = config;
  publish(r);
  if (r.running) start(r);
}

void set_running(bool running) {
  profiling::detail::decide();
  Recorder& r = recorder();
  if (!running) stop_writer(r);
  const std::lock_guard lock(r.guard);
  r.running = running;
  r.paused = false;
  if (running)
    start(r);
  else
    publish(r);
}

bool is_running() {
  profiling::detail::decide();
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  return r.running;
}

bool records_imperative() { return on(kImperative); }

namespace {

void set_paused(bool paused) {
  profiling::detail::decide();
  Recorder& r = recorder();
  const std::lock_guard lock(r.guard);
  r.paused = paused;
  publish(r);
}

}  // namespace

void pause() { set_paused(true); }
void resume() { set_paused(false); }

void dump(bool finished) {
  profiling::detail::decide();
  Recorder& r = recorder();
  if (finished) {
    stop_writer(r);
    const std::lock_guard lock(r.guard);
    r.running = false;
    publish(r);
  }
  bool continuous = false;
  {
    const std::lock_guard lock(r.guard);
    continuous = r.config.continuous;
  }
  write_trace(r, !continuous);
  if (!finished) return;
  const std::lock_guard lock(r.guard);
  r.events.clear();
  r.named_threads.clear();
  r.dropped = 0;
  r.appending = r.unwritten = false;
}

Stretch::Stretch(Kind kind, std::string domain, std::string name)
    : kind_(kind), domain_(std::move(domain)), name_(std::move(name)) {}

Stretch::~Stretch() {
  // A span that was not stopped is not recorded; it is only removed from the thread's stack.
  std::erase(thread_state().open, this);
}

void Stretch::start() {
  profiling::detail::decide();
  started_ = on(kOwn) ? now() : -1;
  if (started_ >= 0 && kind_ == Kind::kEvent) thread_state().open.push_back(this);
}

// An event is a span of its thread as long as events nest; one that ends on another thread, or
// before one that began inside it, gets a separate track.
void Stretch::stop() {
  if (started_ < 0) return;
  const std::int64_t begun = std::exchange(started_, -1);
  if (kind_ != Kind::kEvent) {
    return record_async(
        intern({.category = kind_ == Kind::kFrame ? domain_ + ",frame" : domain_, .name = name_}),
        begun, now());
  }
  const Subject* subject = intern({.category = "event", .name = name_});
  std::vector<const void*>& open = thread_state().open;
  const bool nests = !open.empty() && open.back() == this;
  std::erase(open, this);
  if (!nests) return record_async(subject, begun, now());
  record(kOwn, subject, begun, now());
}

Counter::Counter(std::string domain, std::string name)
    : domain_(std::move(domain)), name_(std::move(name)) {}

void Counter::record(std::int64_t value) const {
  profiling::detail::decide();
  if (on(kOwn))
    record_counter(kOwn, intern({.category = domain_ + ",counter", .name = name_}),
                   static_cast<double>(value));
}

void Counter::set(std::int64_t value) {
  value_.store(value);
  record(value);
}

void Counter::add(std::int64_t delta) { record(value_.fetch_add(delta) + delta); }

void mark(const std::string& domain, const std::string& name, const std::string& scope) {
  const std::map<std::string, char> letters = {
      {"global", 'g'}, {"process", 'p'}, {"thread", 't'}, {"task", 't'}, {"marker", 't'}};
  const auto it = letters.find(scope);
  check(it != letters.end(),
        "a marker's scope is global, process, thread, task or marker, not '{}'", scope);
  profiling::detail::decide();
  if (on(kOwn))
    record_moment(intern({.category = domain + ",instant_marker", .name = name}), it->second);
}

}  // namespace symbind::profiler
