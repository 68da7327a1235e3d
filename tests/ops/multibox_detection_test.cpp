// Objects found, against recordings of MXNet, and one image by hand.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_MultiBoxDetection) {
  c.recorded();
  c.add("in numbers")
      .in({1, 2, 3}, {0.25, 0.5, 1, 0.75, 0.5, 0})
      .in({1, 12}, std::vector<double>(12, 0))
      .in({1, 3, 4}, {0, 0, 0.5, 0.5, 0, 0, 0.5, 0.75, 0.5, 0.5, 1, 1})
      .no_grad()
      .ref({0, 0.75, 0, 0, 0.5, 0.5, -1, 0.5, 0, 0, 0.5, 0.75, -1, -1, -1, -1, -1, -1});
  c.add("other locations")
      .in({1, 2, 3})
      .in({1, 11})
      .in({1, 3, 4})
      .raises("four numbers for each anchor");
}

}  // namespace
}  // namespace symbind
