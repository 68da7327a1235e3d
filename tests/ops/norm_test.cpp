// The norm, against its definition.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(norm) {
  c.add("of everything").in({2, 3}, 0.5, 2).ref([](const HostTensors& in) {
    double sum = 0;
    for (const double x : in[0].values) sum += x * x;
    return HostTensor({1}, {std::sqrt(sum)});
  });
  c.add("along an axis").attr("axis", 1).in({2, 3}, {3, 0, 4, 0, -5, 12}).ref({5, 13});
  c.add("ord 1").attr("ord", 1).attr("axis", 1).in({2, 3}, {3, -1, 4, 1, -5, 12}).ref({8, 18});
  c.add("kept axes")
      .attr("axis", "(0, 1)")
      .attr("keepdims", true)
      .in({2, 2}, {1, 1, 1, 1})
      .ref({2});
  c.add("squares beyond float")
      .in({2}, {3e30, 4e30})
      .ref({5e30})
      .dtypes({DType::kFloat32, DType::kFloat64});
  c.add("ord 3").attr("ord", 3).in({2}).raises("ord");
}

}  // namespace
}  // namespace symbind
