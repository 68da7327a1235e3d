// Densities: _random_pdf_… gives p(sample) of a distribution, or ln p with is_log. The parameters'
// shape is the beginning of the sample's; each applies to all samples at its index.
//
// The gradient is of ln p, times p unless is_log, summed over the samples of a parameter; of
// whole-number samples it is 0. With s the sample, ψ = digamma:
//
//   uniform        −ln(h − l)
//                    l: 1 / (h − l), h: −1 / (h − l), s: 0
//   normal         −(s − μ)² / 2σ² − ln(σ√2π)
//                    s: (μ−s)/σ², μ: (s−μ)/σ², σ: ((s−μ)²−σ²)/σ³
//   gamma          α ln β + (α−1) ln s − βs − lnΓ(α)
//                    s: (α−1)/s − β, α: ln β + ln s − ψ(α), β: α/β − s
//   exponential    ln λ − λs
//                    s: −λ, λ: 1/λ − s
//   poisson        s ln λ − lnΓ(s+1) − λ
//                    λ: s/λ − 1
//   neg. binomial  lnΓ(s+k) − lnΓ(s+1) − lnΓ(k) + k ln p + s ln(1−p)
//                    k: ψ(s+k) − ψ(k) + ln p, p: k/p − s/(1−p)
//   generalized    the same with k = 1/α, p = 1/(μα + 1)
//   dirichlet      the last axis is one sample: Σ(αⱼ−1) ln sⱼ + lnΓ(Σα) − Σ lnΓ(αⱼ)
//                    sⱼ: (αⱼ−1)/sⱼ, αⱼ: ln sⱼ + ψ(Σα) − ψ(αⱼ)
//
// Decided here: computed in double; uniform does not check whether the sample is between its
// bounds, as in MXNet. (gamma's β is a rate here and a scale in the samplers: MXNet's choice too.)
#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/special.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct PdfAttrs {
  bool is_log = false;
  void describe(AttrVisitor& v) {
    v.field("is_log", is_log, "Whether to return the logarithm of the density.");
  }
};

/// ln p and its derivatives: of the sample, then of each parameter.
struct LogDensity {
  double log, sample, first, second;
};

// ---- The distributions --------------------------------------------------------------------------

LogDensity uniform(double, double low, double high) {
  const double width = high - low;
  return {-std::log(width), 0, 1 / width, -1 / width};
}
LogDensity normal(double x, double mean, double sigma) {
  const double z = (x - mean) / sigma;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return {-0.5 * z * z - std::log(sigma) - kHalfLogTwoPi, -z / sigma, z / sigma,
          (z * z - 1) / sigma};
}
LogDensity gamma(double x, double alpha, double beta) {
  const double log_x = std::log(x), log_beta = std::log(beta);
  return {alpha * log_beta + (alpha - 1) * log_x - beta * x - gammaln(alpha),
          (alpha - 1) / x - beta, log_beta + log_x - digamma(alpha), alpha / beta - x};
}
LogDensity exponential(double x, double rate, double) {
  return {std::log(rate) - rate * x, -rate, 1 / rate - x, 0};
}
LogDensity poisson(double x, double mean, double) {
  return {x * std::log(mean) - gammaln(x + 1) - mean, 0, x / mean - 1, 0};
}
LogDensity negative_binomial(double x, double k, double p) {
  return {gammaln(x + k) - gammaln(x + 1) - gammaln(k) + k * std::log(p) + x * std::log(1 - p), 0,
          digamma(x + k) - digamma(k) + std::log(p), k / p - x / (1 - p)};
}
LogDensity generalized_negative_binomial(double x, double mu, double alpha) {
  const double p = 1 / (mu * alpha + 1);
  const LogDensity d = negative_binomial(x, 1 / alpha, p);
  return {d.log, 0, -d.second * alpha * p * p, -d.first / (alpha * alpha) - d.second * mu * p * p};
}

using Density = LogDensity (*)(double sample, double first, double second);
struct Row {
  const char *name, *first, *second;  ///< the distribution and its parameters, one or two
  Density density;                    ///< null: dirichlet, whose samples are vectors
};
constexpr Row kRows[] = {
    {"uniform", "low", "high", uniform},
    {"normal", "mu", "sigma", normal},
    {"gamma", "alpha", "beta", gamma},
    {"exponential", "lam", nullptr, exponential},
    {"poisson", "lam", nullptr, poisson},
    {"negative_binomial", "k", "p", negative_binomial},
    {"generalized_negative_binomial", "mu", "alpha", generalized_negative_binomial},
    {"dirichlet", "alpha", nullptr, nullptr},
};

// ---- Inference ----------------------------------------------------------------------------------

/// The parameters' shape begins the sample's; a vector's last axis is common too.
void infer_parameters(Inference& io, Inference::Ref sample, int first, int count, bool vectors) {
  for (int i = first + 1; i < first + count; ++i) io.same_shape(io.in(first), io.in(i));
  const Shape s = io.shape(sample), p = io.shape(io.in(first));
  if (!s.rank_known() || !p.rank_known()) return;
  check(!vectors || p.rank() > 0, ErrorKind::kShape,
        "the parameter of a vector is a vector, not {}", p.str());
  check(p.rank() <= s.rank(), ErrorKind::kShape,
        "parameters of shape {} for samples of shape {}: they must be the first axes", p.str(),
        s.str());
  Tuple wanted(s.begin(), s.begin() + p.rank());
  if (vectors) wanted.back() = s[s.rank() - 1];
  for (int i = first; i < first + count; ++i)
    io.set_shape(io.in(i), Shape(wanted), "the first axes of the samples");
}

void infer_scalars(const PdfAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  infer_parameters(io, io.in(0), 1, io.num_inputs() - 1, false);
}
Shape without_last(const Shape& sample) {
  Tuple dims(sample.begin(), sample.end() - 1);
  return dims.empty() ? scalar_shape() : Shape(dims);
}
void infer_dirichlet(const PdfAttrs&, Inference& io) {
  io.all_same_dtype();
  infer_parameters(io, io.in(0), 1, 1, true);
  const Shape sample = io.shape(io.in(0));
  if (!sample.rank_known()) return;
  check(sample.rank() > 0, ErrorKind::kShape, "a sample of dirichlet is a vector");
  io.set_shape(io.out(0), without_last(sample), "the sample's shape without its last axis");
}
/// Inputs: head, the forward's inputs, its output. Outputs: the forward's inputs' gradients.
template <bool vectors>
void infer_backward(const PdfAttrs& a, Inference& io) {
  io.all_same_dtype();
  ForwardSides sides{.inputs = io.num_outputs(), .outputs = 1, .from = {io.out(0)}};
  for (int i = 0; i < io.num_outputs(); ++i) sides.from.push_back(io.in(i));
  sides.from.push_back(io.out(0));
  tie_to_forward(a, io, vectors ? infer_dirichlet : infer_scalars, sides);
  for (int o = 0; o < io.num_outputs(); ++o) io.same_shape(io.in(o + 1), io.out(o));
}

template <std::size_t row>
NodeEntries gradient(const PdfAttrs&, GradientBuilder& g) {
  NodeEntries inputs = {g.head(0)};
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  inputs.push_back(g.output(0));
  return g.call_with_same_attrs(std::string("_backward_pdf_") + kRows[row].name, std::move(inputs));
}

// ---- Kernels ------------------------------------------------------------------------------------

/// How many samples a parameter applies to.
std::int64_t per_parameter(const TensorDesc& sample, const TensorDesc& parameter) {
  const std::int64_t n = parameter.shape.size();
  return n == 0 ? 0 : sample.shape.size() / n;
}

template <class T>
T rounded(double x) {
  return static_cast<T>(
      static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x));
}

template <std::size_t row>
Prepared forward(const PdfAttrs& attrs, const KernelRequest& q) {
  const int last = static_cast<int>(q.in.size()) - 1;
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size(), each = per_parameter(q.in[0], q.in[1]), last,
            is_log = attrs.is_log](const Args& a) {
      const T *x = a.in<T>(0), *p = a.in<T>(1), *r = a.in<T>(last);
      T* y = a.out<T>(0);
      parallel_for(n, 512, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const double log =
              kRows[row]
                  .density(static_cast<double>(x[i]), static_cast<double>(p[i / each]),
                           static_cast<double>(r[i / each]))
                  .log;
          y[i] = rounded<T>(is_log ? log : std::exp(log));
        }
      });
    };
  });
}

template <std::size_t row>
Prepared backward(const PdfAttrs& attrs, const KernelRequest& q) {
  const int last = static_cast<int>(q.in.size()) - 2;  // the last parameter
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.in[2].shape.size(), each = per_parameter(q.in[1], q.in[2]), last,
            is_log = attrs.is_log](const Args& a) {
      const T *head = a.in<T>(0), *x = a.in<T>(1), *y = a.in<T>(last + 1);
      parallel_for(n, 1 + 512 / (each + 1), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
          double sums[2] = {};
          for (std::int64_t i = k * each; i < (k + 1) * each; ++i) {
            const LogDensity d =
                kRows[row].density(static_cast<double>(x[i]), static_cast<double>(a.in<T>(2)[k]),
                                   static_cast<double>(a.in<T>(last)[k]));
            const double scale =
                static_cast<double>(head[i]) * (is_log ? 1 : static_cast<double>(y[i]));
            if (a.wants(0)) a.out<T>(0)[i] = rounded<T>(scale * d.sample);
            sums[0] += scale * d.first;
            sums[1] += scale * d.second;
          }
          for (int o = 1; o < last; ++o)
            if (a.wants(o)) a.out<T>(o)[k] = rounded<T>(sums[o - 1]);
        }
      });
    };
  });
}

Prepared forward_dirichlet(const PdfAttrs& attrs, const KernelRequest& q) {
  const Shape& alpha = q.in[1].shape;
  const std::int64_t k = alpha[alpha.rank() - 1];
  check(k > 0, ErrorKind::kShape, "dirichlet needs a component, alpha has shape {}", alpha.str());
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [k, n = q.out[0].shape.size(), each = per_parameter(q.in[0], q.in[1]),
            is_log = attrs.is_log](const Args& a) {
      for (std::int64_t i = 0; i < n; ++i) {
        const T *x = a.in<T>(0) + i * k, *alphas = a.in<T>(1) + i / each * k;
        double sum = 0, log = 0;
        for (std::int64_t j = 0; j < k; ++j) {
          const double one = static_cast<double>(alphas[j]);
          sum += one;
          log += (one - 1) * std::log(static_cast<double>(x[j])) - gammaln(one);
        }
        log += gammaln(sum);
        a.out<T>(0)[i] = rounded<T>(is_log ? log : std::exp(log));
      }
    };
  });
}

template <class T>
void dirichlet_gradient(const Args& a, std::int64_t n, std::int64_t each, std::int64_t k,
                        bool is_log) {
  const T *head = a.in<T>(0), *x = a.in<T>(1), *alphas = a.in<T>(2), *y = a.in<T>(3);
  const auto scale = [&](std::int64_t i) {
    return static_cast<double>(head[i]) * (is_log ? 1 : static_cast<double>(y[i]));
  };
  const std::int64_t grain = grain_of(16 * each * k);
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      double total = 0;
      for (std::int64_t j = 0; j < k; ++j) total += static_cast<double>(alphas[row * k + j]);
      const double psi_total = digamma(total);
      for (std::int64_t j = 0; j < k; ++j) {
        const double alpha = static_cast<double>(alphas[row * k + j]), psi = digamma(alpha);
        double sum = 0;
        for (std::int64_t i = row * each; i < (row + 1) * each; ++i) {
          const double s = static_cast<double>(x[i * k + j]);
          sum += scale(i) * (std::log(s) + psi_total - psi);
          if (a.wants(0)) a.out<T>(0)[i * k + j] = rounded<T>(scale(i) * (alpha - 1) / s);
        }
        if (a.wants(1)) a.out<T>(1)[row * k + j] = rounded<T>(sum);
      }
    }
  });
}

Prepared backward_dirichlet(const PdfAttrs& attrs, const KernelRequest& q) {
  const Shape& alpha = q.in[2].shape;
  const std::int64_t k = alpha[alpha.rank() - 1];
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [k, n = k == 0 ? 0 : alpha.size() / k, each = per_parameter(q.in[1], q.in[2]),
            is_log = attrs.is_log](const Args& a) { dirichlet_gradient<T>(a, n, each, k, is_log); };
  });
}

template <std::size_t row>
void add(OpRegistry& r) {
  constexpr Row kRow = kRows[row];
  const std::string name = kRow.name;
  std::vector<std::string> inputs = {"sample", kRow.first}, saved = {"head"}, gradients;
  if (kRow.second != nullptr) inputs.emplace_back(kRow.second);
  saved.insert(saved.end(), inputs.begin(), inputs.end());
  saved.push_back("density");
  for (const std::string& input : inputs) gradients.push_back("d_" + input);
  auto forward_op = r.add<PdfAttrs>("_random_pdf_" + name)
                        .doc("The density of the distribution " + name + " at the samples.")
                        .alias("random_pdf_" + name)
                        .inputs(inputs)
                        .gradient(gradient<row>);
  auto backward_op = r.add<PdfAttrs>("_backward_pdf_" + name)
                         .backward()
                         .inputs(saved)
                         .outputs(gradients)
                         .skips_unread()
                         .infer(infer_backward<kRow.density == nullptr>);
  if constexpr (kRow.density != nullptr) {
    forward_op.infer(infer_scalars).reference(forward<row>);
    backward_op.reference(backward<row>);
  } else {
    forward_op.infer(infer_dirichlet).reference(forward_dirichlet);
    backward_op.reference(backward_dirichlet);
  }
}

}  // namespace

void register_pdf(OpRegistry& r) {
  [&]<std::size_t... rows>(std::index_sequence<rows...>) { (add<rows>(r), ...); }
  (std::make_index_sequence<std::size(kRows)>{});
}

}  // namespace symbind
