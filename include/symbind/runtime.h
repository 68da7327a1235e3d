#pragma once
// What this build of Symbind is and can do.

#include <string>
#include <utility>
#include <vector>

namespace symbind {

/// "0.1.0".
std::string version();
/// MXNet's names of build features, and whether each is there.
std::vector<std::pair<std::string, bool>> features();

}  // namespace symbind
