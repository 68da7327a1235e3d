// Densities: recorded, and against the formulas with the gamma function of the standard library.

#include <cmath>
#include <numbers>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

using Density = double (*)(double s, double p, double q);

struct Row {
  const char* name;
  bool whole;
  int parameters;
  double lo, hi;  ///< of the samples
  Density density;
};

double negative_binomial(double s, double k, double p) {
  return std::tgamma(s + k) / std::tgamma(s + 1) / std::tgamma(k) * std::pow(p, k) *
         std::pow(1 - p, s);
}

constexpr Row kRows[] = {
    {"uniform", false, 2, 0, 1, [](double, double p, double q) { return 1 / (q - p); }},
    {"normal", false, 2, -2, 2,
     [](double s, double p, double q) {
       return std::exp(-(s - p) * (s - p) / (2 * q * q)) / (q * std::sqrt(2 * std::numbers::pi));
     }},
    {"gamma", false, 2, 0.5, 3,
     [](double s, double p, double q) {
       return std::pow(q, p) * std::pow(s, p - 1) * std::exp(-q * s) / std::tgamma(p);
     }},
    {"exponential", false, 1, 0.5, 3,
     [](double s, double p, double) { return p * std::exp(-p * s); }},
    {"poisson", true, 1, 0, 6,
     [](double s, double p, double) { return std::pow(p, s) * std::exp(-p) / std::tgamma(s + 1); }},
    {"negative_binomial", true, 2, 0, 6,
     [](double s, double p, double q) { return negative_binomial(s, p, q); }},
    {"generalized_negative_binomial", true, 2, 0, 6,
     [](double s, double p, double q) { return negative_binomial(s, 1 / q, 1 / (p * q + 1)); }},
};

OP_FAMILY(pdf) {
  for (const Row& row : kRows) {
    c.op(std::string("_random_pdf_") + row.name).recorded([&](OpCase& r) {
      if (row.whole) r.no_grad(0);  // 0, whatever the difference quotient says
    });
    for (const bool is_log : {false, true}) {
      OpCase& one = c.add(is_log ? "formula, log" : "formula").attr("is_log", is_log);
      // Parameters that are valid for every distribution; the second differs from the first.
      const bool chance = std::string(row.name) == "negative_binomial";
      if (row.whole)
        one.in_indices({2, 3, 5}, 6);
      else
        one.in({2, 3, 5}, row.lo, row.hi);
      one.in({2, 3}, 0.5, 1);
      if (row.parameters == 2) one.in({2, 3}, chance ? 0.25 : 1.25, chance ? 0.5 : 1.75);
      one.ref([row, is_log](const HostTensors& in) {
        HostTensor y(in[0].shape);
        for (std::size_t i = 0; i < y.size(); ++i) {
          const double q = in.back()[i / 5];
          const double p = row.density(in[0][i], in[1][i / 5], q);
          y[i] = is_log ? std::log(p) : p;
        }
        return y;
      });
    }
    OpCase& bad = c.add("parameters that do not begin the samples").in({2, 3});
    for (int i = 0; i < row.parameters; ++i) bad.in({3});
    bad.raises("first axes");
  }
}

OP_CASES(_random_pdf_dirichlet) {
  c.recorded();
  for (const bool is_log : {false, true}) {
    c.add(is_log ? "formula, log" : "formula")
        .attr("is_log", is_log)
        .in({2, 4, 3}, 0.125, 0.5)
        .in({2, 3}, 0.5, 3)
        .ref([is_log](const HostTensors& in) {
          HostTensor y(Shape{2, 4});
          for (std::size_t i = 0; i < 8; ++i) {
            double p = 1, sum = 0;
            for (std::size_t j = 0; j < 3; ++j) {
              const double alpha = in[1][i / 4 * 3 + j];
              p *= std::pow(in[0][i * 3 + j], alpha - 1) / std::tgamma(alpha);
              sum += alpha;
            }
            p *= std::tgamma(sum);
            y[i] = is_log ? std::log(p) : p;
          }
          return y;
        });
  }
  c.add("one vector").in({3}, 0.125, 0.5).in({3}, {1, 1, 1}).ref({2});
  c.add("another number of classes").in({2, 3}).in({2, 4}).raises("first axes");
}

}  // namespace
}  // namespace symbind
