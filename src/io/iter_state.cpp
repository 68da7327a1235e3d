#include "io/iter_state.h"

#include <symbind/io.h>

#include "base/check.h"

namespace symbind {

StateValue iter_state(const char* kind, IterFacts facts) {
  StateValue state = StateValue::dict();
  state.add("kind", StateValue::of(std::string(kind)));
  for (const auto& [name, value] : facts) state.add(name, StateValue::of(value));
  return state;
}

void check_iter_state(const StateValue& state, const char* kind, IterFacts facts) {
  const StateValue* is = state.find("kind");
  check(is != nullptr && is->text == kind, "this is a {}, but the state is from {}", kind,
        is == nullptr ? "something else" : "a " + is->text);
  for (const auto& [name, value] : facts) {
    const std::int64_t saved = state.integer_at(name, kind);
    check(saved == value, "{}: {} is {} here and {} in the state; they must be equal", kind, name,
          value, saved);
  }
}

NDArray rows_array(const std::vector<std::int64_t>& rows) {
  return NDArray::from_vector(rows, Shape({static_cast<std::int64_t>(rows.size())}), cpu());
}

std::vector<std::int64_t> rows_from(const NDArray& array, std::int64_t limit, const char* what) {
  check(array.dtype() == DType::kInt64, ErrorKind::kIo, "{}: row numbers are int64", what);
  std::vector<std::int64_t> rows = array.to_vector<std::int64_t>();
  for (const std::int64_t row : rows)
    check(row >= 0 && row < limit, ErrorKind::kIo, "{}: row {} of {}", what, row, limit);
  return rows;
}

void DataIter::set_state(const StateValue&) {
  fail(ErrorKind::kNotImplemented, "this iterator cannot restore a position");
}

}  // namespace symbind
