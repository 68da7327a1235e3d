#pragma once
// BucketingModule: networks of several lengths that share parameters and memory.

#include <functional>
#include <map>

#include <symbind/module.h>

namespace symbind {

/// A bucket's network and what its inputs are called.
struct BucketNetwork {
  Symbol symbol;
  std::vector<std::string> data_names = {"data"};
  std::vector<std::string> label_names = {"softmax_label"};
};
/// The network of a bucket. Automatic names restart for each bucket.
using BucketGenerator = std::function<BucketNetwork(std::int64_t key)>;

/// One Module per bucket. All are bound over the default bucket's parameters, gradients and memory,
/// so the default should be the largest; one optimizer serves all.
class BucketingModule : public BaseModule {
 public:
  /// `options` apply to every bucket; their data and label names are ignored.
  BucketingModule(BucketGenerator generator, std::int64_t default_bucket_key,
                  ModuleOptions options = {});

  const Symbol& symbol() const override;
  std::vector<std::string> data_names() const override;
  std::vector<std::string> output_names() const override;
  const Shapes& data_shapes() const override;
  Shapes label_shapes() const override;
  std::vector<std::pair<std::string, Shape>> output_shapes() const override;

  /// Binds the default bucket; others are bound at their first batch.
  void bind(const Shapes& data_shapes, const std::optional<Shapes>& label_shapes = {},
            const ModuleBindOptions& options = {}) override;
  /// Makes `key` the current bucket and binds it first if needed.
  void switch_bucket(std::int64_t key, const Shapes& data_shapes,
                     const std::optional<Shapes>& label_shapes = {});
  void init_params(const InitParamsOptions& options = {}) override;
  void set_params(const NDArrayMap& args, const NDArrayMap& aux,
                  const SetParamsOptions& options = {}) override;
  ModelParams get_params() override;
  void init_optimizer(const InitOptimizerOptions& options = {}) override;
  void prepare(const DataBatch& batch) override;
  void forward(const DataBatch& batch, std::optional<bool> is_train = {}) override;
  void backward(const std::vector<NDArray>& out_grads = {}) override;
  void update() override;
  void step(const DataBatch& batch, EvalMetric& metric) override;
  std::vector<Module*> modules(Which which) override;
  std::shared_ptr<BaseModule> blank_copy() const override;
  std::vector<NDArray> get_outputs() const override;
  std::vector<NDArray> get_input_grads() const override;
  void update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const override;
  void install_monitor(Monitor& monitor) override;
  /// Writes `prefix-%04d.params`, `prefix-<key>-symbol.json` per bucket and `prefix.buckets`.
  void save_checkpoint(const std::string& prefix, int epoch);

  /// The current bucket; kState before bind.
  Module& current() const;
  /// The default bucket, which owns the parameters and the optimizer of all buckets.
  std::int64_t current_key() const { return current_key_; }
  const std::map<std::int64_t, std::unique_ptr<Module>>& buckets() const { return buckets_; }

 private:
  std::unique_ptr<Module> make_module(std::int64_t key) const;
  void switch_to(const DataBatch& batch);

  BucketGenerator generator_;
  std::int64_t default_key_, current_key_;
  ModuleOptions options_;
  GradReqArg grad_req_ = "write";
  std::map<std::int64_t, std::unique_ptr<Module>> buckets_;
  Module* current_ = nullptr;
  Monitor* monitor_ = nullptr;
};

}  // namespace symbind
