// Channels into blocks of pixels and back.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(depth_to_space) {
  c.recorded();
  c.add("two channels out of eight")
      .attr("block_size", 2)
      .in({1, 8, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8})
      .recovers({0})
      .ref({1, 3, 5, 7, 2, 4, 6, 8});
  c.add("channels do not divide").attr("block_size", 2).in({1, 3, 2, 2}).raises("4 must divide");
  c.add("no image").attr("block_size", 2).in({4, 2, 2}).raises("4 axes");
  c.add("no block").attr("block_size", 0).in({1, 4, 2, 2}).raises("block_size");
}
OP_CASES(space_to_depth) {
  c.recorded();
  c.add("back to eight channels")
      .attr("block_size", 2)
      .in({1, 2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8})
      .recovers({0})
      .ref({1, 2, 3, 4, 5, 6, 7, 8});
  c.add("pixels do not divide").attr("block_size", 2).in({1, 1, 3, 2}).raises("cannot be split");
}

}  // namespace
}  // namespace symbind
