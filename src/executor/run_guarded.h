#pragma once
// The one way a kernel is called: by plans, predictions, updates and calls on arrays.
//
// Decided here: what a kernel throws, or a callback of users around it, comes back as an Error that
// says where; the caller keeps it on arrays or throws it. An interruption passes through.

#include <exception>
#include <new>
#include <optional>
#include <string>

#include <symbind/error.h>

#include "base/interrupt.h"

namespace symbind {

/// The exception being handled as an Error with one more line: where it happened.
inline Error current_error(std::string_view where) {
  try {
    throw;
  } catch (const Error& e) {
    return e.with_context(where);
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::kMemory, "out of memory").with_context(where);
  } catch (const std::exception& e) {
    return Error(ErrorKind::kState, e.what()).with_context(where);
  } catch (...) {
    return Error(ErrorKind::kState, "an exception that is no std::exception").with_context(where);
  }
}

/// Runs `work`. Nothing, or what went wrong "in <title>".
template <class Work>
std::optional<Error> run_guarded(const std::string& title, Work&& work) {
  try {
    interruption_point();
    work();
    return std::nullopt;
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    return current_error("in " + title);
  }
}

}  // namespace symbind
