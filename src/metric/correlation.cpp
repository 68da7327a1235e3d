// PearsonCorrelation and PCC.
//
// Decided here, as in MXNet: a "micro" Pearson keeps running means and sums of products (Welford),
// which reset_local leaves alone, and has no global value but 0. PCC's confusion matrix grows with
// the largest class seen and keeps its size over resets.

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

/// Counts of (output, label) pairs.
struct Confusion {
  std::int64_t classes = 2;
  std::vector<double> counts = std::vector<double>(4);

  void grow(std::int64_t to) {
    Confusion larger{to, std::vector<double>(static_cast<std::size_t>(to * to))};
    for (std::int64_t i = 0; i < classes; ++i)
      std::copy_n(counts.begin() + i * classes, classes, larger.counts.begin() + i * to);
    *this = std::move(larger);
  }
  double coefficient() const {
    const auto size = static_cast<std::size_t>(classes);
    std::vector<double> rows(size), columns(size);
    double total = 0;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        rows[i] += counts[i * size + j];
        columns[j] += counts[i * size + j];
        total += counts[i * size + j];
      }
    }
    double xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < size; ++i) {
      xx += rows[i] * (total - rows[i]);
      yy += columns[i] * (total - columns[i]);
      xy += counts[i * size + i] * total - rows[i] * columns[i];
    }
    if (xx == 0 || yy == 0) return std::numeric_limits<double>::quiet_NaN();
    return xy / std::sqrt(xx * yy);
  }
};

class PccMetric : public EvalMetric {
 public:
  explicit PccMetric(MetricOptions options) : EvalMetric("pcc", std::move(options)) {}

  void describe(AttrVisitor& v) override {
    v.field("has_global_stats", has_global_stats, "Whether get_global differs from get.");
  }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_, [&](const auto* pred) {
          count(labels[i].shape(), label, preds[i].shape(), pred);
        });
      });
    }
    num_inst += 1;
    global_num_inst += 1;
  }

  std::vector<NameValue> get() const override { return {{name, value(local_, num_inst)}}; }
  std::vector<NameValue> get_global() const override {
    if (!has_global_stats) return get();
    return {{name, value(global_, global_num_inst)}};
  }
  void reset() override {
    EvalMetric::reset();
    std::ranges::fill(local_.counts, 0.0);
    std::ranges::fill(global_.counts, 0.0);
  }
  void reset_local() override {
    EvalMetric::reset_local();
    std::ranges::fill(local_.counts, 0.0);
  }

  std::vector<double> state() const override {
    std::vector<double> all = local_.counts;
    all.insert(all.end(), global_.counts.begin(), global_.counts.end());
    return all;
  }
  void set_state(const std::vector<double>& n) override {
    const auto classes = static_cast<std::int64_t>(std::lround(std::sqrt(n.size() / 2.0)));
    const auto half = static_cast<std::size_t>(classes * classes);
    check(classes >= 1 && 2 * half == n.size(),
          "the state of metric '{}' is two square matrices, not {} numbers", name, n.size());
    local_ = {classes, {n.begin(), n.begin() + static_cast<std::ptrdiff_t>(half)}};
    global_ = {classes, {n.begin() + static_cast<std::ptrdiff_t>(half), n.end()}};
  }

 private:
  static double value(const Confusion& c, double instances) {
    return instances == 0 ? std::numeric_limits<double>::quiet_NaN() : c.coefficient();
  }

  template <class L, class P>
  void count(const Shape& label_shape, const L* label, const Shape& pred_shape, const P* pred) {
    const bool classes = label_shape == pred_shape;
    const AroundAxis a =
        classes ? AroundAxis{pred_shape.size(), 1, 1} : around_axis(pred_shape, 1, name);
    const std::int64_t rows = a.outer * a.inner;
    check_same(label_shape.size(), rows, name);
    for (std::int64_t n = 0; n < rows; ++n) {
      const P* row = pred + n / a.inner * a.length * a.inner + n % a.inner;
      const std::int64_t found = classes ? class_of(row[0]) : argmax(row, a.length, a.inner);
      const std::int64_t wanted = class_of(label[n]);
      check(found >= 0 && wanted >= 0 && std::max(found, wanted) < kMaxClasses, ErrorKind::kIndex,
            "metric '{}': row {} has label {} and output {}, which are no classes", name, n,
            static_cast<double>(label[n]), found);
      if (std::max(found, wanted) >= local_.classes) {
        local_.grow(std::max(found, wanted) + 1);
        global_.grow(std::max(found, wanted) + 1);
      }
      const auto at = static_cast<std::size_t>(found * local_.classes + wanted);
      local_.counts[at] += 1;
      global_.counts[at] += 1;
    }
  }

  static constexpr std::int64_t kMaxClasses = 30000;
  Confusion local_, global_;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_pearson(MetricOptions options) {
  return std::make_shared<PearsonMetric>(std::move(options));
}
MetricPtr make_pcc(MetricOptions options) {
  return std::make_shared<PccMetric>(std::move(options));
}

}  // namespace symbind
