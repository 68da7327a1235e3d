// Shapes that change and elements that do not.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

HostTensor with_shape(const HostTensor& x, const Shape& shape) { return {shape, x.values}; }

OP_CASES(Reshape) {
  c.recorded();
  c.add("one missing extent of the input")
      .attr("shape", "(4, 6)")
      .in({2, 3, 4})
      .ref([](const HostTensors& in) {
        return with_shape(in[0], {4, 6});
      });
  c.add("a size that does not fit").attr("shape", "(5, 5)").in({2, 3}).raises("(2, 3)");
}
OP_CASES(Flatten) {
  c.recorded();
  c.add("a blocked input").in({2, 16, 2, 2}).ref([](const HostTensors& in) {
    return with_shape(in[0], {2, 64});
  });
}
OP_CASES(expand_dims) {
  c.recorded();
  c.add("both ways")
      .attr("axis", 1)
      .in({2, 3})
      .ref([](const HostTensors& in) {
        return with_shape(in[0], {2, 1, 3});
      })
      .recovers({0});
  c.add("too far").attr("axis", 4).in({2, 3}).raises("axis 4");
}
OP_CASES(squeeze) {
  c.add("all").in({1, 3, 1, 2}).ref([](const HostTensors& in) {
    return with_shape(in[0], {3, 2});
  });
  c.add("one").attr("axis", 2).in({1, 3, 1, 2}).ref([](const HostTensors& in) {
    return with_shape(in[0], {1, 3, 2});
  });
  c.add("two").attr("axis", "(0, -2)").in({1, 3, 1, 2}).ref([](const HostTensors& in) {
    return with_shape(in[0], {3, 2});
  });
  c.add("nothing is left").in({1, 1}).ref([](const HostTensors& in) {
    return with_shape(in[0], {1});
  });
  c.add("an axis that is longer").attr("axis", 1).in({1, 3}).raises("extent is not 1");
}
OP_CASES(reshape_like) {
  c.add("the other's shape").in({2, 6}).in({3, 4}).no_grad(1).ref([](const HostTensors& in) {
    return with_shape(in[0], {3, 4});
  });
  c.add("some axes")
      .attr("lhs_begin", 0)
      .attr("lhs_end", 2)
      .attr("rhs_begin", 1)
      .attr("rhs_end", 3)
      .in({6, 2, 5})
      .in({7, 3, 4})
      .no_grad(1)
      .ref([](const HostTensors& in) {
        return with_shape(in[0], {3, 4, 5});
      });
  c.add("another size").in({2, 6}).in({3, 3}).raises("12 and 9 elements");
}

}  // namespace
}  // namespace symbind
