// Elementwise functions with parameters, against their definitions.

#include <algorithm>
#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(clip) {
  c.add("both sides").attr("a_min", -0.5).attr("a_max", 0.25).in({3, 4}).ref([](double x) {
    return std::clamp(x, -0.5, 0.25);
  });
  c.add("at both bounds the gradient is 1")
      .attr("a_min", 1.0)
      .attr("a_max", 2.0)
      .in({4}, {0, 1, 2, 3})
      .ref({1, 1, 2, 2})
      .no_grad();
  c.add("integers cut the bounds first")
      .attr("a_min", 1.5)
      .attr("a_max", 2.5)
      .in({3}, {0, 2, 3})
      .ref({1, 2, 2})
      .dtypes({DType::kInt32, DType::kInt64})
      .no_grad();
  c.add("without a bound").attr("a_min", 1.0).in({2}).raises("a_max");
}
OP_CASES(hard_sigmoid) {
  c.add("by default").in({3, 4}, -4, 4).ref([](double x) {
    return std::clamp(static_cast<double>(0.2f) * x + 0.5, 0.0, 1.0);
  });
  c.add("another line").attr("alpha", 0.5).attr("beta", 0.25).in({3, 4}, -4, 4).ref([](double x) {
    return std::clamp(0.5 * x + 0.25, 0.0, 1.0);
  });
}
OP_CASES(smooth_l1) {
  c.add("by default").in({3, 4}, -3, 3).ref([](double x) {
    return std::abs(x) < 1 ? x * x / 2 : std::abs(x) - 0.5;
  });
  c.add("narrow").attr("scalar", 2.0).in({3, 4}).ref([](double x) {
    return std::abs(x) < 0.25 ? 2 * x * x : std::abs(x) - 0.125;
  });
}

}  // namespace
}  // namespace symbind
