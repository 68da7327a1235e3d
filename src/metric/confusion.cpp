// PCC and ConfusionMatrix: counts of true and predicted classes.
//
// Decided here: the matrix grows with the largest class seen and keeps its size over resets, as in
// MXNet. ConfusionMatrix reports the share of correct rows; confusion_counts returns the counts.

#include <algorithm>
#include <cmath>
#include <limits>

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

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
};

/// The multi-class form of the Matthews correlation.
double coefficient(const Confusion& c) {
  const auto size = static_cast<std::size_t>(c.classes);
  std::vector<double> rows(size), columns(size);
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      rows[i] += c.counts[i * size + j];
      columns[j] += c.counts[i * size + j];
      total += c.counts[i * size + j];
    }
  }
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < size; ++i) {
    xx += rows[i] * (total - rows[i]);
    yy += columns[i] * (total - columns[i]);
    xy += c.counts[i * size + i] * total - rows[i] * columns[i];
  }
  if (xx == 0 || yy == 0) return std::numeric_limits<double>::quiet_NaN();
  return xy / std::sqrt(xx * yy);
}

/// The share of correct rows.
double accuracy(const Confusion& c) {
  double right = 0, total = 0;
  for (std::int64_t i = 0; i < c.classes * c.classes; ++i) {
    total += c.counts[static_cast<std::size_t>(i)];
    if (i / c.classes == i % c.classes) right += c.counts[static_cast<std::size_t>(i)];
  }
  return ratio(right, total);
}

class ConfusionMetric : public EvalMetric {
 public:
  using Score = double (*)(const Confusion&);
  ConfusionMetric(const char* own_name, Score score, MetricOptions options)
      : EvalMetric(own_name, std::move(options)), score_(score) {}

  const Confusion& counts() const { return has_global_stats ? global_ : local_; }

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
  double value(const Confusion& c, double instances) const {
    return instances == 0 ? std::numeric_limits<double>::quiet_NaN() : score_(c);
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
            "metric '{}': row {} has label {} and output {}, which are not classes", name, n,
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
  Score score_;
  Confusion local_, global_;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_pcc(MetricOptions options) {
  return std::make_shared<ConfusionMetric>("pcc", &coefficient, std::move(options));
}
MetricPtr make_confusion_matrix(MetricOptions options) {
  return std::make_shared<ConfusionMetric>("confusion-matrix", &accuracy, std::move(options));
}

NDArray confusion_counts(const EvalMetric& metric) {
  const auto* confusion = dynamic_cast<const ConfusionMetric*>(&metric);
  check(confusion != nullptr, ErrorKind::kType,
        "metric '{}' has no confusion matrix; 'confusion_matrix' and 'pcc' have one", metric.name);
  const Confusion& c = confusion->counts();
  std::vector<double> by_label(c.counts.size());
  for (std::int64_t found = 0; found < c.classes; ++found) {
    for (std::int64_t wanted = 0; wanted < c.classes; ++wanted) {
      by_label[static_cast<std::size_t>(wanted * c.classes + found)] =
          c.counts[static_cast<std::size_t>(found * c.classes + wanted)];
    }
  }
  return NDArray::from_vector(by_label, {c.classes, c.classes}, cpu());
}

}  // namespace symbind
