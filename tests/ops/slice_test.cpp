// Parts of an array: recorded, and what is refused.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Channels 16 to 31, every second row from the last on.
HostTensor second_block(const HostTensors& in) {
  Shape shape = in[0].shape;
  shape[1] = 16;
  shape[2] = (shape[2] + 1) / 2;
  return from_coordinates(shape, [&](Coordinates at) {
    at[1] += 16;
    at[2] = in[0].shape[2] - 1 - 2 * at[2];
    return in[0].at(at);
  });
}

OP_CASES(slice) {
  c.recorded();
  c.add("a whole block of channels")
      .attr("begin", "(None, 16, None)")
      .attr("end", "(None, 32, None)")
      .attr("step", "(1, 1, -2)")
      .in({2, 48, 3, 4})
      .ref(second_block);
  c.add("a part of a block")
      .attr("begin", "(None, 1)")
      .attr("end", "(None, 2)")
      .in({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7})
      .ref({1});
  c.add("backwards")
      .attr("begin", "(4,)")
      .attr("end", "(0,)")
      .attr("step", "(-2,)")
      .in({6}, {0, 1, 2, 3, 4, 5})
      .ref({4, 2});
  c.add("beyond the edge")
      .attr("begin", "(-9,)")
      .attr("end", "(9,)")
      .in({3}, {1, 2, 3})
      .ref({1, 2, 3});
  c.add("empty").attr("begin", "(2,)").attr("end", "(1,)").in({6}).raises("empty");
}
OP_CASES(slice_axis) {
  c.recorded();
  c.add("empty").attr("axis", 0).attr("begin", 3).attr("end", 3).in({6}).raises("empty");
  c.add("after the end").attr("axis", 0).attr("begin", 3).attr("end", 7).in({6}).raises("leaves");
  c.add("before 0").attr("axis", 0).attr("begin", -7).attr("end", 2).in({6}).raises("leaves");
}
OP_CASES(slice_like) {
  c.add("all axes").in({2, 3}, {1, 2, 3, 4, 5, 6}).in({1, 2}).no_grad(1).ref({1, 2});
  c.add("one axis")
      .attr("axes", "(1,)")
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({5, 2})
      .no_grad(1)
      .ref({1, 2, 4, 5});
  c.add("from the end")
      .attr("axes", "(-1,)")
      .in({2, 2}, {1, 2, 3, 4})
      .in({9, 1})
      .no_grad(1)
      .ref({1, 3});
  c.add("too long").in({2}).in({3}).raises("cannot be reduced");
}

OP_CASES(_slice_assign) {
  c.recorded();
  c.add("every second, backwards")
      .attr("begin", "(None,)")
      .attr("end", "(None,)")
      .attr("step", "(-2,)")
      .in({5}, {1, 2, 3, 4, 5})
      .in({3}, {7, 8, 9})
      .recovers({1})
      .ref({9, 2, 8, 4, 7});
  c.add("other part")
      .attr("begin", "(0, 1)")
      .attr("end", "(2, 3)")
      .in({3, 4})
      .in({2, 3})
      .raises("the part that begin, end and step describe");
}
OP_CASES(_slice_assign_scalar) {
  c.recorded();
  c.add("a column")
      .attr("scalar", 9)
      .attr("begin", "(0, 1)")
      .attr("end", "(2, 2)")
      .in({2, 2}, {1, 2, 3, 4})
      .recovers({0})
      .ref({1, 9, 3, 9});
  c.add("nothing")
      .attr("scalar", 9)
      .attr("begin", "(2,)")
      .attr("end", "(1,)")
      .in({3}, {1, 2, 3})
      .ref({1, 2, 3});
  c.add("too many axes").attr("begin", "(0, 0)").attr("end", "(1, 1)").in({3}).raises("do not fit");
}

}  // namespace
}  // namespace symbind
