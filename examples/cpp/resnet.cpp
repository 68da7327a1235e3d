// ctest: run unit --synthetic --layers 8 --batch 32 --devices 2
// A residual network on one to four devices.
//
//   example_resnet --devices 2 --layers 20 --epochs 2        pictures of Fashion-MNIST
//   example_resnet --synthetic --layers 8                    synthetic images, in seconds
//
// Every device gets its share of the batch; the store adds their gradients up. CPU devices share
// the cores; with a CUDA build, gpu(i) in place of cpu(i) is the only change.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

constexpr const char* kHelp =
    "A residual network on one to four devices.\n"
    "  --devices N    1 to 4 (1)\n"
    "  --layers N     6n + 2 (20)\n"
    "  --epochs N     passes over the data (2)\n"
    "  --batch N      pictures per step, over all devices (64)\n"
    "  --synthetic    synthetic images instead of Fashion-MNIST\n";

struct Arguments {
  int devices = 1, layers = 20, epochs = 2, batch = 64;
  bool synthetic = false;
};

/// Pictures of ten classes: class k has k + 1 stripes, under noise.
std::unique_ptr<DataIter> stripes(int count, const Arguments& a) {
  std::vector<float> pixels, labels;
  for (int i = 0; i < count; ++i) {
    labels.push_back(static_cast<float>(i % 10));
    for (int at = 0; at < 28 * 28; ++at) {
      const double height = 2 * std::numbers::pi * (at / 28) / 27;
      pixels.push_back(static_cast<float>(std::sin((i % 10 + 1) * height)));
    }
  }
  NDArray pictures = NDArray::from_vector(pixels, {count, 1, 28, 28});
  const NDArray noise = random_normal({.scale = 0.3, .shape = pictures.shape().dims()});
  pictures += noise;
  return std::make_unique<NDArrayIter>(
      pictures, NDArray::from_vector(labels, {count}),
      NDArrayIterOptions{.batch_size = a.batch, .shuffle = true, .seed = 1});
}

std::unique_ptr<DataIter> fashion(bool train, const Arguments& a) {
  const datasets::ImageSet set = datasets::find_images();
  return std::make_unique<MNISTIter>(
      MNISTIterOptions{.image = train ? set.train_images : set.test_images,
                       .label = train ? set.train_labels : set.test_labels,
                       .batch_size = a.batch,
                       .shuffle = train});
}

double run(const Arguments& a) {
  seed(1);
  const auto train = a.synthetic ? stripes(320, a) : fashion(true, a);
  const auto test = a.synthetic ? stripes(64, a) : fashion(false, a);
  std::vector<Context> devices;
  for (int i = 0; i < a.devices; ++i) devices.push_back(cpu(i));
  Module module(
      models::resnet({.num_classes = 10, .num_layers = a.layers, .image_shape = {1, 28, 28}}),
      {.context = devices});
  module.fit(*train,
             {.eval_data = test.get(),
              .batch_end_callback = Speedometer(a.batch, 20),
              .optimizer_params = {{"learning_rate", 0.05}, {"momentum", 0.9}, {"wd", 1e-4}},
              .initializer = Xavier({.rnd_type = "gaussian", .factor_type = "in", .magnitude = 2}),
              .num_epoch = a.epochs});
  for (const BatchSlice& rows : module.group()->slices())
    std::printf("a device had rows %ld to %ld\n", static_cast<long>(rows.begin),
                static_cast<long>(rows.end));
  return module.score(*test, "acc").front().second;
}

int main(int argc, char** argv) try {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    int* number = option == "--devices"  ? &a.devices
                  : option == "--layers" ? &a.layers
                  : option == "--epochs" ? &a.epochs
                  : option == "--batch"  ? &a.batch
                                         : nullptr;
    if (number && i + 1 < argc) {
      *number = std::max(1, std::atoi(argv[++i]));
    } else if (option == "--synthetic") {
      a.synthetic = true;
    } else {
      std::fputs(kHelp, option == "--help" ? stdout : stderr);
      return option == "--help" ? 0 : 2;
    }
  }
  const double accuracy = run(a);
  std::printf("%d devices: test accuracy %.4f\n", a.devices, accuracy);
  expect(accuracy > 0.5, "it learns: one in ten would be chance");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
