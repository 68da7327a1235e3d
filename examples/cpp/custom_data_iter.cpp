// ctest: run unit
// A custom iterator that generates its batches on demand.
//
// provide_data and provide_label say what a batch is, next() fills one or returns false, reset()
// begins the next epoch. PrefetchingIter prepares the next batches in a thread.

#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

/// Sine waves of two frequencies, each at a random phase; the label says which.
class Waves final : public DataIter {
 public:
  Waves(int batches, int batch_size, unsigned number)
      : batches_(batches),
        batch_size_(batch_size),
        number_(number),
        data_{{"data", {batch_size, kLength}}},
        label_{{"softmax_label", {batch_size}}} {
    reset();
  }
  const std::vector<DataDesc>& provide_data() const override { return data_; }
  const std::vector<DataDesc>& provide_label() const override { return label_; }
  void reset() override {
    given_ = 0;
    bits_.seed(number_);
  }
  bool next(DataBatch& batch) override {
    if (given_++ == batches_) return false;
    std::uniform_real_distribution<double> phase(0, 2 * std::numbers::pi);
    std::vector<float> waves, labels;
    for (int i = 0; i < batch_size_; ++i) {
      const int label = static_cast<int>(bits_() % 2);
      const double start = phase(bits_);
      labels.push_back(static_cast<float>(label));
      for (int t = 0; t < kLength; ++t) {
        const double time = 2 * std::numbers::pi * t / (kLength - 1);
        waves.push_back(static_cast<float>(std::sin((2 + 3 * label) * time + start)));
      }
    }
    batch.data = {NDArray::from_vector(waves, {batch_size_, kLength})};
    batch.label = {NDArray::from_vector(labels, {batch_size_})};
    batch.pad = 0;
    return true;
  }

 private:
  static constexpr int kLength = 32;
  int batches_, batch_size_, given_ = 0;
  unsigned number_;
  std::mt19937 bits_;
  std::vector<DataDesc> data_, label_;
};

int main() {
  seed(1);
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 32});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = FullyConnected("fc2", net, {.num_hidden = 2});
  Module module(SoftmaxOutput("softmax", net));

  PrefetchingIter train({std::make_shared<Waves>(50, 20, 0)});
  Waves test(10, 20, 1);
  module.fit(train, {.optimizer = "adam",
                     .optimizer_params = {{"learning_rate", 0.01}},
                     .initializer = Xavier(),
                     .num_epoch = 3});
  const double accuracy = module.score(test, "acc").front().second;
  std::printf("accuracy on new waves: %.4f\n", accuracy);
  expect(accuracy > 0.9, "it tells the frequencies apart");
}
