// ctest: run
// Bind a network, run it forward, run it backward (S27 and S28 of docs/contract.md).

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

int main() {
  // A network is an expression over variables. Weights and labels that are not given become
  // variables named after the layer: fc_weight, fc_bias, softmax_label.
  const Symbol data = Variable("data");
  const Symbol fc = FullyConnected("fc", data, {.num_hidden = 6});
  const Symbol relu = Activation("relu", fc, {.act_type = "relu"});
  const Symbol net = SoftmaxOutput("softmax", relu);
  expect(net.list_arguments() ==
             std::vector<std::string>{"data", "fc_weight", "fc_bias", "softmax_label"},
         "arguments are listed in the order the network uses them");

  // Binding connects it with arrays. A gradient is computed if an array is given for it.
  const NDArray weight_grad = NDArray::zeros({6, 4});
  Executor executor = net.bind(cpu(),
                               NDArrayMap{{"data", NDArray::ones({1, 4})},
                                          {"fc_weight", NDArray::ones({6, 4})},
                                          {"fc_bias", NDArray({1, 4, 4, 4, 5, 6}, {6})},
                                          {"softmax_label", NDArray({1}, {1})}},
                               {.args_grad = NDArrayMap{{"fc_weight", weight_grad}}});

  const NDArray output = executor.forward(true)[0];
  std::printf("output%s\n", output.str().c_str());
  expect(close(output.to_vector<float>(),
               {0.00378404, 0.07600445, 0.07600445, 0.07600445, 0.20660152, 0.5616011}),
         "forward gives six probabilities");

  // The loss is part of SoftmaxOutput: backward needs no head gradient.
  executor.backward();
  std::printf("gradient of fc_weight%s\n", weight_grad.str().c_str());
  expect(close(weight_grad.slice(1, 2).to_vector<float>(), std::vector<float>(4, -0.92399555F)),
         "class 1, the label, is pulled up");
  expect(!executor.grad_arrays()[0].defined(), "no gradient array was given for data");
}
