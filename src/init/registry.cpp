// Initializers by name or JSON, and the JSON they write.

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/nearest.h"
#include "init/fill.h"

namespace symbind {
namespace {

using Maker = std::function<InitializerPtr(const AttrDict&)>;

struct Makers {
  std::mutex mutex;
  std::map<std::string, Maker> by_name = {
      {"zero", &make_zero},
      {"zeros", &make_zero},
      {"one", &make_one},
      {"ones", &make_one},
      {"constant", &make_constant},
      {"uniform", &make_uniform},
      {"normal", &make_normal},
      {"orthogonal", &make_orthogonal},
      {"xavier", &make_xavier},
      {"msraprelu", &make_msra_prelu},
      {"bilinear", &make_bilinear},
      {"lstmbias", &make_lstm_bias},
      {"fusedrnn", &make_fused_rnn},
  };
};
Makers& makers() {
  static Makers all;
  return all;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.dump();
}

/// `["xavier", {"magnitude": 2}]`
InitializerPtr from_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  check(json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_object(),
        "'{}' is not an initializer; the form is [\"name\", {{\"parameter\": value}}]", text);
  AttrDict params;
  for (const auto& [key, value] : json[1].items()) params[key] = text_of(value);
  return create_initializer(json[0].get<std::string>(), params);
}

}  // namespace

InitializerPtr create_initializer(const std::string& text, const AttrDict& params) {
  if (text.starts_with("[")) {
    check(params.empty(), "initializer '{}' already contains its parameters", text);
    return from_json(text);
  }
  Maker make;
  {
    const std::lock_guard lock(makers().mutex);
    const auto found = makers().by_name.find(lower(text));
    if (found != makers().by_name.end()) make = found->second;
  }
  if (!make) {
    const std::vector<std::string> names = list_initializers();
    fail(ErrorKind::kName, "there is no initializer '{}'; {} initializers: {}", text,
         nearest_hint(lower(text), names), fmt::join(names, ", "));
  }
  InitializerPtr made = make(params);
  check(made != nullptr, "the factory of initializer '{}' returned null", text);
  return made;
}

void register_initializer(const std::string& name, Maker make) {
  const std::lock_guard lock(makers().mutex);
  makers().by_name[lower(name)] = std::move(make);
}

std::vector<std::string> list_initializers() {
  const std::lock_guard lock(makers().mutex);
  std::vector<std::string> names;
  for (const auto& [name, make] : makers().by_name) names.push_back(name);
  return names;
}

std::string json_float(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string json_number(double value) {
  const std::string text = json_float(value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

std::string json_string(const std::string& text) { return nlohmann::json(text).dump(); }

std::string json_bool(bool value) { return value ? "true" : "false"; }

std::string json_call(const std::string& name,
                      std::initializer_list<std::pair<const char*, std::string>> params) {
  std::string text = "[" + json_string(name) + ", {";
  const char* gap = "";
  for (const auto& [key, value] : params) {
    text += gap + json_string(key) + ": " + value;
    gap = ", ";
  }
  return text + "}]";
}

}  // namespace symbind
