// ctest: run unit
// Imperative training: operators on arrays, recorded and differentiated, without a symbol or a
// module. It learns a line that separates points of the plane; then it defines a custom gradient.

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

void first_gradient() {
  NDArray x({1, 2, 3}, {3});
  x.attach_grad();
  NDArray y;
  {
    const autograd::Record record;
    y = sum(x * x);
  }
  y.backward();
  x.grad().to_vector<float>();  // 2 4 6
  expect(close(x.grad().to_vector<float>(), {2, 4, 6}), "the gradient of a square is twice it");
}

void training() {
  const NDArray points = random_uniform({.low = -1, .high = 1, .shape = {200, 2}});
  const NDArray label = slice_axis(points, {.axis = 1, .begin = 0, .end = 1}) >
                        slice_axis(points, {.axis = 1, .begin = 1, .end = 2});
  NDArray weight = NDArray::zeros({1, 2}), bias = NDArray::zeros({1});
  weight.attach_grad();
  bias.attach_grad();
  double loss = 0;
  for (int step = 0; step < 500; ++step) {
    NDArray error;
    {
      const autograd::Record record;
      const NDArray z = FullyConnected(points, weight, bias, {.num_hidden = 1});
      error = mean(Activation(z, {.act_type = "softrelu"}) - label * z);
    }
    error.backward();
    loss = error.scalar();
    for (NDArray* parameter : {&weight, &bias}) *parameter -= parameter->grad() * 10.0;
  }
  std::printf("loss %.3f\n", loss);
  expect(loss < 0.1, "500 steps of descent learn the line");
}

// Rounds, and lets the gradient through as if it did not.
class StraightThrough : public autograd::Function {
 public:
  std::vector<NDArray> forward(const std::vector<NDArray>& in) override { return {round(in[0])}; }
  std::vector<NDArray> backward(const std::vector<NDArray>& heads) override { return heads; }
};

int main() {
  seed(1);
  first_gradient();
  training();

  NDArray x({0.4F, 1.6F}, {2});
  x.attach_grad();
  NDArray y;
  {
    const autograd::Record record;
    y = autograd::call(std::make_shared<StraightThrough>(), {x * 2.0}).front();
  }
  y.backward();
  expect(close(y.to_vector<float>(), {1, 3}), "rounded");
  expect(close(x.grad().to_vector<float>(), {2, 2}), "with a custom gradient");
}
