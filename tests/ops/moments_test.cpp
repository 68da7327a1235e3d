// Mean and variance.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(moments) {
  c.recorded();
  c.add("in numbers")
      .attr("axes", "(1,)")
      .in({2, 4}, {1, 2, 3, 6, 5, 5, 5, 5})
      .ref([](const HostTensors&) {
        return HostTensors{HostTensor(Shape{2}, {3, 5}), HostTensor(Shape{2}, {3.5, 0})};
      });
  c.add("far from zero")
      .attr("axes", "(0,)")
      .in({4}, {1000001, 1000002, 1000003, 1000006})
      .dtypes({DType::kFloat64})
      .ref([](const HostTensors&) {
        return HostTensors{HostTensor(Shape{1}, {1000003}), HostTensor(Shape{1}, {3.5})};
      });
  c.add("no axes").in({2, 3}).raises("needs axes");
}

}  // namespace
}  // namespace symbind
