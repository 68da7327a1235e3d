// Reductions, against sums written out; what MXNet recorded besides.

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Folds the middle axis of (outer, n, inner).
HostTensor fold(const HostTensor& x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                const Shape& shape, double start,
                const std::function<double(double, double)>& join) {
  HostTensor y(shape);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t j = 0; j < inner; ++j) {
      double total = start;
      for (std::int64_t k = 0; k < n; ++k)
        total = join(total, x[static_cast<std::size_t>((o * n + k) * inner + j)]);
      y[static_cast<std::size_t>(o * inner + j)] = total;
    }
  return y;
}

struct Row {
  const char* name;
  double start;
  double (*join)(double, double);
};
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Row kRows[] = {
    {"sum", 0, [](double a, double b) { return a + b; }},
    {"nansum", 0, [](double a, double b) { return std::isnan(b) ? a : a + b; }},
    {"prod", 1, [](double a, double b) { return a * b; }},
    {"nanprod", 1, [](double a, double b) { return std::isnan(b) ? a : a * b; }},
    {"max", -kInf, [](double a, double b) { return a > b ? a : b; }},
    {"min", kInf, [](double a, double b) { return a < b ? a : b; }},
};

/// Where elements are tied a difference quotient is no gradient.
void without_kinks(OpCase& recorded) {
  if (recorded.name().starts_with("ties")) recorded.no_grad();
}

OP_FAMILY(reduce) {
  for (const Row& r : kRows) {
    c.op(r.name);
    const auto join = r.join;
    const double start = r.start;
    c.add("a middle axis").attr("axis", 1).in({2, 5, 3}, 0.5, 2).ref([=](const HostTensors& in) {
      const Shape& s = in[0].shape;
      return fold(in[0], s[0], s[1], s[2], {s[0], s[2]}, start, join);
    });
    c.add("the last axes, kept")
        .attr("axis", "(-1, 1)")
        .attr("keepdims", true)
        .in({3, 2, 4}, 0.5, 2)
        .ref([=](const HostTensors& in) {
          const std::int64_t rows = in[0].shape[0];
          return fold(in[0], rows, in[0].shape.count(1), 1, {rows, 1, 1}, start, join);
        });
    c.add("the last position, in every layout")
        .attr("axis", 3)
        .in({2, 32, 2, 3}, 0.5, 2)
        .no_grad()
        .ref([=](const HostTensors& in) {
          const Shape& s = in[0].shape;
          return fold(in[0], s.count(0, 3), s[3], 1, {s[0], s[1], s[2]}, start, join);
        });
    c.add("all positions, in every layout")
        .attr("axis", "(2, 3)")
        .in({2, 32, 2, 2}, 0.5, 2)
        .no_grad()
        .ref([=](const HostTensors& in) {
          const Shape& s = in[0].shape;
          return fold(in[0], s[0] * s[1], s.count(2), 1, {s[0], s[1]}, start, join);
        });
    c.add("everything").in({3, 2, 2}, 0.5, 2).ref([=](const HostTensors& in) {
      return fold(in[0], 1, in[0].shape.size(), 1, {1}, start, join);
    });
    c.add("all but one")
        .attr("axis", 2)
        .attr("exclude", true)
        .in({2, 3, 4}, 0.5, 2)
        .ref([=](const HostTensors& in) {
          const Shape& s = in[0].shape;
          return fold(in[0], 1, s[0] * s[1], s[2], {s[2]}, start, join);
        });
    c.add("integers")
        .attr("axis", 0)
        .in({2, 2}, {3, -7, 2, 5})
        .ref([=](const HostTensors& in) {
          const std::int64_t columns = in[0].shape[1];
          return fold(in[0], 1, in[0].shape[0], columns, {columns}, start, join);
        })
        .dtypes({DType::kInt32, DType::kInt64});
    c.add("an axis that is not there").attr("axis", 3).in({2, 2}).raises("axis 3");
  }
  c.op("nansum").add("NaN counts as 0").in({4}, {1, std::nan(""), 2, 4}).ref({7}).no_grad();
  c.op("nanprod").add("NaN counts as 1").in({4}, {3, std::nan(""), 2, 4}).ref({24}).no_grad();
  c.op("sum").recorded();
  c.add("long rows stay exact")
      .attr("axis", 1)
      .in({2, 5000}, 0, 1)
      .dtypes({DType::kFloat32, DType::kFloat64})
      .ref([](const HostTensors& in) {
        const Shape& s = in[0].shape;
        return fold(in[0], s[0], s[1], 1, {s[0]}, 0, [](double a, double b) { return a + b; });
      });
  c.add("long columns, more than a tile of them")
      .attr("axis", 0)
      .in({77, 2 * 1024 + 65}, 0, 1)
      .dtypes({DType::kFloat32})
      .no_grad()
      .ref([](const HostTensors& in) {
        const Shape& s = in[0].shape;
        return fold(in[0], 1, s[0], s[1], {s[1]}, 0, [](double a, double b) { return a + b; });
      });
  c.op("mean").recorded();
  c.op("max").recorded(without_kinks);
  c.add("all that are tied get the gradient")
      .in({3}, {2, 1, 2})
      .ref({2})
      .grad_ref([](const HostTensors& in) {
        return HostTensors{HostTensor(in[0].shape, {1, 0, 1})};
      });
  c.op("min").recorded(without_kinks);
}

// Nothing folded is the start of the fold; MXNet's symbols have no such arrays, its 2.0 says so.
TEST(Reduce, of_empty_axes) {
  const NDArray empty = NDArray::zeros({2, 0});
  EXPECT_EQ(invoke("sum", {empty}, {{"axis", "1"}})[0].to_vector<float>(),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(invoke("prod", {empty})[0].to_vector<float>(), (std::vector<float>{1}));
  EXPECT_EQ(invoke("max", {empty}, {{"axis", "0"}})[0].size(), 0);
}

}  // namespace
}  // namespace symbind
