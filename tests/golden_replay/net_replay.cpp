#include "tests/golden_replay/net_replay.h"

#include <gtest/gtest.h>
#include <symbind/executor.h>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"

namespace symbind {
namespace {

using nlohmann::json;

Symbol read_symbol(const NetReplay& replay, const json& net) {
  json symbol = golden::read_json(golden::path_of("nets/" + net.at("symbol").get<std::string>()));
  for (json& node : symbol.at("nodes")) {
    if (replay.eps_of.empty() || node.at("name") != replay.eps_of) continue;
    node.at("attrs")["eps"] = std::to_string(replay.eps);
  }
  return Symbol::load_json(symbol.dump());
}

class Replayer {
 public:
  explicit Replayer(const NetReplay& replay)
      : replay_(replay),
        net_(golden::read_json(golden::path_of("nets/" + replay.file + ".json"))),
        dtype_(dtype_from_name(net_.at("dtype").get<std::string>())) {
    for (const json& p : net_.at("params")) args_[p.at("name")] = golden::read_tensor(p).array();
    for (const json& p : net_.at("aux")) aux_[p.at("name")] = golden::read_tensor(p).array();
    for (const auto& [name, shape] : net_.at("shapes").items())
      args_[name] = NDArray::zeros(Shape(shape.get<std::vector<std::int64_t>>()), cpu(), dtype_);
    req_ = net_.at("grad_req").get<std::map<std::string, std::string>>();
    for (const auto& [name, req] : req_) {
      if (req == "null") continue;
      grads_[name] = NDArray::zeros(args_.at(name).shape(), cpu(), dtype_);
      momenta_[name] = NDArray::zeros(args_.at(name).shape(), cpu(), dtype_);
    }
    sgd_ = net_.at("sgd_mom_update").get<AttrDict>();
    if (!replay.momentum.empty()) sgd_["momentum"] = replay.momentum;
    executor_ =
        read_symbol(replay, net_)
            .bind(cpu(), args_, {.args_grad = grads_, .grad_req = req_, .aux_states = aux_});
  }

  NetComparison run() {
    for (const json& step : net_.at("steps")) {
      if (result_.steps == replay_.steps) break;
      ++result_.steps;
      train(step);
    }
    return result_;
  }

 private:
  void train(const json& step) {
    NDArray data = args_.at("data"), label = args_.at("softmax_label");
    const json& range = net_.at("data");
    const HostTensor image = HostTensor::formula(
        data.shape(), step.at("data_seed").get<std::uint64_t>(), range.at("lo"), range.at("hi"));
    data.copy_from_host(image.values.data(), DType::kFloat64);
    label.copy_from_host(step.at("label").get<std::vector<double>>().data(), DType::kFloat64);
    executor_.forward(true);
    executor_.backward();
    step_noted_ = false;
    compare(step.at("outputs"), executor_.output_dict(), "output");
    compare(step.at("grads"), grads_, "gradient");
    for (const auto& [name, grad] : grads_) {
      if (!is_parameter(name)) continue;
      invoke("sgd_mom_update", {args_.at(name), grad, momenta_.at(name)}, sgd_, {args_.at(name)});
    }
    compare(step.at("params"), args_, "parameter");
    compare(step.at("aux"), aux_, "state");
  }

  bool is_parameter(const std::string& name) const { return !net_.at("shapes").contains(name); }

  void compare(const json& recorded, const NDArrayMap& arrays, const std::string& what) {
    for (const auto& [name, entry] : recorded.items()) {
      const NDArray& array = arrays.at(name);
      golden::Tensor want{.name = name,
                          .shape = array.shape(),
                          .dtype = dtype_,
                          .all = {},
                          .norm = entry.at("norm"),
                          .max = entry.at("max"),
                          .sample = entry.at("sample").get<std::vector<double>>()};
      ++result_.compared;
      const auto match = golden::matches(HostTensor::from(array), want, {replay_.relative, 0});
      if (match || step_noted_) continue;
      step_noted_ = true;
      result_.mismatches.push_back("step " + std::to_string(result_.steps) + ", " + what + " " +
                                   name + ": " + match.message());
    }
  }

  NetReplay replay_;
  json net_;
  DType dtype_;
  NDArrayMap args_, aux_, grads_, momenta_;
  std::map<std::string, std::string> req_;
  AttrDict sgd_;
  Executor executor_;
  NetComparison result_;
  bool step_noted_ = false;
};

}  // namespace

NetComparison replay_net(const NetReplay& replay) { return Replayer(replay).run(); }

}  // namespace symbind
