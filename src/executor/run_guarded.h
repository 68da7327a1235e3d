#pragma once
// The only function that calls a kernel: for plans, predictions, updates and calls on arrays.
//
// Decided here: an exception of a kernel, or of a user's callback around it, is returned as an
// Error with its location; the caller stores it on arrays or throws it. Interrupted passes through.

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
    return Error(ErrorKind::kState, "an exception that is not a std::exception")
        .with_context(where);
  }
}

/// Runs `work`, which takes about `nanoseconds`. Returns nothing, or the error "in <title>".
template <class Work>
std::optional<Error> run_guarded(const std::string& title, std::int64_t nanoseconds, Work&& work) {
  try {
    interruption_point(nanoseconds);
    work();
    return std::nullopt;
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    return current_error("in " + title);
  }
}

}  // namespace symbind
