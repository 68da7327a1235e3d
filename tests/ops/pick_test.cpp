// One element of every row, in numbers.

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(pick) {
  c.add("last axis").in({2, 3}, {1, 2, 3, 4, 5, 6}).in({2}, {2, 0}).no_grad(1).ref({3, 4});
  c.add("first axis")
      .attr("axis", 0)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({3}, {1, 0, 1})
      .no_grad(1)
      .ref({4, 2, 6});
  c.add("kept")
      .attr("keepdims", true)
      .in({2, 2}, {1, 2, 3, 4})
      .in({2}, {1, 1})
      .no_grad(1)
      .recovers({1})
      .ref({2, 4});
  c.add("clipped").in({2, 2}, {1, 2, 3, 4}).in({2}, {-5, 9}).no_grad(1).ref({1, 4});
  c.add("wrapped")
      .attr("mode", "wrap")
      .in({2, 2}, {1, 2, 3, 4})
      .in({2}, {-1, 2})
      .no_grad(1)
      .ref({2, 3});
  c.add("no axis").attr("axis", "None").in({2, 2}).in({2}).raises("axis");
}

OP_CASES(batch_take) {  // no gradient, as in MXNet
  c.add("rows")
      .in({3, 2}, {1, 2, 3, 4, 5, 6})
      .in_indices({3}, 2)
      .no_grad()
      .recovers({1})
      .ref([](const HostTensors& in) {
        HostTensor y(Shape{3});
        for (std::size_t i = 0; i < 3; ++i)
          y[i] = in[0][2 * i + static_cast<std::size_t>(in[1][i])];
        return y;
      });
  c.add("rows of matrices")
      .in({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
      .in({2, 2}, {1, 0, 0, 1})
      .no_grad()
      .ref({2, 3, 5, 8});
  c.add("clipped").in({2, 2}, {1, 2, 3, 4}).in({2}, {-5, 9}).no_grad().ref({1, 4});
  c.add("a vector").in({3}).in({1}).raises("batch_take needs rows");
  c.recorded();
}

TEST(BadInputBatchTake, indices_of_another_type_are_refused_at_bind) {
  const Symbol net = make_symbol("batch_take", "t", std::vector{Variable("a"), Variable("i")});
  for (const DType type : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt64}) {
    const NDArray a = NDArray::ones({2, 3}), i = NDArray::zeros({2}).astype(type);
    try {
      net.bind(cpu(), NDArrayMap{{"a", a}, {"i", i}}, {.grad_req = "null"});
      ADD_FAILURE() << "bound with " << dtype_name(type);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kType);
      EXPECT_NE(std::string(e.what()).find("int32"), std::string::npos) << e.what();
    }
    EXPECT_THROW(invoke("batch_take", {a, i}), Error);
  }
}

}  // namespace
}  // namespace symbind
