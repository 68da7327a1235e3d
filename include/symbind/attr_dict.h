#pragma once
// Attributes as text.

#include <map>
#include <string>

namespace symbind {

/// Attributes as users write them and as JSON stores them.
using AttrDict = std::map<std::string, std::string>;

}  // namespace symbind
