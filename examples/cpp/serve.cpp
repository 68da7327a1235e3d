// ctest: run threads
// Train, save, serve: one program trains a network, saves it, and answers from many threads at
// once, each with batches of its own size. Every answer is the one Module gives.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <thread>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

/// Points of the plane, and whether they are inside a circle.
struct Points {
  NDArray where, inside;
};
Points points(std::int64_t count, unsigned seed) {
  std::vector<float> where, inside;
  for (std::int64_t i = 0; i < count; ++i) {
    float at[2];
    for (float& x : at) {
      seed = seed * 1664525U + 1013904223U;
      x = static_cast<float>(seed >> 8) / (1U << 23) - 1;
    }
    where.insert(where.end(), at, at + 2);
    inside.push_back(at[0] * at[0] + at[1] * at[1] < 0.5F ? 1.0F : 0.0F);
  }
  return {NDArray::from_vector(where, {count, 2}), NDArray::from_vector(inside, {count})};
}

Symbol network() {
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 32});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = Dropout("drop1", net, {.p = 0.1});
  net = FullyConnected("fc2", net, {.num_hidden = 2});
  return SoftmaxOutput("softmax", net);
}

void train(const std::string& prefix) {
  const Points all = points(2000, 1);
  NDArrayIter data(all.where, all.inside, {.batch_size = 50});
  Module module(network());
  module.fit(data, {.optimizer = "adam",
                    .optimizer_params = {{"learning_rate", 0.01}},
                    .initializer = Xavier(),
                    .num_epoch = 8});
  module.save_checkpoint(prefix, 8);
}

/// The loop of a server thread: take a request, answer it.
int serve(const Predictor& predictor, const Points& asked, std::int64_t batch) {
  int right = 0;
  const auto label = asked.inside.to_vector<float>();
  const std::int64_t count = asked.where.shape()[0];
  for (std::int64_t first = 0; first < count; first += batch) {
    const NDArray rows = asked.where.slice(first, std::min(count, first + batch));
    const std::vector<NDArray> outputs = predictor.predict(rows);
    const auto p = outputs[0].to_vector<float>();
    for (std::size_t i = 0; i < p.size() / 2; ++i)
      right += (p[2 * i + 1] > p[2 * i]) == (label[static_cast<std::size_t>(first) + i] == 1);
  }
  return right;
}

int main() {
  const std::string prefix =
      std::filesystem::temp_directory_path() / ("symbind_serve_" + std::to_string(getpid()));
  train(prefix);

  const Predictor predictor = Predictor::load(prefix, 8, {.threads = 1});
  const Points test = points(1000, 77);
  std::vector<int> right(6);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      right[t] = serve(predictor, test, /*batch=*/1 + 7 * static_cast<std::int64_t>(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("right: %d of 1000\n", right[0]);
  expect(right[0] > 930, "the circle was learned");
  expect(right == std::vector<int>(right.size(), right[0]), "every thread gave the same answers");
  expect(predictor.stats().pool <= 6, "no more working memory than calls at once");

  const auto module = Module::load(prefix, 8);
  module->bind({{"data", {1000, 2}}}, {}, {.for_training = false});
  DataBatch batch;
  batch.data = {test.where};
  module->forward(batch, false);
  expect(close(predictor.predict(test.where)[0].to_vector<float>(),
               module->get_outputs()[0].to_vector<float>()),
         "and they are Module's");

  // Values inside the network, by name; numbers straight from memory.
  const Predictor inside =
      Predictor::load(prefix, 8, {.outputs = {"relu1_output", "softmax_output"}});
  const float point[] = {0.1F, -0.2F};
  const std::vector<NDArray> values = inside.predict({{"data", {point, {1, 2}}}});
  expect(values[0].shape() == Shape({1, 32}), "32 features of one point");

  try {
    predictor.predict(NDArray::zeros({1, 3}));
    expect(false, "three coordinates are refused");
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    expect(error.kind() == ErrorKind::kShape, "three coordinates are refused, and nothing is lost");
  }
  for (const char* end : {"-symbol.json", "-0008.params"}) std::filesystem::remove(prefix + end);
}
