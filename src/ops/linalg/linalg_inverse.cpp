// Square matrices in the last two axes by elimination: _linalg_inverse, _linalg_det,
// _linalg_slogdet.
//
//   inverse  B = A⁻¹                        dA = -Bᵀ · dB · Bᵀ
//   det      y = det A                      dA = dy · y · A⁻ᵀ
//   slogdet  sign of det A, log |det A|     dA = dlog · A⁻ᵀ
//
// Decided here: a matrix without inverse is a run-time error for inverse; det is 0 there,
// slogdet 0 and -inf, and no gradient flows back, as in MXNet. float32 and float64 only.
#include <cmath>
#include <limits>

#include <symbind/operator.h>

#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg_matrix.h"

namespace symbind {
namespace {

void infer_inverse(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  io.all_same_shape();
  if (io.shape(io.in(0)).rank_known()) check_square(io.shape(io.in(0)));
}
/// One number for each matrix, for every output.
void infer_numbers(const NoAttrs&, Inference& io) {
  io.all_same_dtype();
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_square(in);
  for (int i = 0; i < io.num_outputs(); ++i)
    io.set_shape(io.out(i),
                 in.rank() == 2 ? scalar_shape() : Shape(std::span(in.begin(), in.end() - 2)),
                 "one number for each matrix");
}
// Inputs: factors of A⁻ᵀ, one for each matrix, then A.
void infer_backward(const NoAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(io.num_inputs() - 1), io.out(0));
  ForwardSides sides;
  for (int i = 0; i + 1 < io.num_inputs(); ++i) sides.from.push_back(io.out(0));
  sides.from.push_back(io.in(0));
  tie_to_forward(a, io, infer_numbers, sides);
}

struct Squares {
  std::int64_t count, n;
  explicit Squares(const Shape& s) : count(s.count(0, s.rank() - 2)), n(s.back()) {}
};

/// Workspace for one matrix, LAPACK's work and the pivots.
Offer offer(const NoAttrs&, const KernelRequest& q) {
  const std::int64_t n = q.in.back().shape.back();
  return accept_plain(
      q, static_cast<std::size_t>(n * n + inverse_work(n)) * size_of(q.in.back().dtype) +
             static_cast<std::size_t>(n) * sizeof(int));
}
template <class T>
struct Buffers {
  T *matrix, *work;
  int* pivots;
  Buffers(void* workspace, std::int64_t n)
      : matrix(static_cast<T*>(workspace)),
        work(matrix + n * n),
        pivots(reinterpret_cast<int*>(work + inverse_work(n))) {}
};

Prepared prepare_inverse(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Squares(q.in[0].shape), bytes = q.in[0].bytes()](const Args& args) {
      const Buffers<T> buffers(args.workspace, s.n);
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      for (std::int64_t i = 0; i < s.count; ++i)
        check(invert(s.n, args.out<T>(0) + i * s.n * s.n, buffers.work, buffers.pivots),
              "inverse: matrix {} has no inverse", i);
    };
  });
}

/// Sign and logarithm of the determinants: use(matrix, sign, log).
template <class T, class Use>
void each_determinant(const Squares& s, const Args& args, Use use) {
  const Buffers<T> buffers(args.workspace, s.n);
  for (std::int64_t i = 0; i < s.count; ++i) {
    std::copy_n(args.in<T>(0) + i * s.n * s.n, s.n * s.n, buffers.matrix);
    double sign = 1, log = 0;
    if (!eliminate(s.n, buffers.matrix, buffers.pivots))
      sign = 0, log = -std::numeric_limits<double>::infinity();
    for (std::int64_t d = 0; d < s.n && sign != 0; ++d) {
      const auto pivot = static_cast<double>(buffers.matrix[d * s.n + d]);
      if ((buffers.pivots[d] != d + 1) != (pivot < 0)) sign = -sign;
      log += std::log(std::abs(pivot));
    }
    use(i, sign, log);
  }
}
Prepared prepare_det(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Squares(q.in[0].shape)](const Args& args) {
      each_determinant<T>(s, args, [&](std::int64_t i, double sign, double log) {
        args.out<T>(0)[i] = static_cast<T>(sign * std::exp(log));
      });
    };
  });
}
Prepared prepare_slogdet(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Squares(q.in[0].shape)](const Args& args) {
      each_determinant<T>(s, args, [&](std::int64_t i, double sign, double log) {
        if (args.wants(0)) args.out<T>(0)[i] = static_cast<T>(sign);
        if (args.wants(1)) args.out<T>(1)[i] = static_cast<T>(log);
      });
    };
  });
}

/// The product of the first inputs, one number for each matrix, times A⁻ᵀ; A is the last input.
Prepared prepare_backward(const NoAttrs&, const KernelRequest& q, const Offer&) {
  return dispatch_matrix(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [s = Squares(q.out[0].shape),
            factors = static_cast<int>(q.in.size()) - 1](const Args& args) {
      const Buffers<T> buffers(args.workspace, s.n);
      for (std::int64_t i = 0; i < s.count; ++i) {
        std::copy_n(args.in<T>(factors) + i * s.n * s.n, s.n * s.n, buffers.matrix);
        const bool exists = invert(s.n, buffers.matrix, buffers.work, buffers.pivots);
        T scale = 1;
        for (int f = 0; f < factors; ++f) scale *= args.in<T>(f)[i];
        T* d = args.out<T>(0) + i * s.n * s.n;
        for (std::int64_t row = 0; row < s.n; ++row)
          for (std::int64_t column = 0; column < s.n; ++column)
            d[row * s.n + column] = exists ? scale * buffers.matrix[column * s.n + row] : T(0);
      }
    };
  });
}

NodeEntries gradient_inverse(const NoAttrs&, GradientBuilder& g) {
  const NodeEntry left =
      g.call("_linalg_gemm2", {g.output(0), g.head(0)}, {{"transpose_a", "True"}, {"alpha", "-1"}});
  return {g.call("_linalg_gemm2", {left, g.output(0)}, {{"transpose_b", "True"}})};
}

using Names = std::vector<std::string>;

}  // namespace

void register_linalg_inverse(OpRegistry& r) {
  r.add("_linalg_inverse")
      .doc("The inverse of square matrices.")
      .alias("linalg_inverse")
      .inputs(Names{"A"})
      .infer(infer_inverse)
      .gradient(gradient_inverse)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "blas", offer, prepare_inverse);
  r.add("_linalg_det")
      .doc("The determinant of square matrices.")
      .alias("linalg_det")
      .inputs(Names{"A"})
      .outputs({"output0"})
      .infer(infer_numbers)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_linalg_det", {g.head(0), g.output(0), g.input(0)})};
      })
      .kernel(DeviceType::kCpu, "blas", offer, prepare_det);
  r.add("_backward_linalg_det")
      .inputs(Names{"head", "det", "A"})
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "blas", offer, prepare_backward);
  r.add("_linalg_slogdet")
      .doc("Sign and logarithm of the magnitude of the determinant of square matrices.")
      .alias("linalg_slogdet")
      .inputs(Names{"A"})
      .outputs({"output0", "output1"})
      .skips_unread()
      .infer(infer_numbers)
      .gradient([](const NoAttrs&, GradientBuilder& g) -> NodeEntries {
        return {g.call("_backward_linalg_slogdet", {g.head(1), g.input(0)})};
      })
      .kernel(DeviceType::kCpu, "blas", offer, prepare_slogdet);
  r.add("_backward_linalg_slogdet")
      .inputs(Names{"head", "A"})
      .infer(infer_backward)
      .backward()
      .kernel(DeviceType::kCpu, "blas", offer, prepare_backward);
}

}  // namespace symbind
