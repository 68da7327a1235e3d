// Small functions of contrib: the formulas, and what is close to what.

#include <cmath>
#include <limits>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

OP_CASES(_contrib_div_sqrt_dim) {
  c.recorded();
  c.add("four").in({2, 3, 4}).ref([](double x) { return x / 2; });
}
OP_CASES(_contrib_quadratic) {
  c.recorded();
  c.add("formula").attr("a", 2.0).attr("b", -1.5).attr("c", 0.5).in({3, 4}).ref(
      [](double x) { return 2 * x * x - 1.5 * x + 0.5; });
}
OP_CASES(_contrib_allclose) {
  c.recorded();
  const auto close = [&](const char* name, double a, double b, double answer) {
    c.add(name).in({2}, {1, a}).in({2}, {1, b}).no_grad().ref({answer});
  };
  close("near", 2, 2 + 1e-7, 1);
  close("far", 2, 2.125, 0);
  close("infinities of one sign", kInf, kInf, 1);
  close("infinities of two signs", kInf, -kInf, 0);
  close("infinity and a number", kInf, 3, 0);
  close("NaN", NAN, NAN, 1);
  c.add("of b's size")  // |a − b| = 1: within a tenth of 11, not of 9
      .attr("rtol", 0.1)
      .in({1}, std::vector{10.0})
      .in({1}, std::vector{11.0})
      .no_grad()
      .ref({1});
  c.add("of b's size, not a's")
      .attr("rtol", 0.1)
      .in({1}, std::vector{10.0})
      .in({1}, std::vector{9.0})
      .no_grad()
      .ref({0});
}

}  // namespace
}  // namespace symbind
