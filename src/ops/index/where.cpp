// A choice: y = x where the condition is not 0, else y = the other array.
//
// Decided here: the condition has the arrays' shape, or one value for each index of the first axis;
// it may have any element type. No gradient flows to it.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

void infer_condition(Inference& io, Inference::Ref condition, Inference::Ref data) {
  const Shape &given = io.shape(condition), &shape = io.shape(data);
  if (!shape.rank_known() || !given.rank_known()) return;  // two forms: nothing can be inferred
  if (given.rank() == 1 && shape.rank() > 1)
    io.set_shape(condition, Shape{shape[0]}, "one value for each index of the first axis");
  else
    io.set_shape(condition, shape, "the condition has the arrays' shape or one axis");
}
void infer(const NoAttrs&, Inference& io) {
  const bool decided = io.known(io.in(0));  // MXNet infers nothing before the condition is known
  for (int round = 0; round < 2; ++round) {
    io.same_dtype(io.in(1), io.in(2));
    io.same_dtype(io.in(1), io.out(0));
    if (!decided) continue;
    io.same_shape(io.in(1), io.in(2));
    io.same_shape(io.in(1), io.out(0));
  }
  if (!decided) return;
  infer_condition(io, io.in(0), io.in(1));
}
void infer_backward(const NoAttrs&, Inference& io) {
  for (int i = 0; i < 2; ++i) {
    io.same_shape(io.in(0), io.out(i));
    io.same_dtype(io.in(0), io.out(i));
  }
  infer_condition(io, io.in(1), io.in(0));
}

/// Every value of the condition applies to `inner` elements.
struct Choice {
  DType type;
  std::int64_t conditions, inner;
  Choice(const TensorDesc& condition, const Shape& shape)
      : type(condition.dtype),
        conditions(condition.shape.size()),
        inner(conditions == 0 ? 1 : shape.size() / conditions) {}
  template <class Use>
  void each(const void* condition, Use use) const {
    parallel_for(conditions, std::max<std::int64_t>(1, 16384 / inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   bool chosen[256];
                   const auto size = static_cast<std::int64_t>(size_of(type));
                   for (std::int64_t i = begin; i < end; i += 256) {
                     const std::int64_t n = std::min<std::int64_t>(256, end - i);
                     convert(chosen, DType::kBool, static_cast<const char*>(condition) + i * size,
                             type, n);
                     for (std::int64_t k = 0; k < n; ++k)
                       for (std::int64_t j = (i + k) * inner; j < (i + k + 1) * inner; ++j)
                         use(j, chosen[k]);
                   }
                 });
  }
};

Prepared prepare(const NoAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [choice = Choice(q.in[0], q.out[0].shape)](const Args& a) {
      const T *x = a.in<T>(1), *other = a.in<T>(2);
      T* y = a.out<T>(0);
      choice.each(a.inputs[0].data,
                  [=](std::int64_t i, bool chosen) { y[i] = chosen ? x[i] : other[i]; });
    };
  });
}
Prepared prepare_backward(const NoAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [choice = Choice(q.in[1], q.in[0].shape)](const Args& a) {
      const T* dy = a.in<T>(0);
      for (int side = 0; side < 2; ++side) {
        if (!a.wants(side)) continue;
        choice.each(a.inputs[1].data, [=, dx = a.out<T>(side)](std::int64_t i, bool chosen) {
          dx[i] = chosen == (side == 0) ? dy[i] : T(0);
        });
      }
    };
  });
}

}  // namespace

void register_where(OpRegistry& r) {
  r.add("where")
      .flops(0)
      .doc("Elements of x where the condition is not 0, of y elsewhere.")
      .inputs(std::vector<std::string>{"condition", "x", "y"})
      .infer(infer)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        const NodeEntries grads =
            g.call_with_same_attrs("_backward_where", {g.head(0), g.input(0)});
        return {{}, grads[0], grads[1]};
      })
      .reference(prepare);
  r.add("_backward_where")
      .flops(0)
      .inputs(std::vector<std::string>{"head", "condition"})
      .outputs({"x_grad", "y_grad"})
      .skips_unread()
      .infer(infer_backward)
      .backward()
      .reference(prepare_backward);
}

}  // namespace symbind
