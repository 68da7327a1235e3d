// Rows chosen by the values of another array: calls on arrays, their gradients, and bound graphs.

#include <gtest/gtest.h>
#include <symbind/autograd.h>
#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_boolean_mask) {
  c.add("another axis").attr("axis", 1).in({3, 2}).in({3}).raises("axis 0, not along axis 1");
  c.add("too short a mask").in({3, 2}).in({2}).raises("one entry for each row");
  c.add("a matrix as mask").in({3, 2}).in({3, 1}).raises("one entry for each row");
  c.add("no axes").in({}).in({1}).raises("without axes");
}

NDArray matrix() { return NDArray({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}); }

TEST(BooleanMask, the_gradient_goes_to_the_chosen_rows) {
  const NDArray mask({0, 0.5, 0, -1}, {4}), grad = NDArray::zeros({4, 2});
  NDArray data = matrix();
  autograd::mark_variables({&data}, {grad});
  NDArray out;
  {
    const autograd::Record recording;
    out = invoke("_contrib_boolean_mask", {data, mask}).front();
  }
  EXPECT_EQ(out.shape(), (Shape{2, 2}));
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{3, 4, 7, 8}));
  autograd::backward({out}, {.head_grads = {NDArray({10, 20, 30, 40}, {2, 2})}});
  EXPECT_EQ(grad.to_vector<float>(), (std::vector<float>{0, 0, 10, 20, 0, 0, 30, 40}));
}

TEST(BooleanMask, the_same_call_follows_the_values) {
  const NDArray data = matrix();
  NDArray mask({1, 0, 0, 0}, {4});
  EXPECT_EQ(invoke("_contrib_boolean_mask", {data, mask}).front().shape(), (Shape{1, 2}));
  mask.set(1);
  EXPECT_EQ(invoke("_contrib_boolean_mask", {data, mask}).front().shape(), (Shape{4, 2}));
  mask.set(0);
  EXPECT_EQ(invoke("_contrib_boolean_mask", {data, mask}).front().shape(), (Shape{0, 2}));
}

TEST(BooleanMask, a_mask_changed_before_backward_is_an_error) {
  const NDArray grad = NDArray::zeros({4, 2});
  NDArray data = matrix(), mask({0, 1, 0, 1}, {4});
  autograd::mark_variables({&data}, {grad});
  NDArray out;
  {
    const autograd::Record recording;
    out = invoke("_contrib_boolean_mask", {data, mask}).front();
  }
  mask.set(1);
  try {
    autograd::backward({out});
    grad.wait_to_read();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("index selects 4 rows"), std::string::npos) << e.what();
  }
}

Symbol masked() {
  return make_symbol("_contrib_boolean_mask", "mask",
                     std::vector{Variable("data"), Variable("index")}, {});
}

TEST(BooleanMask, a_bound_graph_says_why_it_cannot) {
  try {
    masked().simple_bind(cpu(), {{"data", {4, 2}}, {"index", {4}}});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("call _contrib_boolean_mask on arrays"), std::string::npos)
        << e.what();
  }
}

TEST(BooleanMask, a_bound_graph_has_room_for_what_its_neighbours_say) {
  const Symbol net = masked() + Variable("two_rows");
  Executor exe =
      net.simple_bind(cpu(), {{"data", {4, 2}}, {"index", {4}}, {"two_rows", {2, 2}}}, {});
  matrix().copy_to(exe.arg_dict()["data"]);
  NDArray({0, 1, 1, 0}, {4}).copy_to(exe.arg_dict()["index"]);
  EXPECT_EQ(exe.forward().front().to_vector<float>(), (std::vector<float>{3, 4, 5, 6}));
  exe.arg_dict()["index"].set(1);
  EXPECT_THROW(exe.forward().front().to_vector<float>(), Error);
}

TEST(BooleanMask, room_for_no_rows_is_checked_too) {
  NDArray none(Shape{0, 2}, cpu(), DType::kFloat32);
  const Symbol net = masked() + Variable("no_rows");
  const NDArrayMap args{
      {"data", matrix()}, {"index", NDArray({0, 0, 0, 0}, {4})}, {"no_rows", none}};
  Executor exe = net.bind(cpu(), args);
  EXPECT_EQ(exe.forward().front().shape(), (Shape{0, 2}));
  exe.arg_dict()["index"].set(1);
  EXPECT_THROW(exe.forward().front().wait_to_read(), Error);
}

}  // namespace
}  // namespace symbind
