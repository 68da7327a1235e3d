// ctest: run
// Load a network that MXNet 1.9.1 trained and saved, and name what is on a picture.
//
//   example_load_and_predict [PREFIX]     PREFIX-symbol.json and PREFIX-0001.params

#include <algorithm>

#include <symbind/symbind.h>

#include "expect.h"
#include "fashion_mnist.h"

using namespace symbind;

constexpr int kBatch = 100;

/// A checkpoint's names say what they are: "arg:fc1_weight", "aux:bn1_moving_mean".
Executor load_checkpoint(const std::string& prefix, const ShapeMap& shapes) {
  const Symbol net = Symbol::load(prefix + "-symbol.json");
  NDArrayMap args, aux;
  for (const auto& [name, array] : load(prefix + "-0001.params").map())
    (name.starts_with("arg:") ? args : aux)[name.substr(4)] = array;
  Executor executor = net.simple_bind(cpu(), shapes, {.grad_req = "null"});
  executor.copy_params_from(args, aux);
  return executor;
}

int main(int argc, char** argv) {
  if (!FashionMnist::is_installed()) {
    std::puts("skipped: Debian's package dataset-fashion-mnist is not installed");
    return 77;
  }
  const std::string prefix = argc > 1 ? argv[1] : "tests/golden/checkpoint/fashion";
  const FashionMnist test("t10k");
  const NDArray images = test.images.astype(DType::kFloat32) / 255.0;
  Executor executor = load_checkpoint(prefix, {{"data", {kBatch, 1, 28, 28}}});

  // One picture: an executor of another size shares the weights.
  Executor single = executor.reshape({{"data", {1, 1, 28, 28}}}, {.partial_shaping = true});
  const auto p = single.forward(false, {{"data", images.slice(0, 1)}})[0].to_vector<float>();
  const auto best = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
  std::printf("the first picture: %s, probability %.4f\n", FashionMnist::kClasses[best], p[best]);

  // All of them.
  const auto label = test.labels.to_vector<std::uint8_t>();
  int right = 0;
  for (std::int64_t i = 0; i < test.size(); i += kBatch) {
    const NDArrayMap batch = {{"data", images.slice(i, i + kBatch)}};
    const auto rows = executor.forward(false, batch)[0].to_vector<float>();
    for (std::size_t k = 0; k < kBatch; ++k) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(k * 10);
      right += std::max_element(row, row + 10) - row == label[static_cast<std::size_t>(i) + k];
    }
  }
  std::printf("right: %d of 10000\n", right);
  if (argc > 1) return 0;
  expect(best == 9 && std::abs(p[9] - 0.817603F) < 1e-5F, "an ankle boot, as sure as MXNet was");
  expect(right == 8496, "MXNet found 8496 of them as well");
}
