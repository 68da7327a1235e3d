// AUC against counting every pair, ConfusionMatrix against counts by hand.

#include <gtest/gtest.h>

#include <cmath>

#include <symbind/error.h>
#include <symbind/metric.h>

namespace symbind {
namespace {

using Floats = std::vector<float>;

NDArray row(const Floats& values) {
  return NDArray::from_vector(values, {static_cast<std::int64_t>(values.size())}, cpu());
}

/// The share of pairs (class 1, class 0) in the right order, a tie counting half.
double by_pairs(const Floats& labels, const Floats& scores) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      pairs += 1;
      right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  return right / pairs;
}

double value(const MetricPtr& metric) { return metric->get().at(0).second; }

TEST(Auc, equals_counting_all_pairs_with_ties) {
  Floats labels, scores;
  std::uint32_t noise = 12345;
  for (int i = 0; i < 300; ++i) {
    noise = noise * 1664525u + 1013904223u;
    labels.push_back((noise >> 20) % 3 == 0 ? 1.f : 0.f);
    scores.push_back(static_cast<float>((noise >> 24) % 16) / 16 + 0.1f * labels.back());
  }
  const MetricPtr auc = create_metric("auc");
  for (int i = 0; i < 300; i += 100)
    auc->update({row({labels.begin() + i, labels.begin() + i + 100})},
                {row({scores.begin() + i, scores.begin() + i + 100})});
  EXPECT_NEAR(value(auc), by_pairs(labels, scores), 1e-12);
}

TEST(Auc, known_values) {
  const MetricPtr auc = AUC();
  auc->update({row({0, 0, 1, 1})}, {row({0.1f, 0.4f, 0.35f, 0.8f})});
  EXPECT_DOUBLE_EQ(value(auc), 0.75);  // the example of scikit-learn's page
  auc->reset();
  auc->update({row({0, 1})}, {row({0.5f, 0.5f})});
  EXPECT_DOUBLE_EQ(value(auc), 0.5);
  auc->reset();
  EXPECT_TRUE(std::isnan(value(auc)));
  auc->update({row({1, 1})}, {row({0.5f, 0.6f})});
  EXPECT_TRUE(std::isnan(value(auc))) << "one class only";
}

TEST(Auc, takes_probabilities_of_two_classes_and_local_sums) {
  const MetricPtr auc = AUC();
  auc->update({row({0, 1})},
              {NDArray::from_vector<float>({0.2f, 0.8f, 0.7f, 0.3f}, {2, 2}, cpu())});
  EXPECT_DOUBLE_EQ(value(auc), 0);
  auc->reset_local();
  auc->update({row({0, 1})}, {row({0.1f, 0.9f})});
  EXPECT_DOUBLE_EQ(value(auc), 1);
  EXPECT_DOUBLE_EQ(auc->get_global()[0].second, by_pairs({0, 1, 0, 1}, {0.8f, 0.3f, 0.1f, 0.9f}));
  const MetricPtr copy = AUC();
  copy->set_state(auc->state());
  EXPECT_EQ(copy->get(), auc->get());
  EXPECT_EQ(copy->get_global(), auc->get_global());
}

TEST(BadInputAuc, labels_and_shapes_are_named) {
  const auto says = [](const auto& call, const std::string& part) {
    try {
      call();
      ADD_FAILURE() << "no error for " << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  const MetricPtr auc = AUC();
  says([&] { auc->update({row({0, 2})}, {row({0, 1})}); }, "the label of row 1 is 2");
  says([&] { auc->update({row({0})}, {NDArray::ones({1, 3}, cpu())}); }, "(1, 3)");
  EXPECT_TRUE(std::isnan(value(auc))) << "a refused batch added rows";
}

TEST(ConfusionMatrix, counts_labels_by_outputs) {
  const MetricPtr confusion = create_metric("confusion_matrix");
  confusion->update({row({0, 1, 2, 2})}, {row({0, 2, 2, 0})});
  confusion->reset_local();
  confusion->update({row({2})}, {NDArray::from_vector<float>({0.1f, 0.2f, 0.7f}, {1, 3}, cpu())});
  EXPECT_EQ(confusion_counts(*confusion).to_vector<double>(),
            (std::vector<double>{1, 0, 0, 0, 0, 1, 1, 0, 2}));
  EXPECT_DOUBLE_EQ(value(confusion), 1);
  EXPECT_DOUBLE_EQ(confusion->get_global()[0].second, 3.0 / 5);
  EXPECT_THROW(confusion_counts(*Accuracy()), Error);
}

}  // namespace
}  // namespace symbind
