// Between tuples of indices and places.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_ravel_multi_index) {
  c.recorded();
  c.add("large places are exact in int64")
      .attr("shape", "(100000, 100000)")
      .in({2, 1}, {99999, 99999})
      .dtypes({DType::kInt64})
      .no_grad()
      .ref([](const HostTensors&) { return HostTensor(Shape{1}, {9999999999.0}); });
  c.add("wrong number of rows").attr("shape", "(2, 3)").in({3, 2}).raises("each axis of shape");
  c.add("no shape").in({2, 2}).raises("shape is required");
  c.add("an extent of 0").attr("shape", "(2, 0)").in({2, 2}).raises("above 0");
}
OP_CASES(_unravel_index) {
  c.recorded();
  c.add("three axes")
      .attr("shape", "(2, 3, 4)")
      .in({2}, {23, 7})
      .no_grad()
      .recovers({0})
      .ref({1, 0, 2, 1, 3, 3});
  c.add("places in two axes, as NumPy has it")
      .attr("shape", "(3, 4)")
      .in({2, 2}, {1, 2, 5, 9})
      .no_grad()
      .ref({0, 0, 1, 2, 1, 2, 1, 1});
  c.add("no shape").in({2}).raises("shape is required");
}

}  // namespace
}  // namespace symbind
