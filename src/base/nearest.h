// Names close to one that was not found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symbind {

/// "did you mean 'num_hidden'?" with up to three candidates, best first; empty if none is close.
/// Ignores case.
std::string nearest_hint(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace symbind
