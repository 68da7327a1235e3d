// Products of the matrices in the last axes: _linalg_gemm2, _linalg_gemm and _linalg_syrk.
//
//   gemm2  y = α · op(A) · op(B)        gemm  y = α · op(A) · op(B) + β · C
//   syrk   y = α · A · Aᵀ, or α · Aᵀ · A with transpose
//
// Decided here: rows are along `axis`, columns along the last axis; all other axes count matrices
// and must agree. kernels/gemm.h multiplies.
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "graph/flops.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "kernels/gemm.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/linalg/linalg_matrix.h"

namespace symbind {
namespace {

struct Gemm2Attrs {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1;
  int axis = -2;
  void describe(AttrVisitor& v) {
    describe_product(v);
    describe_axis(v);
  }
  void describe_product(AttrVisitor& v) {
    v.field("transpose_a", transpose_a, "Whether A is stored transposed.");
    v.field("transpose_b", transpose_b, "Whether B is stored transposed.");
    v.field("alpha", alpha, "Scales the product.");
  }
  void describe_axis(AttrVisitor& v) { v.field("axis", axis, "The axis of the rows."); }
  AttrDict dict() const {
    return {{"transpose_a", transpose_a ? "True" : "False"},
            {"transpose_b", transpose_b ? "True" : "False"},
            {"alpha", fmt::format("{}", alpha)},
            {"axis", std::to_string(axis)}};
  }
};
struct GemmAttrs : Gemm2Attrs {
  double beta = 1;
  void describe(AttrVisitor& v) {
    describe_product(v);
    v.field("beta", beta, "Scales C.");
    describe_axis(v);
  }
};
struct SyrkAttrs {
  bool transpose = false;
  double alpha = 1;
  void describe(AttrVisitor& v) {
    v.field("transpose", transpose, "Whether the transpose is the left factor.");
    v.field("alpha", alpha, "Scales the product.");
  }
};

// ---- shapes

int row_axis(const Gemm2Attrs& a, const Shape& s) {
  check_rank(s);
  const int axis = normalize_axis(a.axis, s.rank());
  check(axis < s.rank() - 1, "axis={} is the axis of the columns of {}", a.axis, s.str());
  return axis;
}

template <class A>
void infer_gemm(const A& a, Inference& io) {
  io.all_same_dtype();
  Shape l = io.shape(io.in(0)), r = io.shape(io.in(1));
  if (!l.rank_known() || !r.rank_known()) return;
  check(l.rank() == r.rank(), ErrorKind::kShape, "A {} and B {} must have equal rank", l.str(),
        r.str());
  const int last = l.rank() - 1, rows = row_axis(a, l);
  const int lk = a.transpose_a ? rows : last, rk = a.transpose_b ? last : rows;
  const auto agree = [](std::int64_t x, std::int64_t y) { return x < 0 || y < 0 || x == y; };
  check(agree(l[lk], r[rk]), ErrorKind::kShape,
        "A {} and B {} do not fit: axis {} of A and axis {} of B must be equal "
        "(transpose_a={}, transpose_b={})",
        l.str(), r.str(), lk, rk, a.transpose_a, a.transpose_b);
  Shape out = l;
  for (int d = 0; d < last; ++d) {
    if (d == rows) continue;
    check(agree(l[d], r[d]), ErrorKind::kShape,
          "A {} and B {} must agree on every axis but those of rows and columns", l.str(), r.str());
    out[d] = l[d] = r[d] = std::max(l[d], r[d]);
  }
  l[lk] = r[rk] = std::max(l[lk], r[rk]);
  out[rows] = a.transpose_a ? l[last] : l[rows];
  out[last] = a.transpose_b ? r[rows] : r[last];
  io.set_shape(io.in(0), l);
  io.set_shape(io.in(1), r);
  io.set_shape(io.out(0), out, "rows of op(A), columns of op(B)");
  if (io.num_inputs() < 3) return;
  io.set_shape(io.in(2), out, "C has the shape of the product");
  io.same_shape(io.in(2), io.out(0));
}
// Inputs: dy, A, B. Outputs: dA, dB.
void infer_backward(const Gemm2Attrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
  tie_to_forward(a, io, infer_gemm<Gemm2Attrs>,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0), io.in(1)}});
}

void infer_syrk(const SyrkAttrs& a, Inference& io) {
  io.all_same_dtype();
  const Shape in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_rank(in);
  Shape out = in;
  const int last = in.rank() - 1;
  out[last] = out[last - 1] = a.transpose ? in[last] : in[last - 1];
  io.set_shape(io.out(0), out, "a square matrix");
}

// ---- kernels

/// The matrices of one operand: rows along `axis`, columns along the last one.
struct Matrices {
  std::int64_t outer, rows, middle, columns;
  Matrices(const Shape& s, int axis)
      : outer(s.count(0, axis)),
        rows(s[axis]),
        middle(s.count(axis + 1, s.rank() - 1)),
        columns(s.back()) {}
  std::int64_t count() const { return outer * middle; }
  std::int64_t stride() const { return middle * columns; }
  std::int64_t begin(std::int64_t i) const {
    return i / middle * rows * stride() + i % middle * columns;
  }
};

/// c = alpha · op(a) · op(b) + beta · c, matrix by matrix.
template <class T>
void multiply(const Matrices& a, bool ta, const T* pa, const Matrices& b, bool tb, const T* pb,
              const Matrices& c, T* pc, double alpha, double beta) {
  const GemmShape s{ta,         tb,         c.rows,    c.columns, ta ? a.rows : a.columns,
                    a.stride(), b.stride(), c.stride()};
  if (s.m == 0 || s.n == 0) return;
  using Acc = Accumulator<T>;
  each_product(s, c.count(), [&](std::int64_t i) {
    gemm(s, static_cast<Acc>(alpha), pa + a.begin(i), pb + b.begin(i), static_cast<Acc>(beta),
         pc + c.begin(i));
  });
}

Prepared forward(const Gemm2Attrs& a, double beta, const KernelRequest& q) {
  const int axis = row_axis(a, q.in[0].shape);
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=, l = Matrices(q.in[0].shape, axis), r = Matrices(q.in[1].shape, axis),
            y = Matrices(q.out[0].shape, axis), bytes = q.out[0].bytes(),
            with_c = q.in.size() > 2](const Args& args) {
      if (with_c) copy_bytes(args.outputs[0].data, args.inputs[2].data, bytes);
      multiply(l, a.transpose_a, args.in<T>(0), r, a.transpose_b, args.in<T>(1), y, args.out<T>(0),
               a.alpha, with_c ? beta : 0);
    };
  });
}
Prepared prepare_backward(const Gemm2Attrs& a, const KernelRequest& q) {
  const int axis = row_axis(a, q.in[1].shape);
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=, g = Matrices(q.in[0].shape, axis), l = Matrices(q.in[1].shape, axis),
            r = Matrices(q.in[2].shape, axis), ta = a.transpose_a,
            tb = a.transpose_b](const Args& args) {
      const T *dy = args.in<T>(0), *pa = args.in<T>(1), *pb = args.in<T>(2);
      if (args.wants(0) && ta)
        multiply(r, tb, pb, g, true, dy, l, args.out<T>(0), a.alpha, 0);
      else if (args.wants(0))
        multiply(g, false, dy, r, !tb, pb, l, args.out<T>(0), a.alpha, 0);
      if (args.wants(1) && tb)
        multiply(g, true, dy, l, ta, pa, r, args.out<T>(1), a.alpha, 0);
      else if (args.wants(1))
        multiply(l, !ta, pa, g, false, dy, r, args.out<T>(1), a.alpha, 0);
    };
  });
}
Prepared prepare_syrk(const SyrkAttrs& a, const KernelRequest& q) {
  const int axis = q.in[0].shape.rank() - 2;
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=, x = Matrices(q.in[0].shape, axis),
            y = Matrices(q.out[0].shape, axis)](const Args& args) {
      multiply(x, a.transpose, args.in<T>(0), x, !a.transpose, args.in<T>(0), y, args.out<T>(0),
               a.alpha, 0);
    };
  });
}

// ---- gradients

NodeEntries gradient_gemm2(const Gemm2Attrs& a, GradientBuilder& g) {
  const NodeEntry first =
      g.call("_backward_linalg_gemm2", {g.head(0), g.input(0), g.input(1)}, a.dict());
  return {{first.node, 0}, {first.node, 1}};
}
NodeEntries gradient_gemm(const GemmAttrs& a, GradientBuilder& g) {
  NodeEntries result = gradient_gemm2(a, g);
  result.push_back(g.wanted(2)
                       ? g.call("_mul_scalar", {g.head(0)}, {{"scalar", fmt::format("{}", a.beta)}})
                       : NodeEntry{});
  return result;
}
NodeEntries gradient_syrk(const SyrkAttrs& a, GradientBuilder& g) {
  const NodeEntry turned = g.call("SwapAxis", {g.head(0)}, {{"dim1", "-2"}, {"dim2", "-1"}}),
                  both = g.call("elemwise_add", {g.head(0), turned});
  NodeEntries factors{both, g.input(0)};
  if (a.transpose) std::swap(factors[0], factors[1]);
  return {g.call("_linalg_gemm2", factors, {{"alpha", fmt::format("{}", a.alpha)}})};
}

using Names = std::vector<std::string>;

}  // namespace

void register_linalg_gemm(OpRegistry& r) {
  r.add<Gemm2Attrs>("_linalg_gemm2")
      .flops([](const Gemm2Attrs&, const Work& w) {
        return matrix_flops(w.in[0], w.in[1], w.out[0], matrices_in(w.out[0].desc.shape));
      })
      .doc("The product of matrices, alpha · op(A) · op(B).")
      .alias("linalg_gemm2")
      .inputs(Names{"A", "B"})
      .infer(infer_gemm)
      .gradient(gradient_gemm2)
      .cpu_kernel("blas",
                  [](const Gemm2Attrs& a, const KernelRequest& q) { return forward(a, 0, q); });
  r.add<Gemm2Attrs>("_backward_linalg_gemm2")
      .flops([](const Gemm2Attrs&, const Work& w) {
        return matrix_backward_flops(w, matrices_in(w.in[0].desc.shape));
      })
      .inputs(Names{"head", "A", "B"})
      .outputs({"A_grad", "B_grad"})
      .skips_unread()
      .infer(infer_backward)
      .backward()
      .cpu_kernel("blas", prepare_backward);
  r.add<GemmAttrs>("_linalg_gemm")
      .doc("The product of matrices and a sum, alpha · op(A) · op(B) + beta · C.")
      .alias("linalg_gemm")
      .inputs(Names{"A", "B", "C"})
      .infer(infer_gemm)
      .gradient(gradient_gemm)
      .inplace(2, 0)
      .cpu_kernel("blas",
                  [](const GemmAttrs& a, const KernelRequest& q) { return forward(a, a.beta, q); });
  r.add<SyrkAttrs>("_linalg_syrk")
      .doc("The product of a matrix with its own transpose.")
      .alias("linalg_syrk")
      .inputs(Names{"A"})
      .infer(infer_syrk)
      .gradient(gradient_syrk)
      .cpu_kernel("blas", prepare_syrk);
}

}  // namespace symbind
