#include "config.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "arrays.h"

namespace symbind::program {
namespace {

using enum KeyKind;

constexpr ConfigKey kKeys[] = {
    {"network", "", kText, true, "A network by name, or a symbol's JSON file"},
    {"network-params", "", kList, true, "Options of a network by name, e.g. num_layers=18"},
    {"data", "", kText, true, kDataHelp},
    {"label", "", kText, true, "Labels in a separate file"},
    {"label-column", "", kText, true,
     "Column of a CSV file that is the label: a name or a number from 0"},
    {"shape", "", kText, true, "Shape of one example, e.g. 1,28,28"},
    {"scale", "", kText, true, "Multiplies the data; 1/256 for idx files by default, else 1"},
    {"examples", "0", kInteger, true, "Use only the first so many examples; 0: all", 0},
    {"data-name", "data", kText, true, "The network's data input"},
    {"label-name", "", kText, true, "The network's label input; by default the one named *label"},
    {"validation", "", kText, false, "Examples to validate with after each epoch"},
    {"validation-label", "", kText, false, "Their labels in a separate file"},
    {"epochs", "10", kInteger, false, "Passes over the data", 1},
    {"batch-size", "64", kInteger, true, "Examples per step", 1},
    {"shuffle", "true", kFlag, true, "A new order of the examples in every epoch"},
    {"optimizer", "sgd", kText, true, "sgd, adam, nag, rmsprop, … (docs/optimizers.md)"},
    {"lr", "0.01", kNumber, true, "Learning rate", 0},
    {"momentum", "", kNumber, true, "Momentum of sgd and nag", 0},
    {"wd", "0", kNumber, true, "Weight decay", 0},
    {"optimizer-params", "", kList, true, "Further parameters, e.g. beta1=0.8"},
    {"lr-steps", "", kText, true, "Epochs after which lr-factor applies, e.g. 5,8"},
    {"lr-factor", "0.1", kNumber, true, "Multiplies the learning rate at lr-steps", 0},
    {"initializer", "xavier", kText, true, "xavier, uniform, normal, msraprelu, … or MXNet's JSON"},
    {"metric", "", kText, false,
     "Comma list: acc, ce, mse, top_k_accuracy:top_k=5, …; by default as the network ends"},
    {"devices", "cpu", kText, true, "cpu, gpu, or a list such as gpu(0),gpu(1)"},
    {"seed", "0", kInteger, true, "Of weights, shuffling and dropout", 0},
    {"checkpoint-every", "1", kInteger, false, "Epochs between two checkpoints", 1},
    {"checkpoint-batches", "0", kInteger, false, "Batches between two within an epoch; 0: none", 0},
    {"keep", "3", kInteger, false, "The newest checkpoints that are kept; 0: all", 0},
    {"keep-best", "", kText, false, "Also keep the checkpoint with the best value of this metric"},
    {"log-every", "100", kInteger, false, "Batches between two lines of log.jsonl; 0: epochs only",
     0},
};

const ConfigKey& find_key(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const ConfigKey& key : kKeys) {
    if (name == key.name) return key;
    names.emplace_back(key.name);
  }
  throw UsageError(fmt::format("{}: unknown key '{}'{}", where, name, nearest_hint(name, names)));
}

bool parse_flag(const std::string& value, const std::string& what) {
  if (value == "true" || value == "1" || value == "on" || value == "yes") return true;
  if (value == "false" || value == "0" || value == "off" || value == "no") return false;
  throw UsageError(fmt::format("{} is '{}': write true or false", what, value));
}

std::string toml_value(const ConfigKey& key, const std::string& value) {
  const auto quoted = [](const std::string& text) {
    return text.find('"') == std::string::npos ? "\"" + text + "\"" : "'" + text + "'";
  };
  if (key.kind == kInteger || key.kind == kNumber) return value;
  if (key.kind == kFlag) return parse_flag(value, key.name) ? "true" : "false";
  if (key.kind == kText) return quoted(value);
  std::vector<std::string> parts;
  for (const std::string& part : split_list(value, '\n')) parts.push_back(quoted(part));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace

std::span<const ConfigKey> config_keys() { return kKeys; }

void Config::set(const std::string& name, const std::string& value, const std::string& where) {
  std::string plain = name;
  std::ranges::replace(plain, '_', '-');
  const ConfigKey& key = find_key(plain, where);
  const std::string what = fmt::format("{}: {}", where, key.name);
  if (key.kind == kInteger || key.kind == kNumber) {
    const double number = key.kind == kInteger ? static_cast<double>(parse_integer(value, what))
                                               : parse_number(value, what);
    if (number < key.lowest)
      throw UsageError(fmt::format("{} is {}: it must be at least {}", what, value, key.lowest));
  }
  if (key.kind == kFlag) parse_flag(value, what);
  if (value.find('#') != std::string::npos ||
      (value.find('"') != std::string::npos && value.find('\'') != std::string::npos))
    throw UsageError(
        fmt::format("{} is '{}': a config file cannot hold '#', nor both kinds of "
                    "quotes; rename the file or use a link",
                    what, value));
  values_[key.name] = value;
}

std::string Config::text(const std::string& key) const {
  const auto found = values_.find(key);
  return found != values_.end() ? found->second : find_key(key, "config").fallback;
}

std::int64_t Config::integer(const std::string& key) const { return parse_integer(text(key), key); }
double Config::number(const std::string& key) const { return parse_number(text(key), key); }
bool Config::flag(const std::string& key) const { return parse_flag(text(key), key); }

std::vector<std::string> Config::list(const std::string& key) const {
  const std::string value = text(key);
  return value.empty() ? std::vector<std::string>{} : split_list(value, '\n');
}

std::map<std::string, std::string> Config::pairs(const std::string& key) const {
  std::map<std::string, std::string> result;
  for (const std::string& part : list(key)) {
    const auto sign = part.find('=');
    if (sign == std::string::npos || sign == 0)
      throw UsageError(fmt::format("{}: '{}' is not name=value", key, part));
    result[part.substr(0, sign)] = part.substr(sign + 1);
  }
  return result;
}

void Config::merge(const Config& over) {
  for (const auto& [key, value] : over.values_) values_[key] = value;
}

std::string Config::toml() const {
  std::string out = "# Written by symbind train; `symbind train --config` reads it.\n";
  for (const ConfigKey& key : kKeys) {
    const std::string value = text(key.name);
    if (value.empty()) continue;
    out += fmt::format("{} = {}\n", key.name, toml_value(key, value));
  }
  return out;
}

DataSource Config::source(bool validation) const {
  DataSource source;
  source.data = text(validation ? "validation" : "data");
  source.label = text(validation ? "validation-label" : "label");
  source.label_column = text("label-column");
  source.shape = text("shape");
  source.scale = text("scale");
  source.data_name = text("data-name");
  source.label_name = text("label-name");
  if (!validation) source.examples = integer("examples");
  return source;
}

Config read_config(const std::string& path) {
  std::istringstream stream(read_file(path));
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("{}: {}", path, one_line(error.what())));
  }
  Config config;
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // begin and end of a section
    if (!item.parents.empty() && item.parents != std::vector<std::string>{"train"})
      throw UsageError(fmt::format("{}: unknown section '{}'; keys are at the top or in [train]",
                                   path, CLI::detail::join(item.parents, ".")));
    const ConfigKey* key = nullptr;
    std::string name = item.name;
    std::ranges::replace(name, '_', '-');
    for (const ConfigKey& known : kKeys)
      if (name == known.name) key = &known;
    const char* joint = key != nullptr && key->kind == kList ? "\n" : ",";
    config.set(item.name, CLI::detail::join(item.inputs, joint), path);
  }
  return config;
}

std::vector<std::string> differences(const Config& before, const Config& now) {
  std::vector<std::string> all;
  for (const ConfigKey& key : kKeys) {
    if (!key.matters || !now.has(key.name)) continue;
    const std::string old_text = before.text(key.name), new_text = now.text(key.name);
    const bool same = key.kind == kNumber && !old_text.empty() && !new_text.empty()
                          ? parse_number(old_text, key.name) == parse_number(new_text, key.name)
                          : old_text == new_text;
    if (!same)
      all.push_back(fmt::format("{} = {} (was {})", key.name, one_line(new_text),
                                old_text.empty() ? "not set" : one_line(old_text)));
  }
  return all;
}

void fill_from_run(DataSource& source, const std::string& config_path) {
  if (config_path.empty()) return;
  const Config config = read_config(config_path);
  const bool own_data = !source.data.empty();
  DataSource run = config.source(/*validation=*/!config.text("validation").empty());
  if (!own_data) {
    source.data = run.data;
    if (source.label.empty()) source.label = run.label;
  }
  const auto fill = [](std::string& to, const std::string& from) {
    if (to.empty()) to = from;
  };
  fill(source.label_column, run.label_column);
  fill(source.shape, run.shape);
  fill(source.scale, run.scale);
  fill(source.label_name, run.label_name);
  if (source.data_name == "data") source.data_name = run.data_name;
}

}  // namespace symbind::program
