// MAE, MSE and RMSE: one error per batch, averaged over batches.
//
// Decided here, as in MXNet: vectors are columns, then shapes broadcast as NumPy's do (even if that
// is a mistake); the sum is in double.

#include <cmath>

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

Shape as_column(const Shape& shape) { return shape.rank() == 1 ? Shape{shape[0], 1} : shape; }

/// The steps of an array of `shape` along the axes of `whole`: 0 where it is repeated.
std::vector<std::int64_t> steps_in(const Shape& shape, const Shape& whole) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(whole.rank()), 0);
  std::int64_t step = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] != 1) steps[static_cast<std::size_t>(d + whole.rank() - shape.rank())] = step;
    step *= shape[d];
  }
  return steps;
}

Shape broadcast(const Shape& a, const Shape& b, const std::string& metric) {
  Shape whole = a.rank() >= b.rank() ? a : b;
  const Shape& other = a.rank() >= b.rank() ? b : a;
  for (int d = 0; d < other.rank(); ++d) {
    std::int64_t& dim = whole[whole.rank() - 1 - d];
    const std::int64_t with = other[other.rank() - 1 - d];
    check(dim == with || dim == 1 || with == 1, ErrorKind::kShape,
          "metric '{}': labels of shape {} and an output of shape {} do not broadcast", metric,
          a.str(), b.str());
    if (dim == 1) dim = with;
  }
  return whole;
}

class ErrorMetric : public EvalMetric {
 public:
  using Term = double (*)(double difference);
  using Finish = double (*)(double mean);
  ErrorMetric(const char* own_name, Term term, Finish finish, MetricOptions options)
      : EvalMetric(own_name, std::move(options)), term_(term), finish_(finish) {}

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      const Shape label_shape = as_column(labels[i].shape());
      const Shape pred_shape = as_column(preds[i].shape());
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_, [&](const auto* pred) {
          add(finish_(label_shape == pred_shape
                          ? mean(label, pred, preds[i].size())
                          : mean_broadcast(label, label_shape, pred, pred_shape)),
              1);
        });
      });
    }
  }

 private:
  template <class L, class P>
  double mean(const L* label, const P* pred, std::int64_t size) const {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i)
      sum += term_(static_cast<double>(label[i]) - static_cast<double>(pred[i]));
    return sum / static_cast<double>(size);
  }

  template <class L, class P>
  double mean_broadcast(const L* label, const Shape& label_shape, const P* pred,
                        const Shape& pred_shape) const {
    const Shape whole = broadcast(label_shape, pred_shape, name);
    const std::vector<std::int64_t> l = steps_in(label_shape, whole);
    const std::vector<std::int64_t> p = steps_in(pred_shape, whole);
    const std::int64_t size = whole.size();
    double sum = 0;
    for (std::int64_t n = 0; n < size; ++n) {
      std::int64_t rest = n, at_label = 0, at_pred = 0;
      for (int d = whole.rank() - 1; d >= 0; --d) {
        const std::int64_t i = rest % whole[d];
        rest /= whole[d];
        at_label += i * l[static_cast<std::size_t>(d)];
        at_pred += i * p[static_cast<std::size_t>(d)];
      }
      sum += term_(static_cast<double>(label[at_label]) - static_cast<double>(pred[at_pred]));
    }
    return sum / static_cast<double>(size);
  }

  Term term_;
  Finish finish_;
  Scratch label_scratch_, pred_scratch_;
};

double magnitude(double x) { return std::abs(x); }
double square(double x) { return x * x; }
double root(double x) { return std::sqrt(x); }
double same(double x) { return x; }

}  // namespace

MetricPtr make_mae(MetricOptions options) {
  return std::make_shared<ErrorMetric>("mae", &magnitude, &same, std::move(options));
}
MetricPtr make_mse(MetricOptions options) {
  return std::make_shared<ErrorMetric>("mse", &square, &same, std::move(options));
}
MetricPtr make_rmse(MetricOptions options) {
  return std::make_shared<ErrorMetric>("rmse", &square, &root, std::move(options));
}

}  // namespace symbind
