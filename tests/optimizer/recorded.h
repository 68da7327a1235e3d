#pragma once
// The recordings of tests/golden/optimizer as optimizers, weights and gradients.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <symbind/optimizer.h>

namespace symbind::recorded {

/// A file of the folder, whole.
std::string bytes(const std::string& name);
nlohmann::json json(const std::string& name);

/// A scheduler from its recorded class and arguments.
std::shared_ptr<LRScheduler> scheduler(const std::string& class_name,
                                       const nlohmann::json& arguments);

/// The optimizer of a case, with the names and multipliers of the recording.
std::shared_ptr<Optimizer> optimizer(const nlohmann::json& setup, const nlohmann::json& one);

/// Weights as they start, and one step of all of them as the recorder took it.
std::vector<NDArray> weights(const nlohmann::json& setup, const nlohmann::json& one);
void step(Updater& updater, const nlohmann::json& setup, const nlohmann::json& one,
          std::vector<NDArray>& weights, int number, bool by_name = false);

/// The arrays of a state, in order.
std::vector<NDArray> flat(const OptimizerState& state);

/// Whether max|a-b| <= tolerance·max|b|.
testing::AssertionResult near(const std::vector<double>& got, const std::vector<double>& want,
                              double tolerance);

}  // namespace symbind::recorded
