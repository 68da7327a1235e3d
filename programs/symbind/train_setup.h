#pragma once
// From a config to network, data, metric and optimizer.

#include <memory>
#include <vector>

#include <symbind/initializer.h>
#include <symbind/metric.h>
#include <symbind/optimizer.h>

#include "config.h"
#include "data.h"

namespace symbind::program {

/// Everything a training needs, read and checked.
struct Prepared {
  Config config;
  Symbol symbol;
  Examples train, validation;
  std::unique_ptr<DataIter> train_iter, validation_iter;
  MetricPtr metric, validation_metric;
  InitializerPtr initializer;
  OptimizerParams optimizer;
  std::vector<Context> devices;
  std::int64_t batch_size = 0, batches = 0;
};

/// Reads and checks all of it; nothing is written.
Prepared prepare(Config config);

}  // namespace symbind::program
