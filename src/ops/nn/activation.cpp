// Activation: one of five functions, element by element.
//
//   relu      max(x, 0)             dx = dy · [y > 0]
//   sigmoid   1 / (1 + exp(-x))     dx = dy · y (1 - y)
//   tanh      tanh x                dx = dy · (1 - y²)
//   softrelu  log(1 + exp x)        dx = dy · (1 - exp(-y))
//   softsign  x / (1 + |x|)         dx = dy / (1 + |x|)²
//
// Decided here: the gradient reads y, so x may be freed early; only softsign reads x. relu keeps
// NaN and its gradient at 0 is 0. Any layout is accepted.
#include <symbind/operator.h>

#include <cmath>

#include "base/build.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/launch.h"
#include "kernels/onednn/eltwise.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct ActivationAttrs {
  std::string act_type;

  void describe(AttrVisitor& v) {
    v.field("act_type", act_type, "Activation function to be applied.")
        .required()
        .choices({"relu", "sigmoid", "softrelu", "softsign", "tanh"});
  }
};

void infer(const ActivationAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

NodeEntries gradient(const ActivationAttrs& a, GradientBuilder& g) {
  const NodeEntry saved = a.act_type == "softsign" ? g.input(0) : g.output(0);
  return g.call_with_same_attrs("_backward_Activation", {g.head(0), saved});
}

// ---- The functions ------------------------------------------------------------------------------

struct Relu {
  template <class A>
  static A value(A x) {
    return x > 0 || x != x ? x : A(0);
  }
  template <class A>
  static A slope(A y) {
    return y > 0 ? A(1) : A(0);
  }
};
struct Sigmoid {
  template <class A>
  static A value(A x) {
    return 1 / (1 + std::exp(-x));
  }
  template <class A>
  static A slope(A y) {
    return y * (1 - y);
  }
};
struct Tanh {
  template <class A>
  static A value(A x) {
    return std::tanh(x);
  }
  template <class A>
  static A slope(A y) {
    return 1 - y * y;
  }
};
struct SoftRelu {
  // Beyond 20 adding 1 has no effect in float, and exp would eventually overflow.
  template <class A>
  static A value(A x) {
    return x > 20 ? x : std::log1p(std::exp(x));
  }
  template <class A>
  static A slope(A y) {
    return -std::expm1(-y);
  }
};
struct SoftSign {
  template <class A>
  static A value(A x) {
    return x / (1 + std::abs(x));
  }
  template <class A>
  static A slope(A x) {
    return 1 / ((1 + std::abs(x)) * (1 + std::abs(x)));
  }
};

template <class F>
decltype(auto) with_function(const std::string& name, F&& f) {
  if (name == "relu") return f.template operator()<Relu>();
  if (name == "sigmoid") return f.template operator()<Sigmoid>();
  if (name == "tanh") return f.template operator()<Tanh>();
  if (name == "softrelu") return f.template operator()<SoftRelu>();
  return f.template operator()<SoftSign>();
}

Prepared forward(const ActivationAttrs& a, const KernelRequest& r, const Offer&) {
  return with_function(a.act_type, [&]<class Fn>() {
    return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
      using Acc = Accumulator<T>;
      return [n = r.in[0].shape.size()](const Args& args) {
        const T* x = args.in<T>(0);
        T* y = args.out<T>(0);
        parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i)
            y[i] = static_cast<T>(Fn::value(static_cast<Acc>(x[i])));
        });
      };
    });
  });
}

Prepared backward(const ActivationAttrs& a, const KernelRequest& r, const Offer&) {
  return with_function(a.act_type, [&]<class Fn>() {
    return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
      using Acc = Accumulator<T>;
      return [n = r.in[0].shape.size()](const Args& args) {
        const T *dy = args.in<T>(0), *saved = args.in<T>(1);
        T* dx = args.out<T>(0);
        parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i)
            dx[i] = static_cast<T>(static_cast<Acc>(dy[i]) * Fn::slope(static_cast<Acc>(saved[i])));
        });
      };
    });
  });
}

Offer any_layout(const ActivationAttrs&, const KernelRequest& r) { return accept_same_layout(r); }

// Generic, so that a CPU build does not instantiate it.
constexpr auto kOfferCuda = [](const auto& a, const KernelRequest& r) {
  return a.act_type == "relu" ? cuda::offer_floats(r) : refuse("only relu so far");
};

std::optional<EpilogueItem> as_epilogue(const ActivationAttrs& a) {
  using Kind = EpilogueItem::Kind;
  if (a.act_type == "relu") return EpilogueItem{Kind::kRelu};
  if (a.act_type == "sigmoid") return EpilogueItem{Kind::kSigmoid};
  if (a.act_type == "tanh") return EpilogueItem{Kind::kTanh};
  if (a.act_type == "softrelu") return EpilogueItem{Kind::kSoftRelu};
  return std::nullopt;
}

}  // namespace

void register_activation(OpRegistry& r) {
  r.add<ActivationAttrs>("Activation")
      .as_epilogue(as_epilogue)
      .flops(1)
      .doc("Applies an activation function to every element.")
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const ActivationAttrs& a, const KernelRequest& q) {
            return onednn::offer_eltwise(a.act_type, q);
          },
          [](const ActivationAttrs&, const KernelRequest& q, const Offer& o) {
            return onednn::prepare_eltwise(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", any_layout, forward)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda", kOfferCuda,
          [](const ActivationAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
            return
                [number = cuda::number_of(q.in[0].dtype), n = q.in[0].shape.size()](const Args& a) {
                  cuda::check_launch(
                      cuda::relu(a.run->stream, number, a.inputs[0].data, a.outputs[0].data, n),
                      "relu");
                };
          });
  r.add<ActivationAttrs>("_backward_Activation")
      .flops(2)
      .backward()
      .inputs({"dy", "saved"})
      .infer(infer)
      .inplace(0, 0)
      .inplace(1, 0)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const ActivationAttrs& a, const KernelRequest& q) {
            return onednn::offer_eltwise_backward(a.act_type, q);
          },
          [](const ActivationAttrs&, const KernelRequest& q, const Offer& o) {
            return onednn::prepare_eltwise_backward(q, o);
          })
      .kernel(DeviceType::kCpu, "reference", any_layout, backward)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda", kOfferCuda,
          [](const ActivationAttrs&, const KernelRequest& q, const Offer&) -> Prepared {
            return
                [number = cuda::number_of(q.in[0].dtype), n = q.in[0].shape.size()](const Args& a) {
                  cuda::check_launch(cuda::relu_backward(a.run->stream, number, a.inputs[0].data,
                                                         a.inputs[1].data, a.outputs[0].data, n),
                                     "relu_backward");
                };
          });
}

}  // namespace symbind
