// Shapes and sizes as numbers.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(shape_array) {
  c.recorded();
  c.add("three axes").in({2, 3, 4}).no_grad().ref({2, 3, 4});
}
OP_CASES(size_array) {
  c.recorded();
  c.add("three axes").in({2, 3, 4}).no_grad().ref({24});
}

}  // namespace
}  // namespace symbind
