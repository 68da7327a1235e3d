#pragma once
// Metrics: what training and evaluation report about outputs and labels.
//
// A metric sums over batches. The local sums are what callbacks print and reset in between; the
// global ones run over the whole epoch. Arrays are read in place; a metric allocates nothing after
// its first batch. A metric is shared (MetricPtr) and not copied.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/ndarray.h>

namespace symbind {

class EvalMetric;
using MetricPtr = std::shared_ptr<EvalMetric>;
using NameList = std::vector<std::string>;

/// Options of every metric.
struct MetricOptions {
  std::string name = {};                      ///< the name shown; empty: the metric's own
  std::optional<NameList> output_names = {};  ///< outputs update_dict picks; all unless given
  std::optional<NameList> label_names = {};   ///< labels update_dict picks; all unless given
};

/// A value under the name it is shown by.
using NameValue = std::pair<std::string, double>;

class EvalMetric {
 public:
  explicit EvalMetric(std::string name, MetricOptions options = {}, bool has_global_stats = true);
  virtual ~EvalMetric();
  EvalMetric(const EvalMetric&) = delete;
  EvalMetric& operator=(const EvalMetric&) = delete;

  /// Adds a batch: labels and outputs in pairs.
  virtual void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) = 0;
  /// The same by name; output_names and label_names select.
  virtual void update_dict(const NamedArrays& labels, const NamedArrays& preds);
  /// Clears all sums.
  virtual void reset();
  /// Clears the local sums; the global ones stay.
  virtual void reset_local();
  /// Name and value since reset_local; NaN when there was no instance.
  virtual std::vector<NameValue> get() const;
  /// Name and value since reset.
  virtual std::vector<NameValue> get_global() const;

  /// Names the parameters (axis, top_k, …) for create_metric and set_option.
  virtual void describe(AttrVisitor& visitor);
  /// Called after a change of parameters: checks them.
  virtual void configured();
  /// State beyond the four sums, as numbers: for copies and files.
  virtual std::vector<double> state() const;
  virtual void set_state(const std::vector<double>& numbers);

  /// Changes a parameter; unknown names and bad values throw.
  void set_options(const AttrDict& given);

  std::string name;                      ///< as shown
  std::optional<NameList> output_names;  ///< see MetricOptions
  std::optional<NameList> label_names;   ///< see MetricOptions
  double sum_metric = 0;                 ///< since reset_local
  double num_inst = 0;                   ///< since reset_local
  double global_sum_metric = 0;          ///< since reset
  double global_num_inst = 0;            ///< since reset
  bool has_global_stats = true;          ///< false: get_global is get

 protected:
  /// Adds to the local and the global sums.
  void add(double sum, double instances);
  /// Throws unless there is a label for each output; says which arrays were found.
  void check_counts(std::size_t labels, std::size_t preds,
                    ErrorKind kind = ErrorKind::kValue) const;

 private:
  const NamedArrays* dict_labels_ = nullptr;  // while update_dict runs: names for messages
  const NamedArrays* dict_preds_ = nullptr;
  std::vector<NDArray> picked_labels_, picked_preds_;
};

/// Several metrics as one; get lists the values of all, in order.
class CompositeEvalMetric : public EvalMetric {
 public:
  explicit CompositeEvalMetric(std::vector<MetricPtr> children = {}, MetricOptions options = {});
  void add(MetricPtr metric) { metrics.push_back(std::move(metric)); }
  void update(const std::vector<NDArray>& labels, const std::vector<NDArray>& preds) override;
  void update_dict(const NamedArrays& labels, const NamedArrays& preds) override;
  void reset() override;
  void reset_local() override;
  std::vector<NameValue> get() const override;
  std::vector<NameValue> get_global() const override;

  std::vector<MetricPtr> metrics;

 private:
  NamedArrays kept_labels_, kept_preds_;
};

/// The share of rows whose largest output is at the label; outputs of the labels' shape are taken
/// as classes.
MetricPtr Accuracy(int axis = 1, MetricOptions options = {});
/// The share of rows whose label is among the `top_k` largest outputs.
MetricPtr TopKAccuracy(int top_k, MetricOptions options = {});
/// F1 of a two-class problem: "macro" averages over batches, "micro" counts over all of them.
MetricPtr F1(const std::string& average = "macro", MetricOptions options = {});
/// Matthews correlation of a two-class problem.
MetricPtr MCC(const std::string& average = "macro", MetricOptions options = {});
/// exp of the mean negative log probability of the labels; probabilities below 1e-10 count as
/// 1e-10.
MetricPtr Perplexity(std::optional<int> ignore_label, int axis = -1, MetricOptions options = {});
/// Mean absolute error, averaged over batches.
MetricPtr MAE(MetricOptions options = {});
/// Mean squared error, averaged over batches.
MetricPtr MSE(MetricOptions options = {});
/// Root of the mean squared error of each batch, averaged over batches.
MetricPtr RMSE(MetricOptions options = {});
/// Mean of -log(p[label] + eps).
MetricPtr CrossEntropy(double eps = 1e-12, MetricOptions options = {});
/// The same number as CrossEntropy under another name.
MetricPtr NegativeLogLikelihood(double eps = 1e-12, MetricOptions options = {});
/// Pearson correlation of outputs and labels.
MetricPtr PearsonCorrelation(const std::string& average = "macro", MetricOptions options = {});
/// The multi-class form of MCC, from a confusion matrix that grows as classes appear.
MetricPtr PCC(MetricOptions options = {});
/// The share of correct rows; confusion_counts returns the full matrix.
MetricPtr ConfusionMatrix(MetricOptions options = {});
/// How often each class (row) was predicted as each class (column) since reset, in float64; kType
/// for a metric without such counts.
NDArray confusion_counts(const EvalMetric& metric);
/// The area under the ROC curve of two classes, exact: a tie counts half. Outputs are scores of
/// class 1, (n,) or (n, 1), or probabilities of both, (n, 2).
MetricPtr AUC(MetricOptions options = {});
/// The mean of the outputs; labels are ignored.
MetricPtr Loss(MetricOptions options = {});

/// A value computed by the user for one label and one output, or (sum, instances) as a pair.
using MetricFunction = std::function<double(const NDArray& label, const NDArray& pred)>;
using MetricSumFunction =
    std::function<std::pair<double, double>(const NDArray& label, const NDArray& pred)>;
/// A metric of a function; its values are averaged over batches.
MetricPtr make_metric(MetricFunction function, const std::string& name,
                      bool allow_extra_outputs = false);
/// A metric of a function that returns a sum and its number of instances.
MetricPtr make_sum_metric(MetricSumFunction function, const std::string& name,
                          bool allow_extra_outputs = false);

/// A parameter's value, kept as the text MXNet would write.
class MetricValue {
 public:
  MetricValue(std::nullptr_t) : text_("None") {}                // NOLINT
  MetricValue(bool value) : text_(value ? "True" : "False") {}  // NOLINT
  MetricValue(int value) : text_(std::to_string(value)) {}      // NOLINT
  MetricValue(double value);                                    // NOLINT
  MetricValue(const char* value) : text_(value) {}              // NOLINT
  MetricValue(std::string value) : text_(std::move(value)) {}   // NOLINT
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
using MetricParams = std::map<std::string, MetricValue>;

/// A metric by name ("acc", "top_k_accuracy", …); unknown names and parameters throw with the
/// nearest.
MetricPtr create_metric(const std::string& name, const MetricParams& params = {},
                        MetricOptions options = {});
/// Registers a metric under a name; `make` returns one with default parameters.
void register_metric(const std::string& name, std::function<MetricPtr()> make);
/// The names create_metric knows.
NameList list_metrics();

/// What options take as a metric: a name, a metric, several of them, or a function.
class MetricArg {
 public:
  MetricArg(const char* name) : metric_(create_metric(name)) {}         // NOLINT
  MetricArg(const std::string& name) : metric_(create_metric(name)) {}  // NOLINT
  MetricArg(MetricPtr metric) : metric_(std::move(metric)) {}           // NOLINT
  MetricArg(std::initializer_list<MetricArg> metrics);
  MetricArg(const std::vector<std::string>& names);  // NOLINT
  const MetricPtr& metric() const { return metric_; }

 private:
  MetricPtr metric_;
};

}  // namespace symbind
