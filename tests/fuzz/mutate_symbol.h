#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace symbind::fuzz {

/// A network's JSON with one thing changed that leaves it well formed: an operator, an attribute,
/// an edge, a head, a shape, one more node. Empty where `json` is no network.
std::string mutate_symbol(std::string_view json, std::uint64_t seed);

/// The words of the format and of every public operator, as libFuzzer reads dictionaries.
std::string symbol_dictionary();

}  // namespace symbind::fuzz
