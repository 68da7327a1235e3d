// Products of matrices, by their definition.

#include <gtest/gtest.h>
#include <symbind/executor.h>
#include <symbind/shape.h>
#include <symbind/symbol.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// y[b, i, j] = Σ_k a[b, i, k] · b[b, k, j]; `ta`, `tb` as stored.
OpReference product(std::size_t batch, std::size_t m, std::size_t n, std::size_t k, bool ta,
                    bool tb, const Shape& out) {
  return [=](const HostTensors& in) {
    HostTensor y(out);
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::size_t p = 0; p < k; ++p)
            sum += in[0][b * m * k + (ta ? p * m + i : i * k + p)] *
                   in[1][b * k * n + (tb ? j * k + p : p * n + j)];
          y[(b * m + i) * n + j] = sum;
        }
      }
    }
    return HostTensors{y};
  };
}

OP_CASES(dot) {
  c.recorded();
  c.add("matrices").in({3, 5}).in({5, 2}).ref(product(1, 3, 2, 5, false, false, Shape{3, 2}));
  c.add("both stored transposed")
      .attr("transpose_a", true)
      .attr("transpose_b", true)
      .in({5, 3})
      .in({2, 5})
      .ref(product(1, 3, 2, 5, true, true, Shape{3, 2}));
  c.add("a transposed, 3-D")
      .attr("transpose_a", true)
      .in({4, 2, 3})
      .in({4, 3})
      .ref(product(1, 6, 3, 4, true, false, Shape{2, 3, 3}));
  c.add("b transposed, 3-D")
      .attr("transpose_b", true)
      .in({2, 4})
      .in({2, 3, 4})
      .ref(product(1, 2, 6, 4, false, true, Shape{2, 2, 3}));
  c.add("vectors").in({4}, {1, 2, 3, 4}).in({4}, {1, -1, 2, 0}).ref({5});
  c.add("storage type is ignored")
      .attr("forward_stype", "csr")
      .in({1, 2}, {1, 2})
      .in({2, 1}, {3, 4})
      .ref({11});
  c.add("unequal").in({2, 3}).in({2, 3}).raises("axis 1 of the left and axis 0 of the right");
  c.add("vectors transposed").attr("transpose_a", true).in({3}).in({3}).raises("vectors");
}

OP_CASES(batch_dot) {
  c.recorded();
  c.add("plain").in({2, 3, 4}).in({2, 4, 2}).ref(product(2, 3, 2, 4, false, false, Shape{2, 3, 2}));
  c.add("a transposed")
      .attr("transpose_a", true)
      .in({2, 4, 3})
      .in({2, 4, 2})
      .ref(product(2, 3, 2, 4, true, false, Shape{2, 3, 2}));
  c.add("both transposed, 4-D")
      .attr("transpose_a", true)
      .attr("transpose_b", true)
      .in({2, 2, 4, 3})
      .in({2, 2, 2, 4})
      .ref(product(4, 3, 2, 4, true, true, Shape{2, 2, 3, 2}));
  c.add("many small ones")
      .in({300, 2, 3})
      .in({300, 3, 2})
      .ref(product(300, 2, 2, 3, false, false, Shape{300, 2, 2}));
  c.add("matrices").in({2, 3}).in({3, 2}).raises("rank 3 or more");
  c.add("unequal batches").in({2, 3, 4}).in({3, 4, 2}).raises("before the last two");
  c.add("unequal").in({2, 3, 4}).in({2, 3, 4}).raises("must be equal");
}

// What MXNet's tests/python/unittest/test_infer_shape.py says of partly known operands.
InferredShapes of_parts(const char* op, const Shape& x, const Shape& y) {
  const Symbol z = make_symbol(op, "z", std::vector{Variable("x"), Variable("y")});
  return z.infer_shape_partial({{"x", x}, {"y", y}});
}
TEST(Dot, partial_shapes) {
  EXPECT_EQ(of_parts("dot", {0, 3, 4}, {4, 5}).outputs[0].str(), "(?, 3, 5)");
  EXPECT_EQ(of_parts("dot", {0, 3, 4}, {0, 5}).args[1], Shape({4, 5}));
  EXPECT_EQ(of_parts("batch_dot", {0, 3, 4}, {0, 4, 5}).outputs[0].str(), "(?, 3, 5)");
  EXPECT_EQ(of_parts("batch_dot", {7, 3, 4}, {0, 4, 0}).args[1].str(), "(7, 4, ?)");
  EXPECT_EQ(of_parts("batch_dot", {0, 3, 4}, {0, 0, 5}).outputs[0].str(), "?");
}
TEST(Dot, partial_shapes_as_numpy_writes_them) {
  const bool before = set_np_shape(true);
  EXPECT_EQ(of_parts("dot", {-1, 3, 4}, {4, 5}).outputs[0].str(), "(?, 3, 5)");
  EXPECT_EQ(of_parts("dot", {4}, {4}).outputs[0], Shape());
  EXPECT_EQ(of_parts("batch_dot", {-1, 3, 4}, {-1, 4, 5}).outputs[0].str(), "(?, 3, 5)");
  EXPECT_FALSE(of_parts("batch_dot", {-1, 3, 4}, {-1, -1, 5}).outputs[0].rank_known());
  set_np_shape(before);
}
TEST(Dot, of_nothing_is_zero) {
  const auto dot = [](const Shape& a, const Shape& b) {
    return invoke("dot", {NDArray::zeros(a), NDArray::zeros(b)})[0];
  };
  EXPECT_EQ(dot({2, 0}, {0, 2}).to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(dot({0, 3}, {3, 2}).shape(), Shape({0, 2}));
}

}  // namespace
}  // namespace symbind
