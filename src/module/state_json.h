#pragma once
// Plain data as JSON: numbers round-trip bit for bit, arrays are stored separately.

#include <nlohmann/json.hpp>

#include <symbind/detail/state_value.h>

namespace symbind {

/// `value` as JSON; its arrays go into `arrays` under new names.
nlohmann::json state_to_json(const StateValue& value, NDArrayMap& arrays);
/// The reverse; kIo for anything state_to_json does not write, or a missing array.
StateValue state_from_json(const nlohmann::json& json, const NDArrayMap& arrays);

}  // namespace symbind
