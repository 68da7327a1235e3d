// Given parameters against those a network needs. The message opens with MXNet's
// "<name> is not presented" when something is missing.

#include <symbind/model.h>

#include <fmt/format.h>

#include "base/check.h"
#include "base/mismatch.h"

namespace symbind {
namespace {

void look(Mismatch& found, const NDArrayMap* given, const NDArrayMap& needed, bool allow_missing) {
  if (!given) return;
  for (const auto& [name, array] : needed) {
    const auto it = given->find(name);
    if (it == given->end()) {
      if (!allow_missing) found.missing.push_back(name);
    } else if (it->second.shape() != array.shape()) {
      found.wrong.push_back(fmt::format("{} given {} needed {}", name, it->second.shape().str(),
                                        array.shape().str()));
    }
  }
  for (const auto& [name, array] : *given)
    if (!needed.contains(name)) found.extra.push_back(name);
}

}  // namespace

void check_params(const NDArrayMap* given_args, const NDArrayMap& needed_args,
                  const NDArrayMap* given_aux, const NDArrayMap& needed_aux, bool allow_missing) {
  Mismatch found;
  look(found, given_args, needed_args, allow_missing);
  look(found, given_aux, needed_aux, allow_missing);
  if (found.missing.empty() && found.wrong.empty()) return;
  std::string text = found.missing.empty() ? "parameters do not fit the network"
                                           : found.missing.front() + " is not presented";
  text += found.lines();
  text += found.missing.empty()
              ? "\n  fix:  give the parameters of this network, or drop those that do not fit and "
                "pass allow_missing=True"
              : "\n  fix:  pass allow_missing=True to let the initializer fill what is missing "
                "(allow_extra=True ignores extra names)";
  fail(found.missing.empty() ? ErrorKind::kShape : ErrorKind::kName, "{}", text);
}

}  // namespace symbind
