// Products of matrices: dot, and batch_dot over leading axes that both operands share.
//
//   dot        y[i…, j…] = Σ_k a[i…, k] · b[k, j…]        the last axis of a with the first of b
//   batch_dot  y[b…, i, j] = Σ_k a[b…, i, k] · b[b…, k, j]
//   da = dy · bᵀ,  db = aᵀ · dy, in the order that transpose_a and transpose_b stored them
//
// Decided here: transposed, dot contracts the first axis of a (the last of b) and keeps the others
// in their order; two vectors give one number. kernels/gemm.h multiplies; 16-bit floats
// are summed in float. `forward_stype` has no effect: arrays are
// dense. batch_dot infers nothing before both contracted axes are known, as MXNet's tests expect.
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "graph/flops.h"
#include "graph/forward_rule.h"
#include "kernels/gemm.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct DotAttrs {
  bool transpose_a = false, transpose_b = false;
  std::optional<std::string> forward_stype;
  void describe(AttrVisitor& v) {
    v.field("transpose_a", transpose_a, "Whether the left operand is stored transposed.");
    v.field("transpose_b", transpose_b, "Whether the right operand is stored transposed.");
    v.field("forward_stype", forward_stype, "Accepted, without effect: arrays are dense.")
        .choices({"csr", "default", "row_sparse"});
  }
};

// ---- shapes

/// The axis of each operand of dot that is summed over.
int contracted_a(const DotAttrs& a, int rank) { return a.transpose_a ? 0 : rank - 1; }
int contracted_b(const DotAttrs& a, int rank) { return a.transpose_b ? rank - 1 : 0; }

constexpr const char* kOut = "the axes that are not summed over, left operand first";
constexpr const char* kBack = "the output's axes and the other operand's axis that is summed over";

void infer_dot(const DotAttrs& a, Inference& io) {
  io.all_same_dtype();
  Shape l = io.shape(io.in(0)), r = io.shape(io.in(1));
  if (!l.rank_known() || !r.rank_known()) return;
  check(l.rank() > 0 && r.rank() > 0, ErrorKind::kShape,
        "dot takes no scalars: {} and {} were given; use the operator * for them", l.str(),
        r.str());
  const bool vectors = l.rank() == 1 && r.rank() == 1;
  check(!vectors || (!a.transpose_a && !a.transpose_b), ErrorKind::kShape,
        "dot of two vectors cannot transpose them: {} and {}", l.str(), r.str());
  const int la = contracted_a(a, l.rank()), rb = contracted_b(a, r.rank());
  check(l[la] < 0 || r[rb] < 0 || l[la] == r[rb], ErrorKind::kShape,
        "dot of {} and {}: axis {} of the left and axis {} of the right operand must be equal "
        "(transpose_a={}, transpose_b={})",
        l.str(), r.str(), la, rb, a.transpose_a, a.transpose_b);
  Shape out = vectors ? scalar_shape() : Shape{};
  for (int d = 0; d < l.rank(); ++d)
    if (d != la) out.push_back(l[d]);
  for (int d = 0; d < r.rank(); ++d)
    if (d != rb) out.push_back(r[d]);
  io.set_shape(io.out(0), out, kOut);
  const Shape& known = io.shape(io.out(0));
  int k = 0;
  const std::int64_t shared = std::max(l[la], r[rb]);
  for (int d = 0; d < l.rank(); ++d) l[d] = d == la ? shared : known[k++];
  for (int d = 0; d < r.rank(); ++d) r[d] = d == rb ? shared : known[k++];
  io.set_shape(io.in(0), l, kBack);
  io.set_shape(io.in(1), r, kBack);
}

void infer_batch_dot(const DotAttrs& a, Inference& io) {
  io.all_same_dtype();
  Shape l = io.shape(io.in(0)), r = io.shape(io.in(1));
  if (!l.rank_known() || !r.rank_known()) return;
  const int rank = l.rank();
  check(rank == r.rank() && rank >= 3, ErrorKind::kShape,
        "batch_dot needs two operands of equal rank 3 or more, not {} and {}; dot takes matrices",
        l.str(), r.str());
  if (l[rank - 1] < 0 || r[rank - 2] < 0) return;
  const int lm = a.transpose_a ? rank - 1 : rank - 2, lk = a.transpose_a ? rank - 2 : rank - 1;
  const int rn = a.transpose_b ? rank - 2 : rank - 1, rk = a.transpose_b ? rank - 1 : rank - 2;
  const auto agree = [](std::int64_t x, std::int64_t y) { return x < 0 || y < 0 || x == y; };
  check(agree(l[lk], r[rk]), ErrorKind::kShape,
        "batch_dot of {} and {}: axis {} of the left and axis {} of the right operand must be "
        "equal (transpose_a={}, transpose_b={})",
        l.str(), r.str(), lk, rk, a.transpose_a, a.transpose_b);
  Shape out = Shape::of_rank(rank);
  for (int d = 0; d < rank - 2; ++d) {
    check(agree(l[d], r[d]), ErrorKind::kShape,
          "batch_dot of {} and {}: the axes before the last two must be equal", l.str(), r.str());
    out[d] = std::max(l[d], r[d]);
  }
  out[rank - 2] = l[lm];
  out[rank - 1] = r[rn];
  io.set_shape(io.out(0), out, "the shared leading axes, rows of the left, columns of the right");
  const Shape& known = io.shape(io.out(0));
  const std::int64_t shared = std::max(l[lk], r[rk]);
  for (int d = 0; d < rank - 2; ++d) l[d] = r[d] = known[d];
  l[lm] = known[rank - 2];
  r[rn] = known[rank - 1];
  l[lk] = r[rk] = shared;
  io.set_shape(io.in(0), l, kBack);
  io.set_shape(io.in(1), r, kBack);
}

// Inputs: dy, a, b. Outputs: da, db.
using Rule = void (*)(const DotAttrs&, Inference&);
template <Rule forward>
void infer_backward(const DotAttrs& a, Inference& io) {
  tie_to_forward(a, io, forward,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0), io.in(1)}});
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
}

// ---- kernels

/// `batch` products of m×k by k×n; `ta`, `tb`: stored as k×m, n×k.
struct Sizes {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  bool ta = false, tb = false;

  GemmShape forward() const { return {ta, tb, m, n, k, ta ? m : k, tb ? k : n, n}; }
  GemmShape left() const {
    if (ta) return {tb, true, k, m, n, tb ? k : n, n, m};  // k×m: b · dyᵀ
    return {false, !tb, m, k, n, n, tb ? k : n, k};        // m×k: dy · bᵀ
  }
  GemmShape right() const {
    if (tb) return {true, ta, n, k, m, n, ta ? m : k, k};  // n×k: dyᵀ · a
    return {!ta, false, k, n, m, ta ? m : k, n, n};        // k×n: aᵀ · dy
  }
};

Sizes sizes_dot(const DotAttrs& a, const Shape& l, const Shape& r) {
  const int la = contracted_a(a, l.rank()), rb = contracted_b(a, r.rank());
  Sizes s{.k = l[la], .ta = a.transpose_a, .tb = a.transpose_b};
  s.m = l.count(0, la) * l.count(la + 1);
  s.n = r.count(0, rb) * r.count(rb + 1);
  return s;
}
Sizes sizes_batch_dot(const DotAttrs& a, const Shape& l, const Shape& r) {
  const int rank = l.rank();
  return {.batch = l.count(0, rank - 2),
          .m = a.transpose_a ? l[rank - 1] : l[rank - 2],
          .n = a.transpose_b ? r[rank - 2] : r[rank - 1],
          .k = a.transpose_a ? l[rank - 2] : l[rank - 1],
          .ta = a.transpose_a,
          .tb = a.transpose_b};
}

constexpr auto kByDefinition = []<class T>(const GemmShape& s, const T* a, const T* b, T* c) {
  gemm_plain<T>(s, 1, a, b, 0, c);
};
constexpr auto kByBlas = []<class T>(const GemmShape& s, const T* a, const T* b, T* c) {
  gemm(s, Accumulator<T>(1), a, b, Accumulator<T>(0), c);
};

template <class T, class Multiply>
void multiply_all(const GemmShape& s, std::int64_t batch, const T* a, const T* b, T* c,
                  Multiply multiply) {
  if (s.m * s.n == 0) return;
  each_product(s, batch, [&](std::int64_t i) {
    multiply(s, a + i * s.m * s.k, b + i * s.k * s.n, c + i * s.m * s.n);
  });
}

using SizesOf = Sizes (*)(const DotAttrs&, const Shape&, const Shape&);

template <class Multiply>
Prepared forward_by(const Sizes& s, DType dtype, Multiply multiply) {
  return dispatch_float(dtype, [&]<class T>() -> Prepared {
    return [s, multiply](const Args& args) {
      multiply_all(s.forward(), s.batch, args.in<T>(0), args.in<T>(1), args.out<T>(0), multiply);
    };
  });
}
template <class Multiply>
Prepared backward_by(const Sizes& s, DType dtype, Multiply multiply) {
  return dispatch_float(dtype, [&]<class T>() -> Prepared {
    return [s, multiply](const Args& args) {
      const T *dy = args.in<T>(0), *a = args.in<T>(1), *b = args.in<T>(2);
      if (args.wants(0))
        multiply_all(s.left(), s.batch, s.ta ? b : dy, s.ta ? dy : b, args.out<T>(0), multiply);
      if (args.wants(1))
        multiply_all(s.right(), s.batch, s.tb ? dy : a, s.tb ? a : dy, args.out<T>(1), multiply);
    };
  });
}

Offer offer_blas(const DotAttrs&, const KernelRequest& r) {
  const DType t = r.in[0].dtype;
  if (t != DType::kFloat32 && t != DType::kFloat64)
    return refuse("BLAS has float32 and float64 only");
  return accept_plain(r);
}

/// How many products there are in one of the arrays.
template <double (*count)(const Shape&)>
void count_flops(OpBuilder<DotAttrs>& forward, OpBuilder<DotAttrs>& backward) {
  forward.flops([](const DotAttrs&, const Work& w) {
    return matrix_flops(w.in[0], w.in[1], w.out[0], count(w.out[0].desc.shape));
  });
  backward.flops([](const DotAttrs&, const Work& w) {
    return matrix_backward_flops(w, count(w.in[0].desc.shape));
  });
}
double one(const Shape&) { return 1; }

void add(OpRegistry& r, const std::string& name, const char* doc, std::vector<std::string> aliases,
         Rule infer, Rule infer_back, SizesOf sizes,
         void (*count)(OpBuilder<DotAttrs>&, OpBuilder<DotAttrs>&),
         NodeEntries (*gradient)(const DotAttrs&, GradientBuilder&)) {
  const auto forward = [sizes](auto multiply) {
    return [=](const DotAttrs& a, const KernelRequest& q, const Offer&) {
      return forward_by(sizes(a, q.in[0].shape, q.in[1].shape), q.in[0].dtype, multiply);
    };
  };
  const auto backward = [sizes](auto multiply) {
    return [=](const DotAttrs& a, const KernelRequest& q, const Offer&) {
      return backward_by(sizes(a, q.in[1].shape, q.in[2].shape), q.in[0].dtype, multiply);
    };
  };
  auto op = r.add<DotAttrs>(name)
                .precision(Precision::kFloat32)
                .doc(doc)
                .inputs(std::vector<std::string>{"lhs", "rhs"})
                .infer(infer)
                .gradient(gradient)
                .kernel(DeviceType::kCpu, "blas", offer_blas, forward(kByBlas))
                .kernel(DeviceType::kCpu, "reference", nullptr, forward(kByDefinition));
  for (const std::string& alias : aliases) op.alias(alias);
  auto back = r.add<DotAttrs>("_backward_" + name);
  back.precision(Precision::kFloat32);
  back.inputs(std::vector<std::string>{"head", "lhs", "rhs"})
      .outputs({"lhs_grad", "rhs_grad"})
      .skips_unread()
      .infer(infer_back)
      .backward()
      .kernel(DeviceType::kCpu, "blas", offer_blas, backward(kByBlas))
      .kernel(DeviceType::kCpu, "reference", nullptr, backward(kByDefinition));
  count(op, back);
}

}  // namespace

void register_dot(OpRegistry& r) {
  add(r, "dot", "The product of two arrays: the last axis of lhs with the first of rhs.",
      {"_sparse_dot"}, infer_dot, infer_backward<infer_dot>, sizes_dot, count_flops<one>,
      [](const DotAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_dot", {g.head(0), g.input(0), g.input(1)});
      });
  add(r, "batch_dot", "Products of matrices, one for each index of the shared leading axes.", {},
      infer_batch_dot, infer_backward<infer_batch_dot>, sizes_batch_dot, count_flops<matrices_in>,
      [](const DotAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_batch_dot", {g.head(0), g.input(0), g.input(1)});
      });
}

}  // namespace symbind
