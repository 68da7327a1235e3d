// FullyConnected: an affine map of each row.
//
//   y = x Wᵀ + b          dx = dy W,   dW = dyᵀ x,   db = Σ rows of dy
//
// Decided here: with flatten a row is all axes after the first, without it the last axis.
// 1-D data (N,) counts as N rows of one feature. The gradient reads x and W, never y.
#include <symbind/operator.h>

#include <algorithm>

#include "base/build.h"
#include "base/check.h"
#include "graph/flops.h"
#include "graph/forward_rule.h"
#include "kernels/cublas/inner_product.h"
#include "kernels/gemm.h"
#include "kernels/onednn/inner_product.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct FullyConnectedAttrs {
  int num_hidden = 0;
  bool no_bias = false;
  bool flatten = true;

  void describe(AttrVisitor& v) {
    v.field("num_hidden", num_hidden, "Number of hidden nodes of the output.")
        .required()
        .at_least(1);
    v.field("no_bias", no_bias, "Whether to disable the bias.");
    v.field("flatten", flatten, "Whether to collapse all but the first axis of the input.");
  }
};

// ---- Inference ----------------------------------------------------------------------------------

/// The size of all axes after the first; unknown if one extent is.
std::int64_t row_features(const Shape& x) {
  std::int64_t features = 1;
  for (int i = 1; i < x.rank(); ++i) {
    if (x[i] == kUnknownDim) return kUnknownDim;
    features *= x[i];
  }
  return features;
}

void infer(const FullyConnectedAttrs& a, Inference& io) {
  io.all_same_dtype();
  const auto data = io.in(0), weight = io.in(1), out = io.out(0);
  Shape w{a.num_hidden, kUnknownDim};
  if (!a.no_bias) io.set_shape(io.in(2), Shape{a.num_hidden}, "one bias per hidden node");
  const Shape x = io.shape(data);
  if (!x.rank_known()) {  // MXNet then leaves the weight unknown, and scripts rely on that
    if (a.flatten) io.set_shape(out, Shape{kUnknownDim, a.num_hidden});
    return;
  }
  check(x.rank() > 0, ErrorKind::kShape, "the data of FullyConnected must have at least one axis");
  Shape y;
  if (a.flatten) {
    w[1] = row_features(x);
    y = Shape{x[0], a.num_hidden};
  } else {
    w[1] = x.back();
    y = x;
    y[y.rank() - 1] = a.num_hidden;
  }
  io.set_shape(weight, w, "(num_hidden, features of a row of the data)");
  io.set_shape(out, y, "rows of the data by num_hidden");
  // Backwards: rows from the output, features from the weight.
  const Shape& known_y = io.shape(out);
  const Shape& known_w = io.shape(weight);
  Shape back = x;
  if (a.flatten) {
    back[0] = known_y[0];
    if (x.rank() == 2) back[1] = known_w[1];
  } else {
    for (int i = 0; i + 1 < x.rank(); ++i) back[i] = known_y[i];
    back[x.rank() - 1] = known_w[1];
  }
  io.set_shape(data, back, "rows of the output, features of the weight");
}

// Inputs: dy, x, W. Outputs: dx, dW and, with a bias, db.
void infer_backward(const FullyConnectedAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
  if (!a.no_bias) io.set_shape(io.out(2), Shape{a.num_hidden});
  tie_to_forward(
      a, io, infer,
      {.inputs = a.no_bias ? 2 : 3, .outputs = 1, .from = {io.out(0), io.in(0), io.in(1)}});
}

NodeEntries gradient(const FullyConnectedAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_FullyConnected", {g.head(0), g.input(0), g.input(1)});
}

// ---- Kernels ------------------------------------------------------------------------------------

MatrixSizes sizes(const FullyConnectedAttrs& a, const Shape& data, const Shape& weight) {
  const std::int64_t in = weight[1];
  return {
      .rows = in == 0 ? (a.flatten ? data[0] : data.count(0, data.rank() - 1)) : data.size() / in,
      .in = in,
      .out = a.num_hidden};
}

template <class T>
void column_sums(const T* dy, T* db, const MatrixSizes& s) {
  using Acc = Accumulator<T>;
  for (std::int64_t j = 0; j < s.out; ++j) {
    Acc sum = 0;
    for (std::int64_t i = 0; i < s.rows; ++i) sum += static_cast<Acc>(dy[i * s.out + j]);
    db[j] = static_cast<T>(sum);
  }
}

/// The product by `Multiply`: plain loops for the reference, OpenBLAS for "blas".
template <class Multiply>
Prepared forward_by(const FullyConnectedAttrs& a, const KernelRequest& r, Multiply multiply) {
  const MatrixSizes s = sizes(a, r.in[0].shape, r.in[1].shape);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s, bias = !a.no_bias, multiply](const Args& args) {
      T* y = args.out<T>(0);
      if (bias) {
        const T* b = args.in<T>(2);
        for (std::int64_t i = 0; i < s.rows; ++i) std::copy(b, b + s.out, y + i * s.out);
      }
      multiply({false, true, s.rows, s.out, s.in, s.in, s.in, s.out}, args.in<T>(0), args.in<T>(1),
               bias ? 1 : 0, y);
    };
  });
}

template <class Multiply>
Prepared backward_by(const FullyConnectedAttrs& a, const KernelRequest& r, Multiply multiply) {
  const MatrixSizes s = sizes(a, r.in[1].shape, r.in[2].shape);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s, bias = !a.no_bias, multiply](const Args& args) {
      const T* dy = args.in<T>(0);
      if (args.wants(0))
        multiply({false, false, s.rows, s.in, s.out, s.out, s.in, s.in}, dy, args.in<T>(2), 0,
                 args.out<T>(0));
      if (args.wants(1))
        multiply({true, false, s.out, s.in, s.rows, s.out, s.in, s.in}, dy, args.in<T>(1), 0,
                 args.out<T>(1));
      if (bias && args.wants(2)) column_sums(dy, args.out<T>(2), s);
    };
  });
}

constexpr auto kByDefinition = []<class T>(const GemmShape& s, const T* a, const T* b, int beta,
                                           T* c) {
  gemm_plain<T>(s, 1, a, b, static_cast<Accumulator<T>>(beta), c);
};
constexpr auto kByBlas = []<class T>(const GemmShape& s, const T* a, const T* b, int beta, T* c) {
  if (s.m == 0 || s.n == 0) return;
  if (s.k == 0) return kByDefinition(s, a, b, beta, c);
  gemm(s, Accumulator<T>(1), a, b, static_cast<Accumulator<T>>(beta), c);
};

Offer offer_blas(const FullyConnectedAttrs&, const KernelRequest& r) {
  const DType t = r.in[0].dtype;
  if (t != DType::kFloat32 && t != DType::kFloat64)
    return refuse("BLAS has float32 and float64 only");
  return accept_plain(r);
}

}  // namespace

void register_fully_connected(OpRegistry& r) {
  const auto inputs = [](const FullyConnectedAttrs& a) -> std::vector<std::string> {
    if (a.no_bias) return {"data", "weight"};
    return {"data", "weight", "bias"};
  };
  r.add<FullyConnectedAttrs>("FullyConnected")
      .flops([](const FullyConnectedAttrs&, const Work& w) { return layer_flops(w); })
      .doc("Applies y = x·Wᵀ + b to every row of the data.")
      .inputs(inputs)
      .infer(infer)
      .gradient(gradient)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const FullyConnectedAttrs& a, const KernelRequest& q) {
            return onednn::offer_inner_product(sizes(a, q.in[0].shape, q.in[1].shape), !a.no_bias,
                                               q);
          },
          [](const FullyConnectedAttrs&, const KernelRequest& q, const Offer& o) {
            return onednn::prepare_inner_product(q, o);
          })
      .kernel(DeviceType::kCpu, "blas", offer_blas,
              [](const FullyConnectedAttrs& a, const KernelRequest& q, const Offer&) {
                return forward_by(a, q, kByBlas);
              })
      .reference([](const FullyConnectedAttrs& a, const KernelRequest& q) {
        return forward_by(a, q, kByDefinition);
      })
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cublas",
          [](const FullyConnectedAttrs& a, const KernelRequest& q) {
            return cublas::offer_inner_product(sizes(a, q.in[0].shape, q.in[1].shape), !a.no_bias,
                                               q);
          },
          [](const FullyConnectedAttrs&, const KernelRequest&, const Offer& o) {
            return cublas::prepare_inner_product(o);
          });

  r.add<FullyConnectedAttrs>("_backward_FullyConnected")
      .flops([](const FullyConnectedAttrs&, const Work& w) {
        return layer_backward_flops(w, filter_flops(w.in[0].size(), w.in[2]));
      })
      .backward()
      .inputs({"dy", "data", "weight"})
      .outputs([inputs](const FullyConnectedAttrs& a) { return inputs(a); },
               [](const FullyConnectedAttrs& a) { return a.no_bias ? 2 : 3; })
      .skips_unread()
      .infer(infer_backward)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const FullyConnectedAttrs& a, const KernelRequest& q) {
            return onednn::offer_inner_product_backward(sizes(a, q.in[1].shape, q.in[2].shape),
                                                        !a.no_bias, q);
          },
          [](const FullyConnectedAttrs&, const KernelRequest& q, const Offer& o) {
            return onednn::prepare_inner_product_backward(q, o);
          })
      .kernel(DeviceType::kCpu, "blas", offer_blas,
              [](const FullyConnectedAttrs& a, const KernelRequest& q, const Offer&) {
                return backward_by(a, q, kByBlas);
              })
      .reference([](const FullyConnectedAttrs& a, const KernelRequest& q) {
        return backward_by(a, q, kByDefinition);
      })
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cublas",
          [](const FullyConnectedAttrs& a, const KernelRequest& q) {
            return cublas::offer_inner_product_backward(sizes(a, q.in[1].shape, q.in[2].shape),
                                                        !a.no_bias, q);
          },
          [](const FullyConnectedAttrs&, const KernelRequest&, const Offer& o) {
            return cublas::prepare_inner_product_backward(o);
          });
}

}  // namespace symbind
