// Checks. check() and fail() report the user's mistake; SYMBIND_ASSERT reports ours. All of them
// throw, so that no mistake ends the host process.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "symbind/error.h"

namespace symbind {

namespace detail {
[[noreturn]] void throw_error(ErrorKind kind, fmt::string_view format, fmt::format_args args);
[[noreturn]] void throw_assertion(const char* condition, const char* file, int line);
}  // namespace detail

/// Throws an Error of this kind.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  detail::throw_error(kind, format, fmt::make_format_args(args...));
}

/// Throws an Error of this kind unless `ok`.
template <class... Args>
inline void check(bool ok, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    detail::throw_error(kind, format, fmt::make_format_args(args...));
}

/// Throws an Error of kind kValue unless `ok`.
template <class... Args>
inline void check(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    detail::throw_error(ErrorKind::kValue, format, fmt::make_format_args(args...));
}

}  // namespace symbind

/// A condition that only a bug in Symbind can break.
#define SYMBIND_ASSERT(condition)                                         \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::symbind::detail::throw_assertion(#condition, __FILE__, __LINE__); \
  } while (false)
