// Writing into the array given as out.

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_set_value) { c.add("nothing to set").attr("src", 1.0).raises("shape"); }
TEST(SetValue, every_element_of_out) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32}) {
    const NDArray y = NDArray::zeros({2, 3}, cpu(), dtype);
    invoke("_set_value", {}, {{"src", "2.5"}}, {y});
    EXPECT_EQ(y.to_vector<double>(), std::vector<double>(6, dtype == DType::kInt32 ? 2.0 : 2.5));
  }
}

OP_CASES(_onehot_encode) {  // recorded with rhs as out: GoldenOps._onehot_encode
  c.add("rows")
      .in({3}, {2, 0, 9})
      .in({3, 3})
      .no_grad()
      .recovers({0})
      .ref({0, 0, 1, 1, 0, 0, 0, 0, 0});
  c.add("unequal rows").in({3}).in({2, 3}).raises("each row");
}
OP_CASES(fill_element_0index) {
  c.recorded();
  c.add("rows")
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({2}, {8, 9})
      .in({2}, {2, 0})
      .no_grad()
      .recovers({1})
      .ref({1, 2, 8, 9, 5, 6});
  c.add("out of range")
      .in({1, 3})
      .in({1})
      .in({1}, std::vector<double>{3})
      .no_grad()
      .raises("index 3");
}

}  // namespace
}  // namespace symbind
