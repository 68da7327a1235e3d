// The identity in its roles: recorded.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

double same(double x) { return x; }

OP_CASES(_copy) { c.recorded(); }
OP_CASES(BlockGrad) {
  c.recorded([](OpCase& recorded) { recorded.no_grad(); });  // no difference quotient shows it
  c.add("no gradient comes through").in({2, 2}).ref(same).grad_ref([](const HostTensors& in) {
    return HostTensors{HostTensor(in[0].shape)};
  });
}
OP_CASES(make_loss) {
  c.recorded();
  c.add("the head gradient is not read").in({2, 2}).ref(same).grad_ref([](const HostTensors& in) {
    return HostTensors{HostTensor(in[0].shape, {1, 1, 1, 1})};
  });
}
OP_CASES(_identity_with_attr_like_rhs) {
  c.recorded();
  c.add("the left one").in({2, 3}).in({2, 3}).recovers({0}).ref([](const HostTensors& in) {
    return in[0];
  });
  c.add("unequal").in({2, 3}).in({3, 2}).raises("shape");
}
OP_CASES(_copyto) { c.add("a copy").in({2, 3}).ref(same); }
OP_CASES(_CrossDeviceCopy) { c.add("a copy").in({2, 3}).ref(same).recovers({0}); }

}  // namespace
}  // namespace symbind
