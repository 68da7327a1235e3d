// softmax_cross_entropy: the cross entropy of softmax(x) with class labels, summed over the rows.
//
//   y = − Σ_rows log max(p[row, label], 1e-8),  p = softmax(x)      dx = dy · (p − onehot(label))
//
// Not a loss: it takes a head gradient. Decided here, as MXNet does: the gradient ignores the
// floor. A label that is not a class is an error (MXNet reads beyond the row).
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

void infer_rows(Inference& io, Inference::Ref data, Inference::Ref label) {
  io.set_shape(data, Shape::of_rank(2), "(rows, classes)");
  io.set_shape(label, Shape{io.shape(data)[0]}, "one label for every row");
  io.set_shape(data, Shape{io.shape(label)[0], kUnknownDim}, "one row for every label");
}

void infer(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  infer_rows(io, io.in(0), io.in(1));
  io.set_shape(io.out(0), Shape{1}, "the sum over all rows");
}

// Inputs: dy, x and the label.
void infer_backward(const NoAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_rows(io, io.in(1), io.in(2));
  io.same_shape(io.in(1), io.out(0));
  tie_to_forward(a, io, infer,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0), io.in(1)}});
}

struct Sizes {
  std::int64_t rows, classes;
  template <class T>
  std::int64_t label(const T* labels, std::int64_t row) const {
    const auto value = static_cast<double>(labels[row]);
    // Truncated toward zero, as in C.
    check(classes > 0 && value > -1 && value < static_cast<double>(classes), ErrorKind::kIndex,
          "softmax_cross_entropy: the label of row {} is {}, but there are {} classes", row, value,
          classes);
    return static_cast<std::int64_t>(value);
  }
};

/// The maximum of a row and the sum of exponentials relative to it.
template <class T>
std::pair<Accumulator<T>, Accumulator<T>> top_and_sum(const T* x, std::int64_t n) {
  using Acc = Accumulator<T>;
  Acc top = static_cast<Acc>(x[0]), sum = 0;
  for (std::int64_t i = 1; i < n; ++i) top = std::max(top, static_cast<Acc>(x[i]));
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<Acc>(x[i]) - top);
  return {top, sum};
}

Prepared forward(const NoAttrs&, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Sizes{r.in[0].shape[0], r.in[0].shape[1]}](const Args& args) {
      const T *x = args.in<T>(0), *label = args.in<T>(1);
      double total = 0;
      for (std::int64_t row = 0; row < s.rows; ++row) {
        const T* at = x + row * s.classes;
        const std::int64_t own = s.label(label, row);
        const auto [top, sum] = top_and_sum(at, s.classes);
        const double p =
            static_cast<double>(std::exp(static_cast<Accumulator<T>>(at[own]) - top) / sum);
        total -= std::log(std::max(p, 1e-8));
      }
      args.out<T>(0)[0] = static_cast<T>(static_cast<Accumulator<T>>(total));
    };
  });
}

Prepared backward(const NoAttrs&, const KernelRequest& r) {
  return dispatch_float(r.in[1].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [s = Sizes{r.in[1].shape[0], r.in[1].shape[1]}](const Args& args) {
      const Acc head = static_cast<Acc>(args.in<T>(0)[0]);
      const T *x = args.in<T>(1), *label = args.in<T>(2);
      T* dx = args.out<T>(0);
      const std::int64_t grain = std::max<std::int64_t>(1, 4096 / (s.classes + 1));
      parallel_for(s.rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const T* at = x + row * s.classes;
          const std::int64_t own = s.label(label, row);
          const auto [top, sum] = top_and_sum(at, s.classes);
          for (std::int64_t c = 0; c < s.classes; ++c) {
            const Acc p = std::exp(static_cast<Acc>(at[c]) - top) / sum;
            dx[row * s.classes + c] = static_cast<T>(head * (p - (c == own ? Acc(1) : Acc(0))));
          }
        }
      });
    };
  });
}

}  // namespace

void register_softmax_cross_entropy(OpRegistry& r) {
  r.add<NoAttrs>("softmax_cross_entropy")
      .flops(4, Per::kFirstInput)
      .doc("The cross entropy of softmax with class labels, summed over the rows.")
      .inputs({"data", "label"})
      .infer(infer)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_softmax_cross_entropy", {g.head(0), g.input(0), g.input(1)}), {}};
      })
      .reference(forward);
  r.add<NoAttrs>("_backward_softmax_cross_entropy")
      .flops(4, Per::kFirstInput)
      .backward()
      .inputs({"dy", "data", "label"})
      .infer(infer_backward)
      .reference(backward);
}

}  // namespace symbind
