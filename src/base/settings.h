// Every environment variable Symbind knows, in one table; nothing else reads the environment.
//
// Values are read from a snapshot, never from the environment itself, which another thread may be
// changing. refresh() takes the snapshot, and is called where work begins (import, binding, fit,
// loading a file, creation of iterators, stores, optimizers and Predictors) and by mx.util.setenv,
// so that scripts may change the environment while they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace symbind::settings {

/// What Symbind does with a variable.
enum class Treatment { kHonoured, kMapped, kIgnored };

struct Setting {
  const char* name;
  const char* default_value;
  Treatment treatment;
  /// kMapped: the setting that takes its value. Else empty.
  const char* maps_to;
  const char* help;
};

/// All of them, in the order of docs/settings.md.
std::span<const Setting> table();

/// The value: the variable itself, else a variable of MXNet that maps onto it, else the default.
/// Throws an Error of kind kName if there is no such setting.
std::string text(std::string_view name);

/// True for 1, true, on, yes; false for 0, false, off, no and empty. Else an Error.
bool flag(std::string_view name);

/// A whole number within [least, most], or an Error that names the variable.
std::int64_t number(std::string_view name, std::int64_t least = INT64_MIN,
                    std::int64_t most = INT64_MAX);

/// Whether `item` is in the comma-separated list, e.g. has_item("SYMBIND_LOG", "dispatch").
bool has_item(std::string_view name, std::string_view item);

/// A number that identifies the values of all settings. Cheap: it reads no value.
std::uint64_t stamp();

/// Takes a new snapshot of the environment; the same as symbind::refresh_settings().
void refresh();

/// Logs, once per process and variable, those that are set but ignored.
void note_ignored();

/// Overrides the environment during its lifetime; for tests and dry runs.
class override_for_test {
 public:
  override_for_test(std::string_view name, std::string_view value);
  ~override_for_test();
  override_for_test(const override_for_test&) = delete;
  override_for_test& operator=(const override_for_test&) = delete;

 private:
  std::size_t row_;
  std::optional<std::string> before_;
};

}  // namespace symbind::settings
