#pragma once
// What the loaders of the fuzzers share: files in memory, and properties that must hold.

#include <string>
#include <string_view>

#include <symbind/error.h>

#include "fuzz/loaders.h"

namespace symbind::fuzz {

/// Runs `call`; an Error is an answer, and false.
template <class F>
bool answers(F&& call) {
  try {
    call();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Ends the process, with this text, unless the property holds.
void must(bool holds, std::string_view property);

/// A folder in memory that is gone when the process ends.
const std::string& folder();
/// Writes a file of the folder and returns its path.
std::string write_file(const std::string& name, std::string_view contents);

}  // namespace symbind::fuzz
