// The index of the largest or smallest element of a row: argmax, argmin, argmax_channel.
//
// Decided here: the first one counts; the index has the input's element type, as in MXNet; without
// an axis the whole array is one row. No gradient.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/reduce/reduce_attrs.h"

namespace symbind {
namespace {

struct ArgmaxAttrs {
  std::optional<int> axis;
  bool keepdims = false;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis to search; None searches everything.");
    v.field("keepdims", keepdims, "Keeps the axis with extent 1.");
  }
};

void infer_along(std::optional<int> axis, bool keepdims, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  infer_reduced(axis ? Tuple{*axis} : Tuple{}, false, keepdims, io);
}
void infer(const ArgmaxAttrs& a, Inference& io) { infer_along(a.axis, a.keepdims, io); }
void infer_channel(const NoAttrs&, Inference& io) { infer_along(1, false, io); }

Prepared search(std::optional<int> axis, bool largest, const KernelRequest& q) {
  const Shape& in = q.in[0].shape;
  const int d = axis ? normalize_axis(*axis, in.rank()) : 0;
  const std::int64_t outer = axis ? in.count(0, d) : 1, extent = axis ? in[d] : in.size(),
                     inner = axis ? in.count(d + 1) : 1;
  check(extent > 0, ErrorKind::kShape, "nothing to search in shape {}", in.str());
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=](const Args& a) {
      const T* x = a.in<T>(0);
      T* y = a.out<T>(0);
      parallel_for(outer * inner, std::max<std::int64_t>(1, 16384 / extent),
                   [=](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       const T* first = x + row / inner * extent * inner + row % inner;
                       std::int64_t best = 0;
                       for (std::int64_t k = 1; k < extent; ++k) {
                         const T& have = first[best * inner];
                         const T& next = first[k * inner];
                         if (have != have) break;  // the first NaN wins
                         if ((largest ? next > have : next < have) || next != next) best = k;
                       }
                       y[row] = convert_element<T>(best);
                     }
                   });
    };
  });
}

template <class A>
NodeEntries no_gradient(const A&, GradientBuilder&) {
  return {{}};
}

}  // namespace

void register_argmax(OpRegistry& r) {
  r.add<ArgmaxAttrs>("argmax")
      .flops(1, Per::kFirstInput)
      .doc("The index of the largest element along an axis.")
      .infer(infer)
      .gradient(no_gradient)
      .reference(
          [](const ArgmaxAttrs& a, const KernelRequest& q) { return search(a.axis, true, q); });
  r.add<ArgmaxAttrs>("argmin")
      .flops(1, Per::kFirstInput)
      .doc("The index of the smallest element along an axis.")
      .infer(infer)
      .gradient(no_gradient)
      .reference(
          [](const ArgmaxAttrs& a, const KernelRequest& q) { return search(a.axis, false, q); });
  r.add("argmax_channel")
      .flops(1, Per::kFirstInput)
      .doc("The index of the largest element along axis 1.")
      .infer(infer_channel)
      .gradient(no_gradient)
      .reference([](const NoAttrs&, const KernelRequest& q) { return search(1, true, q); });
}

}  // namespace symbind
