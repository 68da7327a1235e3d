// The one exception type Symbind throws.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace symbind {

/// What went wrong, coarsely: each kind becomes the Python exception MXNet raises there.
enum class ErrorKind {
  kValue,           ///< an argument has a bad value
  kType,            ///< an argument has the wrong type or dtype
  kIndex,           ///< an index is out of range
  kShape,           ///< shapes do not fit
  kNotImplemented,  ///< valid, but not supported here
  kMemory,          ///< memory or a device resource ran out
  kIo,              ///< a file could not be read or written
  kName,            ///< an unknown or duplicate name
  kLost,            ///< another process of the job was lost
  kState            ///< a call came too early, too late, or on something that failed before
};

/// The kind as users see it: "ValueError", "ShapeError", ...
const char* kind_name(ErrorKind kind) noexcept;

/// An error that says what is wrong and, if possible, how to fix it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const noexcept { return kind_; }

  /// The same error with one more line at its end: where it happened.
  Error with_context(std::string_view line) const;

 private:
  ErrorKind kind_;
};

}  // namespace symbind
