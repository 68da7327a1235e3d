// Regions to look at, against recordings of MXNet, and one map by hand.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(_contrib_Proposal) {
  c.recorded();
  // Two cells of 4 pixels with the anchors 0..3 and 4..7, of which the second scores better.
  c.add("in numbers")
      .attr("scales", "(1,)")
      .attr("ratios", "(1,)")
      .attr("feature_stride", 4)
      .attr("rpn_min_size", 1)
      .attr("rpn_post_nms_top_n", 3)
      .attr("output_score", true)
      .in({1, 2, 1, 2}, {0.5, 0.25, 0.5, 0.75})
      .in({1, 4, 1, 2}, {0, 0.25, 0, 0, 0, 0, 0, 0})
      .in({1, 3}, {4, 8, 1})
      .no_grad()
      .ref([](const HostTensors&) {
        return HostTensors{HostTensor({3, 5}, {0, 5, 0, 7, 3, 0, 0, 0, 3, 3, 0, 5, 0, 7, 3}),
                           HostTensor({3, 1}, {0.75, 0.5, 0.75})};
      });
  c.add("two images").in({2, 24, 1, 1}).in({2, 48, 1, 1}).in({2, 3}).raises("MultiProposal");
  c.add("other anchors")
      .in({1, 22, 1, 1})
      .in({1, 44, 1, 1})
      .in({1, 3})
      .raises("two scores for each anchor");
  c.add("other shifts")
      .in({1, 24, 1, 1})
      .in({1, 24, 1, 1})
      .in({1, 3})
      .raises("four shifts for each anchor");
  c.add("no ratio")
      .attr("ratios", "(0,)")
      .in({1, 8, 1, 1})
      .in({1, 16, 1, 1})
      .in({1, 3})
      .raises("ratios must be positive");
}

OP_CASES(_contrib_MultiProposal) { c.recorded(); }

}  // namespace
}  // namespace symbind
