// Trains an MLP for as many steps as it is asked. tools/step_files compares runs of different
// length.

#include <cstdlib>

#include <symbind/symbind.h>

using namespace symbind;

int main(int, char** argv) {
  seed(1);
  const Symbol hidden = Activation(
      "relu1", FullyConnected("fc1", Variable("data"), {.num_hidden = 32}), {.act_type = "relu"});
  const Symbol net = SoftmaxOutput("softmax", FullyConnected("fc2", hidden, {.num_hidden = 10}));
  const NDArrayIterOptions options{.batch_size = 8};
  ResizeIter steps(
      std::make_shared<NDArrayIter>(NDArray::ones({80, 20}), NDArray::zeros({80}), options),
      std::atoi(argv[1]));
  Module(net).fit(steps, {.optimizer_params = {{"momentum", 0.9}}, .num_epoch = 1});
}
