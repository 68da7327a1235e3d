// The training targets of anchors, against recordings of MXNet, and one image by hand.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_MultiBoxTarget) {
  c.recorded();
  c.add("in numbers")
      .attr("variances", "(1, 1, 1, 1)")
      .in({1, 3, 4}, {0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1, 0, 0, 1, 1})
      .in({1, 2, 5}, {4, 0, 0, 0.25, 0.5, -1, -1, -1, -1, -1})
      .in({1, 2, 3})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .tolerance(DType::kFloat64, 1e-6)  // matched in float, as in MXNet
      .no_grad()
      .ref([](const HostTensors&) {
        HostTensor location({1, 12}), mask({1, 12}), classes({1, 3});
        location[0] = (0.125 - 0.25) / 0.5;
        location[2] = std::log(0.5);
        for (std::size_t i = 0; i < 4; ++i) mask[i] = 1;
        classes[0] = 5;  // class 4, after background
        return HostTensors{location, mask, classes};
      });
  c.add("short labels").in({1, 3, 4}).in({1, 2, 4}).in({1, 2, 3}).raises("five numbers at least");
  c.add("anchors for each image").in({2, 3, 4}).in({2, 2, 5}).in({2, 2, 3}).raises("anchor");
  c.add("three variances")
      .attr("variances", "(1, 1, 1)")
      .in({1, 3, 4})
      .in({1, 2, 5})
      .in({1, 2, 3})
      .raises("four numbers");
}

}  // namespace
}  // namespace symbind
