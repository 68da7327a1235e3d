// Arrays made of nothing: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_zeros) { c.recorded(); }
OP_CASES(_ones) { c.recorded(); }
OP_CASES(_full) { c.recorded(); }
OP_CASES(_arange) {
  c.recorded();
  c.add("step 0").attr("start", 0).attr("stop", 3).attr("step", 0).raises("step");
}
OP_CASES(zeros_like) { c.recorded(); }
OP_CASES(ones_like) { c.recorded(); }

}  // namespace
}  // namespace symbind
