// Repetition, in numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(tile) {
  c.add("every axis")
      .attr("reps", "(2, 2)")
      .in({2, 2}, {1, 2, 3, 4})
      .ref({1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4});
  c.add("the last axis")
      .attr("reps", "(2,)")
      .in({2, 2}, {1, 2, 3, 4})
      .ref({1, 2, 1, 2, 3, 4, 3, 4});
  c.add("new axes").attr("reps", "(2, 1, 1)").in({2}, {1, 2}).ref({1, 2, 1, 2});
  c.add("once").attr("reps", "(1, 1)").in({2, 2}, {1, 2, 3, 4}).ref({1, 2, 3, 4});
  c.add("never").attr("reps", "(0,)").in({2}).raises("positive");
}
OP_CASES(repeat) {
  c.add("flat").attr("repeats", 2).in({2, 2}, {1, 2, 3, 4}).ref({1, 1, 2, 2, 3, 3, 4, 4});
  c.add("first axis")
      .attr("repeats", 2)
      .attr("axis", 0)
      .in({2, 2}, {1, 2, 3, 4})
      .ref({1, 2, 1, 2, 3, 4, 3, 4});
  c.add("last axis").attr("repeats", 3).attr("axis", -1).in({2, 1}, {1, 2}).ref({1, 1, 1, 2, 2, 2});
  c.add("never").attr("repeats", 0).in({2}).raises("repeats");
}

}  // namespace
}  // namespace symbind
