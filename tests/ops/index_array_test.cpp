// The indices of elements, and rows put into places.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_index_array) {
  c.recorded();
  c.add("all").in({2, 3}).no_grad().recovers({0}).ref({0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2});
  c.add("one axis").attr("axes", "(1,)").in({2, 3}).no_grad().ref({0, 1, 2, 0, 1, 2});
  c.add("no such axis").attr("axes", "(2,)").in({2, 3}).raises("axis 2");
}
OP_CASES(_contrib_index_copy) {
  c.recorded();
  c.add("rows")
      .in({3, 2}, {0, 1, 2, 3, 4, 5})
      .in({2}, {2, 0})
      .in({2, 2}, {6, 7, 8, 9})
      .no_grad(1)
      .ref({8, 9, 2, 3, 6, 7});
  c.add("twice into one row: the last stays")
      .in({3}, {0, 1, 2})
      .in({3}, {1, 2, 1})
      .in({3}, {3, 4, 5})
      .no_grad(1)
      .ref({0, 5, 4});
  c.add("outside").in({3}).in({2}, {0, 3}).in({2}).raises("index 3 is out of range for 3 rows");
  c.add("before").in({3}).in({2}, {-1, 0}).in({2}).raises("index -1 is out of range");
  c.add("rows of another length").in({3, 2}).in({2}).in({2, 3}).raises("rows as long");
}

}  // namespace
}  // namespace symbind
