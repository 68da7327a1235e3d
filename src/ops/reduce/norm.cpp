// The norm along axes.
//
//   ord 2   y = sqrt(Σ x²)   dx = dy · x / y          ord 1   y = Σ |x|   dx = dy · sign x
//
// Decided here: at 0 the gradient of ord 2 is NaN, as in MXNet. float squares are summed in double.
#include <symbind/operator.h>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "ndarray/convert.h"
#include "ops/reduce/reduce_attrs.h"

namespace symbind {
namespace {

struct NormAttrs {
  int ord = 2;
  std::optional<Tuple> axis;
  std::optional<DType> out_dtype;
  bool keepdims = false;
  void describe(AttrVisitor& v) {
    v.field("ord", ord, "1 or 2.").at_least(1).at_most(2);
    v.field("axis", axis, "The axes to reduce; None means all.");
    v.field("out_dtype", out_dtype, "The element type of the output; None is the input's.");
    v.field("keepdims", keepdims, "Keeps reduced axes with extent 1.");
  }
  Tuple axes() const { return axis.value_or(Tuple{}); }
};

void infer(const NormAttrs& a, Inference& io) {
  if (a.out_dtype)
    io.set_dtype(io.out(0), *a.out_dtype, "attribute out_dtype");
  else
    io.same_dtype(io.in(0), io.out(0));
  infer_reduced(a.axes(), false, a.keepdims, io);
}
void infer_backward(const NormAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  tie_to_forward(a, io, infer,
                 {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0), io.out(0)}});
}

NodeEntries gradient(const NormAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_norm", {g.head(0), g.input(0), g.output(0)});
}

template <class T, int ord>
void back(const void* head, const void* in, const void* out, void* result, std::int64_t n) {
  const auto *g = static_cast<const T*>(head), *x = static_cast<const T*>(in),
             *y = static_cast<const T*>(out);
  auto* dx = static_cast<T*>(result);
  for (std::int64_t i = 0; i < n; ++i)
    dx[i] = ord == 2 ? g[i] * x[i] / y[i] : x[i] > T(0) ? g[i] : x[i] < T(0) ? -g[i] : T(0);
}

Offer offer(const NormAttrs& a, const KernelRequest& q) {
  return accept_plain(q,
                      a.out_dtype && *a.out_dtype != q.in[0].dtype
                          ? static_cast<std::size_t>(q.out[0].shape.size()) * size_of(q.in[0].dtype)
                          : 0);
}
Prepared prepare(const NormAttrs& a, const KernelRequest& q, const Offer&) {
  const TensorDesc& in = q.in[0];
  const Reducer reduce(a.ord == 1 ? Reduction::kNorm1 : Reduction::kNorm2, in.dtype, in.shape,
                       reduced_axes(a.axes(), false, in.shape.rank()));
  return
      [reduce, from = in.dtype, to = q.out[0].dtype, n = q.out[0].shape.size()](const Args& args) {
        void* direct = from == to ? args.outputs[0].data : args.workspace;
        reduce(args.inputs[0].data, direct);
        if (from != to) convert(args.outputs[0].data, to, direct, from, n);
      };
}
/// Head and output converted to the data's type, one after the other, if out_dtype differs.
Offer offer_backward(const NormAttrs&, const KernelRequest& q) {
  const bool same = q.in[0].dtype == q.in[1].dtype;
  return accept_plain(
      q, same ? 0 : 2 * static_cast<std::size_t>(q.in[0].shape.size()) * size_of(q.in[1].dtype));
}
Prepared prepare_backward(const NormAttrs& a, const KernelRequest& q, const Offer&) {
  const TensorDesc& in = q.in[1];
  const auto axes = reduced_axes(a.axes(), false, in.shape.rank());
  Shape small = in.shape;
  for (int d = 0; d < small.rank(); ++d)
    if (axes[static_cast<std::size_t>(d)]) small[d] = 1;
  const ElementType type = element_type(in.dtype, Compute::kDouble);
  const bool is_double = type.compute == Compute::kDouble;
  const TernaryLoop loop = a.ord == 1 ? (is_double ? back<double, 1> : back<float, 1>)
                                      : (is_double ? back<double, 2> : back<float, 2>);
  Prepared spread = spread_back(loop, type, in.shape, small, 1.0, true);
  const DType given = q.in[0].dtype;
  if (given == in.dtype) return spread;
  return [spread, given, to = in.dtype, n = q.in[0].shape.size()](const Args& args) {
    TensorArg inputs[3] = {args.inputs[0], args.inputs[1], args.inputs[2]};
    inputs[0].data = args.workspace;
    inputs[2].data =
        static_cast<std::byte*>(args.workspace) + static_cast<std::size_t>(n) * size_of(to);
    for (const int i : {0, 2}) convert(inputs[i].data, to, args.inputs[i].data, given, n);
    Args converted = args;
    converted.inputs = inputs;
    spread(converted);
  };
}

}  // namespace

void register_norm(OpRegistry& r) {
  r.add<NormAttrs>("norm")
      .flops(2, Per::kFirstInput)
      .doc("The norm along axes.")
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "native", offer, prepare);
  r.add<NormAttrs>("_backward_norm")
      .inputs(std::vector<std::string>{"head", "data", "output"})
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "native", offer_backward, prepare_backward);
}

}  // namespace symbind
