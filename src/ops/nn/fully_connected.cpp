// FullyConnected: an affine map of each row.
//
//   y = x Wᵀ + b          dx = dy W,   dW = dyᵀ x,   db = Σ rows of dy
//
// Decided here: with flatten a row is all axes after the first, without it the last axis.
// 1-D data (N,) counts as N rows of one feature. The gradient reads x and W, never y.
// `_fused_FullyConnected` has an epilogue, for predictions; it has no gradient.
#include <symbind/operator.h>

#include <algorithm>

#include "base/build.h"
#include "base/check.h"
#include "base/parallel.h"
#include "graph/core_ops.h"
#include "graph/flops.h"
#include "graph/forward_rule.h"
#include "kernels/cublas/inner_product.h"
#include "kernels/epilogue.h"
#include "kernels/gemm.h"
#include "kernels/onednn/inner_product.h"
#include "kernels/pixels/convolution.h"
#include "kernels/vector/rows.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/nn/epilogue_attr.h"

namespace symbind {

namespace {

struct FullyConnectedAttrs {
  int num_hidden = 0;
  bool no_bias = false;
  bool flatten = true;
  std::string epilogue;  ///< of _fused_FullyConnected

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

void infer_shapes(const FullyConnectedAttrs& a, Inference& io) {
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

void infer(const FullyConnectedAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_shapes(a, io);
}

using FusedAttrs = WithEpilogue<FullyConnectedAttrs>;

void infer_fused(const FusedAttrs& a, Inference& io) {
  infer_shapes(a, io);
  infer_operands(a.epilogue, io, a.no_bias ? 2 : 3, a.num_hidden);
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

/// One way to compute the three products.
struct ByDefinition {
  template <class T>
  static void forward(const GemmShape& g, const T* x, const T* w, const T* bias, T* y) {
    if (bias)
      for (std::int64_t i = 0; i < g.m; ++i) std::copy_n(bias, g.n, y + i * g.n);
    gemm_plain<T>(g, 1, x, w, bias ? 1 : 0, y);
  }
  template <class T>
  static void product(const GemmShape& g, const T* a, const T* b, T* c) {
    gemm_plain<T>(g, 1, a, b, 0, c);
  }
  template <class T>
  static void column_sums(const T* dy, T* db, const MatrixSizes& s) {
    using Acc = Accumulator<T>;
    for (std::int64_t j = 0; j < s.out; ++j) {
      Acc sum = 0;
      for (std::int64_t i = 0; i < s.rows; ++i) sum += static_cast<Acc>(dy[i * s.out + j]);
      db[j] = static_cast<T>(sum);
    }
  }
};
struct ByGemm {
  template <class T>
  static void forward(const GemmShape& g, const T* x, const T* w, const T* bias, T* y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (g.k > 0) return bias ? gemm_bias(g, x, w, bias, y) : gemm(g, T(1), x, w, T(0), y);
    }
    ByDefinition::forward(g, x, w, bias, y);
  }
  template <class T>
  static void product(const GemmShape& g, const T* a, const T* b, T* c) {
    if constexpr (std::is_floating_point_v<T>) {
      if (g.k > 0) return gemm(g, T(1), a, b, T(0), c);
    }
    ByDefinition::product(g, a, b, c);
  }
  template <class T>
  static void column_sums(const T* dy, T* db, const MatrixSizes& s) {
    if constexpr (std::is_same_v<T, float>) {
      parallel_for(
          s.out, grain_of(static_cast<double>(s.rows)), [=](std::int64_t begin, std::int64_t end) {
            constexpr std::int64_t kRows = 8;  // read at once
            std::fill(db + begin, db + end, 0.f);
            for (std::int64_t i = 0; i < s.rows; i += kRows) {
              const float* rows[kRows];
              const std::int64_t count = std::min(kRows, s.rows - i);
              for (std::int64_t r = 0; r < count; ++r) rows[r] = dy + (i + r) * s.out + begin;
              vector::reduce_kernels().best().sum.rows(db + begin, rows, count, end - begin);
            }
          });
    } else {
      ByDefinition::column_sums(dy, db, s);
    }
  }
};

/// `finish(args, y)` applies the epilogue.
template <class By, class Finish>
Prepared forward_by(const FullyConnectedAttrs& a, const KernelRequest& r, Finish finish) {
  const MatrixSizes s = sizes(a, r.in[0].shape, r.in[1].shape);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s, bias = !a.no_bias, finish](const Args& args) {
      T* y = args.out<T>(0);
      By::forward({false, true, s.rows, s.out, s.in, s.in, s.in, s.out}, args.in<T>(0),
                  args.in<T>(1), bias ? args.in<T>(2) : nullptr, y);
      finish(args, y);
    };
  });
}

Prepared forward_reference(const FullyConnectedAttrs& a, const KernelRequest& r) {
  const MatrixSizes s = sizes(a, r.in[0].shape, r.in[1].shape);
  return forward_by<ByDefinition>(a, r,
                                  [s, r, epilogue = parse_epilogue(a.epilogue),
                                   first = a.no_bias ? 2 : 3](const Args& args, auto* y) {
                                    if (epilogue.empty()) return;
                                    for (std::int64_t i = 0; i < s.rows * s.out; ++i)
                                      apply_by_definition(epilogue, r, args, first, i % s.out, y, i,
                                                          i + 1);
                                  });
}

Prepared forward_blas(const FullyConnectedAttrs& a, const KernelRequest& r) {
  const MatrixSizes s = sizes(a, r.in[0].shape, r.in[1].shape);
  const TensorDesc y{.shape = Shape{s.rows, s.out}};
  return forward_by<ByGemm>(a, r,
                            [pass = EpiloguePass(parse_epilogue(a.epilogue), a.no_bias ? 2 : 3, y,
                                                 r)](const Args& args, auto* to) {
                              if constexpr (std::is_same_v<decltype(to), float*>)
                                pass.run(args, to, 0);
                            });
}

template <class By>
Prepared backward_by(const FullyConnectedAttrs& a, const KernelRequest& r) {
  const MatrixSizes s = sizes(a, r.in[1].shape, r.in[2].shape);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s, bias = !a.no_bias](const Args& args) {
      const T* dy = args.in<T>(0);
      if (args.wants(0))
        By::product({false, false, s.rows, s.in, s.out, s.out, s.in, s.in}, dy, args.in<T>(2),
                    args.out<T>(0));
      if (args.wants(1))
        By::product({true, false, s.out, s.in, s.rows, s.out, s.in, s.in}, dy, args.in<T>(1),
                    args.out<T>(1));
      if (bias && args.wants(2)) By::column_sums(dy, args.out<T>(2), s);
    };
  });
}

/// Without a pair of input and output that share memory: y is written before a sum is read.
Offer offer_plain(const FullyConnectedAttrs&, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  offer.inplace.emplace();
  return offer;
}

Offer offer_blas(const FullyConnectedAttrs& a, const KernelRequest& r) {
  const DType t = r.in[0].dtype;
  if (!a.epilogue.empty() && t != DType::kFloat32) return refuse("dtype is not float32");
  if (t != DType::kFloat32 && t != DType::kFloat64)
    return refuse("BLAS has float32 and float64 only");
  return offer_plain(a, r);
}

std::vector<std::string> layer_names(const FullyConnectedAttrs& a) {
  if (a.no_bias) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

template <class A>
void add_forward_kernels(OpBuilder<A>& op) {
  using R = KernelRequest;
  const auto offer = [](bool in_bfloat16) {
    return [=](const A& a, const R& q) {
      return onednn::offer_inner_product(sizes(a, q.in[0].shape, q.in[1].shape), !a.no_bias,
                                         parse_epilogue(a.epilogue), in_bfloat16, q);
    };
  };
  const auto prepare = [](const A&, const R&, const Offer& o) {
    return onednn::prepare_inner_product(o);
  };
  op.kernel(DeviceType::kCpu, "onednn_bfloat16", offer(true), prepare)
      .kernel(
          DeviceType::kCpu, "native",
          [](const A& a, const R& q) {
            return pixels::offer_inner_product(sizes(a, q.in[0].shape, q.in[1].shape), !a.no_bias,
                                               parse_epilogue(a.epilogue), q);
          },
          [](const A&, const R&, const Offer& o) { return pixels::prepare(o); })
      .kernel(DeviceType::kCpu, "onednn", offer(false), prepare)
      .kernel(
          DeviceType::kCpu, "blas", [](const A& a, const R& q) { return offer_blas(a, q); },
          [](const A& a, const R& q, const Offer&) { return forward_blas(a, q); })
      .kernel(
          DeviceType::kCpu, "reference", [](const A& a, const R& q) { return offer_plain(a, q); },
          [](const A& a, const R& q, const Offer&) { return forward_reference(a, q); });
}

}  // namespace

void register_fully_connected(OpRegistry& r) {
  auto plain = r.add<FullyConnectedAttrs>("FullyConnected");
  plain.slices(Slices::kFirst);
  plain.precision(Precision::kFloat32);
  plain.flops([](const FullyConnectedAttrs&, const Work& w) { return layer_flops(w); })
      .doc("Applies y = x·Wᵀ + b to every row of the data.")
      .inputs(layer_names)
      .infer(infer)
      .gradient(gradient)
      .with_epilogue(core_ops::kFusedFullyConnected)
      .channels_last();
  add_forward_kernels(plain);
  plain.kernel_if<kCuda>(
      DeviceType::kGpu, "cublas",
      [](const FullyConnectedAttrs& a, const KernelRequest& q) {
        return cublas::offer_inner_product(sizes(a, q.in[0].shape, q.in[1].shape), !a.no_bias, q);
      },
      [](const FullyConnectedAttrs&, const KernelRequest&, const Offer& o) {
        return cublas::prepare_inner_product(o);
      });

  auto fused = r.add<FusedAttrs>(core_ops::kFusedFullyConnected);
  fused.precision(Precision::kFloat32);
  fused
      .flops(
          [](const FusedAttrs& a, const Work& w) { return fused_flops(a.epilogue, !a.no_bias, w); })
      .doc("FullyConnected with an epilogue.")
      .inputs([](const FusedAttrs& a) { return with_operands(layer_names(a), a.epilogue); })
      .infer(infer_fused)
      .channels_last()
      .takes_epilogue(
          [](const Epilogue& e, bool training) { return !training && takes_any_or_sum(e, false); });
  add_forward_kernels(fused);

  r.add<FullyConnectedAttrs>("_backward_FullyConnected")
      .precision(Precision::kFloat32)
      .flops([](const FullyConnectedAttrs&, const Work& w) {
        return layer_backward_flops(w, filter_flops(w.in[0].size(), w.in[2]));
      })
      .backward()
      .inputs({"dy", "data", "weight"})
      .outputs(layer_names, [](const FullyConnectedAttrs& a) { return a.no_bias ? 2 : 3; })
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
                return backward_by<ByGemm>(a, q);
              })
      .reference([](const FullyConnectedAttrs& a, const KernelRequest& q) {
        return backward_by<ByDefinition>(a, q);
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
