// ctest: run unit
// A trained network learns another task: its layers stay frozen, a new head is trained.
//
// First a network is trained on five classes and saved. Then the checkpoint is loaded, the symbol
// is cut after the last hidden layer (get_internals) and gets a head of three classes. Only the
// head is trained: fixed_param_names freezes the rest, allow_missing lets the initializer fill the
// head.

#include <cstdio>
#include <filesystem>
#include <random>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

/// Points around one centre per class; the label counts from the first class.
NDArrayIter clusters(int first_class, int classes, int count, unsigned number) {
  std::mt19937 centre_bits(7), bits(number);
  std::normal_distribution<float> normal;
  std::vector<float> centres(8 * 16), points, labels;
  for (float& c : centres) c = normal(centre_bits);
  for (int i = 0; i < count; ++i) {
    labels.push_back(static_cast<float>(i % classes));
    for (int d = 0; d < 16; ++d)
      points.push_back(centres[static_cast<std::size_t>((first_class + i % classes) * 16 + d)] +
                       0.4F * normal(bits));
  }
  return NDArrayIter(NDArray::from_vector(points, {count, 16}),
                     NDArray::from_vector(labels, {count}),
                     {.batch_size = 20, .shuffle = true, .seed = number});
}

void train_base(const std::string& prefix) {
  Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 32});
  net = Activation("relu1", net, {.act_type = "relu"});
  net = FullyConnected("fc2", net, {.num_hidden = 5});
  Module module(SoftmaxOutput("softmax", net));
  NDArrayIter train = clusters(0, 5, 400, 1);
  module.fit(
      train,
      {.optimizer_params = {{"learning_rate", 0.2}}, .initializer = Xavier(), .num_epoch = 5});
  module.save_checkpoint(prefix, 5);
}

int main() {
  seed(1);
  const std::string prefix =
      (std::filesystem::temp_directory_path() / "symbind-example-base").string();
  train_base(prefix);

  Checkpoint base = load_checkpoint(prefix, 5);
  const Symbol body = base.symbol.get_internals()["relu1_output"];
  const Symbol head = FullyConnected("fc_new", body, {.num_hidden = 3});
  base.args.erase("fc2_weight");
  base.args.erase("fc2_bias");
  std::vector<std::string> frozen;
  for (const auto& [name, array] : base.args) frozen.push_back(name);

  Module module(SoftmaxOutput("softmax", head), {.fixed_param_names = frozen});
  NDArrayIter train = clusters(5, 3, 300, 2), test = clusters(5, 3, 300, 3);
  module.fit(train, {.optimizer_params = {{"learning_rate", 0.2}},
                     .initializer = Xavier(),
                     .arg_params = base.args,
                     .aux_params = base.aux,
                     .allow_missing = true,
                     .num_epoch = 5});
  const double accuracy = module.score(test, "acc").front().second;
  std::printf("accuracy of the new head: %.4f\n", accuracy);
  expect(accuracy > 0.9, "the new head learned its classes");
  const ModelParams after = module.get_params();
  expect(after.args.at("fc1_weight").to_vector<float>() ==
             base.args.at("fc1_weight").to_vector<float>(),
         "the old layer is untouched");
  for (const char* ending : {"-symbol.json", "-0005.params"})
    std::filesystem::remove(prefix + ending);
}
