// Small functions of MXNet's contrib.
//
//   _contrib_div_sqrt_dim   y = x / √d, d the length of the last axis; dx = dy / √d
//   _contrib_quadratic      y = a·x² + b·x + c;                         dx = dy · (2a·x + b)
//   _contrib_allclose       1 if |a − b| ≤ atol + rtol·|b| everywhere, else 0: one uint8
//
// Decided here: quadratic computes 16-bit floats in float and whole numbers in double. In allclose
// equal infinities are close and different ones are not; NaN is close to NaN with equal_nan. Its
// result has no axes, as in MXNet.
#include <atomic>
#include <cmath>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct QuadraticAttrs {
  float a = 0, b = 0, c = 0;
  void describe(AttrVisitor& v) {
    v.field("a", a, "The coefficient of the square.").per_call();
    v.field("b", b, "The coefficient of the number itself.").per_call();
    v.field("c", c, "The constant.").per_call();
  }
};
struct AllcloseAttrs {
  float rtol = 1e-5f, atol = 1e-8f;
  bool equal_nan = true;
  void describe(AttrVisitor& v) {
    v.field("rtol", rtol, "The relative tolerance, times b.").per_call();
    v.field("atol", atol, "The absolute tolerance.").per_call();
    v.field("equal_nan", equal_nan, "Whether NaN is close to NaN.");
  }
};

template <class A>
void infer_same(const A&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}
void infer_allclose(const AllcloseAttrs&, Inference& io) {
  io.same_shape(io.in(0), io.in(1));
  io.same_dtype(io.in(0), io.in(1));
  io.set_shape(io.out(0), Shape{}, "one result for all elements");
  io.set_dtype(io.out(0), DType::kUint8, "the result is 1 or 0");
}

NodeEntries div_gradient(const NoAttrs&, GradientBuilder& g) {
  return {g.call("_contrib_div_sqrt_dim", {g.head(0)})};
}
NodeEntries quadratic_gradient(const QuadraticAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_contrib_backward_quadratic", {g.head(0), g.input(0)});
}
NodeEntries no_gradient(const AllcloseAttrs&, GradientBuilder&) { return NodeEntries(2); }

// ---- Kernels ------------------------------------------------------------------------------------

constexpr std::int64_t kGrain = 16384;

/// The type that numbers of type T are computed in.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, double, float>;

Prepared div_sqrt_dim(const NoAttrs&, const KernelRequest& q) {
  const Shape& shape = q.in[0].shape;
  const double last = shape.rank() > 0 ? static_cast<double>(shape[shape.rank() - 1]) : 1;
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = shape.size(), root = static_cast<Wide<T>>(std::sqrt(last))](const Args& a) {
      const T* x = a.in<T>(0);
      T* y = a.out<T>(0);
      parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          y[i] = convert_element<T>(static_cast<Wide<T>>(x[i]) / root);
      });
    };
  });
}

Prepared quadratic(const QuadraticAttrs&, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& args) {
      using C = Wide<T>;
      const C a = static_cast<C>(args.values[0]), b = static_cast<C>(args.values[1]),
              c = static_cast<C>(args.values[2]);
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const C at = static_cast<C>(x[i]);
          y[i] = convert_element<T>((a * at + b) * at + c);
        }
      });
    };
  });
}

Prepared quadratic_backward(const QuadraticAttrs&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& args) {
      using C = Wide<T>;
      const C a = static_cast<C>(args.values[0]), b = static_cast<C>(args.values[1]);
      const T *dy = args.in<T>(0), *x = args.in<T>(1);
      T* dx = args.out<T>(0);
      parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          dx[i] = static_cast<T>(static_cast<C>(dy[i]) * (C(2) * a * static_cast<C>(x[i]) + b));
      });
    };
  });
}

bool close(double a, double b, double rtol, double atol, bool equal_nan) {
  if (std::isnan(a) || std::isnan(b)) return equal_nan && std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= atol + rtol * std::abs(b);
}

Prepared allclose(const AllcloseAttrs& attrs, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.in[0].shape.size(), equal_nan = attrs.equal_nan](const Args& args) {
      const T *a = args.in<T>(0), *b = args.in<T>(1);
      std::atomic<bool> all = true;
      parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        bool here = true;
        for (std::int64_t i = begin; i < end; ++i)
          here &= close(static_cast<double>(a[i]), static_cast<double>(b[i]), args.values[0],
                        args.values[1], equal_nan);
        if (!here) all = false;
      });
      args.out<std::uint8_t>(0)[0] = all ? 1 : 0;
    };
  });
}

}  // namespace

void register_contrib(OpRegistry& r) {
  using Names = std::vector<std::string>;
  r.add("_contrib_div_sqrt_dim")
      .doc("The input divided by the square root of its last axis' length.")
      .infer(infer_same)
      .gradient(div_gradient)
      .inplace(0, 0)
      .reference(div_sqrt_dim);
  r.add<QuadraticAttrs>("_contrib_quadratic")
      .inputs(std::vector<std::string>{"data"})
      .doc("a·x² + b·x + c.")
      .infer(infer_same)
      .gradient(quadratic_gradient)
      .inplace(0, 0)
      .reference(quadratic);
  r.add<QuadraticAttrs>("_contrib_backward_quadratic")
      .backward()
      .inputs(Names{"head", "data"})
      .infer(infer_same)
      .inplace(0, 0)
      .reference(quadratic_backward);
  r.add<AllcloseAttrs>("_contrib_allclose")
      .doc("1 if all elements of both arrays are close to each other, else 0.")
      .inputs(Names{"a", "b"})
      .infer(infer_allclose)
      .gradient(no_gradient)
      .reference(allclose);
}

}  // namespace symbind
