// A choice between two arrays, in numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(where) {
  c.add("element by element")
      .in({2, 2}, {1, 0, 0, -2})
      .in({2, 2}, {1, 2, 3, 4})
      .in({2, 2}, {5, 6, 7, 8})
      .no_grad(0)
      .ref({1, 6, 7, 4});
  c.add("a condition for each row")
      .in({2}, {0, 1})
      .in({2, 2}, {1, 2, 3, 4})
      .in({2, 2}, {5, 6, 7, 8})
      .no_grad(0)
      .ref({5, 6, 3, 4});
  c.add("vectors")
      .in({3}, {0, 1, 0.5})
      .in({3}, {1, 2, 3})
      .in({3}, {4, 5, 6})
      .no_grad(0)
      .ref({4, 2, 3});
  c.add("another shape").in({3}).in({2, 2}).in({2, 2}).raises("first axis");
}

}  // namespace
}  // namespace symbind
