// Mean and variance along axes.
//
//   m = Σ x / n        v = Σ (x - m)² / n        dx = dm / n + dv · 2 (x - m) / n
//
// Decided here: both sums run in double, the second over the differences from the mean. At least
// one axis must be named, as in MXNet.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/reduce.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/reduce/reduce_attrs.h"

namespace symbind {
namespace {

struct MomentsAttrs {
  std::optional<Tuple> axes;
  bool keepdims = false;
  void describe(AttrVisitor& v) {
    v.field("axes", axes, "The axes over which mean and variance are taken.");
    v.field("keepdims", keepdims, "Keeps those axes with extent 1.");
  }
};

void infer(const MomentsAttrs& a, Inference& io) {
  check(a.axes && !a.axes->empty(), "moments needs axes; name all of them for the whole array");
  io.all_same_dtype();
  infer_reduced(*a.axes, false, a.keepdims, io);
  io.same_shape(io.out(0), io.out(1));
  infer_reduced(*a.axes, false, a.keepdims, io);
}
// Inputs: heads of mean and variance, data, mean.
void infer_backward(const MomentsAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(2), io.out(0));
  tie_to_forward(a, io, infer,
                 {.inputs = 1, .outputs = 2, .from = {io.out(0), io.out(1), io.in(0), io.out(0)}});
}

/// Offsets of the kept and the folded elements: element (o, r) of the data is at kept[o] +
/// folded[r].
struct Offsets {
  std::vector<std::int64_t> kept{0}, folded{0};
  Offsets(const Tuple& axes, const Shape& in) {
    const auto reduced = reduced_axes(axes, false, in.rank());
    if (in.size() == 0) {  // nothing to fold, but other extents may be huge
      std::int64_t outputs = 1;
      for (int d = 0; d < in.rank(); ++d)
        if (!reduced[static_cast<std::size_t>(d)]) outputs *= in[d];
      kept.assign(static_cast<std::size_t>(outputs), 0);
      folded.clear();
      return;
    }
    for (int d = 0; d < in.rank(); ++d) {
      std::vector<std::int64_t>& list = reduced[static_cast<std::size_t>(d)] ? folded : kept;
      std::vector<std::int64_t> longer;
      for (const std::int64_t at : list)
        for (std::int64_t i = 0; i < in[d]; ++i) longer.push_back(at + i * in.count(d + 1));
      list = std::move(longer);
    }
  }
  template <class Use>
  void each_kept(Use use) const {
    const auto work = static_cast<std::int64_t>(std::max<std::size_t>(1, folded.size()));
    parallel_for(static_cast<std::int64_t>(kept.size()), std::max<std::int64_t>(1, 16384 / work),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t o = begin; o < end; ++o)
                     use(o, kept[static_cast<std::size_t>(o)]);
                 });
  }
};

Prepared prepare(const MomentsAttrs& a, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [offsets = Offsets(*a.axes, q.in[0].shape)](const Args& args) {
      const T* x = args.in<T>(0);
      const auto n = static_cast<double>(offsets.folded.size());
      offsets.each_kept([&](std::int64_t o, std::int64_t base) {
        double sum = 0, squares = 0;
        for (const std::int64_t r : offsets.folded) sum += static_cast<double>(x[base + r]);
        const double mean = sum / n;
        for (const std::int64_t r : offsets.folded) {
          const double distance = static_cast<double>(x[base + r]) - mean;
          squares += distance * distance;
        }
        if (args.wants(0)) args.out<T>(0)[o] = convert_element<T>(mean);
        if (args.wants(1)) args.out<T>(1)[o] = convert_element<T>(squares / n);
      });
    };
  });
}
Prepared prepare_backward(const MomentsAttrs& a, const KernelRequest& q) {
  return dispatch_float(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [offsets = Offsets(*a.axes, q.out[0].shape)](const Args& args) {
      const T *dm = args.in<T>(0), *dv = args.in<T>(1), *x = args.in<T>(2), *m = args.in<T>(3);
      T* dx = args.out<T>(0);
      const auto n = static_cast<double>(offsets.folded.size());
      offsets.each_kept([&](std::int64_t o, std::int64_t base) {
        const double shift = static_cast<double>(dm[o]) / n,
                     slope = 2 * static_cast<double>(dv[o]) / n, mean = static_cast<double>(m[o]);
        for (const std::int64_t r : offsets.folded)
          dx[base + r] =
              convert_element<T>(shift + slope * (static_cast<double>(x[base + r]) - mean));
      });
    };
  });
}

}  // namespace

void register_moments(OpRegistry& r) {
  r.add<MomentsAttrs>("moments")
      .inputs(std::vector<std::string>{"data"})
      .doc("Mean and variance along axes.")
      .outputs({"output0", "output1"})
      .skips_unread()
      .infer(infer)
      .gradient([](const MomentsAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_moments",
                                      {g.head(0), g.head(1), g.input(0), g.output(0)});
      })
      .cpu_kernel("native", prepare);
  r.add<MomentsAttrs>("_backward_moments")
      .inputs(std::vector<std::string>{"mean_head", "var_head", "data", "mean"})
      .infer(infer_backward)
      .backward()
      .cpu_kernel("native", prepare_backward);
}

}  // namespace symbind
