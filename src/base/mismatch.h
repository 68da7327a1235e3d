#pragma once
// How given names differ from needed ones, as users read it.

#include <string>
#include <vector>

namespace symbind {

struct Mismatch {
  std::vector<std::string> missing, wrong, extra;

  /// One line for each kind of difference, with its first five names; each begins with a line
  /// break.
  std::string lines() const;
};

}  // namespace symbind
