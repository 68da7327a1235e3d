// LeNet on Fashion-MNIST: a symbol, an executor, and gradient descent with momentum written out.
//
//   example_lenet_fashion_mnist --save lenet        trains, tests, saves
//   example_lenet_fashion_mnist --evaluate lenet    loads and tests

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <symbind/symbind.h>

#include "fashion_mnist.h"
#include "progress_bar.h"

using namespace symbind;

constexpr int kBatch = 100;

// The pictures come as bytes; scaling them is part of the network.
Symbol lenet() {
  Symbol x = Variable("data") / 255.0;
  x = Convolution("conv1", x, {.kernel = {5, 5}, .num_filter = 20});
  x = Activation("act1", x, {.act_type = "relu"});
  x = Pooling("pool1", x, {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
  x = Convolution("conv2", x, {.kernel = {5, 5}, .num_filter = 50});
  x = Activation("act2", x, {.act_type = "relu"});
  x = Pooling("pool2", x, {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
  x = FullyConnected("fc1", x, {.num_hidden = 500});
  x = Activation("act3", x, {.act_type = "relu"});
  x = FullyConnected("fc2", x, {.num_hidden = 10});
  return SoftmaxOutput("softmax", x);
}

bool is_input(const std::string& name) { return name == "data" || name == "softmax_label"; }

Executor bind(const Symbol& net) {
  std::map<std::string, std::string> grad_req;  // those that are not named get no gradient
  for (const std::string& name : net.list_arguments()) {
    if (!is_input(name)) grad_req[name] = "write";
  }
  return net.simple_bind(cpu(), {{"data", {kBatch, 1, 28, 28}}}, {.grad_req = grad_req});
}

// A weight and what belongs to it. The arrays are the executor's own: changing them changes it.
struct Parameter {
  NDArray weight, grad, momentum;
};

std::vector<Parameter> initialized_parameters(const Executor& executor) {
  std::vector<Parameter> parameters;
  seed(1);
  for (std::size_t i = 0; i < executor.arg_arrays().size(); ++i) {
    const NDArray weight = executor.arg_arrays()[i], grad = executor.grad_arrays()[i];
    if (!grad.defined()) continue;
    parameters.push_back({weight, grad, NDArray::zeros(weight.shape())});
    if (weight.ndim() < 2) continue;  // biases start at zero, as simple_bind leaves them
    const double fan_in = static_cast<double>(weight.shape().count(1));
    const std::string range = std::to_string(std::sqrt(3 / fan_in));
    invoke("_random_uniform", {}, {{"low", "-" + range}, {"high", range}}, {weight});
  }
  return parameters;
}

/// Mean of -log p(label) over the batch that just ran.
double loss(const NDArray& output, const NDArray& labels) {
  const auto p = output.to_vector<float>();
  const auto label = labels.to_vector<std::uint8_t>();
  double sum = 0;
  for (std::size_t i = 0; i < label.size(); ++i) sum -= std::log(p[i * 10 + label[i]] + 1e-10);
  return sum / static_cast<double>(label.size());
}

int count_right(const NDArray& output, const NDArray& labels) {
  const auto p = output.to_vector<float>();
  const auto label = labels.to_vector<std::uint8_t>();
  int right = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto row = p.begin() + static_cast<std::ptrdiff_t>(i * 10);
    right += std::max_element(row, row + 10) - row == label[i] ? 1 : 0;
  }
  return right;
}

double accuracy(Executor& executor, const FashionMnist& set) {
  int right = 0;
  for (std::int64_t i = 0; i < set.size(); i += kBatch) {
    const NDArray output = executor.forward(false, {{"data", set.images.slice(i, i + kBatch)}})[0];
    right += count_right(output, set.labels.slice(i, i + kBatch));
  }
  return right / static_cast<double>(set.size());
}

void train(Executor& executor, const FashionMnist& set, const FashionMnist& test, int epochs) {
  std::vector<Parameter> parameters = initialized_parameters(executor);
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < set.size(); i += kBatch) starts.push_back(i);
  std::mt19937 random(1);
  double rate = 0.05;
  for (int epoch = 1; epoch <= epochs; ++epoch, rate *= 0.5) {
    const std::string title = "epoch " + std::to_string(epoch) + "/" + std::to_string(epochs);
    ProgressBar bar(title, static_cast<int>(starts.size()));
    std::ranges::shuffle(starts, random);
    double sum = 0;
    int batches = 0;
    for (const std::int64_t i : starts) {
      const NDArray labels = set.labels.slice(i, i + kBatch);
      executor.forward(true,
                       {{"data", set.images.slice(i, i + kBatch)}, {"softmax_label", labels}});
      executor.backward();
      for (Parameter& p : parameters) {
        p.momentum *= 0.9;
        p.momentum -= p.grad * (rate / kBatch);
        p.weight += p.momentum;
      }
      sum += loss(executor.outputs()[0], labels);
      ++batches;
      bar.show(batches, sum / batches);
    }
    bar.finish();
    std::printf("%s  loss %.4f  test accuracy %.4f  %.1f s\n", title.c_str(), sum / batches,
                accuracy(executor, test), bar.seconds());
    std::fflush(stdout);
  }
}

std::string params_file(const std::string& prefix, int epoch) {
  char number[16];
  std::snprintf(number, sizeof(number), "-%04d", epoch);
  return prefix + number + ".params";
}

/// The number of the newest checkpoint; 0 if there is none.
int last_epoch(const std::string& prefix) {
  int epoch = 9999;
  while (epoch > 0 && !std::filesystem::exists(params_file(prefix, epoch))) --epoch;
  return epoch;
}

// MXNet's files: <prefix>-symbol.json and <prefix>-0000.params with names "arg:..." and "aux:...".
void save_checkpoint(const std::string& prefix, int epoch, const Executor& executor) {
  NDArrayMap arrays;
  for (const auto& [name, array] : executor.arg_dict()) {
    if (!is_input(name)) arrays["arg:" + name] = array;
  }
  for (const auto& [name, array] : executor.aux_dict()) arrays["aux:" + name] = array;
  executor.symbol().save(prefix + "-symbol.json");
  save(params_file(prefix, epoch), arrays);
  std::printf("saved %s-symbol.json and %s\n", prefix.c_str(), params_file(prefix, epoch).c_str());
}

Executor load_checkpoint(const std::string& prefix, int epoch) {
  Executor executor = bind(Symbol::load(prefix + "-symbol.json"));
  NDArrayMap args, aux;
  for (const auto& [name, array] : load(params_file(prefix, epoch)).map())
    (name.starts_with("arg:") ? args : aux)[name.substr(4)] = array;
  executor.copy_params_from(args, aux);
  return executor;
}

constexpr const char* kHelp =
    "Trains LeNet on Fashion-MNIST.\n"
    "  --epochs N         how often to go through the 60,000 training pictures (3)\n"
    "  --data DIR         the folder of the four idx files (Debian: dataset-fashion-mnist)\n"
    "  --save PREFIX      write PREFIX-symbol.json and PREFIX-<epochs>.params\n"
    "  --evaluate PREFIX  do not train: load the newest that --save wrote, and test it\n";

int main(int argc, char** argv) try {
  std::string data = FashionMnist::kFolder, save_to, evaluate;
  int epochs = 3;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool has_value = i + 1 < argc;
    if (option == "--data" && has_value) {
      data = argv[++i];
    } else if (option == "--save" && has_value) {
      save_to = argv[++i];
    } else if (option == "--evaluate" && has_value) {
      evaluate = argv[++i];
    } else if (option == "--epochs" && has_value) {
      epochs = std::clamp(std::atoi(argv[++i]), 1, 9999);
    } else {
      std::fputs(kHelp, option == "--help" ? stdout : stderr);
      return option == "--help" ? 0 : 2;
    }
  }
  const FashionMnist test("t10k", data);
  Executor executor =
      evaluate.empty() ? bind(lenet()) : load_checkpoint(evaluate, last_epoch(evaluate));
  if (evaluate.empty()) {
    train(executor, FashionMnist("train", data), test, epochs);
    if (!save_to.empty()) save_checkpoint(save_to, epochs, executor);
  }
  std::printf("test accuracy over %d images: %.4f\n", static_cast<int>(test.size()),
              accuracy(executor, test));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
