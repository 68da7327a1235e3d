#pragma once
// Shared by the states of iterators: the kind of iterator and the properties that must match when a
// state is restored.

#include <initializer_list>
#include <utility>
#include <vector>

#include <symbind/detail/state_value.h>

namespace symbind {

using IterFacts = std::initializer_list<std::pair<const char*, std::int64_t>>;

/// A dictionary of the kind and the properties; the caller adds the iterator's position.
StateValue iter_state(const char* kind, IterFacts facts);
/// kValue unless `state` has this kind and these properties.
void check_iter_state(const StateValue& state, const char* kind, IterFacts facts);

/// Row numbers as an array, and back; every one must be in [0, limit).
NDArray rows_array(const std::vector<std::int64_t>& rows);
std::vector<std::int64_t> rows_from(const NDArray& array, std::int64_t limit, const char* what);

}  // namespace symbind
