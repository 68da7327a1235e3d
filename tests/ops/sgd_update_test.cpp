// Gradient descent: against the formula, and recorded (two calls one after another, which the
// replay compares).

#include <algorithm>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

constexpr double kLr = 0.5, kWd = 0.25, kMomentum = 0.75, kRescale = 0.5, kClip = 0.25;

double gradient(double g) { return std::clamp(kRescale * g, -kClip, kClip); }

OP_CASES(sgd_update) {
  c.recorded();
  c.add("formula")
      .attr("lr", kLr)
      .attr("wd", kWd)
      .attr("rescale_grad", kRescale)
      .attr("clip_gradient", kClip)
      .in({3, 4})
      .in({3, 4})
      .imperative_only()
      .ref([](const HostTensors& in) {
        HostTensor w = in[0];
        for (std::size_t i = 0; i < w.size(); ++i)
          w[i] = (1 - kLr * kWd) * w[i] - kLr * gradient(in[1][i]);
        return HostTensors{w};
      });
}
OP_CASES(sgd_mom_update) {
  c.recorded();
  c.add("formula")
      .attr("lr", kLr)
      .attr("momentum", kMomentum)
      .attr("wd", kWd)
      .attr("rescale_grad", kRescale)
      .attr("clip_gradient", kClip)
      .in({3, 4})
      .in({3, 4})
      .in({3, 4})
      .imperative_only()
      .ref([](const HostTensors& in) {
        HostTensor w = in[0], m = in[2];
        for (std::size_t i = 0; i < w.size(); ++i) {
          m[i] = kMomentum * m[i] - kLr * kWd * w[i] - kLr * gradient(in[1][i]);
          w[i] += m[i];
        }
        return HostTensors{w, m};
      });
}
OP_CASES(mp_sgd_update) {
  c.add("on the master copy")
      .attr("lr", kLr)
      .attr("wd", kWd)
      .attr("rescale_grad", kRescale)
      .attr("clip_gradient", kClip)
      .in({3, 4})
      .in({3, 4})
      .in({3, 4})
      .imperative_only()
      .ref([](const HostTensors& in) {
        HostTensor w = in[2];
        for (std::size_t i = 0; i < w.size(); ++i)
          w[i] = (1 - kLr * kWd) * w[i] - kLr * gradient(in[1][i]);
        return HostTensors{w, w};
      })
      .dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32});
}
OP_CASES(mp_sgd_mom_update) {
  c.add("on the master copy")
      .attr("lr", kLr)
      .attr("momentum", kMomentum)
      .attr("wd", kWd)
      .attr("rescale_grad", kRescale)
      .attr("clip_gradient", kClip)
      .in({3, 4})
      .in({3, 4})
      .in({3, 4})
      .in({3, 4})
      .imperative_only()
      .ref([](const HostTensors& in) {
        HostTensor m = in[2], w = in[3];
        for (std::size_t i = 0; i < w.size(); ++i) {
          m[i] = kMomentum * m[i] - kLr * kWd * w[i] - kLr * gradient(in[1][i]);
          w[i] += m[i];
        }
        return HostTensors{w, m, w};
      })
      .dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32});
}

}  // namespace
}  // namespace symbind
