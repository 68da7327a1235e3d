#pragma once
// SequentialModule: modules in a row; FunctionLossModule: a loss given as a function.

#include <functional>

#include <symbind/module.h>

namespace symbind {

struct ChainOptions {
  bool take_labels = false;  ///< gets the labels of the batch
  bool auto_wiring = false;  ///< rename the previous outputs to its data names
};

/// A chain of modules that trains as one: outputs go forward, input gradients go back.
class SequentialModule : public BaseModule {
 public:
  /// Appends a module; bind and initialise again afterwards.
  SequentialModule& add(std::shared_ptr<BaseModule> module, const ChainOptions& options = {});

  /// The last module's network.
  const Symbol& symbol() const override;
  std::vector<std::string> data_names() const override;
  std::vector<std::string> output_names() const override;
  const Shapes& data_shapes() const override;
  Shapes label_shapes() const override;
  std::vector<std::pair<std::string, Shape>> output_shapes() const override;
  void bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes = {},
            const ModuleBindOptions& options = {}) override;
  void init_params(const InitParamsOptions& options = {}) override;
  ModelParams get_params() override;
  void init_optimizer(const InitOptimizerOptions& options = {}) override;
  void forward(const DataBatch& batch, std::optional<bool> is_train = {}) override;
  void backward(const std::vector<NDArray>& out_grads = {}) override;
  void update() override;
  std::vector<Module*> modules(Which which) override;
  std::shared_ptr<BaseModule> blank_copy() const override;
  std::vector<NDArray> get_outputs() const override;
  std::vector<NDArray> get_input_grads() const override;
  void update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const override;
  void install_monitor(Monitor& monitor) override;

 private:
  struct Link {
    std::shared_ptr<BaseModule> module;
    ChainOptions options;
  };
  void check_links() const;
  std::vector<Link> links_;
  Shapes label_shapes_;
};

/// The gradient of the scores, from scores and labels.
using LossGradient = std::function<NDArray(const NDArray& scores, const NDArray& labels)>;

/// A loss without parameters at the end of a chain: passes the scores through and returns their
/// gradient.
class FunctionLossModule : public BaseModule {
 public:
  explicit FunctionLossModule(LossGradient gradient, std::string name = "pyloss",
                              std::string data_name = "data",
                              std::string label_name = "softmax_label");

  const Symbol& symbol() const override { return symbol_; }
  std::vector<std::string> data_names() const override { return {data_name_}; }
  std::vector<std::string> output_names() const override { return {name_ + "_output"}; }
  const Shapes& data_shapes() const override { return data_shapes_; }
  Shapes label_shapes() const override { return label_shapes_; }
  std::vector<std::pair<std::string, Shape>> output_shapes() const override;
  void bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes = {},
            const ModuleBindOptions& options = {}) override;
  void init_params(const InitParamsOptions& = {}) override { params_initialized_ = true; }
  ModelParams get_params() override { return {}; }
  void init_optimizer(const InitOptimizerOptions& = {}) override { optimizer_initialized_ = true; }
  void forward(const DataBatch& batch, std::optional<bool> is_train = {}) override;
  void backward(const std::vector<NDArray>& out_grads = {}) override;
  void update() override {}
  std::shared_ptr<BaseModule> blank_copy() const override;
  std::vector<NDArray> get_outputs() const override { return {scores_}; }
  std::vector<NDArray> get_input_grads() const override { return {gradient_}; }
  void update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const override;
  /// There is no executor to monitor.
  void install_monitor(Monitor&) override {}

 private:
  LossGradient compute_;
  std::string name_, data_name_, label_name_;
  Symbol symbol_;
  Shapes data_shapes_, label_shapes_;
  NDArray scores_, labels_, gradient_;
};

}  // namespace symbind
