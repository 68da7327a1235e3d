// Borders around images, against recordings of MXNet.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_cvcopyMakeBorder) {
  c.recorded();
  const auto margins = [&](const std::string& name) -> OpCase& {
    return c.add(name).attr("top", 0).attr("bot", 0).attr("left", 3).attr("right", 2);
  };
  margins("mirrored further than the image")
      .attr("type", 2)
      .in({1, 2, 1}, {1, 2})
      .no_grad()
      .ref({2, 2, 1, 1, 2, 2, 1});
  margins("mirrored, one pixel")
      .attr("type", 4)
      .in({1, 1, 1}, std::vector<double>{5})
      .no_grad()
      .ref({5, 5, 5, 5, 5, 5});
  margins("no such type").attr("type", 7).in({1, 2, 1}).raises("type 7");
  margins("five values").attr("values", "(1, 2, 3, 4, 5)").in({1, 2, 1}).raises("at most four");
  c.add("negative")
      .attr("top", -1)
      .attr("bot", 0)
      .attr("left", 0)
      .attr("right", 0)
      .in({1, 2, 1})
      .raises("top");
}

}  // namespace
}  // namespace symbind
