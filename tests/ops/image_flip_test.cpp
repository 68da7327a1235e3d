// Images mirrored. Odd extents are checked by hand: MXNet leaves their middle unset.

#include <gtest/gtest.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_image_flip_left_right) {
  c.recorded();
  c.add("odd")
      .in({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
      .no_grad()
      .ref({5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8});
  c.add("no image").in({2, 3}).raises("height, width, channels");
}

OP_CASES(_image_flip_top_bottom) {
  c.recorded();
  c.add("odd").in({3, 1, 2}, {1, 2, 3, 4, 5, 6}).no_grad().ref({5, 6, 3, 4, 1, 2});
}

void either_way(const HostTensors& in, const HostTensors& out, const std::vector<double>& flipped) {
  EXPECT_TRUE(out[0].values == in[0].values || out[0].values == flipped);
}

OP_CASES(_image_random_flip_left_right) {
  c.add("this way or the other")
      .in({1, 3, 1}, {1, 2, 3})
      .no_grad()
      .property([](const HostTensors& in, const HostTensors& out) {
        either_way(in, out, {3, 2, 1});
      });
}

OP_CASES(_image_random_flip_top_bottom) {
  c.add("this way or the other")
      .in({3, 1, 1}, {1, 2, 3})
      .no_grad()
      .property([](const HostTensors& in, const HostTensors& out) {
        either_way(in, out, {3, 2, 1});
      });
}

}  // namespace
}  // namespace symbind
