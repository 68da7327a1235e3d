#pragma once
// A two-layer MLP with SGD and momentum on any device, trained in either of the two ways: by the
// verbs and imperative updates, or by the fused step.
//
// Tame on purpose, so that rounding stays rounding over a hundred steps: the rate is small, and the
// first feature, ±1 with a weight of ±1.5, turns half of the hidden units on and half off in every
// row, with none so near to 0 that devices which round differently disagree by a whole slope.

#include <symbind/executor.h>

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace symbind::testing {

struct Mlp {
  static constexpr std::int64_t kBatch = 100, kIn = 784, kHidden = 128, kOut = 10;

  Context context;
  Executor executor;
  std::vector<std::string> params;
  std::vector<NDArray> weights, gradients, momenta;
  std::vector<NDArray> data, labels;  ///< batches, on the host

  static float number(std::uint32_t i) {  // in [-1, 1), the same on every machine
    i = (i ^ 61u ^ (i >> 16)) * 9u;
    i = (i ^ (i >> 4)) * 0x27d4eb2du;
    return static_cast<float>((i ^ (i >> 15)) >> 8) / 8388608.0f - 1.0f;
  }

  static Symbol network() {
    const Symbol fc1 = make_symbol("FullyConnected", "fc1", std::vector<Symbol>{Variable("data")},
                                   {{"num_hidden", std::to_string(kHidden)}});
    const Symbol relu =
        make_symbol("Activation", "relu1", std::vector<Symbol>{fc1}, {{"act_type", "relu"}});
    const Symbol fc2 = make_symbol("FullyConnected", "fc2", std::vector<Symbol>{relu},
                                   {{"num_hidden", std::to_string(kOut)}});
    return make_symbol("SoftmaxOutput", "softmax", std::vector<Symbol>{fc2});
  }

  explicit Mlp(Context where, const std::string& grad_req = "write") : context(where) {
    std::map<std::string, std::string> req;
    for (const char* name : {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"})
      req[name] = grad_req;
    executor = network().simple_bind(where, {{"data", {kBatch, kIn}}}, {.grad_req = req});
    const NDArrayMap args = executor.arg_dict(), grads = executor.grad_dict();
    std::uint32_t seed = 1;
    for (const auto& [name, _] : req) {
      const NDArray& w = args.at(name);
      const float scale = std::sqrt(0.5f / static_cast<float>(w.shape().back()));
      std::vector<float> values(static_cast<std::size_t>(w.size()));
      for (float& v : values) v = scale * number(seed++);
      if (name == "fc1_weight")
        for (std::int64_t unit = 0; unit < kHidden; ++unit)
          values[static_cast<std::size_t>(unit * kIn)] = unit % 2 == 0 ? 1.5f : -1.5f;
      NDArray::from_vector(values, w.shape()).copy_to(w);
      params.push_back(name);
      weights.push_back(w);
      gradients.push_back(grads.at(name));
      momenta.push_back(NDArray::zeros(w.shape(), where));
    }
    for (int b = 0; b < 4; ++b) {
      std::vector<float> x(kBatch * kIn), y(kBatch);
      for (float& v : x) v = number(seed++);
      for (std::int64_t row = 0; row < kBatch; ++row)
        x[static_cast<std::size_t>(row * kIn)] = number(seed++) < 0 ? -1.0f : 1.0f;
      for (float& v : y) v = std::floor((number(seed++) + 1) * 0.5f * kOut);
      data.push_back(NDArray::from_vector(x, {kBatch, kIn}));
      labels.push_back(NDArray::from_vector(y, {kBatch}));
    }
  }

  NDArrayMap batch(int i) const {
    const auto b = static_cast<std::size_t>(i) % data.size();
    return {{"data", data[b]}, {"softmax_label", labels[b]}};
  }
  static double rate(int i) { return 0.01 / (1 + 0.02 * i); }
  static AttrDict attrs(double lr) {
    return {{"lr", fmt::format("{}", lr)},
            {"momentum", "0.9"},
            {"wd", "0.0001"},
            {"rescale_grad", fmt::format("{}", 1.0 / kBatch)},
            {"clip_gradient", "2"}};
  }

  void add_updates() {
    for (std::size_t i = 0; i < weights.size(); ++i)
      executor.add_update("sgd_mom_update", {weights[i], gradients[i], momenta[i]}, weights[i],
                          attrs(rate(0)));
  }
  void set_rate(double lr) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      executor.set_update_value(static_cast<int>(i), "lr", lr);
  }
  void step_by_verbs(double lr, const NDArrayMap& feed = {}) {
    executor.forward(true, feed);
    executor.backward();
    for (std::size_t i = 0; i < weights.size(); ++i)
      invoke("sgd_mom_update", {weights[i], gradients[i], momenta[i]}, attrs(lr), {weights[i]});
  }
};

/// max|a - b| / max|b|
inline double relative_difference(const NDArray& a, const NDArray& b) {
  const std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  double most = 0, top = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double d = std::abs(static_cast<double>(x[i]) - y[i]);
    most = d <= most ? most : d;  // a NaN stays
    top = std::max(top, static_cast<double>(std::abs(y[i])));
  }
  return top > 0 ? most / top : most;
}

}  // namespace symbind::testing
