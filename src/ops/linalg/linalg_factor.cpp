// Factors of the matrices in the last two axes: _linalg_potrf, _linalg_potri and _linalg_gelqf.
//
//   potrf  A = L · Lᵀ, A symmetric and positive: L      dA = ½ L⁻ᵀ · Φ(Lᵀ · dL) · L⁻¹
//   potri  (L · Lᵀ)⁻¹ = B from L                        dL = -lower(B · (dB + dBᵀ) · B · L)
//          both with lower=False of U = Lᵀ, dU = dLᵀ
//   gelqf  A = L · Q, rows of Q orthonormal: Q, L       dA = L⁻ᵀ · (dQ + Φ(Lᵀ · dL - dQ · Qᵀ) · Q)
//
// Φ copies the lower triangle onto the upper one.
//
// Decided here: of a symmetric input the lower triangle is read, of a factor the triangle it has;
// the gradient of potrf is symmetric. The signs of L and Q are LAPACK's. A matrix that is not
// positive definite is a run-time error. float32 and float64 only, as in MXNet.
#include <symbind/operator.h>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "kernels/gemm.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg_matrix.h"

namespace symbind {
namespace {

struct CholeskyAttrs {
  bool lower = true;
  void describe(AttrVisitor& v) {
    v.field("lower", lower, "Whether the factor is the lower triangle; else the upper one.");
  }
};

void infer_square(const CholeskyAttrs&, Inference& io) {
  io.all_same_dtype();
  io.all_same_shape();
  if (io.shape(io.in(0)).rank_known()) check_square(io.shape(io.in(0)));
}
void infer_gelqf(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& a = io.shape(io.in(0));
  if (!a.rank_known()) return;
  check_rank(a);
  Shape l = a;
  const std::int64_t rows = l[l.rank() - 2], columns = l.back();
  check(rows <= columns || columns < 0, ErrorKind::kShape,
        "gelqf needs at least as many columns as rows, not {}; transpose the matrix", a.str());
  l[l.rank() - 1] = rows;
  io.set_shape(io.out(1), l, "as many columns as rows");
}
// Inputs: dQ, dL, Q, L.
void infer_backward_gelqf(const NoAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(2), io.out(0));
  io.same_shape(io.in(1), io.in(3));
  tie_to_forward(a, io, infer_gelqf,
                 {.inputs = 1, .outputs = 2, .from = {io.out(0), io.out(1), io.out(0), io.out(1)}});
}

// ---- kernels

/// The lower triangle onto the upper one (`copies`), or 0 there.
template <class T>
void set_upper(std::int64_t n, T* a, bool copies) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) a[i * n + j] = copies ? a[j * n + i] : T(0);
}

/// A square matrix becomes its transpose.
template <class T>
void turn(std::int64_t n, T* a) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j) std::swap(a[i * n + j], a[j * n + i]);
}

/// Number and side of square matrices.
struct Squares {
  std::int64_t count, n;
  explicit Squares(const Shape& s) : count(s.count(0, s.rank() - 2)), n(s.back()) {}
};

Prepared prepare_potrf(const CholeskyAttrs& a, const KernelRequest& q) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, s = Squares(q.in[0].shape), bytes = q.in[0].bytes()](const Args& args) {
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      for (std::int64_t i = 0; i < s.count; ++i) {
        T* l = args.out<T>(0) + i * s.n * s.n;
        const int minor = potrf(s.n, l);
        check(minor == 0,
              "potrf: matrix {} is not symmetric and positive definite: its leading minor of order "
              "{} is not positive",
              i, minor);
        set_upper(s.n, l, false);
        if (!a.lower) turn(s.n, l);
      }
    };
  });
}
// Inputs: dL, L, or both of U.
Prepared prepare_backward_potrf(const CholeskyAttrs& a, const KernelRequest& q) {
  return dispatch_matrix(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [a, s = Squares(q.out[0].shape), bytes = q.out[0].bytes()](const Args& args) {
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      for (std::int64_t i = 0; i < s.count; ++i) {
        const T* l = args.in<T>(1) + i * s.n * s.n;
        T* d = args.out<T>(0) + i * s.n * s.n;
        if (!a.lower) turn(s.n, d);
        set_upper(s.n, d, false);
        const Triangle turned{.lower = a.lower, .transpose = a.lower};
        trmm(turned, s.n, s.n, T(1), l, d);
        set_upper(s.n, d, true);
        trsm(turned, s.n, s.n, T(1), l, d);
        trsm({.lower = a.lower, .transpose = !a.lower, .right = true}, s.n, s.n, T(0.5), l, d);
      }
    };
  });
}

Prepared prepare_potri(const CholeskyAttrs& a, const KernelRequest& q) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, s = Squares(q.in[0].shape), bytes = q.in[0].bytes()](const Args& args) {
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      for (std::int64_t i = 0; i < s.count; ++i) {
        T* b = args.out<T>(0) + i * s.n * s.n;
        if (!a.lower) turn(s.n, b);
        const int zero = potri(s.n, b);
        check(zero == 0, "potri: matrix {} has no inverse: element {} of its diagonal is 0", i,
              zero - 1);
        set_upper(s.n, b, true);
      }
    };
  });
}

/// Number, rows and columns of matrices that are not square.
struct Wide {
  std::int64_t count, m, n;
  explicit Wide(const Shape& s)
      : count(s.count(0, s.rank() - 2)), m(s[s.rank() - 2]), n(s.back()) {}
};

Offer offer_gelqf(const NoAttrs&, const KernelRequest& q) {
  const Wide s(q.in[0].shape);  // and L, in case it is unread
  return accept_plain(
      q, static_cast<std::size_t>(lq_work(s.m) + s.m * s.m + s.m * s.n) * size_of(q.in[0].dtype));
}
Prepared prepare_gelqf(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Wide(q.in[0].shape)](const Args& args) {
      T *work = static_cast<T*>(args.workspace), *l = work + lq_work(s.m), *a = l + s.m * s.m;
      for (std::int64_t i = 0; i < s.count; ++i) {
        std::copy_n(args.in<T>(0) + i * s.m * s.n, s.m * s.n, a);
        lq(s.m, s.n, a, l, work);
        if (args.wants(0)) std::copy_n(a, s.m * s.n, args.out<T>(0) + i * s.m * s.n);
        if (args.wants(1)) std::copy_n(l, s.m * s.m, args.out<T>(1) + i * s.m * s.m);
      }
    };
  });
}

Offer offer_backward_gelqf(const NoAttrs&, const KernelRequest& q) {
  const Wide s(q.out[0].shape);
  return accept_plain(q, static_cast<std::size_t>(s.m * s.m) * size_of(q.out[0].dtype));
}
// Inputs: dQ, dL, Q, L.
Prepared prepare_backward_gelqf(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [s = Wide(q.out[0].shape), bytes = q.out[0].bytes()](const Args& args) {
      if (s.m == 0) return;
      T* inner = static_cast<T*>(args.workspace);
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      for (std::int64_t i = 0; i < s.count; ++i) {
        const T *dl = args.in<T>(1) + i * s.m * s.m, *l = args.in<T>(3) + i * s.m * s.m,
                *orthonormal = args.in<T>(2) + i * s.m * s.n;
        T* d = args.out<T>(0) + i * s.m * s.n;  // dQ
        std::copy_n(dl, s.m * s.m, inner);
        set_upper(s.m, inner, false);
        trmm({.transpose = true}, s.m, s.m, T(1), l, inner);
        gemm({false, true, s.m, s.m, s.n, s.n, s.n, s.m}, T(-1), d, orthonormal, T(1), inner);
        set_upper(s.m, inner, true);
        gemm({false, false, s.m, s.n, s.m, s.m, s.n, s.n}, T(1), inner, orthonormal, T(1), d);
        trsm({.transpose = true}, s.m, s.n, T(1), l, d);
      }
    };
  });
}

NodeEntries gradient_potri(const CholeskyAttrs& a, GradientBuilder& g) {
  const std::string lower = a.lower ? "True" : "False";
  const NodeEntry inverse = g.output(0),
                  turned = g.call("SwapAxis", {g.head(0)}, {{"dim1", "-2"}, {"dim2", "-1"}}),
                  both = g.call("elemwise_add", {g.head(0), turned}),
                  left = g.call("_linalg_gemm2", {inverse, both}),
                  middle = g.call("_linalg_gemm2", {left, inverse}),
                  whole = g.call("_linalg_trmm", {g.input(0), middle},
                                 {{"rightside", lower}, {"lower", lower}, {"alpha", "-1"}});
  return {g.call("_backward_linalg_triangle", {whole}, {{"lower", lower}})};
}

using Names = std::vector<std::string>;

}  // namespace

void register_linalg_factor(OpRegistry& r) {
  r.add<CholeskyAttrs>("_linalg_potrf")
      .doc("The Cholesky factor L of symmetric positive definite matrices, A = L · Lᵀ.")
      .alias("linalg_potrf")
      .inputs(Names{"A"})
      .infer(infer_square)
      .gradient([](const CholeskyAttrs&, GradientBuilder& g) -> NodeEntries {
        return g.call_with_same_attrs("_backward_linalg_potrf", {g.head(0), g.output(0)});
      })
      .inplace(0, 0)
      .cpu_kernel("blas", prepare_potrf);
  r.add<CholeskyAttrs>("_backward_linalg_potrf")
      .inputs(Names{"head", "L"})
      .infer(infer_square)
      .backward()
      .inplace(0, 0)
      .cpu_kernel("blas", prepare_backward_potrf);
  r.add<CholeskyAttrs>("_linalg_potri")
      .doc("The inverse of matrices from their Cholesky factor, (L · Lᵀ)⁻¹.")
      .alias("linalg_potri")
      .inputs(Names{"A"})
      .infer(infer_square)
      .gradient(gradient_potri)
      .inplace(0, 0)
      .cpu_kernel("blas", prepare_potri);
  r.add("_linalg_gelqf")
      .doc("The factors of A = L · Q, the rows of Q orthonormal: Q, then L.")
      .alias("linalg_gelqf")
      .inputs(Names{"A"})
      .outputs({"output0", "output1"})
      .skips_unread()
      .infer(infer_gelqf)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_linalg_gelqf", {g.head(0), g.head(1), g.output(0), g.output(1)})};
      })
      .kernel(DeviceType::kCpu, "blas", offer_gelqf, prepare_gelqf);
  r.add("_backward_linalg_gelqf")
      .inputs(Names{"Q_head", "L_head", "Q", "L"})
      .infer(infer_backward_gelqf)
      .backward()
      .kernel(DeviceType::kCpu, "blas", offer_backward_gelqf, prepare_backward_gelqf);
}

}  // namespace symbind
