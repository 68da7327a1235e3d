// What JSON cannot express is an object of one entry that begins with "$": {"$array": "3"},
// {"$bytes": "00ff"}, {"$tuple": [...]}, {"$dict": [[key, value], ...]} where keys are not texts,
// {"$float": "nan"}. The JSON library writes every other double so that it reads back exactly.
#include "module/state_json.h"

#include <cmath>

#include "base/check.h"
#include "base/limits.h"

namespace symbind {
namespace {

using Json = nlohmann::json;
using Kind = StateValue::Kind;

std::string hex_of(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string from_hex(const std::string& hex) {
  const auto digit = [](char c) {
    check((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'), ErrorKind::kIo,
          "'{}' is not a hexadecimal digit", c);
    return c <= '9' ? c - '0' : c - 'a' + 10;
  };
  check(hex.size() % 2 == 0, ErrorKind::kIo, "bytes with an odd number of digits");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

bool plain_keys(const StateValue& dict) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2)
    if (dict.items[i].kind != Kind::kText || dict.items[i].text.starts_with('$')) return false;
  return true;
}

Json out(const StateValue& v, NDArrayMap& arrays, int depth) {
  check_limit(Limit::kNesting, depth, "the state of a training");
  const auto list = [&] {
    Json items = Json::array();
    for (const StateValue& item : v.items) items.push_back(out(item, arrays, depth + 1));
    return items;
  };
  switch (v.kind) {
    case Kind::kNone: return nullptr;
    case Kind::kBool: return v.integer != 0;
    case Kind::kInt: return v.text.empty() ? Json(v.integer) : Json{{"$int", v.text}};
    case Kind::kFloat:
      if (std::isnan(v.number)) return {{"$float", "nan"}};
      if (std::isinf(v.number)) return {{"$float", v.number > 0 ? "inf" : "-inf"}};
      return v.number;
    case Kind::kText: return v.text;
    case Kind::kBytes: return {{"$bytes", hex_of(v.text)}};
    case Kind::kArray: {
      const std::string name = std::to_string(arrays.size());
      arrays[name] = v.array;
      return {{"$array", name}};
    }
    case Kind::kTuple: return {{"$tuple", list()}};
    case Kind::kList: return list();
    case Kind::kDict: break;
    case Kind::kObject:
      fail(ErrorKind::kType,
           "the state of a training holds an object of {}: only plain data and "
           "arrays are saved",
           v.text);
  }
  if (plain_keys(v)) {
    Json object = Json::object();
    for (std::size_t i = 0; i + 1 < v.items.size(); i += 2)
      object[v.items[i].text] = out(v.items[i + 1], arrays, depth + 1);
    return object;
  }
  Json pairs = Json::array();
  for (std::size_t i = 0; i + 1 < v.items.size(); i += 2)
    pairs.push_back(
        Json::array({out(v.items[i], arrays, depth + 1), out(v.items[i + 1], arrays, depth + 1)}));
  return {{"$dict", std::move(pairs)}};
}

StateValue in(const Json& json, const NDArrayMap& arrays, int depth);

StateValue sequence_in(const Json& json, Kind kind, const NDArrayMap& arrays, int depth) {
  StateValue value = StateValue::sequence(kind);
  for (const Json& item : json) value.items.push_back(in(item, arrays, depth + 1));
  return value;
}

/// An object of one entry that begins with "$".
StateValue special_in(const std::string& name, const Json& json, const NDArrayMap& arrays,
                      int depth) {
  if (name == "$tuple" && json.is_array()) return sequence_in(json, Kind::kTuple, arrays, depth);
  if (name == "$dict" && json.is_array()) {
    StateValue dict = StateValue::dict();
    for (const Json& pair : json) {
      check(pair.is_array() && pair.size() == 2, ErrorKind::kIo, "an entry that is not a pair");
      dict.add(in(pair[0], arrays, depth + 1), in(pair[1], arrays, depth + 1));
    }
    return dict;
  }
  check(json.is_string(), ErrorKind::kIo, "{} of something that is not a text", name);
  const std::string text = json.get<std::string>();
  if (name == "$array") {
    const auto found = arrays.find(text);
    check(found != arrays.end(), ErrorKind::kIo, "array '{}' is missing", text);
    return StateValue::of(found->second);
  }
  if (name == "$bytes") return {.kind = Kind::kBytes, .text = from_hex(text)};
  if (name == "$int") return {.kind = Kind::kInt, .text = text};
  if (name == "$float" && text == "nan") return StateValue::of(std::nan(""));
  if (name == "$float" && (text == "inf" || text == "-inf"))
    return StateValue::of(text == "inf" ? INFINITY : -INFINITY);
  fail(ErrorKind::kIo, "'{}' of '{}' is not known", name, text);
}

StateValue in(const Json& json, const NDArrayMap& arrays, int depth) {
  check_limit(Limit::kNesting, depth, "it", ErrorKind::kIo);
  if (json.is_null()) return {};
  if (json.is_boolean()) return StateValue::of(json.get<bool>());
  if (json.is_number_integer()) return StateValue::of(json.get<std::int64_t>());
  if (json.is_number_float()) return StateValue::of(json.get<double>());
  if (json.is_string()) return StateValue::of(json.get<std::string>());
  if (json.is_array()) return sequence_in(json, Kind::kList, arrays, depth);
  check(json.is_object(), ErrorKind::kIo, "a value of an unknown kind");
  if (json.size() == 1 && json.begin().key().starts_with('$'))
    return special_in(json.begin().key(), json.begin().value(), arrays, depth);
  StateValue dict = StateValue::dict();
  for (const auto& [key, value] : json.items())
    dict.add(StateValue::of(key), in(value, arrays, depth + 1));
  return dict;
}

}  // namespace

Json state_to_json(const StateValue& value, NDArrayMap& arrays) { return out(value, arrays, 0); }
StateValue state_from_json(const Json& json, const NDArrayMap& arrays) {
  return in(json, arrays, 0);
}

}  // namespace symbind
