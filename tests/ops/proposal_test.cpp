// Region proposals, recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OpCase& two_anchors(OpCase& c) {
  return c.attr("scales", "(1, 2)")
      .attr("ratios", "(1,)")
      .attr("feature_stride", 4)
      .attr("rpn_min_size", 0)
      .attr("rpn_post_nms_top_n", 2)
      .dtypes({DType::kFloat32})
      .no_grad();
}

OP_FAMILY(proposal) {
  for (const char* name : {"_contrib_Proposal", "_contrib_MultiProposal"}) {
    c.op(name).recorded([](OpCase& recorded) { recorded.no_grad(); });
    // Anchors 0 0 3 3 and -2 -2 5 5, the second cut at the image's edge.
    two_anchors(c.op(name).add("in numbers"))
        .in({1, 4, 1, 1}, {0.5, 0.5, 0.25, 0.75})
        .in({1, 8, 1, 1}, std::vector<double>(8, 0))
        .in({1, 3}, {4, 5, 1})
        .ref({0, 0, 0, 4, 3, 0, 0, 0, 4, 3});
    two_anchors(c.op(name).add("an image larger than its places"))
        .in({1, 4, 1, 1})
        .in({1, 8, 1, 1})
        .in({1, 3}, {4, 8, 1})
        .raises("im_info says image 0 has 4 × 8 pixels");
    two_anchors(c.op(name).add("other anchors"))
        .in({1, 6, 1, 1})
        .in({1, 12, 1, 1})
        .in({1, 3})
        .raises("two scores for every ratio and scale");
  }
}

}  // namespace
}  // namespace symbind
