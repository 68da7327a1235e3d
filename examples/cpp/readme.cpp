// ctest: run
// The program of README.md; the test readme.program compares both texts.

#include <symbind/symbind.h>

using namespace symbind;

int main() {
  // 1000 points of a square; the label says whether a point is inside a circle.
  seed(1);
  const NDArray points = random_uniform({.low = -1, .high = 1, .shape = {1000, 2}});
  const NDArray inside = sum(points * points, {.axis = 1}) < 0.5;
  NDArrayIter train(points.slice(0, 800), inside.slice(0, 800),
                    {.batch_size = 40, .shuffle = true});
  NDArrayIter val(points.slice(800, 1000), inside.slice(800, 1000), {.batch_size = 40});

  // A network is a symbol. Weights that are not given become variables: fc1_weight, fc1_bias, …
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 16});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = FullyConnected("fc2", net, {.num_hidden = 2});
  net = SoftmaxOutput("softmax", net);

  // A module trains it: here on two devices, each with half of every batch.
  Module mod(net, {.context = {cpu(0), cpu(1)}});
  mod.fit(train, {.eval_data = &val,
                  .eval_metric = "acc",
                  .optimizer = "adam",
                  .optimizer_params = {{"learning_rate", 0.02}},
                  .initializer = Xavier(),
                  .num_epoch = 5});
  return mod.score(val, "acc").front().second > 0.9 ? 0 : 1;
}
