#pragma once
// The settings of a training: one table of keys for flags, config files and --set.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "data.h"

namespace symbind::program {

enum class KeyKind { kText, kInteger, kNumber, kFlag, kList };

struct ConfigKey {
  const char* name;      ///< of the flag and in config.toml
  const char* fallback;  ///< empty: not set
  KeyKind kind;
  bool matters;  ///< a run cannot be resumed with another value
  const char* help;
  double lowest = -1e300;  ///< of numbers
};
std::span<const ConfigKey> config_keys();

/// Values by key, as text; those that were not set have the table's default.
class Config {
 public:
  /// Checks key and value; UsageError names `where` and the nearest key.
  void set(const std::string& key, const std::string& value, const std::string& where);
  bool has(const std::string& key) const { return values_.contains(key); }
  std::string text(const std::string& key) const;
  std::int64_t integer(const std::string& key) const;
  double number(const std::string& key) const;
  bool flag(const std::string& key) const;
  /// The parts of a list: {"num_layers=18", …}.
  std::vector<std::string> list(const std::string& key) const;
  /// The same as name and value; UsageError for a part without '='.
  std::map<std::string, std::string> pairs(const std::string& key) const;
  const std::map<std::string, std::string>& values() const { return values_; }
  /// The values of `over` replace those of this.
  void merge(const Config& over);
  /// Every key that has a value, with its help: a file that `read_config` reads back.
  std::string toml() const;
  /// Where training or validation data come from.
  DataSource source(bool validation = false) const;

 private:
  std::map<std::string, std::string> values_;
};

/// Reads a TOML file as CLI11 does.
Config read_config(const std::string& path);
/// Keys that matter and have other values in `now` than in `before`: "lr = 0.1 (was 0.2)".
std::vector<std::string> differences(const Config& before, const Config& now);
/// The data flags that were not given, from the config of a run.
void fill_from_run(DataSource& source, const std::string& config_path);

}  // namespace symbind::program
