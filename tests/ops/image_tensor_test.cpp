// From images to tensors, against recordings of MXNet.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_image_to_tensor) {
  c.recorded();
  c.add("no image").in({2, 2}).raises("height, width, channels");
}

OP_CASES(_image_normalize) {
  c.recorded();
  c.add("by default as it is").in({3, 2, 2}).ref([](double x) { return x; });
  c.add("in numbers")
      .attr("mean", "(1, 2, 3)")
      .attr("std", "(2, 4, 0.5)")
      .in({3, 1, 2}, {1, 3, 2, 6, 3, 4})
      .ref({0, 1, 0, 1, 0, 2});
  c.add("two channels").in({2, 3, 3}).raises("1 or 3 channels");
  c.add("two means").attr("mean", "(1, 2)").in({3, 2, 2}).raises("mean has 2 members");
}

OP_CASES(_image_crop) {
  c.recorded();
  c.add("beyond the image")
      .attr("x", 1)
      .attr("y", 0)
      .attr("width", 3)
      .attr("height", 1)
      .in({2, 3, 3})
      .raises("reaches beyond the image of 3 × 2");
  c.add("four channels")
      .attr("x", 0)
      .attr("y", 0)
      .attr("width", 1)
      .attr("height", 1)
      .in({2, 3, 4})
      .raises("1 or 3 channels");
}

}  // namespace
}  // namespace symbind
