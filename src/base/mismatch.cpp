#include "base/mismatch.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace symbind {
namespace {

void list(std::string& text, const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::size_t shown = std::min<std::size_t>(5, names.size());
  text += fmt::format(
      "\n  {}  {}", title,
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
}

}  // namespace

std::string Mismatch::lines() const {
  std::string text;
  list(text, "missing:    ", missing);
  list(text, "wrong shape:", wrong);
  list(text, "extra:      ", extra);
  return text;
}

}  // namespace symbind
