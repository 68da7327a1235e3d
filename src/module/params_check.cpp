// Given parameters against those a network needs. The message opens with MXNet's
// "<name> is not presented" when something is missing.

#include <symbind/model.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace symbind {
namespace {

struct Findings {
  std::vector<std::string> missing, extra, wrong;

  void look(const NDArrayMap* given, const NDArrayMap& needed, bool allow_missing) {
    if (!given) return;
    for (const auto& [name, array] : needed) {
      const auto it = given->find(name);
      if (it == given->end()) {
        if (!allow_missing) missing.push_back(name);
      } else if (it->second.shape() != array.shape()) {
        wrong.push_back(fmt::format("{} given {} needed {}", name, it->second.shape().str(),
                                    array.shape().str()));
      }
    }
    for (const auto& [name, array] : *given)
      if (!needed.contains(name)) extra.push_back(name);
  }
};

void list(std::string& text, const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::size_t shown = std::min<std::size_t>(5, names.size());
  text += fmt::format(
      "\n  {}  {}", title,
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
}

}  // namespace

void check_params(const NDArrayMap* given_args, const NDArrayMap& needed_args,
                  const NDArrayMap* given_aux, const NDArrayMap& needed_aux, bool allow_missing) {
  Findings found;
  found.look(given_args, needed_args, allow_missing);
  found.look(given_aux, needed_aux, allow_missing);
  if (found.missing.empty() && found.wrong.empty()) return;
  std::string text = found.missing.empty() ? "parameters do not fit the network"
                                           : found.missing.front() + " is not presented";
  list(text, "missing:    ", found.missing);
  list(text, "wrong shape:", found.wrong);
  list(text, "extra:      ", found.extra);
  text += found.missing.empty()
              ? "\n  fix:  give the parameters of this network, or drop those that do not fit and "
                "pass allow_missing=True"
              : "\n  fix:  pass allow_missing=True to let the initializer fill what is missing "
                "(allow_extra=True passes over extra names)";
  fail(found.missing.empty() ? ErrorKind::kShape : ErrorKind::kName, "{}", text);
}

}  // namespace symbind
