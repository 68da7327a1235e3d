// The five activation functions; large enough, too, for the kernels that want many elements.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

double activation(const std::string& name, double x) {
  if (name == "relu") return x > 0 ? x : 0;
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "tanh") return std::tanh(x);
  if (name == "softrelu") return std::log1p(std::exp(x));
  return x / (1 + std::abs(x));
}

OP_CASES(Activation) {
  c.recorded([](OpCase& k) {
    if (k.name().ends_with("over the range")) k.no_grad();  // kinks at 0
  });
  for (const std::string name : {"relu", "sigmoid", "tanh", "softrelu", "softsign"}) {
    c.add(name + ", 4-D")
        .attr("act_type", name)
        .in({1, 16, 5, 7}, 0.25, 2)
        .recovers({})
        .ref([name](double x) { return activation(name, x); });
  }
  c.add("unknown").attr("act_type", "rely").in({2}).raises("relu");
}

}  // namespace
}  // namespace symbind
