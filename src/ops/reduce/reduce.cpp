// Reductions: sum, mean, max, min, prod, nansum, nanprod.
//
//   sum      y = Σ x        dx = dy            prod      y = Π x     dx = dy · y / x
//   mean     y = Σ x / n    dx = dy / n        nansum, nanprod       NaN counts as 0, as 1
//   max, min                dx = dy · [x = y]: every tied element gets the gradient
//
// Decided here: `axis` is None, a number or a tuple; `exclude` reduces all the others. A full
// reduction has shape (1,): MXNet's legacy shapes have no scalars. The accuracy of sums:
// kernels/reduce.h.
#include <symbind/operator.h>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "kernels/channel_lanes.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "ops/reduce/reduce_attrs.h"

namespace symbind {
namespace {

enum class Needs { kShape, kInput, kInputAndOutput };

struct Entry {
  const char* name;
  const char* alias;
  Reduction reduction;
  Needs needs;
};
constexpr Entry kEntries[] = {
    {"sum", "sum_axis", Reduction::kSum, Needs::kShape},
    {"mean", nullptr, Reduction::kMean, Needs::kShape},
    {"prod", nullptr, Reduction::kProd, Needs::kInputAndOutput},
    {"max", "max_axis", Reduction::kMax, Needs::kInputAndOutput},
    {"min", "min_axis", Reduction::kMin, Needs::kInputAndOutput},
    {"nansum", nullptr, Reduction::kNanSum, Needs::kInput},
    {"nanprod", nullptr, Reduction::kNanProd, Needs::kInputAndOutput},
};

std::string backward_name(const Entry& e) { return std::string("_backward_") + e.name; }

void infer(const ReduceAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  infer_reduced(a.axes(), a.exclude, a.keepdims, io);
}

// Inputs: head, data[, output].
void infer_backward(const ReduceAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.all_same_dtype();
  ForwardSides sides{.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}};
  if (io.num_inputs() > 2) sides.from.push_back(io.out(0));
  tie_to_forward(a, io, infer, sides);
}

NodeEntries gradient_entry(const Entry& e, GradientBuilder& g) {
  NodeEntries inputs{g.head(0), g.input(0)};
  if (e.needs == Needs::kInputAndOutput) inputs.push_back(g.output(0));
  return g.call_with_same_attrs(backward_name(e), std::move(inputs));
}

// dx from dy, x and y, element by element.
template <class T>
T pass(T g, T, T) {
  return g;
}
template <class T>
T equal(T g, T x, T y) {
  return x == y ? g : T(0);
}
template <class T>
T others(T g, T x, T y) {
  return g * y / x;
}
template <class T>
T pass_numbers(T g, T x, T) {
  return x != x ? T(0) : g;
}
template <class T>
T others_numbers(T g, T x, T y) {
  return x != x ? T(0) : g * y / x;
}

template <class T, T (*f)(T, T, T)>
void loop(const void* head, const void* in, const void* out, void* result, std::int64_t n) {
  const auto *g = static_cast<const T*>(head), *x = static_cast<const T*>(in),
             *y = static_cast<const T*>(out);
  auto* dx = static_cast<T*>(result);
  for (std::int64_t i = 0; i < n; ++i) dx[i] = f(g[i], x[i], y[i]);
}

template <class T>
TernaryLoop backward_loop(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMax:
    case Reduction::kMin: return loop<T, equal<T>>;
    case Reduction::kProd: return loop<T, others<T>>;
    case Reduction::kNanSum: return loop<T, pass_numbers<T>>;
    case Reduction::kNanProd: return loop<T, others_numbers<T>>;
    default: return loop<T, pass<T>>;
  }
}

/// Whether the axes are positions only: batch and channels stay, so that a tensor may keep its
/// layout.
bool keeps_channels(const ReduceAttrs& a, const Shape& x) {
  if (x.rank() < 3 || x.rank() == kMaxRank) return false;
  const auto axes = reduced_axes(a.axes(), a.exclude, x.rank());
  return !axes[0] && !axes[1];
}

Offer offer_forward(const ReduceAttrs& a, const KernelRequest& q) {
  Offer offer = accept_plain(q);
  if (!keeps_channels(a, q.in[0].shape)) return offer;
  offer.in_layouts[0] = q.in[0].layout;
  // Blocks of channels without positions are plain.
  if (q.out[0].shape.rank() > 2) offer.out_layouts[0] = q.in[0].layout;
  return offer;
}

/// A tensor as it is in memory: batch, groups of channels, positions, lanes.
struct Stored {
  Shape shape;
  std::array<bool, kMaxRank> reduced;
};
Stored stored(const ReduceAttrs& a, const Shape& x, Layout layout) {
  Stored s{x, reduced_axes(a.axes(), a.exclude, x.rank())};
  if (layout == Layout::kPlain) return s;
  const std::int64_t lanes = channel_lanes(x, layout);
  s.shape[1] = lanes == 0 ? 0 : x[1] / lanes;
  s.shape.push_back(lanes);
  s.reduced[static_cast<std::size_t>(x.rank())] = false;
  return s;
}

Prepared prepare_forward(const Entry& e, const ReduceAttrs& a, const KernelRequest& q,
                         const Offer& offer) {
  const TensorDesc& in = q.in[0];
  const bool has_empty_value = e.reduction != Reduction::kMax && e.reduction != Reduction::kMin;
  check(has_empty_value || in.shape.size() > 0 || q.out[0].shape.size() == 0, ErrorKind::kShape,
        "{}: an array of shape {} has no elements, so its {} is undefined", e.name, in.shape.str(),
        e.name);
  const Stored x = stored(a, in.shape, offer.in_layouts[0]);
  return [reduce = Reducer(e.reduction, in.dtype, x.shape, x.reduced)](const Args& args) {
    reduce(args.inputs[0].data, args.outputs[0].data);
  };
}

Prepared prepare_backward(const Entry& e, const ReduceAttrs& a, const KernelRequest& q) {
  const TensorDesc& in = q.in[1];
  const auto axes = reduced_axes(a.axes(), a.exclude, in.shape.rank());
  Shape small = in.shape;
  std::int64_t count = 1;
  for (int d = 0; d < small.rank(); ++d) {
    if (!axes[static_cast<std::size_t>(d)]) continue;
    count *= small[d];
    small[d] = 1;
  }
  const ElementType type = element_type(in.dtype, Compute::kDouble);
  const bool is_double = type.compute == Compute::kDouble;
  return spread_back(
      is_double ? backward_loop<double>(e.reduction) : backward_loop<float>(e.reduction), type,
      in.shape, small, e.reduction == Reduction::kMean ? 1.0 / static_cast<double>(count) : 1.0,
      e.needs == Needs::kInputAndOutput);
}

void add(OpRegistry& r, const Entry& e,
         NodeEntries (*gradient)(const ReduceAttrs&, GradientBuilder&)) {
  auto op = r.add<ReduceAttrs>(e.name)
                .precision(Precision::kAsStored)
                .flops(1, Per::kFirstInput)
                .doc(std::string("Reduces by ") + e.name + " along axes.")
                .infer(infer)
                .gradient(gradient)
                .kernel(DeviceType::kCpu, "native", offer_forward,
                        [&e](const ReduceAttrs& a, const KernelRequest& q, const Offer& o) {
                          return prepare_forward(e, a, q, o);
                        });
  if (e.alias != nullptr) op.alias(e.alias);
  std::vector<std::string> names{"head", "data"};
  if (e.needs == Needs::kInputAndOutput) names.push_back("output");
  r.add<ReduceAttrs>(backward_name(e))
      .precision(Precision::kAsStored)
      .flops(e.reduction == Reduction::kSum ? 0 : 1)
      .inputs(names)
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "native", nullptr,
              [&e](const ReduceAttrs& a, const KernelRequest& q, const Offer&) {
                return prepare_backward(e, a, q);
              });
}

}  // namespace

void register_reduce(OpRegistry& r) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add(r, kEntries[I],
         [](const ReduceAttrs&, GradientBuilder& g) { return gradient_entry(kEntries[I], g); }),
     ...);
  }
  (std::make_index_sequence<std::size(kEntries)>());
}

}  // namespace symbind
