// Indices as one-hot rows: y[…, k] = on_value where k is the index, off_value elsewhere.
//
// Decided here: an index out of range gives a row of off_value. No gradient.
#include <symbind/operator.h>

#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct OneHotAttrs {
  int depth = 1;
  double on_value = 1, off_value = 0;
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("depth", depth, "Extent of the new last axis.").required().at_least(0);
    v.field("on_value", on_value, "The value at the index.");
    v.field("off_value", off_value, "The value elsewhere.");
    v.field("dtype", dtype, "The element type of the output.");
  }
};

void infer(const OneHotAttrs& a, Inference& io) {
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  Shape out = io.shape(io.in(0));
  if (!out.rank_known()) return;
  out.push_back(a.depth);
  io.set_shape(io.out(0), out, "the indices' shape and depth");
}

Prepared prepare(const OneHotAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(a.dtype, [&]<class T>() -> Prepared {
    return [on = convert_element<T>(a.on_value), off = convert_element<T>(a.off_value),
            depth = std::int64_t{a.depth}, n = q.in[0].shape.size(),
            type = q.in[0].dtype](const Args& args) {
      parallel_for(n, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, depth)),
                   [&](std::int64_t begin, std::int64_t end) {
                     T* y = args.out<T>(0);
                     std::fill(y + begin * depth, y + end * depth, off);
                     for_indices(
                         type, args.inputs[0].data, begin, end,
                         [&](std::int64_t first, std::int64_t count, const std::int64_t* at) {
                           for (std::int64_t k = 0; k < count; ++k)
                             if (at[k] >= 0 && at[k] < depth) y[(first + k) * depth + at[k]] = on;
                         });
                   });
    };
  });
}

}  // namespace

void register_one_hot(OpRegistry& r) {
  r.add<OneHotAttrs>("one_hot")
      .flops(0)
      .doc("Indices as one-hot rows.")
      .inputs(std::vector<std::string>{"indices"})
      .infer(infer)
      .gradient([](const OneHotAttrs&, GradientBuilder&) -> NodeEntries { return {{}}; })
      .reference(prepare);
}

}  // namespace symbind
