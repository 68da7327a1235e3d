#include "operator_page.h"

#include <algorithm>
#include <set>

#include <symbind/detail/op_info.h>

namespace opgen {
namespace {

using namespace symbind;

template <class T>
struct CppType;
template <>
struct CppType<bool> {
  static constexpr const char* text = "std::optional<bool>";
};
template <>
struct CppType<int> {
  static constexpr const char* text = "std::optional<int>";
};
template <>
struct CppType<std::int64_t> {
  static constexpr const char* text = "std::optional<std::int64_t>";
};
template <>
struct CppType<float> {
  static constexpr const char* text = "std::optional<double>";
};
template <>
struct CppType<double> {
  static constexpr const char* text = "std::optional<double>";
};
template <>
struct CppType<std::string> {
  static constexpr const char* text = "std::optional<std::string>";
};
template <>
struct CppType<DType> {
  static constexpr const char* text = "std::optional<DType>";
};
template <>
struct CppType<Tuple> {
  static constexpr const char* text = "TupleOption";
};
template <>
struct CppType<FloatTuple> {
  static constexpr const char* text = "FloatTupleOption";
};
template <class T>
struct CppType<std::optional<T>> : CppType<T> {};

std::string member_name(const std::string& name) {
  static const std::set<std::string> kKeywords = {
      "and",    "auto",     "break",    "case",     "class",   "const",    "continue", "default",
      "delete", "do",       "double",   "else",     "enum",    "explicit", "export",   "false",
      "float",  "for",      "friend",   "if",       "inline",  "int",      "long",     "namespace",
      "new",    "not",      "operator", "or",       "private", "public",   "register", "return",
      "short",  "signed",   "sizeof",   "static",   "struct",  "switch",   "template", "this",
      "true",   "typename", "union",    "unsigned", "using",   "virtual",  "void",     "volatile",
      "while",  "attr",     "each"};
  return kKeywords.contains(name) ? name + "_" : name;
}

std::string camel_case(const std::string& name) {
  std::string result;
  bool up = true;
  for (const char c : name) {
    if (c != '_') result += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = c == '_';
  }
  return result;
}

bool is_public(const std::string& name) {
  return !name.starts_with('_') && name.find('.') == name.npos;
}

/// Values of a field that may decide how many outputs there are.
std::vector<std::string> values_to_try(const AttrField& f) {
  if (!f.allowed.empty()) return f.allowed;
  if (std::holds_alternative<bool*>(f.slot)) return {"True", "False"};
  const bool counts =
      std::holds_alternative<int*>(f.slot) || std::holds_alternative<std::int64_t*>(f.slot);
  if (!counts) return {};
  const double two = std::clamp(2.0, f.lowest.value_or(2), f.highest.value_or(2));
  return {std::to_string(static_cast<int>(two))};
}

/// Calls `look` with the defaults, and with each attribute changed in turn.
template <class F>
void with_attributes(const OpDef& def, F&& look) {
  const std::shared_ptr<void> defaults = def.make_attrs();
  look(defaults.get());
  for (const AttrField& field : def.describe(defaults.get())) {
    for (const std::string& value : values_to_try(field)) {
      const std::shared_ptr<void> attrs = def.make_attrs();
      for (const AttrField& f : def.describe(attrs.get())) {
        std::vector<AttrField> one{f};
        if (f.name == field.name) parse_attrs(one, {{f.name, value}}, def.name, {});
      }
      look(attrs.get());
    }
  }
}

Page page_of(const OpDef& def) {
  Page page;
  page.def = &def;
  std::vector<std::string> names{def.name};
  names.insert(names.end(), def.aliases.begin(), def.aliases.end());
  const auto first = std::ranges::find_if(names, is_public);
  page.internal = first == names.end();
  page.name = page.internal ? def.name : *first;
  std::ranges::copy_if(names, std::back_inserter(page.aliases),
                       [&](const std::string& n) { return is_public(n) && n != page.name; });
  page.type_stem = camel_case(page.name);
  page.variadic = !def.variadic_key.empty() || def.take_rest != nullptr;
  const std::shared_ptr<void> attrs = def.make_attrs();
  for (const AttrField& f : def.describe(attrs.get())) {
    if (f.name == def.variadic_key) continue;
    const char* type =
        std::visit([](auto* slot) { return CppType<std::decay_t<decltype(*slot)>>::text; }, f.slot);
    page.fields.push_back({f.name, member_name(f.name), type, attr_type_text(f), f.doc});
  }
  page.inputs = most_input_names(def);
  with_attributes(def, [&](const void* tried) {
    page.one_output &= def.num_visible(tried) == 1;
    const std::size_t count = def.input_names(tried).size();
    if (!page.variadic && count > 0 && count < page.inputs.size()) page.fewer_inputs.insert(count);
  });
  page.outputs = def.output_names(attrs.get());
  page.outputs.resize(
      std::min(page.outputs.size(), static_cast<std::size_t>(def.num_visible(attrs.get()))));
  return page;
}

}  // namespace

std::vector<Page> pages(const OpRegistry& registry) {
  std::vector<Page> all;
  for (const std::string& name : registry.names()) {
    const OpDef& def = *registry.find(name);
    if (is_public(def)) all.push_back(page_of(def));
  }
  std::ranges::sort(all, {}, &Page::name);
  std::set<std::string> stems;  // MakeLoss and make_loss: the second keeps its own spelling
  for (Page& page : all) {
    if (!stems.insert(page.type_stem).second) page.type_stem = page.name;
  }
  return all;
}

}  // namespace opgen
