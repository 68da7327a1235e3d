// Trains a network on MNIST or Fashion-MNIST, whichever is on the machine, else on shapes made by
// formula.
//
//   example_train_mnist --network lenet --epochs 2 --save lenet
//   example_train_mnist --evaluate lenet                  loads the newest epoch and tests it

#include <cstdio>
#include <cstdlib>

#include <symbind/symbind.h>

#include "image_set.h"

using namespace symbind;

constexpr const char* kHelp =
    "Trains a network on MNIST, Fashion-MNIST or pictures made by formula.\n"
    "  --network NAME     mlp or lenet (mlp)\n"
    "  --epochs N         passes over the training pictures (5)\n"
    "  --batch N          pictures per step (100)\n"
    "  --lr RATE          learning rate, times 0.5 after each epoch (0.05)\n"
    "  --devices N        split each batch over N CPU devices (1)\n"
    "  --save PREFIX      write PREFIX-symbol.json and PREFIX-<epoch>.params after each epoch,\n"
    "                     and the accuracy to PREFIX-train.csv and PREFIX-test.csv\n"
    "  --evaluate PREFIX  do not train: load the newest checkpoint of --save, and test it\n";

struct Arguments {
  std::string network = "mlp", save, evaluate;
  int epochs = 5, batch = 100, devices = 1;
  double lr = 0.05;
};

MNISTIter pictures(const std::string& images, const std::string& labels, const Arguments& a,
                   bool flat, bool shuffle) {
  return MNISTIter({.image = images,
                    .label = labels,
                    .batch_size = a.batch,
                    .shuffle = shuffle,
                    .flat = flat,
                    .silent = true});
}

std::vector<Context> devices(int count) {
  std::vector<Context> all;
  for (int i = 0; i < count; ++i) all.push_back(cpu(i));
  return all;
}

void run(const Arguments& a) {
  const datasets::ImageSet set = find_or_make_images();
  std::unique_ptr<Module> module;
  if (a.evaluate.empty()) {
    module = std::make_unique<Module>(models::create(a.network, {{"num_classes", "10"}}),
                                      ModuleOptions{.context = devices(a.devices)});
  } else {
    const std::vector<int> epochs = checkpoint_epochs(a.evaluate);
    module = Module::load(a.evaluate, epochs.empty() ? 0 : epochs.back());
  }
  const bool flat = a.network == "mlp";
  MNISTIter test = pictures(set.test_images, set.test_labels, a, flat, false);
  if (a.evaluate.empty()) {
    seed(1);
    MNISTIter train = pictures(set.train_images, set.train_labels, a, flat, true);
    const auto steps = read_idx(set.train_labels).size() / a.batch;
    const FactorScheduler slower(std::max<std::int64_t>(steps, 1), 0.5, 1e-8, {.base_lr = a.lr});
    Callbacks<EpochEndCallback> save;
    Callbacks<BatchEndCallback> log_train = Speedometer(a.batch, 200), log_test;
    if (!a.save.empty()) {
      save = do_checkpoint(a.save);
      const std::string train_log = a.save + "-train.csv", test_log = a.save + "-test.csv";
      for (const std::string& path : {train_log, test_log}) std::filesystem::remove(path);
      log_train = {log_to_csv(train_log, {.period = 10}), Speedometer(a.batch, 200)};
      log_test = log_to_csv(test_log, {.phase = "test"});
    }
    module->fit(train, {.eval_data = &test,
                        .epoch_end_callback = save,
                        .batch_end_callback = log_train,
                        .optimizer_params = {{"momentum", 0.9}, {"lr_scheduler", slower}},
                        .eval_end_callback = log_test,
                        .initializer = Xavier({.magnitude = 2}),
                        .num_epoch = a.epochs});
  } else {
    module->bind(test.provide_data(), test.provide_label(), {.for_training = false});
  }
  std::printf("test accuracy over %lld images: %.4f\n",
              static_cast<long long>(read_idx(set.test_labels).size()),
              module->score(test, "acc").front().second);
}

int main(int argc, char** argv) try {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool has_value = i + 1 < argc;
    const auto number = [&] { return std::max(1, std::atoi(argv[++i])); };
    if (option == "--network" && has_value) {
      a.network = argv[++i];
    } else if (option == "--epochs" && has_value) {
      a.epochs = number();
    } else if (option == "--batch" && has_value) {
      a.batch = number();
    } else if (option == "--devices" && has_value) {
      a.devices = number();
    } else if (option == "--lr" && has_value) {
      a.lr = std::atof(argv[++i]);
    } else if (option == "--save" && has_value) {
      a.save = argv[++i];
    } else if (option == "--evaluate" && has_value) {
      a.evaluate = argv[++i];
    } else {
      std::fputs(kHelp, option == "--help" ? stdout : stderr);
      return option == "--help" ? 0 : 2;
    }
  }
  run(a);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
