#include "optimizer/recorded.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "support/formula.h"
#include "support/source_path.h"

namespace symbind::recorded {

std::string bytes(const std::string& name) {
  std::ifstream file(source_path("tests/golden/optimizer/" + name), std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

nlohmann::json json(const std::string& name) { return nlohmann::json::parse(bytes(name)); }

std::shared_ptr<LRScheduler> scheduler(const std::string& name, const nlohmann::json& a) {
  const WarmUp warm_up{.base_lr = a.value("base_lr", 0.01),
                       .warmup_steps = a.value("warmup_steps", 0),
                       .warmup_begin_lr = a.value("warmup_begin_lr", 0.0),
                       .warmup_mode = a.value("warmup_mode", "linear")};
  if (name == "FactorScheduler")
    return std::make_shared<FactorScheduler>(a["step"], a.value("factor", 1.0),
                                             a.value("stop_factor_lr", 1e-8), warm_up);
  if (name == "MultiFactorScheduler")
    return std::make_shared<MultiFactorScheduler>(a["step"].get<Tuple>(), a.value("factor", 1.0),
                                                  warm_up);
  if (name == "PolyScheduler")
    return std::make_shared<PolyScheduler>(a["max_update"], a.value("pwr", 2.0),
                                           a.value("final_lr", 0.0), warm_up);
  return std::make_shared<CosineScheduler>(a["max_update"], a.value("final_lr", 0.0), warm_up);
}

std::shared_ptr<Optimizer> optimizer(const nlohmann::json& setup, const nlohmann::json& one) {
  OptimizerParams params;
  for (const auto& [name, value] : one["params"].items()) {
    if (value.is_boolean())
      params.emplace(name, value.get<bool>());
    else if (value.is_string())
      params.emplace(name, value.get<std::string>());
    else
      params.emplace(name, value.get<double>());
  }
  if (!one["scheduler"].is_null())
    params.emplace("lr_scheduler", scheduler(one["scheduler"][0], one["scheduler"][1]));
  auto made = create_optimizer(one["optimizer"].get<std::string>(), params);
  Optimizer::Names names;
  for (std::size_t i = 0; i < setup["names"].size(); ++i)
    names[static_cast<std::int64_t>(i)] = setup["names"][i];
  made->set_parameters(names, SymbolFacts{});
  Optimizer::Multipliers lr, wd;
  for (const auto& [name, value] : setup["lr_mult"].items()) lr[name] = value.get<double>();
  for (const auto& [name, value] : setup["wd_mult"].items()) wd[name] = value.get<double>();
  made->set_lr_mult(lr);
  made->set_wd_mult(wd);
  return made;
}

namespace {

NDArray made(const nlohmann::json& setup, const nlohmann::json& one, const std::string& name,
             std::size_t place) {
  Shape shape;
  for (const std::int64_t n : setup["shapes"][place]) shape.push_back(n);
  const auto seed = setup["seeds"][name].get<std::uint64_t>();
  EXPECT_EQ(seed, formula::seed_of(name));
  std::vector<double> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(shape.size()); ++i)
    values.push_back(formula::value(seed, i, -1, 1));
  return NDArray::from_vector(values, shape, cpu())
      .astype(dtype_from_name(one["dtype"].get<std::string>()));
}

}  // namespace

std::vector<NDArray> weights(const nlohmann::json& setup, const nlohmann::json& one) {
  std::vector<NDArray> all;
  for (std::size_t i = 0; i < setup["names"].size(); ++i)
    all.push_back(made(setup, one, fmt::format("weight {}", i), i));
  return all;
}

void step(Updater& updater, const nlohmann::json& setup, const nlohmann::json& one,
          std::vector<NDArray>& weights, int number, bool by_name) {
  std::vector<Key> keys;
  std::vector<NDArray> grads, chosen;
  for (const std::size_t i : one["places"]) {
    if (by_name)
      keys.emplace_back(setup["names"][i].get<std::string>());
    else
      keys.emplace_back(static_cast<std::int64_t>(i));
    grads.push_back(made(setup, one, fmt::format("grad {} {}", number, i), i));
    chosen.push_back(weights[i]);
  }
  if (!one["single"].get<bool>()) return updater.update(keys, grads, chosen);
  for (std::size_t i = 0; i < keys.size(); ++i) updater(keys[i], grads[i], chosen[i]);
}

std::vector<NDArray> flat(const OptimizerState& state) {
  if (state.empty()) return {};
  if (state.is_array()) return {state.array()};
  std::vector<NDArray> all;
  for (const OptimizerState& part : state.parts())
    for (const NDArray& array : flat(part)) all.push_back(array);
  return all;
}

testing::AssertionResult near(const std::vector<double>& got, const std::vector<double>& want,
                              double tolerance) {
  if (got.size() != want.size())
    return testing::AssertionFailure() << got.size() << " numbers, " << want.size() << " wanted";
  double most = 0, worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    most = std::max(most, std::abs(want[i]));
    worst = std::isnan(got[i]) ? INFINITY : std::max(worst, std::abs(got[i] - want[i]));
  }
  if (worst <= tolerance * most) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "off by " << worst << " of " << most;
}

}  // namespace symbind::recorded
