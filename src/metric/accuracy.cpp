// Accuracy and TopKAccuracy: how often the label is the most likely class.
//
// Decided here: of equal outputs the first is the largest (argmax), and for the top k those with a
// higher index win, as MXNet's partition does for short rows. A label that is not a class counts as
// wrong, not as an error. One-dimensional outputs of TopKAccuracy are classes.

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

class AccuracyMetric : public EvalMetric {
 public:
  explicit AccuracyMetric(MetricOptions options) : EvalMetric("accuracy", std::move(options)) {}

  void describe(AttrVisitor& v) override { v.field("axis", axis_, "The axis of the classes."); }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_,
                     [&](const auto* pred) { compare(labels[i], label, preds[i], pred); });
      });
    }
  }

 private:
  template <class L, class P>
  void compare(const NDArray& label_array, const L* label, const NDArray& pred_array,
               const P* pred) {
    const bool classes = label_array.shape() == pred_array.shape();
    const AroundAxis a = classes ? AroundAxis{pred_array.size(), 1, 1}
                                 : around_axis(pred_array.shape(), axis_, name);
    const std::int64_t rows = a.outer * a.inner;
    check_same(label_array.size(), rows, name);
    std::int64_t correct = 0;
    for (std::int64_t o = 0; o < a.outer; ++o) {
      const P* row = pred + o * a.length * a.inner;
      for (std::int64_t i = 0; i < a.inner; ++i) {
        const std::int64_t found = classes ? class_of(row[i]) : argmax(row + i, a.length, a.inner);
        correct += found == class_of(label[o * a.inner + i]);
      }
    }
    add(static_cast<double>(correct), static_cast<double>(rows));
  }

  int axis_ = 1;
  Scratch label_scratch_, pred_scratch_;
};

class TopKAccuracyMetric : public EvalMetric {
 public:
  explicit TopKAccuracyMetric(MetricOptions options)
      : EvalMetric("top_k_accuracy", std::move(options)), plain_name_(name) {}

  void describe(AttrVisitor& v) override {
    v.field("top_k", top_k_, "How many of the largest outputs count.");
  }
  void configured() override {
    check(top_k_ > 1, ErrorKind::kState,
          "Please use Accuracy if top_k is no more than 1 (top_k is {})", top_k_);
    name = plain_name_ + "_" + std::to_string(top_k_);
  }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      const Shape& shape = preds[i].shape();
      check(shape.rank() <= 2, ErrorKind::kState,
            "Predictions should be no more than 2 dims, and one of metric '{}' has shape {}", name,
            shape.str());
      check(shape.rank() == 1 || (shape.rank() == 2 && shape[1] > 0), ErrorKind::kValue,
            "metric '{}' takes a row of outputs or a class for each instance, but got an output of "
            "shape {}",
            name, shape.str());
      check_same(labels[i].size(), shape[0], name);
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_, [&](const auto* pred) { count(shape, label, pred); });
      });
    }
  }

 private:
  template <class L, class P>
  void count(const Shape& shape, const L* label, const P* pred) {
    const std::int64_t classes = shape.rank() == 2 ? shape[1] : 0;
    std::int64_t correct = 0;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      const std::int64_t wanted = class_of(label[n]);
      if (classes == 0) {
        correct += class_of(pred[n]) == wanted;
      } else if (wanted >= 0 && wanted < classes) {
        const P* row = pred + n * classes;
        std::int64_t ahead = 0;
        for (std::int64_t c = 0; c < classes; ++c)
          ahead += row[c] > row[wanted] || (row[c] == row[wanted] && c > wanted);
        correct += ahead < top_k_;
      }
    }
    add(static_cast<double>(correct), static_cast<double>(shape[0]));
  }

  std::string plain_name_;
  int top_k_ = 1;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_accuracy(MetricOptions options) {
  return std::make_shared<AccuracyMetric>(std::move(options));
}
MetricPtr make_top_k_accuracy(MetricOptions options) {
  return std::make_shared<TopKAccuracyMetric>(std::move(options));
}

}  // namespace symbind
