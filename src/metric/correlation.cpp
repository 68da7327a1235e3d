// PearsonCorrelation.
//
// Decided here, as in MXNet: a "micro" Pearson keeps running means and sums of products (Welford),
// which reset_local does not change; its global value is always 0.

#include <algorithm>
#include <cmath>
#include <limits>

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

/// Running mean and sum of squared distances of one side.
struct Running {
  double count = 0, mean = 0, squares = 0;

  template <class T>
  void add(const T* values, std::int64_t size) {
    count += static_cast<double>(size);
    double shift = 0;
    for (std::int64_t i = 0; i < size; ++i)
      shift += (static_cast<double>(values[i]) - mean) / count;
    const double before = mean;
    mean += shift;
    for (std::int64_t i = 0; i < size; ++i)
      squares +=
          (static_cast<double>(values[i]) - before) * (static_cast<double>(values[i]) - mean);
  }
};

template <class A, class B>
double correlation(const A* a, const B* b, std::int64_t size) {
  double mean_a = 0, mean_b = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    mean_a += static_cast<double>(a[i]);
    mean_b += static_cast<double>(b[i]);
  }
  mean_a /= static_cast<double>(size);
  mean_b /= static_cast<double>(size);
  double aa = 0, bb = 0, ab = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double x = static_cast<double>(a[i]) - mean_a, y = static_cast<double>(b[i]) - mean_b;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return std::clamp(ab / std::sqrt(aa) / std::sqrt(bb), -1.0, 1.0);
}

class PearsonMetric : public EvalMetric {
 public:
  explicit PearsonMetric(MetricOptions options) : EvalMetric("pearsonr", std::move(options)) {}

  void describe(AttrVisitor& v) override {
    v.field("average", average_, "Whether batches or instances are averaged over.")
        .choices({"macro", "micro"});
  }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      check_same(labels[i].shape().str(), preds[i].shape().str(), name);
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_,
                     [&](const auto* pred) { correlate(label, pred, preds[i].size()); });
      });
    }
  }

  std::vector<NameValue> get() const override {
    if (average_ == "macro" || num_inst == 0) return EvalMetric::get();
    const double n = label_.count - 1;
    return {
        {name, ratio(product_, n * std::sqrt(pred_.squares / n) * std::sqrt(label_.squares / n))}};
  }
  void reset() override {
    EvalMetric::reset();
    label_ = pred_ = {};
    product_ = 0;
  }

  std::vector<double> state() const override {
    return {label_.count, label_.mean,   label_.squares, pred_.count,
            pred_.mean,   pred_.squares, product_};
  }
  void set_state(const std::vector<double>& n) override {
    check(n.size() == 7, "the state of metric '{}' is 7 numbers, not {}", name, n.size());
    label_ = {n[0], n[1], n[2]};
    pred_ = {n[3], n[4], n[5]};
    product_ = n[6];
  }

 private:
  template <class L, class P>
  void correlate(const L* label, const P* pred, std::int64_t size) {
    if (average_ == "macro") return add(correlation(pred, label, size), 1);
    num_inst += 1;
    global_num_inst += 1;
    label_.add(label, size);
    for (std::int64_t i = 0; i < size; ++i)
      product_ += (static_cast<double>(label[i]) - label_.mean) *
                  (static_cast<double>(pred[i]) - pred_.mean);
    pred_.add(pred, size);
  }

  std::string average_ = "macro";
  Running label_, pred_;
  double product_ = 0;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_pearson(MetricOptions options) {
  return std::make_shared<PearsonMetric>(std::move(options));
}

}  // namespace symbind
