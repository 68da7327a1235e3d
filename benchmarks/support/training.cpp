#include "support/training.h"

#include <cmath>
#include <random>

#include <symbind/error.h>

namespace symbind::bench {
namespace {

bool ends_with(const std::string& name, const char* suffix) { return name.ends_with(suffix); }

// He's uniform range for weights; gammas 1, betas and biases 0.
void fill(const std::string& name, NDArray array, std::mt19937& random) {
  if (ends_with(name, "gamma") || ends_with(name, "moving_var")) return array.set(1.0);
  if (!ends_with(name, "weight") && name != "data") return array.set(0.0);
  const double fan_in = static_cast<double>(array.size()) / static_cast<double>(array.shape()[0]);
  const float range = name == "data" ? 1.0f : static_cast<float>(std::sqrt(6.0 / fan_in));
  std::uniform_real_distribution<float> values(-range, range);
  std::vector<float> host(static_cast<std::size_t>(array.size()));
  for (float& v : host) v = values(random);
  array.copy_from_host(host.data(), DType::kFloat32);
}

}  // namespace

Training make_training(const Symbol& net, const Shape& data, int classes) {
  Training t;
  t.batch = static_cast<int>(data[0]);
  std::map<std::string, std::string> req;
  for (const std::string& name : net.list_arguments()) {
    req[name] = name == "data" || ends_with(name, "label") ? "null" : "write";
  }
  t.executor = net.simple_bind(cpu(), {{"data", data}}, {.grad_req = req});
  std::mt19937 random(7);
  for (const auto& [name, array] : t.executor.arg_dict()) fill(name, array, random);
  for (const auto& [name, array] : t.executor.aux_dict()) fill(name, array, random);
  std::vector<float> labels;
  for (int i = 0; i < t.batch; ++i)
    labels.push_back(static_cast<float>(random() % static_cast<unsigned>(classes)));
  t.executor.arg_dict().at("softmax_label").copy_from_host(labels.data(), DType::kFloat32);
  const AttrDict sgd = {{"lr", "0.00001"},
                        {"momentum", "0.9"},
                        {"wd", "0.0001"},
                        {"rescale_grad", std::to_string(1.0 / t.batch)}};
  const std::vector<std::string> names = net.list_arguments();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NDArray weight = t.executor.arg_arrays()[i], grad = t.executor.grad_arrays()[i];
    if (!grad.defined()) continue;
    AttrDict attrs = sgd;  // MXNet decays weights and gammas only
    if (!ends_with(names[i], "weight") && !ends_with(names[i], "gamma")) attrs["wd"] = "0";
    t.executor.add_update("sgd_mom_update", {weight, grad, NDArray::zeros(weight.shape())}, weight,
                          attrs);
  }
  return t;
}

double Training::loss() const {
  const std::vector<float> p = executor.outputs()[0].to_vector<float>();
  const std::vector<float> label = executor.arg_dict().at("softmax_label").to_vector<float>();
  const std::size_t classes = p.size() / label.size();
  double sum = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    sum -= std::log(static_cast<double>(p[i * classes + static_cast<std::size_t>(label[i])]));
  }
  return sum / static_cast<double>(label.size());
}

void Training::save(const std::string& prefix) const {
  executor.symbol().save(prefix + "-symbol.json");
  NDArrayMap params, inputs;
  for (const auto& [name, array] : executor.arg_dict()) {
    if (name == "data" || name == "softmax_label")
      inputs.emplace(name, array);
    else
      params.emplace("arg:" + name, array);
  }
  for (const auto& [name, array] : executor.aux_dict()) params.emplace("aux:" + name, array);
  symbind::save(prefix + ".params", params);
  symbind::save(prefix + ".data", inputs);
}

}  // namespace symbind::bench
