// Updates of one weight: against the formulas of the papers, and recorded (two calls one after
// another, which the replay compares).

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

constexpr double kLr = 0.25, kWd = 0.5, kRescale = 0.5, kClip = 0.375, kMomentum = 0.75;
constexpr double kBeta1 = 0.5, kBeta2 = 0.75, kEpsilon = 0.125;

double cut(double x, double bound) { return std::clamp(x, -bound, bound); }
double early(double g) { return cut(kRescale * g, kClip); }                     // then the decay
double late(double w, double g) { return cut(kRescale * g + kWd * w, kClip); }  // after it
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// w, g and the states of one element: the new weight comes back, the states are overwritten.
using Rule = double (*)(double w, double g, double* s);

double adam(double w, double g, double* s) {
  const double h = late(w, g);
  s[0] = kBeta1 * s[0] + (1 - kBeta1) * h;
  s[1] = kBeta2 * s[1] + (1 - kBeta2) * h * h;
  return w - kLr * s[0] / (std::sqrt(s[1]) + kEpsilon);
}
/// Without decay: with it, what is called in place and apart differ, and the cases run both.
double nag(double w, double g, double* s) {
  s[0] = kMomentum * s[0] - kLr * early(g);
  return w + kMomentum * s[0] - kLr * early(g);
}
/// Where the weight itself is written the momentum decays the new one.
double nag_in_place(double w, double g, double* s) {
  const double step = kLr * (early(g) + kWd * w), kept = kMomentum * s[0];
  w += kMomentum * (kept - step) - step;  // the look-ahead, from the step with the old weight
  s[0] = kept - kLr * (early(g) + kWd * w);
  return w;
}
double rmsprop(double w, double g, double* s) {
  const double h = late(w, g);
  s[0] = 0.25 * h * h + 0.75 * s[0];
  return cut(w - kLr * h / std::sqrt(s[0] + kEpsilon), 0.625);
}
double rmspropalex(double w, double g, double* s) {
  const double h = late(w, g);
  s[0] = 0.25 * h * h + 0.75 * s[0];
  s[1] = 0.25 * h + 0.75 * s[1];
  s[2] = 0.5 * s[2] - kLr * h / std::sqrt(s[0] - s[1] * s[1] + kEpsilon);
  return cut(w + s[2], 0.625);
}
double ftml(double w, double g, double* s) {
  const double h = late(w, g);
  s[1] = kBeta2 * s[1] + (1 - kBeta2) * h * h;
  const double v = s[1] / (1 - std::pow(kBeta2, 3));
  const double d = (1 - std::pow(kBeta1, 3)) / kLr * (std::sqrt(v) + kEpsilon);
  s[2] = kBeta1 * s[2] + (1 - kBeta1) * h - (d - kBeta1 * s[0]) * w;
  s[0] = d;
  return -s[2] / d;
}
double ftrl(double w, double g, double* s) {
  const double h = early(g), before = std::sqrt(s[1]);
  s[1] += h * h;
  s[0] += h - (std::sqrt(s[1]) - before) / kLr * w;
  if (std::abs(s[0]) <= 0.75) return 0;
  return (sign(s[0]) * 0.75 - s[0]) / ((2 + std::sqrt(s[1])) / kLr + kWd);
}
double signsgd(double w, double g, double*) { return w - kLr * (kWd * w + sign(g)); }
double signum(double w, double g, double* s) {
  s[0] = kMomentum * s[0] - (1 - kMomentum) * (kWd * w + early(g));
  return w - kLr * 0.125 * w + kLr * sign(s[0]);
}
double lamb1(double w, double g, double* s) {
  const double h = early(g);
  s[0] = kBeta1 * s[0] + (1 - kBeta1) * h;
  s[1] = kBeta2 * s[1] + (1 - kBeta2) * h * h;
  const double m = s[0] / (1 - std::pow(kBeta1, 3)), v = s[1] / (1 - std::pow(kBeta2, 3));
  return m / (std::sqrt(v) + kEpsilon) + kWd * w;
}

struct Row {
  const char* op;
  int states;
  Rule rule;
  std::vector<std::pair<const char*, double>> attrs;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"adam_update", 2, adam, {{"beta1", kBeta1}, {"beta2", kBeta2}, {"epsilon", kEpsilon}}},
      {"nag_mom_update", 1, nag, {{"momentum", kMomentum}}},
      {"rmsprop_update",
       1,
       rmsprop,
       {{"gamma1", 0.75}, {"epsilon", kEpsilon}, {"clip_weights", 0.625}}},
      {"rmspropalex_update",
       3,
       rmspropalex,
       {{"gamma1", 0.75}, {"gamma2", 0.5}, {"epsilon", kEpsilon}, {"clip_weights", 0.625}}},
      {"ftml_update",
       3,
       ftml,
       {{"beta1", kBeta1}, {"beta2", kBeta2}, {"epsilon", kEpsilon}, {"t", 3}}},
      {"ftrl_update", 2, ftrl, {{"lamda1", 0.75}, {"beta", 2}}},
      {"signsgd_update", 0, signsgd, {}},
      {"signum_update", 1, signum, {{"momentum", kMomentum}, {"wd_lh", 0.125}}},
      {"lamb_update_phase1",
       2,
       lamb1,
       {{"beta1", kBeta1}, {"beta2", kBeta2}, {"epsilon", kEpsilon}, {"t", 3}}},
  };
  return all;
}

/// The output, then the states. `kept` is the input the weight is taken of.
HostTensors apply(Rule rule, int states, const HostTensors& in, std::size_t kept) {
  HostTensors out = {in[kept]};
  for (int k = 0; k < states; ++k) out.push_back(in[static_cast<std::size_t>(2 + k)]);
  for (std::size_t i = 0; i < out[0].size(); ++i) {
    double s[3] = {};
    for (int k = 0; k < states; ++k) s[k] = out[static_cast<std::size_t>(1 + k)][i];
    out[0][i] = rule(in[kept][i], in[1][i], s);
    for (int k = 0; k < states; ++k) out[static_cast<std::size_t>(1 + k)][i] = s[k];
  }
  return out;
}

OpCase& describe(OpCase& c, const Row& row, bool has_lr, double decay = kWd) {
  if (has_lr) c.attr("lr", kLr);
  c.attr("wd", decay).attr("rescale_grad", kRescale);
  c.attr(row.rule == ftml ? "clip_grad" : "clip_gradient", kClip);
  for (const auto& [name, value] : row.attrs) c.attr(name, value);
  c.in({3, 5}).in({3, 5}, -2, 2);
  for (int k = 0; k < row.states; ++k) c.in({3, 5}, 0.25, 1);
  return c.imperative_only();
}

OP_FAMILY(update) {
  for (const Row& row : rows()) {
    c.op(row.op).recorded();
    describe(c.add("formula"), row, row.rule != lamb1, row.rule == nag ? 0 : kWd)
        .ref([row](const HostTensors& in) { return apply(row.rule, row.states, in, 0); });
  }
}
OP_CASES(mp_nag_mom_update) {
  c.recorded();
  describe(c.add("decay on the master copy"), rows()[1], true)
      .in({3, 5})
      .dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32})
      .ref([](const HostTensors& in) {
        HostTensors out = apply(nag_in_place, 1, in, 3);
        return HostTensors{out[0], out[1], out[0]};
      });
}
// What MXNet 1.9.1 writes: its kernel reads the weight again after it has written the output.
TEST(Update, nag_in_place_and_apart) {
  const std::vector<float> next = {1.3651F, 2.4062F, 3.4663F};
  for (const bool in_place : {false, true}) {
    const NDArray weight = NDArray::from_vector<float>({1, 2, 3}, {3}), out({3});
    const NDArray grad = NDArray::from_vector<float>({.1F, .2F, .3F}, {3});
    const NDArray mom = NDArray::from_vector<float>({.5F, .6F, .7F}, {3});
    invoke("nag_mom_update", {weight, grad, mom},
           {{"lr", "0.1"},
            {"wd", "0.01"},
            {"momentum", "0.9"},
            {"rescale_grad", "2"},
            {"clip_gradient", "0.5"}},
           {in_place ? weight : out});
    const std::vector<float> kept = in_place
                                        ? std::vector<float>{0.42863488F, 0.49759382F, 0.57653368F}
                                        : std::vector<float>{0.429F, 0.498F, 0.577F};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR((in_place ? weight : out).to_vector<float>()[i], next[i], 1e-6);
      EXPECT_NEAR(mom.to_vector<float>()[i], kept[i], 1e-7) << in_place;
      if (!in_place) {
        EXPECT_EQ(weight.to_vector<float>()[i], static_cast<float>(i + 1));
      }
    }
  }
}
OP_CASES(mp_lamb_update_phase1) {
  c.recorded();
  describe(c.add("on the master copy"), rows().back(), false)
      .in({3, 5})
      .dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32})
      .ref([](const HostTensors& in) { return apply(lamb1, 2, in, 4); });
}

}  // namespace
}  // namespace symbind
