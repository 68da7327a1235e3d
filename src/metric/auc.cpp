// AUC: the area under the ROC curve of a two-class problem.
//
//   the probability that a row of class 1 has a higher score than one of class 0 (a tie counts ½)
//     = (sum of the ranks of class 1 − P·(P + 1)/2) / (P·N), equal scores sharing their mean rank
//
// Decided here: it is exact, so every score is kept until reset. Where a class is missing, or a
// score is NaN, the value is NaN.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

class AucMetric : public EvalMetric {
 public:
  explicit AucMetric(MetricOptions options) : EvalMetric("auc", std::move(options)) {}

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      const Shape& shape = preds[i].shape();
      const std::int64_t columns = shape.rank() == 2 ? shape[1] : 1;
      check((shape.rank() == 1 || shape.rank() == 2) && (columns == 1 || columns == 2),
            ErrorKind::kValue,
            "metric '{}' takes a score for each row, (n,) or (n, 1), or the probabilities of two "
            "classes, (n, 2), but got an output of shape {}",
            name, shape.str());
      check_same(labels[i].size(), shape[0], name);
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_,
                     [&](const auto* pred) { keep(shape[0], columns, label, pred); });
      });
      num_inst += static_cast<double>(shape[0]);
      global_num_inst += static_cast<double>(shape[0]);
    }
  }

  std::vector<NameValue> get() const override { return {{name, area(local_begin_)}}; }
  std::vector<NameValue> get_global() const override { return {{name, area(0)}}; }
  void reset() override {
    EvalMetric::reset();
    rows_.clear();
    local_begin_ = 0;
  }
  void reset_local() override {
    EvalMetric::reset_local();
    local_begin_ = rows_.size();
  }

  std::vector<double> state() const override {
    std::vector<double> all = {static_cast<double>(local_begin_)};
    for (const Row& row : rows_) all.insert(all.end(), {row.score, row.positive ? 1.0 : 0.0});
    return all;
  }
  void set_state(const std::vector<double>& n) override {
    check(n.size() % 2 == 1 && n[0] >= 0 && n[0] <= static_cast<double>(n.size() / 2),
          "the state of metric '{}' is a count and pairs of numbers, not {} numbers", name,
          n.size());
    rows_.clear();
    for (std::size_t i = 1; i < n.size(); i += 2) rows_.push_back({n[i], n[i + 1] != 0});
    local_begin_ = static_cast<std::size_t>(n[0]);
  }

 private:
  struct Row {
    double score;
    bool positive;
  };

  template <class L, class P>
  void keep(std::int64_t rows, std::int64_t columns, const L* label, const P* pred) {
    for (std::int64_t n = 0; n < rows; ++n)
      check(label[n] == L(0) || label[n] == L(1), ErrorKind::kValue,
            "metric '{}': the label of row {} is {}; the classes are 0 and 1", name, n,
            static_cast<double>(label[n]));
    for (std::int64_t n = 0; n < rows; ++n)
      rows_.push_back({static_cast<double>(pred[n * columns + columns - 1]), label[n] == L(1)});
  }

  double area(std::size_t begin) const {
    std::vector<Row> rows(rows_.begin() + static_cast<std::ptrdiff_t>(begin), rows_.end());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (std::ranges::any_of(rows, [](const Row& r) { return std::isnan(r.score); })) return nan;
    std::ranges::sort(rows, {}, &Row::score);
    double positives = 0, ranks = 0;
    for (std::size_t i = 0, end = 0; i < rows.size(); i = end) {
      double tied_positives = 0;
      for (end = i; end < rows.size() && rows[end].score == rows[i].score; ++end)
        tied_positives += rows[end].positive ? 1 : 0;
      positives += tied_positives;
      ranks += tied_positives * (static_cast<double>(i + 1 + end) / 2);  // mean of i+1 … end
    }
    const double negatives = static_cast<double>(rows.size()) - positives;
    return ratio(ranks - positives * (positives + 1) / 2, positives * negatives);
  }

  std::vector<Row> rows_;
  std::size_t local_begin_ = 0;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_auc(MetricOptions options) {
  return std::make_shared<AucMetric>(std::move(options));
}

}  // namespace symbind
