// The order of the elements of a row: recorded, and in numbers where MXNet is silent or wrong.

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <symbind/executor.h>
#include <symbind/symbol.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(topk) {
  c.recorded();
  c.add("values of the whole array")
      .attr("axis", "None")
      .attr("k", 3)
      .attr("ret_typ", "value")
      .in({2, 3}, {1, 5, 2, 7, 3, 9})
      .ref({9, 7, 5});
  c.add("places of equal values come in order")
      .attr("k", 4)
      .in({2, 4}, {1, 3, 1, 3, 2, 2, 2, 2})
      .no_grad()
      .ref({1, 3, 0, 2, 0, 1, 2, 3});
  c.add("the smallest of three axes")
      .attr("axis", 1)
      .attr("k", 2)
      .attr("ret_typ", "value")
      .attr("is_ascend", true)
      .in({1, 3, 2}, {5, 1, 4, 3, 6, 2})
      .ref({4, 1, 5, 2});
  c.add("one value").attr("ret_typ", "value").in({2, 3}, {1, 5, 2, 7, 3, 9}).ref({5, 9});
  const double nan = std::nan("");
  c.add("NaN comes last").attr("k", 4).in({4}, {nan, 1, nan, 2}).no_grad().ref({3, 1, 0, 2});
  c.add("NaN comes last, rising")
      .attr("k", 4)
      .attr("is_ascend", true)
      .in({4}, {nan, 1, nan, 2})
      .no_grad()
      .ref({1, 3, 0, 2});
  const double infinity = std::numeric_limits<double>::infinity();
  for (const bool rising : {true, false})
    c.add("signs of zero are equal, infinity is a number")
        .attr("k", 6)
        .attr("is_ascend", rising)
        .in({6}, {0, -0.0, infinity, nan, -infinity, -1})
        .no_grad()
        .ref(rising ? std::vector<double>{4, 5, 0, 1, 2, 3}
                    : std::vector<double>{2, 0, 1, 5, 4, 3});
  c.add("negative integers")
      .attr("k", 3)
      .attr("ret_typ", "value")
      .in({5}, {-5, 3, -100, 0, 127})
      .dtypes({DType::kInt8, DType::kInt32, DType::kInt64})
      .no_grad()
      .ref({127, 3, 0});
  c.add("unsigned integers above the largest signed one")
      .attr("k", 3)
      .attr("ret_typ", "value")
      .in({4}, {1, 3e9, 5, 4294967295})
      .dtypes({DType::kUint32, DType::kUint64, DType::kInt64})
      .no_grad()
      .ref({4294967295, 3e9, 5});
  c.add("unsigned bytes and words")
      .attr("k", 3)
      .attr("ret_typ", "indices")
      .attr("is_ascend", true)
      .in({5}, {200, 3, 255, 0, 127})
      .dtypes({DType::kUint8, DType::kUint16, DType::kInt16})
      .no_grad()
      .ref({3, 1, 4});
  c.add("a mask of integers")
      .attr("k", 2)
      .attr("ret_typ", "mask")
      .in({2, 3}, {1, 5, 2, 7, 3, 9})
      .dtypes({DType::kInt32, DType::kUint8})
      .no_grad()
      .ref({0, 1, 1, 1, 0, 1});
  c.add("k too large").attr("k", 4).in({2, 3}).raises("k=4 exceeds the 3 elements");
  c.add("no such axis").attr("axis", 2).in({2, 3}).raises("axis");
}

OP_CASES(sort) {
  c.recorded();
  c.add("without an axis given")
      .in({2, 3}, {5, 1, 2, 7, 9, 3})
      .recovers({0})
      .ref({1, 2, 5, 3, 7, 9});
  c.add("falling, all")
      .attr("axis", "None")
      .attr("is_ascend", false)
      .in({7, 300})
      .ref([](const HostTensors& in) {
        HostTensor y(Shape{2100});
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][i];
        std::vector<double> all(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) all[i] = y[i];
        std::sort(all.rbegin(), all.rend());
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = all[i];
        return y;
      })
      .no_grad();
  c.add("integers")
      .in({2, 3}, {5, 1, 2, 7, 9, 3})
      .dtypes({DType::kInt32, DType::kInt64})
      .no_grad()
      .ref({1, 2, 5, 3, 7, 9});
}

OP_CASES(argsort) {
  c.recorded();
  c.add("falling, first axis")
      .attr("axis", 0)
      .attr("is_ascend", false)
      .in({3, 2}, {1, 6, 3, 5, 2, 6})
      .no_grad()
      .ref({1, 0, 2, 2, 0, 1});
}

// The gradient reads the indices it returned.
TEST(Topk, gradient_refuses_indices_that_are_not_exact) {
  const auto bind = [](const char* dtype, std::int64_t n) {
    const Symbol top = make_symbol("topk", "t", std::vector{Variable("x")},
                                   {{"ret_typ", "both"}, {"dtype", dtype}});
    return top.simple_bind(cpu(), {{"x", {1, n}}});
  };
  EXPECT_NO_THROW(bind("uint8", 255));
  EXPECT_NO_THROW(bind("int32", 300));
  try {
    bind("uint8", 300);
    FAIL() << "uint8 cannot hold the index 299";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot hold the indices"), std::string::npos) << e.what();
  }
}
TEST(Topk, of_nothing) {
  EXPECT_EQ(invoke("topk", {NDArray::zeros({2, 0})}, {{"k", "0"}})[0].shape(), Shape({2, 0}));
  EXPECT_EQ(invoke("sort", {NDArray::zeros({0, 3})})[0].shape(), Shape({0, 3}));
}

}  // namespace
}  // namespace symbind
