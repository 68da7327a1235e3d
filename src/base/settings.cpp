#include "base/settings.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/nearest.h"
#include "symbind/log.h"

namespace symbind::settings {
namespace {

constexpr Setting kTable[] = {
    {"SYMBIND_NUM_THREADS", "0", Treatment::kHonoured, "",
     "Threads of one CPU operation; 0 takes what OpenMP gives (OMP_NUM_THREADS at the start of the "
     "process, else all cores)."},
    {"SYMBIND_LOG", "", Treatment::kHonoured, "",
     "Comma list of what to log: dispatch (kernels chosen and refused)."},
    {"SYMBIND_CHECK", "0", Treatment::kHonoured, "",
     "Check values as well as shapes while running, e.g. that labels are classes that exist."},
    {"SYMBIND_EXACT", "0", Treatment::kHonoured, "",
     "Forbid kernels that trade digits for speed: Winograd and reduced precision."},
    {"SYMBIND_KERNELS", "", Treatment::kHonoured, "",
     "Comma list of kernels to forbid, each with a minus sign, e.g. -onednn."},
    {"SYMBIND_DATA", "", Treatment::kHonoured, "",
     "Folders of data sets, with a colon between; looked into before data/ and Debian's."},
    {"MXNET_ELIMINATE_COMMON_EXPR", "1", Treatment::kHonoured, "",
     "Compute equal subexpressions of a graph once."},
    {"MXNET_UPDATE_ON_KVSTORE", "1", Treatment::kHonoured, "",
     "0: a module with several devices updates its weights itself, not on the store."},
    {"MXNET_OPTIMIZER_AGGREGATION_SIZE", "", Treatment::kHonoured, "",
     "Weights that an Updater updates in one call; by default 4 for SGD and LARS, 45 for LAMB."},
    {"MXNET_PROFILER_AUTOSTART", "0", Treatment::kHonoured, "",
     "1: the profiler runs from the start; its trace, profile.json, is written at the end."},
    {"MXNET_PROFILER_MODE", "0", Treatment::kHonoured, "",
     "What a profiler started so records: 0 operators of graphs, 1 everything."},
    {"MXNET_OMP_MAX_THREADS", "", Treatment::kMapped, "SYMBIND_NUM_THREADS",
     "Threads of one CPU operation."},
    {"MXNET_CPU_WORKER_NTHREADS", "1", Treatment::kIgnored, "",
     "There is no dependency engine, hence no worker threads."},
    {"MXNET_BACKWARD_DO_MIRROR", "0", Treatment::kIgnored, "",
     "Recomputing activations in backward is not offered yet."},
};

struct Overrides {
  std::atomic<int> count{0};  // spares settings read in a loop the lock
  std::atomic<std::uint64_t> changes{0};
  std::mutex guard;
  std::map<std::string, std::string, std::less<>> values;
};

Overrides& overrides() {
  static Overrides* const the_overrides = new Overrides;
  return *the_overrides;
}

const Setting& find(std::string_view name) {
  for (const Setting& setting : kTable)
    if (name == setting.name) return setting;
  std::vector<std::string> names;
  for (const Setting& setting : kTable) names.emplace_back(setting.name);
  fail(ErrorKind::kName, "there is no setting '{}'; {}", name, nearest_hint(name, names));
}

std::optional<std::string> given(const char* name) {
  if (overrides().count.load(std::memory_order_acquire) > 0) {
    std::lock_guard lock(overrides().guard);
    auto it = overrides().values.find(std::string_view(name));
    if (it != overrides().values.end()) return it->second;
  }
  if (const char* value = std::getenv(name)) return value;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::span<const Setting> table() { return kTable; }

std::string text(std::string_view name) {
  const Setting& setting = find(name);
  if (auto value = given(setting.name)) return *value;
  for (const Setting& other : kTable) {
    if (other.treatment != Treatment::kMapped || name != other.maps_to) continue;
    if (auto value = given(other.name)) return *value;
  }
  return setting.default_value;
}

bool flag(std::string_view name) {
  const std::string value = text(name);
  const std::string_view word = trimmed(value);
  if (word == "1" || word == "true" || word == "True" || word == "on" || word == "yes") return true;
  if (word.empty() || word == "0" || word == "false" || word == "False" || word == "off" ||
      word == "no")
    return false;
  fail(ErrorKind::kValue, "setting {} is '{}'; it takes 0 or 1", name, value);
}

int number(std::string_view name) {
  const std::string value = text(name);
  const std::string_view word = trimmed(value);
  int result = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), result);
  check(error == std::errc() && end == word.data() + word.size(),
        "setting {} is '{}'; it takes a whole number", name, value);
  return result;
}

bool has_item(std::string_view name, std::string_view item) {
  const std::string value = text(name);
  std::string_view rest = value;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (trimmed(rest.substr(0, comma)) == item) return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

std::uint64_t stamp() {
  std::uint64_t mixed = overrides().changes.load(std::memory_order_acquire);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* text = *entry;
    const bool ours = (text[0] == 'S' && std::strncmp(text, "SYMBIND_", 8) == 0) ||
                      (text[0] == 'M' && std::strncmp(text, "MXNET_", 6) == 0);
    if (ours) mixed = mixed * 0x9E3779B97F4A7C15u + std::hash<std::string_view>{}(text);
  }
  return mixed;
}

void note_ignored() {
  static std::mutex guard;
  static std::set<std::string_view> noted;
  for (const Setting& setting : kTable) {
    if (setting.treatment != Treatment::kIgnored || !given(setting.name)) continue;
    {
      std::lock_guard lock(guard);
      if (!noted.insert(setting.name).second) continue;
    }
    log_info(fmt::format("{} is ignored: {}", setting.name, setting.help));
  }
}

override_for_test::override_for_test(std::string_view name, std::string_view value)
    : name_(find(name).name) {
  std::lock_guard lock(overrides().guard);
  auto it = overrides().values.find(name_);
  had_before_ = it != overrides().values.end();
  if (had_before_) before_ = it->second;
  overrides().values.insert_or_assign(name_, std::string(value));
  overrides().count.fetch_add(1, std::memory_order_release);
  overrides().changes.fetch_add(1, std::memory_order_release);
}

override_for_test::~override_for_test() {
  std::lock_guard lock(overrides().guard);
  overrides().count.fetch_sub(1, std::memory_order_release);
  overrides().changes.fetch_add(1, std::memory_order_release);
  if (had_before_)
    overrides().values[name_] = before_;
  else
    overrides().values.erase(name_);
}

}  // namespace symbind::settings
