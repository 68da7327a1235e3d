#pragma once
// Whether given parameters are those of a network: everything that is wrong, at once.

#include <symbind/ndarray.h>

namespace symbind {

struct ParamsCheck {
  const NDArrayMap* given;  ///< null: none were given, the initializer fills all
  const NDArrayMap& needed;
};

/// Throws before anything is copied. The message opens with MXNet's "<name> is not presented" when
/// something is missing, and lists what is missing, wrongly shaped and extra, five of each.
void check_params(const ParamsCheck& args, const ParamsCheck& aux, bool allow_missing);

}  // namespace symbind
