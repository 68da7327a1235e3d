// Names, filters, functions and mistakes of metrics; the values are in recorded_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <symbind/metric.h>

#include "tests/support/shares.h"

namespace symbind {
namespace {

using testing::HasSubstr;

const NDArray kLabel({0, 1, 1}, {3});
const NDArray kPred({0.3f, 0.7f, 0.f, 1.f, 0.4f, 0.6f}, {3, 2});

std::string message_of(const std::function<void()>& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Metric, accuracy_of_the_manual) {
  const MetricPtr acc = Accuracy();
  acc->update({kLabel}, {kPred});
  EXPECT_DOUBLE_EQ(acc->get()[0].second, 2.0 / 3.0);
  EXPECT_EQ(acc->sum_metric, 2);
  EXPECT_EQ(acc->num_inst, 3);
}

TEST(Metric, reads_other_types_and_integers) {
  for (const DType dtype : {DType::kFloat64, DType::kFloat16, DType::kInt32, DType::kInt64}) {
    const MetricPtr acc = Accuracy();
    const bool whole = dtype == DType::kInt32 || dtype == DType::kInt64;
    acc->update({kLabel.astype(dtype)}, {whole ? kPred : kPred.astype(dtype)});
    EXPECT_EQ(acc->sum_metric, 2) << dtype_name(dtype);
  }
}

// Numbers of other types are converted in shares before they are read.
TEST(Metric, many_numbers_in_shares) {
  constexpr std::int64_t kRows = 1001;
  std::vector<float> labels, outputs, other;
  double right = 0, squares = 0;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const int label = static_cast<int>(i * 7 % 3), chosen = static_cast<int>(i * 5 % 3);
    labels.push_back(static_cast<float>(label));
    for (int k = 0; k < 3; ++k) outputs.push_back(k == chosen ? 1.f : 0.f);
    other.push_back(static_cast<float>(chosen));
    right += label == chosen ? 1 : 0;
    squares += (label - chosen) * (label - chosen);
  }
  for (const int threads : {1, 2, 3}) {
    const Shares shares(threads);
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
      const NDArray label = NDArray::from_vector(labels, {kRows}).astype(dtype);
      const MetricPtr accuracy = Accuracy(), mse = MSE();
      accuracy->update({label}, {NDArray::from_vector(outputs, {kRows, 3}).astype(dtype)});
      EXPECT_EQ(accuracy->sum_metric, right) << threads << " " << dtype_name(dtype);
      mse->update({label}, {NDArray::from_vector(other, {kRows}).astype(dtype)});
      EXPECT_NEAR(mse->get()[0].second, squares / kRows, 1e-6)
          << threads << " " << dtype_name(dtype);
    }
  }
}

// Along the last axis and along another one, of equal largest outputs the first is used, and NaN is
// ignored unless it comes first.
TEST(Metric, accuracy_of_ties_and_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> rows = {{1, 1, 0},   {0, 1, 1}, {nan, 2, 1},    {1, nan, 0},
                                                {0, nan, 3}, {2, 2, 2}, {nan, nan, nan}};
  const std::vector<int> largest = {0, 1, 0, 0, 2, 0, 0};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (int label = -1; label <= 3; ++label) {
      const double wanted = label == largest[r] ? 1 : 0;
      const NDArray row = NDArray::from_vector(rows[r], {1, 3});
      const MetricPtr last = Accuracy(), middle = Accuracy();
      last->update({NDArray({static_cast<float>(label)}, {1})}, {row});
      EXPECT_EQ(last->sum_metric, wanted) << r << " " << label;
      std::vector<float> twice;
      for (const float value : rows[r]) twice.insert(twice.end(), {value, value});
      middle->update({NDArray({static_cast<float>(label), static_cast<float>(label)}, {1, 2})},
                     {NDArray::from_vector(twice, {1, 3, 2})});
      EXPECT_EQ(middle->sum_metric, 2 * wanted) << r << " " << label;
    }
  }
}

TEST(Metric, nan_without_instances) {
  for (const std::string& name : list_metrics()) {
    if (name == "composite" || name == "compositeevalmetric") continue;
    MetricParams params;
    if (name == "perplexity") params.emplace("ignore_label", nullptr);
    if (name.starts_with("top")) params.emplace("top_k", 2);
    const MetricPtr metric = create_metric(name, params);
    EXPECT_TRUE(std::isnan(metric->get()[0].second)) << name;
    EXPECT_TRUE(std::isnan(metric->get_global()[0].second)) << name;
  }
}

TEST(Metric, picks_arrays_by_name) {
  const MetricPtr acc = Accuracy(
      1, {.name = "second", .output_names = NameList{"out2"}, .label_names = NameList{"label2"}});
  const NamedArrays labels{{"label1", "label2"}, {NDArray({9}, {1}), kLabel}};
  const NamedArrays preds{{"out1", "out2"}, {NDArray({9}, {1}), kPred}};
  acc->update_dict(labels, preds);
  EXPECT_EQ(acc->get()[0].first, "second");
  EXPECT_EQ(acc->sum_metric, 2);
}

TEST(Metric, composite_lists_all_in_order) {
  const MetricArg both = {"acc", "mse"};
  both.metric()->update({kLabel}, {kPred});
  const std::vector<NameValue> values = both.metric()->get();
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].first, "accuracy");
  EXPECT_EQ(values[1].first, "mse");
  both.metric()->reset_local();
  EXPECT_TRUE(std::isnan(both.metric()->get()[0].second));
  EXPECT_FALSE(std::isnan(both.metric()->get_global()[0].second));
}

TEST(Metric, of_a_function) {
  const MetricPtr mine = make_metric(
      [](const NDArray& label, const NDArray& pred) {
        return static_cast<double>(label.size() + pred.size());
      },
      "mine");
  mine->update({kLabel}, {kPred});
  mine->update({kLabel}, {kPred});
  EXPECT_EQ(mine->get(), (std::vector<NameValue>{{"mine", 9.0}}));
  const MetricPtr sums = make_sum_metric(
      [](const NDArray&, const NDArray& pred) {
        return std::pair(1.0, static_cast<double>(pred.size()));
      },
      "sums", true);
  sums->update({kLabel}, {kPred, kPred});
  EXPECT_EQ(sums->get()[0].second, 1.0 / 6.0);
}

TEST(Metric, can_be_registered) {
  register_metric("Zero_One", [] {
    return make_metric([](const NDArray&, const NDArray&) { return 0.5; }, "zero_one");
  });
  const MetricPtr metric = create_metric("zero_one", {}, {.name = "renamed"});
  metric->update({kLabel}, {kPred});
  EXPECT_EQ(metric->get(), (std::vector<NameValue>{{"renamed", 0.5}}));
}

TEST(BadInputMetric, line23_needs_labels_and_gets_none) {
  for (const char* name : {"acc", "ce", "mse", "f1", "pcc", "pearsonr"}) {
    const MetricPtr metric = create_metric(name);
    const std::string text = message_of(
        [&] {
          metric->update_dict({}, {{"softmax_output"}, {kPred}});
        },
        ErrorKind::kValue);
    EXPECT_THAT(text, HasSubstr("'" + metric->name + "'"));
    EXPECT_THAT(text, HasSubstr("outputs: softmax_output"));
    EXPECT_THAT(text, HasSubstr("labels found: none"));
  }
}

// float32 outputs have float32 logarithms and sums: -(2·log(0.8f))/3, as NumPy computes it.
TEST(Metric, perplexity_is_in_the_precision_of_the_outputs) {
  const MetricPtr metric = create_metric("perplexity", {{"ignore_label", "None"}});
  metric->update({NDArray({0, 1, 1}, {3})}, {NDArray({0.8f, 0.2f, 0.2f, 0.8f, 0, 1}, {3, 2})});
  EXPECT_DOUBLE_EQ(metric->get()[0].second, 1.1603971941364903);
}

// An assertion in MXNet, unlike the others' ValueError.
TEST(BadInputMetric, perplexity_with_too_few_labels_is_an_assertion) {
  const MetricPtr metric = create_metric("perplexity", {{"ignore_label", "None"}});
  const auto text = message_of(
      [&] {
        metric->update({kLabel}, {kPred, kPred});
      },
      ErrorKind::kState);
  EXPECT_THAT(text, HasSubstr("Shape of labels 1 does not match shape of predictions 2"));
  message_of([&] { metric->update({}, {kPred}); }, ErrorKind::kState);
  message_of([&] { metric->update({kLabel, kLabel}, {kPred}); }, ErrorKind::kState);
}

TEST(BadInputMetric, line32_unknown_names_get_the_nearest) {
  EXPECT_THAT(message_of([] { create_metric("accuarcy"); }, ErrorKind::kName),
              HasSubstr("did you mean 'accuracy'"));
  EXPECT_THAT(message_of(
                  [] {
                    create_metric("acc", {{"axes", 1}});
                  },
                  ErrorKind::kName),
              HasSubstr("'axis'"));
}

TEST(BadInputMetric, outputs_without_classes) {
  const bool before = set_np_shape(true);
  const NDArray empty(Shape{3, 0});
  for (const char* name : {"acc", "f1", "ce", "pcc", "nll_loss"})
    EXPECT_THROW(create_metric(name)->update({kLabel}, {empty}), Error) << name;
  EXPECT_THROW(Perplexity({})->update({NDArray(Shape{0})}, {empty}), Error);
  EXPECT_THROW(create_metric("top_k_accuracy", {{"top_k", 2}})->update({kLabel}, {empty}), Error);
  EXPECT_THROW(
      create_metric("top_k_accuracy", {{"top_k", 2}})->update({kLabel}, {NDArray(Shape{})}), Error);
  EXPECT_THROW(Perplexity({}, 1)->update({kLabel}, {NDArray(Shape{2, 3, 0})}), Error);
  set_np_shape(before);
}

TEST(BadInputMetric, parameters_and_shapes) {
  message_of([] { TopKAccuracy(1); }, ErrorKind::kState);
  message_of([] { F1("weighted"); }, ErrorKind::kName);
  message_of([] { create_metric("perplexity"); }, ErrorKind::kValue);
  message_of([] { Accuracy(5)->update({kLabel}, {kPred}); }, ErrorKind::kValue);
  message_of([] { Accuracy()->update({NDArray({1, 1}, {2})}, {kPred}); }, ErrorKind::kValue);
  message_of([] { CrossEntropy()->update({NDArray({0, 1, 2}, {3})}, {kPred}); }, ErrorKind::kIndex);
  message_of([] { CrossEntropy()->update({NDArray({0, 1}, {2})}, {kPred}); }, ErrorKind::kState);
  message_of([] { MSE()->update({NDArray({0, 1}, {2, 1})}, {kPred}); }, ErrorKind::kShape);
  message_of([] { F1()->update({NDArray({0, 1, 2}, {3})}, {kPred}); }, ErrorKind::kValue);
  message_of([] { PCC()->update({NDArray({0, -1, 2}, {3})}, {kPred}); }, ErrorKind::kIndex);
  message_of([] { Accuracy()->update({NDArray()}, {kPred}); }, ErrorKind::kState);
  EXPECT_THAT(message_of(
                  [] {
                    const MetricPtr acc = Accuracy(1, {.output_names = NameList{"sofmax_output"}});
                    acc->update_dict({{"l"}, {kLabel}}, {{"softmax_output"}, {kPred}});
                  },
                  ErrorKind::kName),
              HasSubstr("softmax_output"));
}

}  // namespace
}  // namespace symbind
