#include "base/check.h"

#include <string_view>

namespace symbind::detail {

void throw_error(ErrorKind kind, fmt::string_view format, fmt::format_args args) {
  throw Error(kind, fmt::vformat(format, args));
}

void throw_assertion(const char* condition, const char* file, int line) {
  // Name the file by its path in the repository, not by its build path.
  std::string_view path = file;
  const size_t at = path.rfind("/src/");
  if (at != std::string_view::npos) path.remove_prefix(at + 1);
  throw Error(ErrorKind::kState,
              fmt::format("a bug in Symbind: '{}' does not hold at {}:{}; please report it",
                          condition, path, line));
}

}  // namespace symbind::detail
