// Metrics by name, and those that are a function or a plain sum.

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "metric/kinds.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

class LossMetric : public EvalMetric {
 public:
  LossMetric(const char* own_name, MetricOptions options)
      : EvalMetric(own_name, std::move(options)) {}

  void update(const std::vector<NDArray>&, const std::vector<NDArray>& preds) override {
    for (const NDArray& pred : preds) {
      const double sum = with_numbers(pred, scratch_, [&](const auto* p) {
        double total = 0;
        for (std::int64_t i = 0; i < pred.size(); ++i) total += static_cast<double>(p[i]);
        return total;
      });
      add(sum, static_cast<double>(pred.size()));
    }
  }

 private:
  Scratch scratch_;
};

class FunctionMetric : public EvalMetric {
 public:
  FunctionMetric(MetricSumFunction function, const std::string& own_name, bool allow_extra)
      : EvalMetric(own_name), function_(std::move(function)), allow_extra_(allow_extra) {}

  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override {
    if (!allow_extra_) check_counts(labels.size(), preds.size());
    for (std::size_t i = 0; i < std::min(labels.size(), preds.size()); ++i) {
      const auto [sum, instances] = function_(labels[i], preds[i]);
      add(sum, instances);
    }
  }

 private:
  MetricSumFunction function_;
  bool allow_extra_;
};

MetricPtr make_composite(MetricOptions options) {
  return std::make_shared<CompositeEvalMetric>(std::vector<MetricPtr>{}, std::move(options));
}

struct Entry {
  NameList names;  // lower case; the class name first
  MetricPtr (*make)(MetricOptions);
};

const Entry kMetrics[] = {
    {{"accuracy", "acc"}, &make_accuracy},
    {{"topkaccuracy", "top_k_accuracy", "top_k_acc"}, &make_top_k_accuracy},
    {{"f1"}, &make_f1},
    {{"mcc"}, &make_mcc},
    {{"perplexity"}, &make_perplexity},
    {{"mae"}, &make_mae},
    {{"mse"}, &make_mse},
    {{"rmse"}, &make_rmse},
    {{"crossentropy", "ce"}, &make_cross_entropy},
    {{"negativeloglikelihood", "nll_loss"}, &make_nll_loss},
    {{"pearsoncorrelation", "pearsonr"}, &make_pearson},
    {{"pcc"}, &make_pcc},
    {{"confusionmatrix", "confusion_matrix"}, &make_confusion_matrix},
    {{"auc"}, &make_auc},
    {{"loss"}, &make_loss},
    {{"torch"}, &make_torch},
    {{"caffe"}, &make_caffe},
    {{"compositeevalmetric", "composite"}, &make_composite},
};

struct UserMetrics {
  std::mutex mutex;
  std::map<std::string, std::function<MetricPtr()>> makers;
};
UserMetrics& user_metrics() {
  static UserMetrics metrics;
  return metrics;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

MetricPtr made_by_user(const std::string& name, const MetricOptions& options) {
  std::function<MetricPtr()> make;
  {
    const std::lock_guard lock(user_metrics().mutex);
    const auto found = user_metrics().makers.find(name);
    if (found == user_metrics().makers.end()) return nullptr;
    make = found->second;
  }
  MetricPtr metric = make();
  check(metric != nullptr, "the factory of metric '{}' returned null", name);
  if (!options.name.empty()) metric->name = options.name;
  if (options.output_names) metric->output_names = options.output_names;
  if (options.label_names) metric->label_names = options.label_names;
  return metric;
}

/// A metric of the table, with its parameters.
MetricPtr made(MetricPtr (*make)(MetricOptions), const AttrDict& params, MetricOptions options) {
  MetricPtr metric = make(std::move(options));
  AttrVisitor visitor;
  metric->describe(visitor);
  parse_attrs(visitor.fields(), params, "metric '" + metric->name + "'");
  metric->configured();
  return metric;
}

}  // namespace

MetricPtr make_loss(MetricOptions options) {
  return std::make_shared<LossMetric>("loss", std::move(options));
}
MetricPtr make_torch(MetricOptions options) {
  return std::make_shared<LossMetric>("torch", std::move(options));
}
MetricPtr make_caffe(MetricOptions options) {
  return std::make_shared<LossMetric>("caffe", std::move(options));
}

MetricPtr create_metric(const std::string& name, const MetricParams& params,
                        MetricOptions options) {
  AttrDict texts;
  for (const auto& [key, value] : params) texts[key] = value.text();
  const std::string wanted = lower(name);
  if (MetricPtr metric = made_by_user(wanted, options)) {
    metric->set_options(texts);
    return metric;
  }
  for (const Entry& entry : kMetrics)
    if (std::ranges::find(entry.names, wanted) != entry.names.end())
      return made(entry.make, texts, std::move(options));
  const NameList names = list_metrics();
  fail(ErrorKind::kName, "there is no metric '{}'; {} metrics: {}", name,
       nearest_hint(wanted, names), fmt::join(names, ", "));
}

void register_metric(const std::string& name, std::function<MetricPtr()> make) {
  const std::lock_guard lock(user_metrics().mutex);
  user_metrics().makers[lower(name)] = std::move(make);
}

NameList list_metrics() {
  NameList names;
  for (const Entry& entry : kMetrics)
    names.insert(names.end(), entry.names.begin(), entry.names.end());
  const std::lock_guard lock(user_metrics().mutex);
  for (const auto& [name, make] : user_metrics().makers) names.push_back(name);
  return names;
}

MetricPtr make_sum_metric(MetricSumFunction function, const std::string& name,
                          bool allow_extra_outputs) {
  return std::make_shared<FunctionMetric>(std::move(function), name, allow_extra_outputs);
}

MetricPtr make_metric(MetricFunction function, const std::string& name, bool allow_extra_outputs) {
  return make_sum_metric(
      [call = std::move(function)](const NDArray& label, const NDArray& pred) {
        return std::pair(call(label, pred), 1.0);
      },
      name, allow_extra_outputs);
}

MetricValue::MetricValue(double value) : text_(fmt::format("{}", value)) {}

MetricArg::MetricArg(std::initializer_list<MetricArg> metrics) {
  std::vector<MetricPtr> children;
  for (const MetricArg& metric : metrics) children.push_back(metric.metric());
  metric_ = std::make_shared<CompositeEvalMetric>(std::move(children));
}

MetricArg::MetricArg(const std::vector<std::string>& names) {
  std::vector<MetricPtr> children;
  for (const std::string& name : names) children.push_back(create_metric(name));
  metric_ = std::make_shared<CompositeEvalMetric>(std::move(children));
}

// The public factories: the table's, with parameters.
MetricPtr Accuracy(int axis, MetricOptions options) {
  return made(&make_accuracy, {{"axis", std::to_string(axis)}}, std::move(options));
}
MetricPtr TopKAccuracy(int top_k, MetricOptions options) {
  return made(&make_top_k_accuracy, {{"top_k", std::to_string(top_k)}}, std::move(options));
}
MetricPtr F1(const std::string& average, MetricOptions options) {
  return made(&make_f1, {{"average", average}}, std::move(options));
}
MetricPtr MCC(const std::string& average, MetricOptions options) {
  return made(&make_mcc, {{"average", average}}, std::move(options));
}
MetricPtr Perplexity(std::optional<int> ignore_label, int axis, MetricOptions options) {
  return made(&make_perplexity,
              {{"ignore_label", ignore_label ? std::to_string(*ignore_label) : "None"},
               {"axis", std::to_string(axis)}},
              std::move(options));
}
MetricPtr MAE(MetricOptions options) { return make_mae(std::move(options)); }
MetricPtr MSE(MetricOptions options) { return make_mse(std::move(options)); }
MetricPtr RMSE(MetricOptions options) { return make_rmse(std::move(options)); }
MetricPtr CrossEntropy(double eps, MetricOptions options) {
  return made(&make_cross_entropy, {{"eps", MetricValue(eps).text()}}, std::move(options));
}
MetricPtr NegativeLogLikelihood(double eps, MetricOptions options) {
  return made(&make_nll_loss, {{"eps", MetricValue(eps).text()}}, std::move(options));
}
MetricPtr PearsonCorrelation(const std::string& average, MetricOptions options) {
  return made(&make_pearson, {{"average", average}}, std::move(options));
}
MetricPtr PCC(MetricOptions options) { return make_pcc(std::move(options)); }
MetricPtr ConfusionMatrix(MetricOptions options) {
  return make_confusion_matrix(std::move(options));
}
MetricPtr AUC(MetricOptions options) { return make_auc(std::move(options)); }
MetricPtr Loss(MetricOptions options) { return make_loss(std::move(options)); }

}  // namespace symbind
