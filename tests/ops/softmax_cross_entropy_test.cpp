// softmax_cross_entropy: recorded, its floor, and that it is no loss head.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(softmax_cross_entropy) {
  c.recorded([](OpCase& recorded) {
    if (recorded.name() == "large logits") recorded.no_grad();  // the floor is not seen by backward
  });
  c.add("in numbers")
      .in({2, 2}, {0, 0, 1, 1})
      .in({2}, {1, 0})
      .no_grad(1)
      .recovers({1})
      .ref({2 * std::log(2.0)});
}

TEST(SoftmaxCrossEntropy, the_probability_has_a_floor) {
  const NDArray x({0, 100}, {1, 2}), label({0}, {1});
  EXPECT_NEAR(invoke("softmax_cross_entropy", {x, label}).at(0).to_vector<float>()[0],
              -std::log(1e-8), 1e-4);
}

TEST(SoftmaxCrossEntropy, needs_a_head_gradient) {
  const Symbol net = make_symbol("softmax_cross_entropy", "loss", std::vector{Variable("data")});
  Executor exe = net.simple_bind(cpu(), {{"data", {1, 2}}});
  exe.forward(true);
  EXPECT_THROW(exe.backward(), Error);
}

TEST(BadInputSoftmaxCrossEntropy, a_label_that_is_no_class) {
  const NDArray x = NDArray::ones({1, 2}), label({2}, {1});
  EXPECT_THROW(invoke("softmax_cross_entropy", {x, label}).at(0).to_vector<float>(), Error);
}

}  // namespace
}  // namespace symbind
