// The second phase of LAMB, and both in one call.

#include <algorithm>
#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

double norm(const HostTensor& x) {
  double sum = 0;
  for (const double v : x.values) sum += v * v;
  return std::sqrt(sum);
}

OP_CASES(lamb_update_phase2) {
  c.recorded();
  c.add("the ratio of the norms")
      .attr("lr", 0.5)
      .in({2, 3})
      .in({2, 3})
      .in({1}, std::vector{3.0})
      .in({1}, std::vector{4.0})
      .imperative_only()
      .ref([](double w, double g) { return w - 0.5 * 0.75 * g; });
  c.add("norms that are vectors")
      .attr("lr", 0.5)
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .imperative_only()
      .raises("a norm is one number");
}
OP_CASES(mp_lamb_update_phase2) {
  c.recorded();
  c.add("writes the master copy")
      .attr("lr", 0.5)
      .attr("upper_bound", 2.0)
      .in({2, 3})
      .in({2, 3})
      .in({1}, std::vector{3.0})
      .in({1}, std::vector{4.0})
      .in({2, 3})
      .imperative_only()
      .dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32})
      .ref([](const HostTensors& in) {
        HostTensor w = in[4];
        for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.5 * 0.5 * in[1][i];
        return HostTensors{w, w};
      });
}

/// One weight of _multi_lamb_update: the new weight, mean, var.
HostTensors lamb(const HostTensor& low, const HostTensor& weight, const HostTensor& grad,
                 HostTensor mean, HostTensor var, double lr, double wd, int t) {
  HostTensor u(weight.shape), w = weight;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double g = std::clamp(0.5 * grad[i], -0.75, 0.75);
    mean[i] = 0.5 * mean[i] + 0.5 * g;
    var[i] = 0.75 * var[i] + 0.25 * g * g;
    u[i] =
        mean[i] / (1 - std::pow(0.5, t)) / (std::sqrt(var[i] / (1 - std::pow(0.75, t))) + 0.125) +
        wd * w[i];
  }
  const double ratio = std::max(norm(low), 2.5) / norm(u);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= lr * ratio * u[i];
  return {w, mean, var};
}

// The bound is above the norm of the second weight, whose five numbers are below 1.
OpCase& describe(OpCase& c, bool mixed) {
  c.attr("learning_rates", "(0.25, 0.125)").attr("wds", "(0.5, 0)").attr("step_count", "(1, 3)");
  c.attr("beta1", 0.5).attr("beta2", 0.75).attr("epsilon", 0.125).attr("rescale_grad", 0.5);
  c.attr("lower_bound", 2.5).attr("clip_gradient", 0.75).attr("num_tensors", 2);
  for (const Shape& shape : {Shape{3, 4}, Shape{5}}) {
    c.in(shape).in(shape, -2, 2).in(shape, 0.25, 1).in(shape, 0.25, 1);
    if (mixed) c.in(shape);
  }
  return c.imperative_only();
}

OP_CASES(_multi_lamb_update) {
  c.recorded();
  describe(c.add("two weights"), false).ref([](const HostTensors& in) {
    const HostTensors a = lamb(in[0], in[0], in[1], in[2], in[3], 0.25, 0.5, 1);
    const HostTensors b = lamb(in[4], in[4], in[5], in[6], in[7], 0.125, 0, 3);
    return HostTensors{a[0], b[0], a[1], a[2], b[1], b[2]};
  });
  c.add("too few rates")
      .attr("learning_rates", "(0.1,)")
      .attr("wds", "(0.1, 0.1)")
      .attr("step_count", "(1, 1)")
      .attr("num_tensors", 2)
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .in({2})
      .imperative_only()
      .raises("2 weights need as many learning_rates");
}
OP_CASES(_multi_mp_lamb_update) {
  c.recorded();
  describe(c.add("two weights"), true)
      .dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32})
      .ref([](const HostTensors& in) {
        const HostTensors a = lamb(in[0], in[4], in[1], in[2], in[3], 0.25, 0.5, 1);
        const HostTensors b = lamb(in[5], in[9], in[6], in[7], in[8], 0.125, 0, 3);
        return HostTensors{a[0], b[0], a[1], a[2], a[0], b[1], b[2], b[0]};
      });
}

}  // namespace
}  // namespace symbind
