// F1 and MCC: scores of a two-class problem, from the four counts of right and wrong.
//
// Decided here, as in MXNet: "macro" scores each batch on its own counts and averages the scores;
// "micro" scores the counts of all batches. Class 1 is the positive one.

#include <array>
#include <cmath>

#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

struct Counts {
  double true_pos = 0, false_pos = 0, false_neg = 0, true_neg = 0;
  double total() const { return true_pos + false_pos + false_neg + true_neg; }
};

double f_score(const Counts& c) {
  const double found = c.true_pos + c.false_pos, real = c.true_pos + c.false_neg;
  const double precision = found > 0 ? c.true_pos / found : 0;
  const double recall = real > 0 ? c.true_pos / real : 0;
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

/// Factors of 0 in the denominator are skipped.
double matthews(const Counts& c) {
  if (c.total() == 0) return 0;
  double denominator = 1;
  for (const double term : {c.true_pos + c.false_pos, c.true_pos + c.false_neg,
                            c.true_neg + c.false_pos, c.true_neg + c.false_neg})
    if (term != 0) denominator *= term;
  return (c.true_pos * c.true_neg - c.false_pos * c.false_neg) / std::sqrt(denominator);
}

class BinaryMetric : public EvalMetric {
 public:
  using Score = double (*)(const Counts&);
  BinaryMetric(const char* own_name, Score score, MetricOptions options)
      : EvalMetric(own_name, std::move(options)), score_(score) {}

  void describe(AttrVisitor& v) override {
    v.field("average", average_, "Whether batches or instances are averaged over.")
        .choices({"macro", "micro"});
  }

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < preds.size(); ++i) {
      check(preds[i].ndim() == 2 && preds[i].shape()[1] > 0, ErrorKind::kValue,
            "metric '{}' expects one output row per example, but got an output of shape {}", name,
            preds[i].shape().str());
      check_same(labels[i].size(), preds[i].shape()[0], name);
      with_numbers(labels[i], label_scratch_, [&](const auto* label) {
        with_numbers(preds[i], pred_scratch_,
                     [&](const auto* pred) { count(preds[i].shape(), label, pred); });
      });
    }
    if (average_ == "macro") {
      add(score_(local_), 1);
      local_ = global_ = {};
    } else {
      num_inst = local_.total();
      sum_metric = score_(local_) * num_inst;
      global_num_inst = global_.total();
      global_sum_metric = score_(global_) * global_num_inst;
    }
  }

  void reset() override {
    EvalMetric::reset();
    local_ = global_ = {};
  }
  void reset_local() override {
    EvalMetric::reset_local();
    local_ = {};
  }

  std::vector<double> state() const override {
    std::vector<double> all;
    for (const Counts& c : {local_, global_})
      all.insert(all.end(), {c.true_pos, c.false_pos, c.false_neg, c.true_neg});
    return all;
  }
  void set_state(const std::vector<double>& n) override {
    check(n.size() == 8, "the state of metric '{}' is 8 numbers, not {}", name, n.size());
    local_ = {n[0], n[1], n[2], n[3]};
    global_ = {n[4], n[5], n[6], n[7]};
  }

 private:
  template <class L, class P>
  void count(const Shape& shape, const L* label, const P* pred) {
    Counts c;
    std::array<std::int64_t, 2> seen = {};
    std::size_t kinds = 0;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      const std::int64_t wanted = class_of(label[n]);
      bool known = false;
      for (std::size_t k = 0; k < kinds; ++k) known |= seen[k] == wanted;
      if (!known) {
        check(kinds < seen.size(), ErrorKind::kValue,
              "metric '{}' currently only supports binary classification. Labels {}, {} and {} "
              "were given; 'pcc' takes more classes",
              name, seen[0], seen[1], wanted);
        seen[kinds++] = wanted;
      }
      const bool found = argmax(pred + n * shape[1], shape[1], 1) == 1;
      (found ? (wanted == 1 ? c.true_pos : c.false_pos)
             : (wanted == 1 ? c.false_neg : c.true_neg)) += 1;
    }
    for (Counts* into : {&local_, &global_}) {
      into->true_pos += c.true_pos;
      into->false_pos += c.false_pos;
      into->false_neg += c.false_neg;
      into->true_neg += c.true_neg;
    }
  }

  Score score_;
  std::string average_ = "macro";
  Counts local_, global_;
  Scratch label_scratch_, pred_scratch_;
};

}  // namespace

MetricPtr make_f1(MetricOptions options) {
  return std::make_shared<BinaryMetric>("f1", &f_score, std::move(options));
}
MetricPtr make_mcc(MetricOptions options) {
  return std::make_shared<BinaryMetric>("mcc", &matthews, std::move(options));
}

}  // namespace symbind
