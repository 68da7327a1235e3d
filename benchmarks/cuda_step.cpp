// Times a training step of a two-layer MLP on a GPU for several batch sizes: forward, backward and
// imperative updates as separate calls; the step recorded and replayed as one launch; and replayed
// with a learning rate that changes every step.
//
//   bench_cuda_step [--steps N]

#include <symbind/executor.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using namespace symbind;

namespace {

struct Net {
  Executor executor;
  std::vector<NDArray> weights, gradients, momenta;
  AttrDict attrs = {{"lr", "0.01"}, {"momentum", "0.9"}, {"wd", "0.0001"}};

  Net(Context context, std::int64_t batch, int hidden) {
    const auto layer = [](const char* op, const char* name, const Symbol& x, const AttrDict& a) {
      return make_symbol(op, name, std::vector<Symbol>{x}, a);
    };
    Symbol s =
        layer("FullyConnected", "fc1", Variable("data"), {{"num_hidden", std::to_string(hidden)}});
    s = layer("Activation", "relu1", s, {{"act_type", "relu"}});
    s = layer("FullyConnected", "fc2", s, {{"num_hidden", "10"}});
    s = layer("SoftmaxOutput", "softmax", s, {});
    const std::vector<std::string> params = {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"};
    std::map<std::string, std::string> req;
    for (const std::string& p : params) req[p] = "write";
    executor = s.simple_bind(context, {{"data", {batch, 784}}}, {.grad_req = req});
    for (const std::string& p : params) {
      weights.push_back(executor.arg_dict().at(p));
      gradients.push_back(executor.grad_dict().at(p));
      momenta.push_back(NDArray::zeros(weights.back().shape(), context));
    }
  }
  void add_updates() {
    for (std::size_t i = 0; i < weights.size(); ++i)
      executor.add_update("sgd_mom_update", {weights[i], gradients[i], momenta[i]}, weights[i],
                          attrs);
  }
  void set_rate(double lr) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      executor.set_update_value(static_cast<int>(i), "lr", lr);
  }
  void by_verbs() {
    executor.forward(true);
    executor.backward();
    for (std::size_t i = 0; i < weights.size(); ++i)
      invoke("sgd_mom_update", {weights[i], gradients[i], momenta[i]}, attrs, {weights[i]});
  }
};

template <class F>
double microseconds(int steps, const F& f) {
  for (int i = 0; i < steps / 10 + 3; ++i) f(i);
  waitall();
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) f(i);
    waitall();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / steps * 1e6);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 1000;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--steps") == 0) steps = std::max(1, std::atoi(argv[i + 1]));
  if (num_gpus() == 0) {
    std::printf("no GPU: nothing to measure\n");
    return 0;
  }
  std::printf("us per training step of an MLP 784-h-10 on %s, best of 5 times %d steps\n",
              gpu().str().c_str(), steps);
  std::printf("%6s %6s %14s %14s %14s %10s\n", "batch", "h", "verbs", "recorded", "rec, new lr",
              "verbs/rec");
  for (const auto& [batch, hidden] : {std::pair{10, 128}, {100, 128}, {1000, 128}, {1000, 2048}}) {
    Net verbs(gpu(), batch, hidden), fused(gpu(), batch, hidden);
    fused.add_updates();
    const double slow = microseconds(steps, [&](int) { verbs.by_verbs(); });
    const double fast = microseconds(steps, [&](int) { fused.executor.step(); });
    const double changing = microseconds(steps, [&](int i) {
      fused.set_rate(0.01 / (1 + i));
      fused.executor.step();
    });
    std::printf("%6d %6d %14.2f %14.2f %14.2f %10.2f\n", batch, hidden, slow, fast, changing,
                slow / fast);
  }
  return 0;
}
