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
OP_CASES(_linspace) {
  c.recorded();
  c.add("none").attr("start", 1).attr("stop", 2).attr("num", -1).raises("num");
}
OP_CASES(_eye) {
  c.recorded();
  c.add("below").attr("N", 3).attr("M", 2).attr("k", -1).ref({0, 0, 1, 0, 0, 1});
}
OP_CASES(_contrib_arange_like) {
  c.recorded();
  c.add("whole numbers").in({2, 2}).dtypes({DType::kInt32, DType::kInt64}).ref({0, 1, 2, 3});
  c.add("no such axis").attr("axis", 3).in({2, 2}).raises("axis 3");
}
OP_CASES(zeros_like) { c.recorded(); }
OP_CASES(ones_like) { c.recorded(); }

}  // namespace
}  // namespace symbind
