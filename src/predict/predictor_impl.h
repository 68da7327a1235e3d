#pragma once
// A call of a Predictor, from its inputs to its outputs; the C interface runs one step by step.

#include <optional>

#include "predict/executor_pool.h"

namespace symbind {

class Predictor::Impl {
 public:
  Impl(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux,
       const PredictorOptions& options);

  const Network& network() const { return network_; }
  int threads() const { return threads_; }
  PredictorStats stats() const;
  std::shared_ptr<PlanEntry> planned(const Signature& signature) const;
  /// By input, in the network's order; undefined where a label was not given.
  using Inputs = std::vector<InputArray>;
  Inputs in_order(const InputMap& given) const;
  Inputs in_order(const std::vector<InputArray>& given) const;

 private:
  friend class PredictorRun;
  Network network_;
  int threads_;
  mutable PlanCache plans_;
  mutable ExecutorPool pool_;
};

/// One call, which holds its working memory for its lifetime.
class PredictorRun {
 public:
  PredictorRun(const Predictor::Impl& predictor, const Predictor::Impl::Inputs& inputs);
  std::size_t num_steps() const { return num_steps_; }
  void run(std::size_t first, std::size_t last);
  /// Call after all steps have run.
  std::vector<NDArray> outputs() && { return std::move(outputs_); }

 private:
  std::shared_ptr<PlanEntry> entry_;
  int threads_;
  std::optional<ExecutorPool::Lease> lease_;
  std::vector<NDArray> outputs_;
  std::size_t num_steps_;
};

}  // namespace symbind
