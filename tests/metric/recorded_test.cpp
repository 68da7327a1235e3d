// Every metric says what MXNet 1.9.1 said: tools/oracle/record_metric.py, replayed.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include <symbind/metric.h>

#include "support/source_path.h"

namespace symbind {
namespace {

using Json = nlohmann::json;

std::vector<NDArray> arrays_of(const Json& side) {
  std::vector<NDArray> arrays;
  for (const Json& tensor : side)
    arrays.push_back(
        NDArray::from_vector(tensor.at("values").get<std::vector<float>>(),
                             Shape(tensor.at("shape").get<std::vector<std::int64_t>>())));
  return arrays;
}

MetricParams params_of(const Json& given) {
  MetricParams params;
  for (const auto& [key, value] : given.items()) {
    const std::string text = value.is_null()     ? "None"
                             : value.is_string() ? value.get<std::string>()
                                                 : value.dump();
    params.emplace(key, text);
  }
  return params;
}

void expect_same(const std::vector<NameValue>& found, const Json& recorded) {
  ASSERT_EQ(found.size(), recorded.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (recorded[i].is_null()) {
      EXPECT_TRUE(std::isnan(found[i].second)) << found[i].second;
    } else {
      const double wanted = recorded[i].get<double>();
      EXPECT_NEAR(found[i].second, wanted, 1e-6 * (1 + std::abs(wanted)));
    }
  }
}

Json recordings() {
  std::ifstream file(source_path("tests/golden/metrics.json"));
  return Json::parse(file);
}

TEST(GoldenMetric, says_what_mxnet_said) {
  const Json cases = recordings();
  ASSERT_GE(cases.size(), 36u);
  for (const Json& c : cases) {
    SCOPED_TRACE(c.at("metric").dump() + c.at("params").dump() + c.at("kind").dump());
    const MetricPtr metric =
        create_metric(c.at("metric").get<std::string>(), params_of(c.at("params")));
    std::size_t moment = 0;
    const auto compare = [&] {
      expect_same(metric->get(), c.at("values").at(moment).at(0));
      expect_same(metric->get_global(), c.at("values").at(moment).at(1));
      ++moment;
    };
    const auto add = [&](const Json& batch) {
      metric->update(arrays_of(batch.at(0)), arrays_of(batch.at(1)));
      compare();
    };
    for (std::size_t i = 0; i < c.at("batches").size(); ++i) {
      add(c.at("batches").at(i));
      if (i == 1) {
        metric->reset_local();
        compare();
      }
    }
    metric->reset();
    compare();
    add(c.at("batches").at(0));
    EXPECT_EQ(moment, c.at("values").size());
    EXPECT_EQ(metric->get().front().first, c.at("names").at(0).get<std::string>());
  }
}

TEST(Metric, state_carries_everything_over) {
  for (const Json& c : recordings()) {
    SCOPED_TRACE(c.at("metric").dump() + c.at("params").dump() + c.at("kind").dump());
    const std::string name = c.at("metric").get<std::string>();
    const MetricPtr first = create_metric(name, params_of(c.at("params")));
    const MetricPtr second = create_metric(name, params_of(c.at("params")));
    const auto add = [&](EvalMetric& metric, std::size_t batch) {
      metric.update(arrays_of(c.at("batches").at(batch).at(0)),
                    arrays_of(c.at("batches").at(batch).at(1)));
    };
    add(*first, 0);
    if (!first->state().empty()) second->set_state(first->state());
    second->sum_metric = first->sum_metric;
    second->num_inst = first->num_inst;
    second->global_sum_metric = first->global_sum_metric;
    second->global_num_inst = first->global_num_inst;
    add(*first, 1);
    add(*second, 1);
    const auto same = [](const std::vector<NameValue>& a, const std::vector<NameValue>& b) {
      EXPECT_EQ(a[0].first, b[0].first);
      if (!std::isnan(a[0].second)) {
        EXPECT_EQ(a[0].second, b[0].second);
      }
    };
    same(first->get(), second->get());
    same(first->get_global(), second->get_global());
  }
}

}  // namespace
}  // namespace symbind
