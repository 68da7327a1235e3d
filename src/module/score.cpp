// score and predict: a pass over an iterator without training.

#include <symbind/module.h>

#include <algorithm>

#include "base/check.h"

namespace symbind {
namespace {

NDArray without_padding(const NDArray& output, int pad) {
  return pad > 0 ? output.slice(0, output.shape()[0] - pad) : output;
}

}  // namespace

std::vector<NameValue> BaseModule::score(DataIter& eval, const MetricArg& metric_arg,
                                         const ScoreOptions& options) {
  check_initialized();
  EvalMetric& metric = *metric_arg.metric();
  if (options.reset) eval.reset();
  metric.reset();
  DataBatch batch;
  int nbatch = 0;
  for (; nbatch != options.num_batch && eval.next(batch); ++nbatch) {
    prepare(batch);
    forward(batch, false);
    update_metric(metric, batch.label);
    options.batch_end_callback(BatchEndParam{options.epoch, nbatch, &metric});
  }
  options.score_end_callback(BatchEndParam{options.epoch, nbatch, &metric});
  return metric.get();
}

std::vector<std::vector<NDArray>> BaseModule::predict_batches(DataIter& eval, int num_batch,
                                                              bool reset) {
  check_initialized();
  if (reset) eval.reset();
  std::vector<std::vector<NDArray>> all;
  DataBatch batch;
  for (int n = 0; n != num_batch && eval.next(batch); ++n) {
    prepare(batch);
    forward(batch, false);
    std::vector<NDArray>& outputs = all.emplace_back();
    for (const NDArray& output : get_outputs())
      outputs.push_back(without_padding(output, batch.pad).copy());
  }
  return all;
}

std::vector<NDArray> BaseModule::predict(DataIter& eval, int num_batch, bool reset) {
  const std::vector<std::vector<NDArray>> batches = predict_batches(eval, num_batch, reset);
  std::vector<NDArray> joined;
  if (batches.empty()) return joined;
  for (std::size_t i = 0; i < batches.front().size(); ++i) {
    std::vector<NDArray> parts;
    for (const std::vector<NDArray>& outputs : batches) {
      check(outputs.size() == batches.front().size(), ErrorKind::kState,
            "Cannot merge batches, as num of outputs is not the same in mini-batches. Maybe "
            "bucketing is used?");
      parts.push_back(outputs[i]);
    }
    joined.push_back(
        parts.size() == 1
            ? parts.front()
            : invoke("Concat", parts, {{"dim", "0"}, {"num_args", std::to_string(parts.size())}})
                  .front());
  }
  return joined;
}

std::vector<NDArray> BaseModule::predict(const NDArray& data) {
  check_initialized();
  DataBatch batch;
  batch.data = {data};
  forward(batch, false);
  return get_outputs();
}

}  // namespace symbind
