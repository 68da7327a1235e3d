// ctest: run
// The program of README.md, as it stands there (the test readme.program compares them).

#include <cstdio>

#include <symbind/symbind.h>

using namespace symbind;

int main() {
  // A network is a symbol. Weights that are not given become variables: fc1_weight, fc1_bias, …
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 8});
  net = Activation("tanh1", net, {.act_type = "tanh"});
  net = FullyConnected("fc2", net, {.num_hidden = 2});
  net = SoftmaxOutput("softmax", net);

  // Binding infers every shape, allocates the arrays, and compiles the network for this size.
  Executor executor = net.simple_bind(cpu(), {{"data", {4, 2}}});
  const NDArrayMap args = executor.arg_dict(), grads = executor.grad_dict();
  seed(1);
  for (const char* name : {"fc1_weight", "fc2_weight"})
    invoke("_random_normal", {}, {}, {args.at(name)});

  // Exclusive or, and gradient descent by hand: the executor's arrays are plain arrays.
  const NDArrayMap batch = {{"data", NDArray({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2})},
                            {"softmax_label", NDArray({0, 1, 1, 0}, {4})}};
  for (int step = 0; step < 100; ++step) {
    executor.forward(true, batch);
    executor.backward();
    for (const char* name : {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}) {
      NDArray weight = args.at(name);
      weight -= 0.5 * grads.at(name);
    }
  }

  const NDArray p = executor.forward(false, batch)[0];
  std::printf("0 xor 0, 0 xor 1, 1 xor 0, 1 xor 1:%s\n", p.str().c_str());
  for (const int row : {0, 1, 2, 3}) {
    const bool is_one = row == 1 || row == 2;
    if (p.at(row).at(is_one ? 1 : 0).scalar() < 0.9) return 1;
  }
}
