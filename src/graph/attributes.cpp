// Attributes between text and structs. The texts are MXNet's: what Python's str() writes, with the
// Python-2 longs ("8L") and bare words of old files understood on reading.

#include <symbind/attributes.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "graph/attribute_texts.h"

namespace symbind {
namespace {

std::atomic<std::uint64_t> texts{0};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

bool parse(std::string_view s, bool& out) {
  if (s == "True" || s == "true" || s == "1") return out = true, true;
  if (s == "False" || s == "false" || s == "0") return out = false, true;
  return false;
}

bool parse(std::string_view s, double& out) {
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  if (!s.empty() && (s.back() == 'f' || s.back() == 'F') && s.find("inf") == s.npos)
    s.remove_suffix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc() && end == s.data() + s.size();
}

bool parse(std::string_view s, float& out) {
  double wide = 0;
  if (!parse(s, wide)) return false;
  out = static_cast<float>(wide);
  return true;
}

bool parse(std::string_view s, std::int64_t& out) {
  if (!s.empty() && s.back() == 'L') s.remove_suffix(1);
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  if (s == "True") return out = 1, true;
  if (s == "False") return out = 0, true;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  if (error == std::errc() && end == s.data() + s.size()) return true;
  double whole = 0;  // "3.0", as a Python script may write it
  if (!parse(s, whole) || whole != std::floor(whole) || std::abs(whole) > 9e15) return false;
  out = static_cast<std::int64_t>(whole);
  return true;
}

bool parse(std::string_view s, int& out) {
  std::int64_t wide = 0;
  if (!parse(s, wide) || wide != static_cast<int>(wide)) return false;
  out = static_cast<int>(wide);
  return true;
}

bool parse(std::string_view s, std::string& out) { return out = std::string(s), true; }

bool parse(std::string_view s, DType& out) {
  out = dtype_from_name(s);
  return true;
}

// Splits "(1, 2,)", "[1 2]" or "3" into its members.
bool split(std::string_view s, std::vector<std::string_view>& out) {
  s = trim(s);
  const bool bracketed = !s.empty() && (s.front() == '(' || s.front() == '[');
  if (bracketed) {
    if (s.size() < 2 || s.back() != (s.front() == '(' ? ')' : ']')) return false;
    s = s.substr(1, s.size() - 2);
  }
  while (!(s = trim(s)).empty()) {
    const std::size_t comma = s.find_first_of(bracketed ? ", " : ",");
    out.push_back(trim(s.substr(0, comma)));
    if (comma == s.npos) break;
    s.remove_prefix(comma);
    s = trim(s);
    if (!s.empty() && s.front() == ',') s.remove_prefix(1);
  }
  return true;
}

// A member of a tuple that was written None, as in begin=(None, 1); slice knows it too.
constexpr std::int64_t kNoneMember = std::numeric_limits<std::int64_t>::min();

template <class T>
bool parse(std::string_view s, std::vector<T>& out) {
  out.clear();
  if (s == "None") return true;  // not given, as in MXNet
  std::vector<std::string_view> members;
  if (!split(s, members)) return false;
  for (std::string_view member : members) {
    if (member == "None") {
      if constexpr (std::is_integral_v<T>) {
        out.push_back(kNoneMember);
        continue;
      }
      return false;
    }
    T value{};
    if (!parse(member, value)) return false;
    out.push_back(value);
  }
  return true;
}

template <class T>
bool parse(std::string_view s, std::optional<T>& out) {
  if (s == "None" || s == "none" || s == "null" || s.empty()) return out.reset(), true;
  T value{};
  if (!parse(s, value)) return false;
  out = std::move(value);
  return true;
}

std::string print(bool v) { return v ? "True" : "False"; }
std::string print(int v) { return std::to_string(v); }
std::string print(std::int64_t v) { return v == kNoneMember ? "None" : std::to_string(v); }
std::string print(float v) { return fmt::format("{}", v); }
std::string print(double v) { return fmt::format("{}", v); }
std::string print(const std::string& v) { return v; }
std::string print(DType v) { return v == DType::kUnknown ? "None" : std::string(dtype_name(v)); }
template <class T>
std::string print(const std::vector<T>& v) {
  std::string text = "(";
  for (std::size_t i = 0; i < v.size(); ++i) text += (i ? ", " : "") + print(v[i]);
  return text + (v.size() == 1 ? ",)" : ")");
}
template <class T>
std::string print(const std::optional<T>& v) {
  return v ? print(*v) : "None";
}

const char* kind_text(const bool&) { return "boolean"; }
const char* kind_text(const int&) { return "int"; }
const char* kind_text(const std::int64_t&) { return "long"; }
const char* kind_text(const float&) { return "float"; }
const char* kind_text(const double&) { return "double"; }
const char* kind_text(const std::string&) { return "string"; }
const char* kind_text(const Tuple&) { return "Shape(tuple)"; }
const char* kind_text(const FloatTuple&) { return "tuple of <float>"; }
const char* kind_text(const DType&) { return "dtype"; }
const char* kind_text(const std::optional<Tuple>&) { return "Shape or None"; }
template <class T>
std::string kind_text(const std::optional<T>&) {
  return std::string(kind_text(T{})) + " or None";
}

template <class T>
std::optional<double> as_number(const T& v) {
  if constexpr (IsOptional<T>::value) {
    if (!v) return std::nullopt;
    return as_number(*v);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(v);
  } else {
    return std::nullopt;
  }
}

void check_range(const AttrField& f, double v, std::string_view owner) {
  check((!f.lowest || v >= *f.lowest) && (!f.highest || v <= *f.highest),
        "{}: {}={} is out of range; it must be {}{}{} ({})", owner, f.name, v,
        f.lowest ? fmt::format("at least {}", *f.lowest) : "", f.lowest && f.highest ? " and " : "",
        f.highest ? fmt::format("at most {}", *f.highest) : "", f.doc);
}

bool is_nullable(const AttrField& f) {
  return std::visit([](auto* slot) { return IsOptional<std::decay_t<decltype(*slot)>>::value; },
                    f.slot);
}

void fill(AttrField& f, const std::string& text, std::string_view owner) {
  std::visit(
      [&](auto* slot) {
        check(parse(trim(text), *slot), "{}: cannot read {}='{}' as {}", owner, f.name, text,
              kind_text(*slot));
        if (const auto number = as_number(*slot)) check_range(f, *number, owner);
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, Tuple>) {
          for (const std::int64_t v : *slot) check_range(f, static_cast<double>(v), owner);
        }
      },
      f.slot);
  const bool is_free = f.allowed.empty() || (is_nullable(f) && text == "None");
  if (!is_free && std::ranges::find(f.allowed, text) == f.allowed.end()) {
    fail(ErrorKind::kName, "{}: {}='{}' is not a choice; {} choices: {}", owner, f.name, text,
         nearest_hint(text, f.allowed), fmt::join(f.allowed, ", "));
  }
}

bool is_user_key(const std::string& key) {
  return key.size() > 4 && key.starts_with("__") && key.ends_with("__");
}

}  // namespace

void parse_attrs(std::vector<AttrField>& fields, const AttrDict& given, std::string_view owner,
                 const std::vector<std::string>& ignored, AttrDict* rest) {
  texts.fetch_add(1, std::memory_order_relaxed);
  std::vector<std::string> names;
  for (const AttrField& field : fields) names.push_back(field.name);
  // A misspelt name first: it is often why a required one is missing.
  for (const auto& [key, value] : given) {
    if (is_user_key(key) || std::ranges::find(names, key) != names.end() ||
        std::ranges::find(ignored, key) != ignored.end()) {
      continue;
    }
    if (rest != nullptr) {
      rest->emplace(key, value);
      continue;
    }
    fail(ErrorKind::kName, "{}: there is no parameter '{}'; {} parameters: {}", owner, key,
         nearest_hint(key, names), fmt::join(names, ", "));
  }
  for (AttrField& field : fields) {
    const auto it = given.find(field.name);
    if (it != given.end()) {
      fill(field, it->second, owner);
    } else {
      check(!field.is_required, "{}: {} is required ({})", owner, field.name, field.doc);
    }
  }
}

std::uint64_t attribute_texts() { return texts.load(std::memory_order_relaxed); }

std::string attr_text(const AttrField& field) {
  texts.fetch_add(1, std::memory_order_relaxed);
  return std::visit([](auto* slot) { return print(*slot); }, field.slot);
}

std::string attr_type_text(const AttrField& field) {
  std::string text;
  if (!field.allowed.empty()) {
    text = is_nullable(field) ? "{None, '" : "{'";
    text += fmt::format("{}'}}", fmt::join(field.allowed, "', '"));
  } else {
    text = std::visit([](auto* slot) { return std::string(kind_text(*slot)); }, field.slot);
  }
  return text + (field.is_required ? ", required" : ", optional, default=" + attr_text(field));
}

namespace {

std::vector<double> numbers_of(const AttrField& field) {
  return std::visit(
      [](auto* slot) -> std::vector<double> {
        using T = std::decay_t<decltype(*slot)>;
        if constexpr (std::is_same_v<T, Tuple> || std::is_same_v<T, FloatTuple>)
          return {slot->begin(), slot->end()};
        else
          return {as_number(*slot).value_or(std::nan(""))};
      },
      field.slot);
}

}  // namespace

AttrDict attrs_to_dict(const std::vector<AttrField>& fields, bool with_per_call) {
  AttrDict dict;
  for (const AttrField& field : fields) {
    if (with_per_call || !field.is_per_call) {
      dict.emplace(field.name, attr_text(field));
    } else if (const std::vector<double> all = numbers_of(field); all.size() != 1) {
      dict.emplace(field.name, fmt::format("{} numbers", all.size()));
    }
  }
  return dict;
}

std::vector<double> per_call_values(const std::vector<AttrField>& fields) {
  std::vector<double> values;
  for (const AttrField& field : fields) {
    if (!field.is_per_call) continue;
    const std::vector<double> all = numbers_of(field);
    values.insert(values.end(), all.begin(), all.end());
  }
  return values;
}

std::optional<Tuple> parse_tuple(std::string_view text) {
  std::optional<Tuple> tuple;
  check(parse(trim(text), tuple), "cannot read '{}' as a tuple of integers", text);
  if (tuple) std::replace(tuple->begin(), tuple->end(), kNoneMember, std::int64_t{-1});
  return tuple;
}

std::string tuple_text(const Tuple& tuple) { return print(tuple); }

}  // namespace symbind
