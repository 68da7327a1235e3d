// Perplexity, CrossEntropy and NegativeLogLikelihood: the predicted probability of the labels.
//
// Decided here: Perplexity's logarithms and its sum over one output are in the outputs' precision,
// as in MXNet; those of the other two are in double, and eps is added in the outputs' precision.
// Perplexity clips labels to the existing classes (as the operator pick does) and floors
// probabilities at 1e-10; the other two count a negative label from the end, as NumPy's indexing
// does, and refuse labels out of range.

#include <cmath>

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

class PerplexityMetric : public EvalMetric {
 public:
  explicit PerplexityMetric(MetricOptions options) : EvalMetric("perplexity", std::move(options)) {}

  void describe(AttrVisitor& v) override {
    v.field("ignore_label", ignore_, "The label that is not counted, or None.").required();
    v.field("axis", axis_, "The axis of the classes.");
  }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size(), ErrorKind::kState);  // an assertion in MXNet
    double all = 0, count = 0;
    for (std::size_t i = 0; i < preds.size(); ++i) {
      const Shape& shape = preds[i].shape();
      check(shape.rank() > 0 && labels[i].size() * shape.back() == preds[i].size() &&
                (preds[i].size() > 0 || labels[i].size() == 0),
            ErrorKind::kState, "shape mismatch: {} vs. {} in metric '{}'", labels[i].shape().str(),
            shape.str(), name);
      const AroundAxis a = around_axis(shape, axis_, name);
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_, [&]<class P>(const P* pred) {
          P loss = 0, left = 0;  // Kahan's sum, as MXNet's
          for (std::int64_t n = 0; n < labels[i].size(); ++n) {
            if (ignore_ && static_cast<double>(label[n]) == *ignore_) continue;
            const std::int64_t at = std::clamp<std::int64_t>(class_of(label[n]), 0, a.length - 1);
            const std::int64_t o = n / a.inner, inner = n % a.inner;
            const P p = pred[(o * a.length + at) * a.inner + inner];
            const P term = -std::log(p > P(1e-10) || std::isnan(p) ? p : P(1e-10)) - left;
            const P next = loss + term;
            left = std::isinf(next) ? P(0) : (next - loss) - term;
            loss = next;
            count += 1;
          }
          all += static_cast<double>(loss);
        });
      });
    }
    add(all, count);
  }

  std::vector<NameValue> get() const override {
    return {{name, std::exp(ratio(sum_metric, num_inst))}};
  }
  std::vector<NameValue> get_global() const override {
    return {{name, std::exp(ratio(global_sum_metric, global_num_inst))}};
  }

 private:
  std::optional<double> ignore_;
  int axis_ = -1;
  Scratch label_scratch_, pred_scratch_;
};

class LikelihoodMetric : public EvalMetric {
 public:
  LikelihoodMetric(const char* own_name, MetricOptions options)
      : EvalMetric(own_name, std::move(options)) {}

  void describe(AttrVisitor& v) override {
    v.field("eps", eps_, "Added to probabilities to keep logarithms finite.");
  }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      const Shape& shape = preds[i].shape();
      check(
          shape.rank() >= 2 && shape[1] > 0, ErrorKind::kIndex,
          "metric '{}' expects one row of probabilities per example, but got an output of shape {}",
          name, shape.str());
      check(labels[i].size() == shape[0], ErrorKind::kState,
            "metric '{}' got labels of shape {} for an output of shape {}; it expects one label "
            "per row",
            name, labels[i].shape().str(), shape.str());
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_, [&](const auto* pred) { sum(shape, label, pred); });
      });
    }
  }

 private:
  template <class L, class P>
  void sum(const Shape& shape, const L* label, const P* pred) {
    const std::int64_t classes = shape[1], inner = shape.count(2);
    double total = 0;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      const double given = static_cast<double>(label[n]);
      check(given > -static_cast<double>(classes) - 1 && given < static_cast<double>(classes),
            ErrorKind::kIndex, "metric '{}': label {} of row {} is not a class of {}", name, given,
            n, classes);
      const auto wanted = static_cast<std::int64_t>(given);
      const P* p = pred + (n * classes + (wanted < 0 ? wanted + classes : wanted)) * inner;
      for (std::int64_t k = 0; k < inner; ++k)
        total -= std::log(static_cast<double>(p[k] + static_cast<P>(eps_)));
    }
    add(total, static_cast<double>(shape[0]));
  }

  double eps_ = 1e-12;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_perplexity(MetricOptions options) {
  return std::make_shared<PerplexityMetric>(std::move(options));
}
MetricPtr make_cross_entropy(MetricOptions options) {
  return std::make_shared<LikelihoodMetric>("cross-entropy", std::move(options));
}
MetricPtr make_nll_loss(MetricOptions options) {
  return std::make_shared<LikelihoodMetric>("nll-loss", std::move(options));
}

}  // namespace symbind
