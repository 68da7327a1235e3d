// _linalg_syevd: eigenvectors and eigenvalues of the symmetric matrices in the last two axes.
//
//   A = Uᵀ · diag(λ) · U, a row of U is an eigenvector, λ ascending
//   dA = Uᵀ · M · U,  M_ii = dλ_i,  M_ij = ½ (dU·Uᵀ − U·dUᵀ)_ij / (λ_i − λ_j)
//
// Decided here: the lower triangle of A is read. The element of an eigenvector with the largest
// magnitude is positive. For equal eigenvalues the gradient is undefined; their difference is then
// replaced by a small number, 1e-30 in float32 and 1e-100 in float64, as MXNet does. float32 and
// float64 only.
#include <symbind/operator.h>

#include <cmath>

#include "base/check.h"
#include "kernels/gemm.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg_matrix.h"

namespace symbind {
namespace {

/// A or U, and the eigenvalues.
void infer_parts(Inference& io, Inference::Ref matrix, Inference::Ref values) {
  if (!io.shape(matrix).rank_known() && io.shape(values).rank_known())
    io.set_shape(matrix, Shape::of_rank(io.shape(values).rank() + 1), "one more axis than values");
  Shape a = io.shape(matrix);
  if (!a.rank_known()) return;
  check_square(a);
  if (a.back() < 0) a[a.rank() - 1] = a[a.rank() - 2];
  a[a.rank() - 2] = a.back();
  io.set_shape(matrix, a, "square matrices");
  Shape l = Shape::of_rank(a.rank() - 1);
  for (int i = 0; i < l.rank(); ++i) l[i] = a[i];
  io.set_shape(values, l, "an eigenvalue for every row");
  for (int i = 0; i < l.rank(); ++i) a[i] = io.shape(values)[i];
  a[a.rank() - 1] = io.shape(values).back();
  io.set_shape(matrix, a, "a row for every eigenvalue");
}

void infer(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  infer_parts(io, io.out(0), io.out(1));
  io.same_shape(io.in(0), io.out(0));
}
// Inputs: dU, dλ, U, λ.
void infer_backward(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  infer_parts(io, io.in(2), io.in(3));
  io.same_shape(io.in(0), io.in(2));
  io.same_shape(io.in(1), io.in(3));
  io.same_shape(io.out(0), io.in(2));
}

struct Squares {
  std::int64_t count, n;
  explicit Squares(const Shape& s) : count(s.count(0, s.rank() - 2)), n(s.back()) {}
};

Offer offer_forward(const NoAttrs&, const KernelRequest& q) {
  const Squares s(q.in[0].shape);  // memory for one matrix and its values, in case they are unread
  return accept_plain(
      q, static_cast<std::size_t>(eigen_work(s.n) + s.n * s.n + s.n) * size_of(q.in[0].dtype));
}
Prepared forward(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Squares(q.in[0].shape)](const Args& args) {
      T *work = static_cast<T*>(args.workspace), *u = work + eigen_work(s.n), *l = u + s.n * s.n;
      for (std::int64_t i = 0; i < s.count; ++i) {
        std::copy_n(args.in<T>(0) + i * s.n * s.n, s.n * s.n, u);
        check(eigen(s.n, u, l, work), "syevd: the eigenvalues of matrix {} cannot be found", i);
        for (std::int64_t row = 0; row < s.n; ++row) {
          T* vector = u + row * s.n;
          const T largest = *std::max_element(vector, vector + s.n,
                                              [](T a, T b) { return std::abs(a) < std::abs(b); });
          if (largest < 0)
            for (std::int64_t k = 0; k < s.n; ++k) vector[k] = -vector[k];
        }
        if (args.wants(0)) std::copy_n(u, s.n * s.n, args.out<T>(0) + i * s.n * s.n);
        if (args.wants(1)) std::copy_n(l, s.n, args.out<T>(1) + i * s.n);
      }
    };
  });
}

Offer offer_backward(const NoAttrs&, const KernelRequest& q) {
  const Squares s(q.out[0].shape);
  return accept_plain(q, static_cast<std::size_t>(s.n * s.n) * size_of(q.out[0].dtype));
}
// Inputs: dU, dλ, U, λ.
Prepared backward(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [s = Squares(q.out[0].shape)](const Args& args) {
      const std::int64_t n = s.n;
      const T least = std::is_same_v<T, float> ? T(1e-30) : T(1e-100);
      T* m = static_cast<T*>(args.workspace);
      for (std::int64_t i = 0; i < s.count && n > 0; ++i) {
        const T *du = args.in<T>(0) + i * n * n, *dl = args.in<T>(1) + i * n,
                *u = args.in<T>(2) + i * n * n, *l = args.in<T>(3) + i * n;
        T* da = args.out<T>(0) + i * n * n;
        gemm({false, true, n, n, n, n, n, n}, T(1), du, u, T(0), m);
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t k = 0; k < j; ++k) {
            const T apart = 2 * std::max(l[j] - l[k], least);
            m[j * n + k] = m[k * n + j] = (m[j * n + k] - m[k * n + j]) / apart;
          }
          m[j * n + j] = dl[j];
        }
        gemm({true, false, n, n, n, n, n, n}, T(1), u, m, T(0), da);
        std::copy_n(da, n * n, m);
        gemm({false, false, n, n, n, n, n, n}, T(1), m, u, T(0), da);
      }
    };
  });
}

using Names = std::vector<std::string>;

}  // namespace

void register_linalg_eigen(OpRegistry& r) {
  r.add("_linalg_syevd")
      .doc("Eigenvectors, one per row, and eigenvalues of symmetric matrices.")
      .inputs(Names{"A"})
      .outputs({"output0", "output1"})
      .skips_unread()
      .infer(infer)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_linalg_syevd", {g.head(0), g.head(1), g.output(0), g.output(1)})};
      })
      .kernel(DeviceType::kCpu, "blas", offer_forward, forward);
  r.add("_backward_linalg_syevd")
      .inputs(Names{"U_head", "L_head", "U", "L"})
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "blas", offer_backward, backward);
}

}  // namespace symbind
