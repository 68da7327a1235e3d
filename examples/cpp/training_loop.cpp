// ctest: run
// A training loop by hand: two spirals that no straight line separates, learned by 32 neurons.

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

constexpr int kPoints = 200;

struct Spirals {
  std::vector<float> xy, label;
  Spirals() {
    for (int i = 0; i < kPoints; ++i) {
      const float side = static_cast<float>(i % 2);
      const float radius = 0.1F + 0.9F * static_cast<float>(i) / kPoints;
      const float angle = 7 * radius + side * 3.14159265F;
      xy.insert(xy.end(), {radius * std::cos(angle), radius * std::sin(angle)});
      label.push_back(side);
    }
  }
};

int count_right(const NDArray& probabilities, const std::vector<float>& label) {
  const auto p = probabilities.to_vector<float>();
  int right = 0;
  for (std::size_t i = 0; i < label.size(); ++i) right += (p[2 * i + 1] > 0.5F) == (label[i] == 1);
  return right;
}

int main() {
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 32});
  net = Activation("tanh1", net, {.act_type = "tanh"});
  net = FullyConnected("fc2", net, {.num_hidden = 2});
  net = SoftmaxOutput("softmax", net);

  // simple_bind finds out every shape from the data's and makes zeroed arrays.
  Executor executor = net.simple_bind(cpu(), {{"data", {kPoints, 2}}});
  const Spirals spirals;
  const NDArrayMap batch = {{"data", NDArray::from_vector(spirals.xy, {kPoints, 2})},
                            {"softmax_label", NDArray::from_vector(spirals.label, {kPoints})}};
  seed(7);
  const NDArrayMap args = executor.arg_dict(), grads = executor.grad_dict();
  for (const char* name : {"fc1_weight", "fc1_bias", "fc2_weight"})
    random_uniform({.low = -2, .high = 2}, args.at(name));

  // The plain way: after backward, every weight is updated in place by its gradient.
  const int before = count_right(executor.forward(false, batch)[0], spirals.label);
  for (int step = 0; step < 200; ++step) {
    executor.forward(true, batch);
    executor.backward();
    for (const char* name : {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}) {
      NDArray weight = args.at(name);
      weight -= grads.at(name) * (1.0 / kPoints);
    }
  }
  const int plain = count_right(executor.forward(false, batch)[0], spirals.label);
  std::printf("right: %d of %d at first, %d after 200 plain steps\n", before, kPoints, plain);

  // The fast way: updates that belong to the executor. step() runs forward, backward and all
  // updates in one call; a value that changes per step (here the learning rate) is set before it.
  std::vector<int> updates;
  for (const char* name : {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}) {
    const NDArray weight = args.at(name);
    updates.push_back(executor.add_update(
        "sgd_mom_update", {weight, grads.at(name), NDArray::zeros(weight.shape())}, weight,
        dict_of(
            ops::SgdMomUpdateOptions{.lr = 1, .momentum = 0.9, .rescale_grad = 1.0 / kPoints})));
  }
  for (int step = 0; step < 1000; ++step) {
    for (const int update : updates) executor.set_update_value(update, "lr", 1.0 - step / 1000.0);
    executor.step(batch);
  }
  const int right = count_right(executor.forward(false, batch)[0], spirals.label);
  std::printf("right: %d of %d after 1000 steps with momentum\n", right, kPoints);
  expect(plain > before, "plain gradient descent learns");
  expect(right == kPoints, "the network tells the spirals apart");
}
