// LinearRegressionOutput, LogisticRegressionOutput, MAERegressionOutput.
//
//   linear     y = x              dx = (y − label) · s
//   logistic   y = 1/(1 + e^−x)   dx = (y − label) · s        s = grad_scale / elements per sample
//   MAE        y = x              dx = s where y > label, else −s
//
// Losses: the head gradient is not read, and the label gets none. Decided here: an omitted label
// has the data's shape, or (N,) for data (N, 1); a given one may have any shape with the same
// number of samples and elements. MAE's gradient is −s where y equals the label, and for NaN, as
// MXNet's.
#include <symbind/operator.h>

#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/copy_block.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct RegressionAttrs {
  float grad_scale = 1;
  void describe(AttrVisitor& v) { v.field("grad_scale", grad_scale, "Scales the gradient."); }
};

void infer_label(Inference& io, Inference::Ref data, Inference::Ref label) {
  const Shape& x = io.shape(data);
  const Shape& given = io.shape(label);
  if (!x.known()) return;
  if (given.known()) {
    check(x.rank() > 0 && given.rank() > 0 && given[0] == x[0] && given.size() == x.size(),
          ErrorKind::kShape, "the label {} must have as many samples and elements as the data {}",
          given.str(), x.str());
    return;
  }
  const bool column = x.rank() == 2 && x[1] == 1;
  if (given.rank_known() && given.rank() != (column ? 1 : x.rank())) return;
  io.set_shape(label, column ? Shape{x[0]} : x, "one label for every element");
}

void infer(const RegressionAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  infer_label(io, io.in(0), io.in(1));
}

// Inputs: y and the label.
void infer_backward(const RegressionAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  tie_to_forward(a, io, infer, {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1)}});
}

struct Linear {
  static constexpr const char* kBackward = "_backward_linear_reg_out";
  template <class A>
  static A slope(A difference) {
    return difference;
  }
};
struct Logistic : Linear {
  static constexpr const char* kBackward = "_backward_logistic_reg_out";
};
struct Absolute {
  static constexpr const char* kBackward = "_backward_mae_reg_out";
  template <class A>
  static A slope(A difference) {
    return difference > 0 ? A(1) : A(-1);
  }
};

template <class Kind>
Prepared forward(const RegressionAttrs&, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = r.in[0].shape.size()](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      if constexpr (!std::is_same_v<Kind, Logistic>)
        return copy_bytes(y, x, static_cast<std::size_t>(n) * sizeof(T));
      using Acc = Accumulator<T>;
      parallel_for(n, kElementGrain / 4, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          y[i] = static_cast<T>(1 / (1 + std::exp(-static_cast<Acc>(x[i]))));
      });
    };
  });
}

template <class Kind>
Prepared backward(const RegressionAttrs& a, const KernelRequest& r) {
  const Shape& label_shape = r.in[1].shape;
  const float per_sample =
      label_shape.size() == 0 ? 1.f : static_cast<float>(label_shape.size() / label_shape[0]);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [n = r.in[0].shape.size(),
            scale = static_cast<Acc>(a.grad_scale / per_sample)](const Args& args) {
      const T *y = args.in<T>(0), *label = args.in<T>(1);
      T* dx = args.out<T>(0);
      parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          dx[i] = static_cast<T>(scale *
                                 Kind::slope(static_cast<Acc>(y[i]) - static_cast<Acc>(label[i])));
      });
    };
  });
}

template <class Kind>
void add(OpRegistry& r, const char* name, const char* text) {
  using A = RegressionAttrs;
  r.add<A>(name)
      .flops(1, Per::kFirstInput)
      .doc(text)
      .inputs({"data", "label"})
      .ignore({"out_grad"})  // MXNet accepts any key here, and existing networks pass this one
      .infer(infer)
      .gradient([](const A&, GradientBuilder& g) -> NodeEntries {
        return {g.call_with_same_attrs(Kind::kBackward, {g.output(0), g.input(1)})[0], {}};
      })
      .loss()
      .inplace(0, 0)
      .reference(forward<Kind>);
  r.add<A>(Kind::kBackward)
      .flops(2)
      .backward()
      .inputs({"output", "label"})
      .infer(infer_backward)
      .inplace(0, 0)
      .reference(backward<Kind>);
}

}  // namespace

void register_regression_output(OpRegistry& r) {
  add<Linear>(r, "LinearRegressionOutput",
              "The data; its gradient is that of half the squared distance to the label.");
  add<Logistic>(r, "LogisticRegressionOutput",
                "Sigmoid; its gradient is that of the cross entropy with the label.");
  add<Absolute>(r, "MAERegressionOutput",
                "The data; its gradient is that of the absolute distance to the label.");
}

}  // namespace symbind
