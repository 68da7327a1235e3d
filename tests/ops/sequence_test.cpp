// Sequences of unequal length.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(SequenceMask) {
  c.recorded();
  c.add("any number is a length")
      .attr("use_sequence_length", true)
      .attr("value", 9)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({3}, {-4, 7, 1})
      .no_grad(1)
      .recovers({1})
      .ref({9, 2, 3, 9, 5, 9});
  c.add("integers")
      .attr("use_sequence_length", true)
      .attr("axis", 1)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({2}, {1, 2})
      .dtypes({DType::kInt32})
      .no_grad()
      .ref({1, 0, 0, 4, 5, 0});
  c.add("a vector").in({3}).raises("2 axes or more");
  c.add("axis 2").attr("axis", 2).in({2, 2, 2}).raises("axis");
  c.add("other samples").attr("use_sequence_length", true).in({3, 2}).in({3}).raises("each sample");
}
OP_CASES(SequenceLast) {
  c.recorded();
  c.add("axis 1")
      .attr("use_sequence_length", true)
      .attr("axis", 1)
      .in({2, 3}, {1, 2, 3, 4, 5, 6})
      .in({2}, {1, 3})
      .no_grad(1)
      .recovers({1})
      .ref({1, 6});
  c.add("no step")
      .attr("use_sequence_length", true)
      .in({3, 2})
      .in({2}, {1, 0})
      .no_grad()
      .raises("sequence_length of sample 1 is 0; it must be from 1 to 3");
}
OP_CASES(SequenceReverse) {
  c.recorded();
  c.add("two steps, none, three")
      .attr("use_sequence_length", true)
      .in({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})
      .in({3}, {2, 0, 3})
      .no_grad(1)
      .recovers({1})
      .ref({4, 2, 9, 1, 5, 6, 7, 8, 3});
  c.add("too long")
      .attr("use_sequence_length", true)
      .in({3, 2})
      .in({2}, {1, 4})
      .no_grad()
      .raises("is 4");
  c.add("axis 1").attr("axis", 1).in({3, 2}).raises("axis=0 only");
}

}  // namespace
}  // namespace symbind
