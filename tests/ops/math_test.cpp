// add_n, copies, constants, clip, hard_sigmoid, smooth_l1.

#include <algorithm>
#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

HostTensor total(const HostTensors& in) {
  HostTensor y(in[0].shape);
  for (const HostTensor& t : in)
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += t[i];
  return y;
}
OP_CASES(add_n) {
  c.add("one").in({3, 4}).ref(total);
  c.add("three, blocked")
      .in({2, 16, 3, 2})
      .in({2, 16, 3, 2})
      .in({2, 16, 3, 2})
      .ref(total)
      .recovers({1, 2});
  c.add("integers")
      .in({3}, {1, 2, -3})
      .in({3}, {5, 7, 9})
      .ref(total)
      .dtypes({DType::kInt32, DType::kInt64});
  c.add("unequal shapes").in({3, 4}).in({3, 5}).raises("(3, 5)");
  c.recorded();
}

double same(double x) { return x; }
OP_FAMILY(copies) {
  for (const char* name : {"_copy", "BlockGrad", "make_loss", "_copyto", "_CrossDeviceCopy"}) {
    const bool no_grad = std::string(name) == "BlockGrad" || std::string(name) == "make_loss";
    OpCase& values = c.op(name).add("values").in({3, 4}).ref(same);
    OpCase& blocked = c.add("blocked").in({2, 16, 3, 2}).ref(same);
    if (no_grad) values.no_grad(), blocked.no_grad();
    c.add("integers")
        .in({3}, {1, -2, 3})
        .ref(same)
        .dtypes({DType::kInt32, DType::kInt64, DType::kInt8});
  }
  for (const char* name : {"BlockGrad", "make_loss"}) {
    const double gradient = std::string(name) == "make_loss" ? 1 : 0;
    c.op(name).add("the gradient").in({3, 4}).ref(same).grad_ref([gradient](const HostTensors& in) {
      return HostTensors{HostTensor(in[0].shape, std::vector<double>(in[0].size(), gradient))};
    });
  }
  for (const char* name : {"zeros_like", "ones_like"}) {
    const double value = std::string(name) == "ones_like" ? 1 : 0;
    c.op(name).add("values").in({3, 4}).no_grad().ref([value](double) { return value; });
    c.add("integers")
        .in({3}, {1, -2, 3})
        .ref([value](double) { return value; })
        .dtypes({DType::kInt32, DType::kInt64});
  }
}

auto filled(double value) {
  return [value](const HostTensors&) { return HostTensor({2, 3}, std::vector<double>(6, value)); };
}
OP_CASES(_zeros) {
  c.add("float32").attr("shape", "(2, 3)").ref(filled(0));
  c.add("int32").attr("shape", "(2, 3)").attr("dtype", "int32").ref(filled(0));
}
OP_CASES(_ones) {
  c.add("float32").attr("shape", "(2, 3)").ref(filled(1));
  c.add("float16").attr("shape", "(2, 3)").attr("dtype", "float16").ref(filled(1));
}
OP_CASES(_full) {
  c.add("float64")
      .attr("shape", "(2, 3)")
      .attr("value", 0.25)
      .attr("dtype", "float64")
      .ref(filled(0.25));
  c.add("int8").attr("shape", "(2, 3)").attr("value", -3).attr("dtype", "int8").ref(filled(-3));
}
OP_CASES(_arange) {
  c.add("from 2 by 0.5")
      .attr("start", 2)
      .attr("stop", 4)
      .attr("step", 0.5)
      .ref([](const HostTensors&) {
        return HostTensor({4}, {2, 2.5, 3, 3.5});
      });
  c.add("each twice").attr("start", 3).attr("repeat", 2).ref([](const HostTensors&) {
    return HostTensor({6}, {0, 0, 1, 1, 2, 2});
  });
  c.add("no step").attr("start", 0).attr("stop", 3).attr("step", 0).raises("step");
}

OP_CASES(clip) {
  const auto f = [](double x) { return std::clamp(x, -1.0, 1.5); };
  c.add("values").attr("a_min", -1).attr("a_max", 1.5).in({3, 4}, -3, 3).ref(f).recovers({0});
  c.add("blocked").attr("a_min", -1).attr("a_max", 1.5).in({2, 16, 3, 2}, -3, 3).ref(f);
}
OP_CASES(hard_sigmoid) {
  const auto f = [](double x) { return std::clamp(0.25 * x + 0.5, 0.0, 1.0); };
  c.add("values").attr("alpha", 0.25).attr("beta", 0.5).in({3, 4}, -4, 4).ref(f);
}
OP_CASES(smooth_l1) {
  const auto f = [](double x) { return std::abs(x) < 0.25 ? 2 * x * x : std::abs(x) - 0.125; };
  c.add("values").attr("scalar", 2).in({3, 4}, -1, 1).ref(f);
}

}  // namespace
}  // namespace symbind
