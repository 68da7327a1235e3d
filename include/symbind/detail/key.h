#pragma once
// Key: identifies a parameter where gradients are summed and weights updated. MXNet's local
// updaters number parameters, its stores may name them; both kinds may be mixed.

#include <cstdint>
#include <string>
#include <variant>

namespace symbind {

/// A parameter's number or its name. Numbers sort before names.
using Key = std::variant<std::int64_t, std::string>;

/// The key as messages show it: 3, or fc1_weight.
inline std::string key_text(const Key& key) {
  const auto* number = std::get_if<std::int64_t>(&key);
  return number ? std::to_string(*number) : std::get<std::string>(key);
}

}  // namespace symbind
