// ctest: run unit
// A custom loss, twice: as a symbol (MakeLoss) and as a function (FunctionLossModule).
//
// The loss is Huber's: quadratic near zero, linear far away, so that outliers pull less.

#include <cmath>
#include <cstdio>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

/// y = 2x + 1, and every tenth point far off.
NDArrayIter line_with_outliers() {
  std::vector<float> x, y;
  for (int i = 0; i < 200; ++i) {
    x.push_back(static_cast<float>(std::sin(i * 12.9898)));
    y.push_back(2 * x.back() + 1 + (i % 10 == 0 ? 20.0F : 0.0F));
  }
  return NDArrayIter(NDArray::from_vector(x, {200, 1}), NDArray::from_vector(y, {200}),
                     {.batch_size = 20, .label_name = "target"});
}

FitOptions options(const char* metric) {
  return {.eval_metric = metric,
          .optimizer_params = {{"learning_rate", 0.5}},
          .initializer = Zero(),
          .num_epoch = 60};
}

void report(const char* how, BaseModule& module) {
  const NDArrayMap args = module.get_params().args;
  const double slope = args.at("fc_weight").scalar(), start = args.at("fc_bias").scalar();
  std::printf("%-19s y = %.3f x + %.3f\n", how, slope, start);
  expect(std::abs(slope - 2) < 0.1 && std::abs(start - 1) < 0.2, "the outliers hardly matter");
}

int main() {
  NDArrayIter train = line_with_outliers();
  const Symbol scores = FullyConnected("fc", Variable("data"), {.num_hidden = 1});

  // The loss is part of the network; MakeLoss says that its gradient is one.
  const Symbol error = Reshape("", scores, {.shape = {-1}}) - Variable("target");
  const Symbol loss = MakeLoss("huber", smooth_l1("", error, {.scalar = 1}));
  Module by_symbol(loss, {.label_names = {"target"}});
  by_symbol.fit(train, options("loss"));
  report("MakeLoss:", by_symbol);

  // A module that computes scores, followed by one that computes the loss gradient.
  const auto gradient = [](const NDArray& s, const NDArray& targets) {
    const NDArray error = s - targets.reshape(s.shape());
    return clip(error, {.a_min = -1, .a_max = 1});
  };
  SequentialModule by_function;
  by_function.add(std::make_shared<Module>(scores, ModuleOptions{.label_names = {}}))
      .add(std::make_shared<FunctionLossModule>(gradient, "huber", "fc_output", "target"),
           {.take_labels = true, .auto_wiring = true});
  train.reset();
  by_function.fit(train, options("mse"));
  report("FunctionLossModule:", by_function);
}
