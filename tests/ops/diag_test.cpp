// Diagonals, in numbers and recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(diag) {
  c.recorded();
  c.add("below, of a tall matrix").attr("k", -1).in({3, 2}, {1, 2, 3, 4, 5, 6}).ref({3, 6});
  c.add("a vector, below").attr("k", -1).in({2}, {7, 8}).ref({0, 0, 0, 7, 0, 0, 0, 8, 0});
  c.add("outside").attr("k", 5).in({2, 3}).raises("does not exist");
  c.add("one axis twice").attr("axis1", 1).in({2, 3}).raises("the same axis");
}

}  // namespace
}  // namespace symbind
