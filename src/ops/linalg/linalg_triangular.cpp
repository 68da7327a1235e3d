// Triangular matrices in the last two axes: _linalg_trmm, _linalg_trsm and _linalg_sumlogdiag.
//
//   trmm        y = α · op(A) · B       rightside: α · B · op(A)         A's other triangle is 0
//   trsm        y = α · op(A)⁻¹ · B     rightside: α · B · op(A)⁻¹
//   sumlogdiag  y = Σ log A[i, i]       dA[i, i] = dy / A[i, i]
//
//   trmm  dB = α · op(A)ᵀ · dy,   d op(A) = α · dy · Bᵀ          (rightside: α · Bᵀ · dy)
//   trsm  dB = α · op(A)⁻ᵀ · dy,  d op(A) = -op(A)⁻ᵀ · dy · yᵀ   (rightside: -yᵀ · dy · op(A)⁻ᵀ)
//
// Decided here: only the triangle that `lower` names is read, and the gradient of the other is 0.
// float32 and float64 only, as in MXNet.
#include <cmath>

#include <symbind/operator.h>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "kernels/linalg.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/linalg/linalg_matrix.h"

namespace symbind {
namespace {

struct TriangularAttrs {
  bool transpose = false, rightside = false, lower = true;
  double alpha = 1;
  void describe(AttrVisitor& v) {
    v.field("transpose", transpose, "Whether A is used transposed.");
    v.field("rightside", rightside, "Whether A is on the right of B.");
    v.field("lower", lower, "Which triangle of A is read.");
    v.field("alpha", alpha, "Scales the result.");
  }
  Triangle triangle() const { return {.lower = lower, .transpose = transpose, .right = rightside}; }
};
struct MaskAttrs {
  bool lower = true;
  void describe(AttrVisitor& v) { v.field("lower", lower, "Which triangle stays."); }
};

// ---- shapes

void infer(const TriangularAttrs& attrs, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  const Shape &a = io.shape(io.in(0)), &b = io.shape(io.in(1));
  if (a.rank_known()) check_square(a);
  if (!b.rank_known()) return;
  check_rank(b);
  Shape square = b;
  const int last = b.rank() - 1;
  square[last] = square[last - 1] = attrs.rightside ? b[last] : b[last - 1];
  io.set_shape(io.in(0), square, "a square matrix that fits B");
  Shape back = io.shape(io.in(0));
  back[attrs.rightside ? last - 1 : last] = kUnknownDim;
  io.set_shape(io.in(1), back, "A fits on the side of B that rightside names");
  io.same_shape(io.in(1), io.out(0));
}
template <class A>
void infer_same(const A&, Inference& io) {
  io.all_same_dtype();
  io.all_same_shape();
}
void infer_sumlogdiag(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_square(in);
  io.set_shape(io.out(0),
               in.rank() == 2 ? scalar_shape() : Shape(std::span(in.begin(), in.end() - 2)),
               "one number for each matrix");
}
// Inputs: head, A.
void infer_backward_sumlogdiag(const NoAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  tie_to_forward(a, io, infer_sumlogdiag,
                 {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

// ---- kernels

/// B copied to the output, then changed in place, matrix by matrix.
template <class Change>
Prepared change_b(const TriangularAttrs& attrs, const KernelRequest& q, Change change) {
  const Shape& b = q.in[1].shape;
  const std::int64_t rows = b[b.rank() - 2], columns = b.back(),
                     side = attrs.rightside ? columns : rows;
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=, count = b.count(0, b.rank() - 2), bytes = q.out[0].bytes(), t = attrs.triangle(),
            alpha = static_cast<T>(attrs.alpha)](const Args& args) {
      copy_bytes(args.outputs[0].data, args.inputs[1].data, bytes);
      for (std::int64_t i = 0; i < count; ++i)
        change(t, rows, columns, alpha, args.in<T>(0) + i * side * side,
               args.out<T>(0) + i * rows * columns);
    };
  });
}
Prepared prepare_trmm(const TriangularAttrs& a, const KernelRequest& q) {
  return change_b(a, q, [](auto... args) { trmm(args...); });
}
Prepared prepare_trsm(const TriangularAttrs& a, const KernelRequest& q) {
  return change_b(a, q, [](auto... args) { trsm(args...); });
}

Prepared prepare_mask(const MaskAttrs& a, const KernelRequest& q) {
  const Shape& s = q.in[0].shape;
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = s.back(), rows = s.count(0, s.rank() - 1), lower = a.lower](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t j = 0; j < n; ++j) {
          const bool stays = lower ? j <= row % n : j >= row % n;
          y[row * n + j] = stays ? x[row * n + j] : T(0);
        }
      }
    };
  });
}

Prepared prepare_sumlogdiag(const NoAttrs&, const KernelRequest& q) {
  const Shape& s = q.in[0].shape;
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [n = s.back(), count = s.count(0, s.rank() - 2)](const Args& args) {
      for (std::int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (std::int64_t d = 0; d < n; ++d)
          sum += std::log(static_cast<double>(args.in<T>(0)[(i * n + d) * n + d]));
        args.out<T>(0)[i] = static_cast<T>(sum);
      }
    };
  });
}
Prepared prepare_backward_sumlogdiag(const NoAttrs&, const KernelRequest& q) {
  const Shape& s = q.out[0].shape;
  return dispatch_matrix(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [n = s.back(), count = s.count(0, s.rank() - 2)](const Args& args) {
      std::fill_n(args.out<T>(0), count * n * n, T(0));
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t d = 0; d < n; ++d) {
          const std::int64_t at = (i * n + d) * n + d;
          args.out<T>(0)[at] = args.in<T>(0)[i] / args.in<T>(1)[at];
        }
      }
    };
  });
}

// ---- gradients

AttrDict turned(const TriangularAttrs& a, double alpha) {
  const auto text = [](bool on) { return on ? "True" : "False"; };
  return {{"transpose", text(!a.transpose)},
          {"rightside", text(a.rightside)},
          {"lower", text(a.lower)},
          {"alpha", fmt::format("{}", alpha)}};
}
/// The gradient of A from its left and right factor: d op(A) = scale · left · right.
NodeEntry product_of_a(const TriangularAttrs& a, GradientBuilder& g, NodeEntry left, bool turn_left,
                       NodeEntry right, bool turn_right, double scale) {
  if (a.transpose) {
    std::swap(left, right);
    std::swap(turn_left, turn_right);
    turn_left = !turn_left, turn_right = !turn_right;
  }
  const NodeEntry product = g.call("_linalg_gemm2", {left, right},
                                   {{"transpose_a", turn_left ? "True" : "False"},
                                    {"transpose_b", turn_right ? "True" : "False"},
                                    {"alpha", fmt::format("{}", scale)}});
  return g.call("_backward_linalg_triangle", {product}, {{"lower", a.lower ? "True" : "False"}});
}
NodeEntries gradient_trmm(const TriangularAttrs& a, GradientBuilder& g) {
  NodeEntries result(2);
  if (g.wanted(0))
    result[0] = a.rightside ? product_of_a(a, g, g.input(1), true, g.head(0), false, a.alpha)
                            : product_of_a(a, g, g.head(0), false, g.input(1), true, a.alpha);
  if (g.wanted(1)) result[1] = g.call("_linalg_trmm", {g.input(0), g.head(0)}, turned(a, a.alpha));
  return result;
}
NodeEntries gradient_trsm(const TriangularAttrs& a, GradientBuilder& g) {
  const NodeEntry solved = g.call("_linalg_trsm", {g.input(0), g.head(0)}, turned(a, 1));
  NodeEntries result(2);
  if (g.wanted(0))
    result[0] = a.rightside ? product_of_a(a, g, g.output(0), true, solved, false, -1)
                            : product_of_a(a, g, solved, false, g.output(0), true, -1);
  if (g.wanted(1))
    result[1] = a.alpha == 1
                    ? solved
                    : g.call("_mul_scalar", {solved}, {{"scalar", fmt::format("{}", a.alpha)}});
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

void register_linalg_triangular(OpRegistry& r) {
  r.add<TriangularAttrs>("_linalg_trmm")
      .doc("The product of a triangular matrix and a matrix.")
      .alias("linalg_trmm")
      .inputs(Names{"A", "B"})
      .infer(infer)
      .gradient(gradient_trmm)
      .inplace(1, 0)
      .cpu_kernel("blas", prepare_trmm);
  r.add<TriangularAttrs>("_linalg_trsm")
      .doc("Solves a system of equations with a triangular matrix.")
      .alias("linalg_trsm")
      .inputs(Names{"A", "B"})
      .infer(infer)
      .gradient(gradient_trsm)
      .inplace(1, 0)
      .cpu_kernel("blas", prepare_trsm);
  r.add<MaskAttrs>("_backward_linalg_triangle")
      .inputs(Names{"A"})
      .infer(infer_same)
      .backward()
      .inplace(0, 0)
      .reference(prepare_mask);
  r.add("_linalg_sumlogdiag")
      .doc("The sum of the logarithms of the diagonal.")
      .alias("linalg_sumlogdiag")
      .inputs(Names{"A"})
      .infer(infer_sumlogdiag)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_linalg_sumlogdiag", {g.head(0), g.input(0)})};
      })
      .reference(prepare_sumlogdiag);
  r.add("_backward_linalg_sumlogdiag")
      .inputs(Names{"head", "A"})
      .infer(infer_backward_sumlogdiag)
      .backward()
      .reference(prepare_backward_sumlogdiag);
}

}  // namespace symbind
