// The identity operators.
//
//   _copy, identity                a copy in new memory
//   BlockGrad, stop_gradient       the identity without a gradient
//   make_loss                      the identity as a head: its gradient is 1, whatever the head's
//   _copyto, _CrossDeviceCopy      a copy between arrays or devices; here both are host memory
//   _identity_with_attr_like_rhs   the first of two arrays; the second gives its shape and type
//
// Decided here: if the memory plan gives the output its input's memory, nothing is copied.
#include <cstring>

#include <symbind/operator.h>

#include "base/build.h"
#include "base/parallel.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/launch.h"
#include "kernels/element_type.h"

namespace symbind {
namespace {

void infer(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}
NodeEntries pass_on(const NoAttrs&, GradientBuilder& g) { return {g.head(0)}; }
NodeEntries nothing(const NoAttrs&, GradientBuilder&) { return {{}}; }
NodeEntries ones(const NoAttrs&, GradientBuilder& g) {
  return {g.call("ones_like", {g.output(0)})};
}
NodeEntries copy_back(const NoAttrs&, GradientBuilder& g) {
  return {g.call("_CrossDeviceCopy", {g.head(0)})};
}

Offer offer(const NoAttrs&, const KernelRequest& request) { return accept_same_layout(request); }

Prepared prepare(const NoAttrs&, const KernelRequest& request, const Offer&) {
  const std::int64_t bytes = static_cast<std::int64_t>(request.out[0].bytes());
  return [bytes](const Args& a) {
    const auto* from = static_cast<const char*>(a.inputs[0].data);
    auto* to = static_cast<char*>(a.outputs[0].data);
    if (from == to) return;
    parallel_for(bytes, 1 << 18, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
  };
}

OpBuilder<NoAttrs> add(OpRegistry& r, const char* name) {
  return r.add(name)
      .precision(Precision::kAsStored)
      .flops(0)
      .infer(infer)
      .kernel(DeviceType::kCpu, "reference", offer, prepare)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda", offer,
          [](const NoAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
            return [bytes = q.out[0].bytes()](const Args& a) {
              cuda::check_launch(
                  cuda::copy(a.run->stream, a.inputs[0].data, a.outputs[0].data, bytes), "copy");
            };
          });
}

}  // namespace

void register_copy(OpRegistry& r) {
  add(r, "_copy").doc("A copy of the input.").alias("identity").gradient(pass_on).inplace(0, 0);
  add(r, "BlockGrad")
      .doc("The input, through which no gradient flows.")
      .alias("stop_gradient")
      .gradient(nothing)
      .inplace(0, 0);
  add(r, "make_loss")
      .doc("The input as a loss: backward starts here with ones.")
      .outputs({"loss"})
      .gradient(ones)
      .loss()
      .inplace(0, 0);
  add(r, "_identity_with_attr_like_rhs")
      .doc("The left operand; the right one only gives its shape and element type.")
      .inputs(std::vector<std::string>{"lhs", "rhs"})
      .shape_only({1})
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.head(0), {}};
      })
      .inplace(0, 0);
  add(r, "_copyto").doc("Copies into another array.").gradient(copy_back);
  add(r, "_CrossDeviceCopy")
      .doc("A copy to the device of its reader.")
      .crosses_devices()
      .gradient(copy_back);
}

}  // namespace symbind
