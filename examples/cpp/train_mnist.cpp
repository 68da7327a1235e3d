// Trains a network on Fashion-MNIST or MNIST, whichever is on the machine.
//
//   example_train_mnist --network lenet --epochs 2 --save lenet
//   example_train_mnist --evaluate lenet                  loads the newest epoch and tests it

#include <cstdio>
#include <cstdlib>

#include <symbind/symbind.h>

using namespace symbind;

constexpr const char* kHelp =
    "Trains a network on Fashion-MNIST or MNIST.\n"
    "  --network NAME     mlp or lenet (mlp)\n"
    "  --epochs N         how often to go through the 60,000 training pictures (5)\n"
    "  --batch N          pictures per step (100)\n"
    "  --lr RATE          learning rate, times 0.5 after each epoch (0.05)\n"
    "  --devices N        split each batch over N CPU devices (1)\n"
    "  --save PREFIX      write PREFIX-symbol.json and PREFIX-<epoch>.params after each epoch\n"
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
  const datasets::ImageSet set = datasets::find_images();
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
    const FactorScheduler slower(60000 / a.batch, 0.5, 1e-8, {.base_lr = a.lr});
    Callbacks<EpochEndCallback> save;
    if (!a.save.empty()) save = do_checkpoint(a.save);
    module->fit(train, {.eval_data = &test,
                        .epoch_end_callback = save,
                        .batch_end_callback = Speedometer(a.batch, 200),
                        .optimizer_params = {{"momentum", 0.9}, {"lr_scheduler", slower}},
                        .initializer = Xavier({.magnitude = 2}),
                        .num_epoch = a.epochs});
  } else {
    module->bind(test.provide_data(), test.provide_label(), {.for_training = false});
  }
  std::printf("test accuracy over 10000 images: %.4f\n", module->score(test, "acc").front().second);
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
