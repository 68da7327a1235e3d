// Plain data: made, searched, copied.
#include <symbind/detail/state_value.h>

#include "base/check.h"

namespace symbind {

using Kind = StateValue::Kind;

StateValue StateValue::of(bool value) { return {.kind = Kind::kBool, .integer = value ? 1 : 0}; }
StateValue StateValue::of(std::int64_t value) { return {.kind = Kind::kInt, .integer = value}; }
StateValue StateValue::of(double value) { return {.kind = Kind::kFloat, .number = value}; }
StateValue StateValue::of(std::string text) {
  return {.kind = Kind::kText, .text = std::move(text)};
}
StateValue StateValue::of(NDArray array) {
  return {.kind = Kind::kArray, .array = std::move(array)};
}
StateValue StateValue::of(const Key& key) {
  return std::visit([](const auto& k) { return of(k); }, key);
}
StateValue StateValue::sequence(Kind kind, std::vector<StateValue> items) {
  return {.kind = kind, .items = std::move(items)};
}

void StateValue::add(StateValue key, StateValue value) {
  items.push_back(std::move(key));
  items.push_back(std::move(value));
}

const StateValue* StateValue::find(std::string_view key) const {
  if (kind != Kind::kDict && kind != Kind::kObject) return nullptr;
  for (std::size_t i = items.size(); i >= 2; i -= 2)
    if (items[i - 2].kind == Kind::kText && items[i - 2].text == key) return &items[i - 1];
  return nullptr;
}

const StateValue& StateValue::at(std::string_view key, const char* what) const {
  const StateValue* found = find(key);
  check(found != nullptr, ErrorKind::kIo, "{}: '{}' is missing", what, key);
  return *found;
}

std::int64_t StateValue::integer_at(std::string_view key, const char* what) const {
  const StateValue& value = at(key, what);
  check(value.kind == Kind::kInt && value.text.empty(), ErrorKind::kIo,
        "{}: '{}' is not a whole number", what, key);
  return value.integer;
}

const NDArray& StateValue::array_at(std::string_view key, const char* what) const {
  const StateValue& value = at(key, what);
  check(value.kind == Kind::kArray, ErrorKind::kIo, "{}: '{}' is not an array", what, key);
  return value.array;
}

StateValue StateValue::deep_copy() const {
  StateValue copy = *this;
  if (kind == Kind::kArray && array.defined())
    copy.array = array.context() == cpu() ? array.copy() : array.as_in_context(cpu());
  for (StateValue& item : copy.items) item = item.deep_copy();
  return copy;
}

}  // namespace symbind
