// A batch without labels, of the same or another size, does not affect later batches: the next
// batch with labels is trained on its own labels.

#include <gtest/gtest.h>

#include <symbind/symbind.h>

namespace symbind {
namespace {

DataBatch rows(std::int64_t count, std::optional<double> label) {
  DataBatch batch;
  batch.data = {NDArray::ones({count, 2})};
  if (label) batch.label = {NDArray::full({count}, *label)};
  return batch;
}

// d loss / d bias = p - onehot(label), summed over the rows; p is 1/2 with zero weights.
TEST(Module, labels_return_after_a_batch_without) {
  Symbol net = FullyConnected("fc", Variable("data"), {.num_hidden = 2});
  Module module(SoftmaxOutput("softmax", net));
  module.bind({{"data", {4, 2}}}, Shapes{{"softmax_label", {4}}});
  module.init_params({.initializer = Zero()});
  const auto bias_gradient = [&](std::int64_t count, double label) {
    module.forward_backward(rows(count, label));
    return module.group()->execs().front().grad_dict().at("fc_bias").to_vector<float>();
  };
  EXPECT_EQ(bias_gradient(4, 0), (std::vector<float>{-2, 2}));
  module.forward(rows(1, {}), false);
  EXPECT_EQ(bias_gradient(4, 1), (std::vector<float>{2, -2}));
  module.forward(rows(3, {}), false);
  EXPECT_EQ(bias_gradient(3, 1), (std::vector<float>{1.5, -1.5})) << "of the unlabelled size";
  EXPECT_EQ(module.label_shapes().front().shape, Shape({3}));
}

}  // namespace
}  // namespace symbind
