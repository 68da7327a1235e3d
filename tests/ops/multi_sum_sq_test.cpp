// Sums of squares, LARS's rates, and whether all numbers are finite.

#include <cmath>
#include <limits>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

OP_CASES(multi_sum_sq) {
  c.recorded();
  c.add("two arrays, one longer than a part")
      .attr("num_arrays", 2)
      .in({3, 2})
      .in({70, 1001})
      .no_grad()
      .ref([](const HostTensors& in) {
        HostTensor sums(Shape{2});
        for (std::size_t k = 0; k < 2; ++k)
          for (const double v : in[k].values) sums[k] += v * v;
        return sums;
      })
      .tolerance(DType::kFloat64, 1e-7);  // the sums are float32 whatever they are of
}
OP_CASES(multi_lars) {
  c.recorded();
  c.add("formula")
      .attr("eta", 0.5)
      .attr("eps", 0.25)
      .attr("rescale_grad", 2.0)
      .in({4}, 0.5, 1)
      .in({4}, {4, 0, 9, 1})
      .in({4}, {1, 4, 0, 9})
      .in({4}, 0.5, 1)
      .no_grad()
      .dtypes({DType::kFloat32})
      .ref([](const HostTensors& in) {
        HostTensor y = in[0];
        for (const std::size_t i : {0u, 3u}) {
          const double w = std::sqrt(in[1][i]), g = std::sqrt(in[2][i]);
          y[i] = in[0][i] * 0.5 * w / (2 * g + in[3][i] * w + 0.25);
        }
        return y;
      });
}
OP_CASES(all_finite) {
  c.recorded([](OpCase& r) { r.no_grad(); });
  c.add("yes").in({3, 4}).no_grad().ref({1});
  c.add("the last is not").in({4}, {1, 2, 3, -kInf}).no_grad().ref({0});
  c.add("nothing is finite too").in({3}, {1, 2, NAN}).no_grad().ref({0});
}
OP_CASES(multi_all_finite) {
  c.recorded([](OpCase& r) { r.no_grad(); });
  c.add("yes").attr("num_arrays", 2).in({3, 4}).in({2}).no_grad().ref({1});
  c.add("not in the second").attr("num_arrays", 2).in({3}).in({2}, {NAN, 1}).no_grad().ref({0});
}

}  // namespace
}  // namespace symbind
