// CTCLoss: recorded, and against the sum over all paths.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// − log of the sum over every path; `label` are classes, the blank is 0.
double by_all_paths(const HostTensor& x, std::int64_t n, const std::vector<std::int64_t>& label) {
  const std::int64_t steps = x.shape[0], classes = x.shape[2];
  std::int64_t paths = 1;
  for (std::int64_t t = 0; t < steps; ++t) paths *= classes;
  double total = 0;
  for (std::int64_t path = 0; path < paths; ++path) {
    std::vector<std::int64_t> joined;
    double p = 1;
    std::int64_t before = 0;
    for (std::int64_t t = 0, rest = path; t < steps; ++t, rest /= classes) {
      const std::int64_t k = rest % classes;
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(x.at({t, n, c}));
      p *= std::exp(x.at({t, n, k})) / sum;
      if (k != 0 && k != before) joined.push_back(k);
      before = k;
    }
    if (joined == label) total += p;
  }
  return -std::log(total);
}

OP_CASES(CTCLoss) {
  c.recorded();
  c.add("all paths")
      .in({4, 3, 3}, -2, 2)
      .in({3, 2}, {1, 2, 2, 2, 1, 0})
      .no_grad(1)
      .ref([](const HostTensors& in) {
        return HostTensor(Shape{3}, {by_all_paths(in[0], 0, {1, 2}), by_all_paths(in[0], 1, {2, 2}),
                                     by_all_paths(in[0], 2, {1})});
      });
  c.add("more labels than steps").in({2, 1, 3}).in({1, 3}).raises("do not fit");
}

TEST(CTCLoss, needs_a_head_gradient) {
  const Symbol net =
      make_symbol("CTCLoss", "ctc", std::vector{Variable("data"), Variable("label")});
  Executor exe = net.simple_bind(cpu(), {{"data", {2, 1, 3}}, {"label", {1, 1}}});
  exe.forward(true);
  EXPECT_THROW(exe.backward(), Error);
}

TEST(CTCLoss, lengths_end_labels_and_data) {
  const HostTensor x = HostTensor::formula({4, 1, 3}, 3);
  const NDArray label({2, 1, 1}, {1, 3}), two({2}, {1}), one({1}, {1});
  const auto loss = [&](const std::vector<NDArray>& inputs, const AttrDict& attrs) {
    return invoke("ctc_loss", inputs, attrs).at(0).to_vector<float>()[0];
  };
  HostTensor half(Shape{2, 1, 3}, {x.values.begin(), x.values.begin() + 6});
  EXPECT_NEAR(loss({x.array(), label, two, one},
                   {{"use_data_lengths", "True"}, {"use_label_lengths", "True"}}),
              by_all_paths(half, 0, {2}), 1e-5);
}

TEST(BadInputCTCLoss, a_label_that_is_no_class) {
  const NDArray x = NDArray::ones({3, 1, 3}), label({3}, {1, 1});
  EXPECT_THROW(invoke("CTCLoss", {x, label}).at(0).to_vector<float>(), Error);
}

}  // namespace
}  // namespace symbind
