// AdamW on one weight and on several.

#include <algorithm>
#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// One weight: the new weight, mean, var.
HostTensors adamw(const HostTensor& weight, const HostTensor& grad, HostTensor mean, HostTensor var,
                  double lr, double wd, double eta) {
  HostTensor w = weight;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double g = std::clamp(0.5 * grad[i], -0.75, 0.75);
    mean[i] = 0.5 * mean[i] + 0.5 * g;
    var[i] = 0.75 * var[i] + 0.25 * g * g;
    w[i] -= eta * (lr * mean[i] / (std::sqrt(var[i]) + 0.125) + wd * w[i]);
  }
  return {w, mean, var};
}

OpCase& describe(OpCase& c, bool mixed, int weights) {
  c.attr("beta1", 0.5).attr("beta2", 0.75).attr("epsilon", 0.125).attr("clip_gradient", 0.75);
  if (weights == 1) {
    c.attr("lr", 0.25).attr("wd", 0.5).attr("eta", 0.75);
  } else {
    c.attr("lrs", "(0.25, 0.125)").attr("wds", "(0.5, 0)").attr("etas", "(0.75, 1)");
    c.attr("num_weights", 2);
  }
  for (int k = 0; k < weights; ++k) {
    const Shape shape = k == 0 ? Shape{3, 4} : Shape{5};
    c.in(shape).in(shape, -2, 2).in(shape, 0.25, 1).in(shape, 0.25, 1);
    if (mixed) c.in(shape);
  }
  if (mixed) c.dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32});
  return c.in({1}, std::vector{0.5}).imperative_only();
}

HostTensors expected(const HostTensors& in, bool mixed, std::size_t weights) {
  const std::size_t group = mixed ? 5 : 4;
  HostTensors outputs, states;
  for (std::size_t k = 0; k < weights; ++k) {
    const std::size_t at = k * group;
    const HostTensors one = adamw(in[mixed ? at + 4 : at], in[at + 1], in[at + 2], in[at + 3],
                                  k == 0 ? 0.25 : 0.125, k == 0 ? 0.5 : 0, k == 0 ? 0.75 : 1);
    outputs.push_back(one[0]);
    states.insert(states.end(), {one[1], one[2]});
    if (mixed) states.push_back(one[0]);
  }
  outputs.insert(outputs.end(), states.begin(), states.end());
  return outputs;
}

OP_FAMILY(adamw_update) {
  for (const bool mixed : {false, true}) {
    for (const int weights : {1, 2}) {
      c.op(std::string(weights == 1 ? "_" : "_multi_") + (mixed ? "mp_" : "") + "adamw_update");
      c.recorded();
      describe(c.add("formula"), mixed, weights).ref([=](const HostTensors& in) {
        return expected(in, mixed, static_cast<std::size_t>(weights));
      });
    }
  }
  c.op("_multi_adamw_update")
      .add("too few rates")
      .attr("lrs", "(0.1, 0.1)")
      .attr("wds", "(0.1,)")
      .attr("etas", "(1,)")
      .attr("num_weights", 1)
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .in({1})
      .imperative_only()
      .raises("1 weights need as many lrs");
}

}  // namespace
}  // namespace symbind
