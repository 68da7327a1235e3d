// explain shows the executor of one device of a module: the others run the same plan over their own
// rows.

#include <symbind/explain.h>
#include <symbind/module.h>

#include "base/check.h"

namespace symbind {

std::string explain(const Module& module, const ExplainOptions& options) {
  check(module.binded() && module.group() != nullptr, ErrorKind::kState,
        "explain: the module is not bound\n  fix:  call bind or fit first");
  const std::vector<Executor>& execs = module.group()->execs();
  check(options.device >= 0 && static_cast<std::size_t>(options.device) < execs.size(),
        ErrorKind::kIndex, "explain: device {} of {}", options.device, execs.size());
  return explain(execs[static_cast<std::size_t>(options.device)], options);
}

}  // namespace symbind
