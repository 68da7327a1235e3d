// What all metrics share: names, the two pairs of sums, and picking arrays by name.

#include <symbind/metric.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/nearest.h"
#include "metric/numbers.h"

namespace symbind {
namespace {

/// The arrays that `names` picks, in the order of `names`.
const std::vector<NDArray>& pick(const NamedArrays& from, const std::optional<NameList>& names,
                                 std::vector<NDArray>& picked, const std::string& metric,
                                 const char* what) {
  if (!names) return from.arrays;
  picked.clear();
  for (const std::string& name : *names) {
    const auto at = std::find(from.names.begin(), from.names.end(), name);
    if (at == from.names.end())
      fail(ErrorKind::kName, "metric '{}' needs {} '{}', but there is {}; {}", metric, what, name,
           fmt::join(from.names, ", "), nearest_hint(name, from.names));
    picked.push_back(from.arrays[static_cast<std::size_t>(at - from.names.begin())]);
  }
  return picked;
}

std::string listed(const NamedArrays* named, std::size_t count) {
  if (named != nullptr && named->names.size() == named->arrays.size() && !named->names.empty())
    return fmt::format("{}", fmt::join(named->names, ", "));
  return count == 0 ? "none" : std::to_string(count);
}

/// The arrays of `from` whose names are in `names`, in the order of `from`; all without `names`.
const NamedArrays& keep(const NamedArrays& from, const std::optional<NameList>& names,
                        NamedArrays& kept) {
  if (!names) return from;
  kept.names.clear();
  kept.arrays.clear();
  for (std::size_t i = 0; i < from.names.size(); ++i) {
    if (std::find(names->begin(), names->end(), from.names[i]) == names->end()) continue;
    kept.names.push_back(from.names[i]);
    kept.arrays.push_back(from.arrays[i]);
  }
  return kept;
}

}  // namespace

EvalMetric::EvalMetric(std::string own_name, MetricOptions options, bool global)
    : name(options.name.empty() ? std::move(own_name) : std::move(options.name)),
      output_names(std::move(options.output_names)),
      label_names(std::move(options.label_names)),
      has_global_stats(global) {}

EvalMetric::~EvalMetric() = default;

void EvalMetric::update_dict(const NamedArrays& labels, const NamedArrays& preds) {
  dict_labels_ = &labels;
  dict_preds_ = &preds;
  struct Forget {
    EvalMetric& metric;
    ~Forget() { metric.dict_labels_ = metric.dict_preds_ = nullptr; }
  } const forget{*this};
  update(pick(labels, label_names, picked_labels_, name, "label"),
         pick(preds, output_names, picked_preds_, name, "output"));
  picked_labels_.clear();  // hold no arrays between batches
  picked_preds_.clear();
}

void EvalMetric::reset() {
  sum_metric = num_inst = 0;
  global_sum_metric = global_num_inst = 0;
}

void EvalMetric::reset_local() { sum_metric = num_inst = 0; }

std::vector<NameValue> EvalMetric::get() const { return {{name, ratio(sum_metric, num_inst)}}; }

std::vector<NameValue> EvalMetric::get_global() const {
  if (!has_global_stats) return get();
  return {{name, ratio(global_sum_metric, global_num_inst)}};
}

void EvalMetric::describe(AttrVisitor&) {}
void EvalMetric::configured() {}
std::vector<double> EvalMetric::state() const { return {}; }
void EvalMetric::set_state(const std::vector<double>&) {}

void EvalMetric::set_options(const AttrDict& given) {
  AttrVisitor visitor;
  describe(visitor);
  for (AttrField& field : visitor.fields()) field.is_required = false;  // omitted parameters stay
  parse_attrs(visitor.fields(), given, "metric '" + name + "'");
  configured();
}

void EvalMetric::add(double sum, double instances) {
  sum_metric += sum;
  global_sum_metric += sum;
  num_inst += instances;
  global_num_inst += instances;
}

void EvalMetric::check_counts(std::size_t labels, std::size_t preds, ErrorKind kind) const {
  if (labels == preds) [[likely]]
    return;
  fail(
      kind,
      "Shape of labels {} does not match shape of predictions {}: metric '{}' compares each output "
      "with a label; outputs: {}; labels found: {}. Give the data iterator the missing labels, "
      "name "
      "the arrays to compare with output_names and label_names, or use a metric without labels "
      "such as 'loss'",
      labels, preds, name, listed(dict_preds_, preds), listed(dict_labels_, labels));
}

CompositeEvalMetric::CompositeEvalMetric(std::vector<MetricPtr> children, MetricOptions options)
    : EvalMetric("composite", std::move(options)), metrics(std::move(children)) {}

void CompositeEvalMetric::update(const std::vector<NDArray>& labels,
                                 const std::vector<NDArray>& preds) {
  for (const MetricPtr& metric : metrics) metric->update(labels, preds);
}

void CompositeEvalMetric::update_dict(const NamedArrays& labels, const NamedArrays& preds) {
  const NamedArrays& kept_labels = keep(labels, label_names, kept_labels_);
  const NamedArrays& kept_preds = keep(preds, output_names, kept_preds_);
  for (const MetricPtr& metric : metrics) metric->update_dict(kept_labels, kept_preds);
  kept_labels_.arrays.clear();
  kept_preds_.arrays.clear();
}

void CompositeEvalMetric::reset() {
  for (const MetricPtr& metric : metrics) metric->reset();
}

void CompositeEvalMetric::reset_local() {
  for (const MetricPtr& metric : metrics) metric->reset_local();
}

std::vector<NameValue> CompositeEvalMetric::get() const {
  std::vector<NameValue> all;
  for (const MetricPtr& metric : metrics)
    for (NameValue& value : metric->get()) all.push_back(std::move(value));
  return all;
}

std::vector<NameValue> CompositeEvalMetric::get_global() const {
  std::vector<NameValue> all;
  for (const MetricPtr& metric : metrics)
    for (NameValue& value : metric->get_global()) all.push_back(std::move(value));
  return all;
}

AroundAxis around_axis(const Shape& shape, int axis, const std::string& metric) {
  const int at = axis < 0 ? axis + shape.rank() : axis;
  check(at >= 0 && at < shape.rank() && shape[at] > 0, ErrorKind::kValue,
        "metric '{}' uses axis {} of an output of shape {}", metric, axis, shape.str());
  AroundAxis around;
  for (int d = 0; d < at; ++d) around.outer *= shape[d];
  around.length = shape[at];
  for (int d = at + 1; d < shape.rank(); ++d) around.inner *= shape[d];
  return around;
}

}  // namespace symbind
