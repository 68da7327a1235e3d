// Inverses and determinants.

#include <cmath>
#include <limits>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

const std::vector<DType> kTypes = {DType::kFloat32, DType::kFloat64};

OP_CASES(_linalg_inverse) {
  c.recorded();
  c.add("in numbers").in({2, 2}, {0, 2, 1, 4}).dtypes(kTypes).recovers({0}).ref({-2, 1, 0.5, 0});
  c.add("none").in({2, 2}, {1, 2, 2, 4}).no_grad().raises("matrix 0 has no inverse");
  c.add("no square").in({2, 3}).raises("square matrices are needed");
}
OP_CASES(_linalg_det) {
  c.recorded();
  c.add("rows exchanged").in({2, 2, 2}, {0, 2, 1, 4, 3, 0, 0, 2}).dtypes(kTypes).ref({-2, 6});
  c.add("singular").in({2, 2}, {1, 2, 2, 4}).dtypes(kTypes).no_grad().ref({0});
}
OP_CASES(_linalg_slogdet) {
  c.recorded();
  c.add("in numbers").in({2, 2}, {0, 2, 1, 4}).dtypes(kTypes).ref([](const HostTensors&) {
    return HostTensors{HostTensor(Shape{1}, {-1}), HostTensor(Shape{1}, {std::log(2.0)})};
  });
  c.add("singular").in({2, 2}, {1, 2, 2, 4}).dtypes(kTypes).no_grad().ref([](const HostTensors&) {
    return HostTensors{HostTensor(Shape{1}, {0}),
                       HostTensor(Shape{1}, {-std::numeric_limits<double>::infinity()})};
  });
}

}  // namespace
}  // namespace symbind
