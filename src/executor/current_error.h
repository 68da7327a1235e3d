#pragma once
// Operators and callbacks of users may throw anything; what waits on an array is an Error.

#include <exception>
#include <new>
#include <string_view>

#include <symbind/error.h>

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

}  // namespace symbind
