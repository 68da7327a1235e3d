#pragma once
// One factory per kind of metric, with default parameters, for the table in registry.cpp.

#include <symbind/metric.h>

namespace symbind {

MetricPtr make_accuracy(MetricOptions options);
MetricPtr make_top_k_accuracy(MetricOptions options);
MetricPtr make_f1(MetricOptions options);
MetricPtr make_mcc(MetricOptions options);
MetricPtr make_perplexity(MetricOptions options);
MetricPtr make_mae(MetricOptions options);
MetricPtr make_mse(MetricOptions options);
MetricPtr make_rmse(MetricOptions options);
MetricPtr make_cross_entropy(MetricOptions options);
MetricPtr make_nll_loss(MetricOptions options);
MetricPtr make_pearson(MetricOptions options);
MetricPtr make_pcc(MetricOptions options);
MetricPtr make_confusion_matrix(MetricOptions options);
MetricPtr make_auc(MetricOptions options);
MetricPtr make_loss(MetricOptions options);
MetricPtr make_torch(MetricOptions options);
MetricPtr make_caffe(MetricOptions options);

}  // namespace symbind
