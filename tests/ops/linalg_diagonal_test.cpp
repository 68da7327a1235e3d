// Diagonals and triangles as vectors, and back.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_linalg_extractdiag) {
  c.recorded();
  c.add("below").attr("offset", -1).in({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}).ref({4, 8});
  c.add("outside").attr("offset", 3).in({3, 3}).raises("is not a diagonal");
  c.add("no square").in({2, 3}).raises("square matrices are needed");
}
OP_CASES(_linalg_makediag) {
  c.recorded();
  c.add("above").attr("offset", 1).in({1}, std::vector<double>{7}).recovers({0}).ref({0, 7, 0, 0});
}
OP_CASES(_linalg_extracttrian) {
  c.recorded();
  c.add("upper, by columns").attr("lower", false).in({2, 2}, {1, 2, 3, 4}).ref({1, 2, 4});
}
OP_CASES(_linalg_maketrian) {
  c.recorded();
  c.add("lower, by rows").in({3}, {1, 2, 3}).recovers({0}).ref({1, 0, 2, 3});
  c.add("no triangle").in({4}).raises("4 elements do not fill a triangle");
}

}  // namespace
}  // namespace symbind
