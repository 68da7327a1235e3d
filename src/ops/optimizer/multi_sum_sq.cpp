// Reductions over many arrays at once, for LARS and loss scaling.
//
//   multi_sum_sq      y[k] = sum of the squares of array k
//   multi_lars        y = lr·η·|w| / (rescale·|g| + wd·|w| + ε), or lr where |w| or |g| is 0; the
//                     norms are passed as sums of squares
//   all_finite        y[0] = 1 if every number is finite, else 0; multi_all_finite: of all arrays
//
// Decided here: sums are in double and the result in float32, as are the inputs of multi_lars. With
// init_output=False the output keeps its 1 or 0 and only ever becomes 0. Squares of 16-bit numbers
// are rounded to 16 bits before they are summed, as MXNet's are, but not where that would overflow.
#include "ops/optimizer/sum_squares.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <symbind/operator.h>

#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct SumSqAttrs {
  int num_arrays = 0;
  void describe(AttrVisitor& v) {
    v.field("num_arrays", num_arrays, "Number of arrays.").required();
  }
};
struct LarsAttrs {
  float eta = 0, eps = 0, rescale_grad = 1;
  void describe(AttrVisitor& v) {
    v.field("eta", eta, "The coefficient of the learning rates.").required().per_call();
    v.field("eps", eps, "Keeps the division finite.").required().per_call();
    v.field("rescale_grad", rescale_grad, "The gradients are multiplied by this first.").per_call();
  }
};
struct AllFiniteAttrs {
  bool init_output = true;
  void describe(AttrVisitor& v) {
    v.field("init_output", init_output, "Whether the output starts as 1.");
  }
};
struct MultiAllFiniteAttrs : AllFiniteAttrs {
  int num_arrays = 1;
  void describe(AttrVisitor& v) {
    v.field("num_arrays", num_arrays, "Number of arrays.");
    AllFiniteAttrs::describe(v);
  }
};

void infer_sums(const SumSqAttrs& a, Inference& io) {
  io.set_shape(io.out(0), Shape{a.num_arrays}, "one sum for each array");
  io.set_dtype(io.out(0), DType::kFloat32, "sums are in float32");
}
void infer_lars(const LarsAttrs&, Inference& io) {
  io.all_same_shape();
  for (int i = 0; i < io.num_inputs(); ++i)
    io.set_dtype(io.in(i), DType::kFloat32, "rates and sums are in float32");
  io.set_dtype(io.out(0), DType::kFloat32, "rates are in float32");
}
template <class A>
void infer_finite(const A&, Inference& io) {
  io.set_shape(io.out(0), Shape{1}, "one result for all");
  io.set_dtype(io.out(0), DType::kFloat32, "the result is 1 or 0 in float32");
}

struct RoundedSquare {
  template <class T>
  double operator()(T x) const {
    const double exact = ExactSquare{}(x);
    if constexpr (sizeof(T) > 2) return exact;
    const float rounded = static_cast<float>(static_cast<T>(static_cast<float>(exact)));
    return std::isinf(rounded) ? exact : rounded;
  }
};

Prepared prepare_sums(const SumSqAttrs&, const KernelRequest& q) {
  return [in = q.in](const Args& a) {
    for (std::size_t k = 0; k < in.size(); ++k) {
      const int input = static_cast<int>(k);
      a.out<float>(0)[k] = dispatch_float(in[k].dtype, [&]<class T>() {
        return static_cast<float>(sum_squares(a.in<T>(input), in[k].shape.size(), RoundedSquare{}));
      });
    }
  };
}

Prepared prepare_lars(const LarsAttrs&, const KernelRequest& q) {
  return [n = q.out[0].shape.size()](const Args& a) {
    const double eta = a.values[0], eps = a.values[1], rescale = a.values[2];
    for (std::int64_t i = 0; i < n; ++i) {
      const double lr = a.in<float>(0)[i], wd = a.in<float>(3)[i];
      const double w = std::sqrt(a.in<float>(1)[i]), g = std::sqrt(a.in<float>(2)[i]);
      const bool both = w > 0 && g > 0;
      a.out<float>(0)[i] =
          static_cast<float>(both ? lr * eta * w / (g * rescale + wd * w + eps) : lr);
    }
  };
}

template <class T>
bool all_finite(const T* x, std::int64_t n) {
  std::atomic<bool> finite = true;
  parallel_for(n, 32768, [&](std::int64_t begin, std::int64_t end) {
    bool here = true;
    for (std::int64_t i = begin; i < end; ++i) here &= std::isfinite(static_cast<double>(x[i]));
    if (!here) finite = false;
  });
  return finite;
}

template <class A>
Prepared prepare_finite(const A& attrs, const KernelRequest& q) {
  return [in = q.in, init = attrs.init_output](const Args& a) {
    bool finite = true;  // written at the end: the output may be an input
    for (std::size_t k = 0; k < in.size(); ++k) {
      const int input = static_cast<int>(k);
      finite &= dispatch_float(
          in[k].dtype, [&]<class T>() { return all_finite(a.in<T>(input), in[k].shape.size()); });
    }
    if (init || !finite) a.out<float>(0)[0] = finite ? 1 : 0;
  };
}

}  // namespace

void register_multi_sum_sq(OpRegistry& r) {
  r.add<SumSqAttrs>("multi_sum_sq")
      .flops(2, Per::kInputs)
      .doc("The sum of the squares of each array.")
      .groups("num_arrays", &SumSqAttrs::num_arrays, {"array"})
      .outputs({"output"})
      .infer(infer_sums)
      .cpu_kernel("native", prepare_sums);
  r.add<LarsAttrs>("multi_lars")
      .doc("The learning rates of LARS from those given and the sums of squares.")
      .inputs(std::vector<std::string>{"lrs", "weights_sum_sq", "grads_sum_sq", "wds"})
      .infer(infer_lars)
      .inplace(0, 0)
      .reference(prepare_lars);
  r.add<AllFiniteAttrs>("all_finite")
      .inputs(std::vector<std::string>{"data"})
      .doc("1 if every number is finite, else 0.")
      .infer(infer_finite)
      .inplace(0, 0)
      .reference(prepare_finite);
  r.add<MultiAllFiniteAttrs>("multi_all_finite")
      .doc("1 if every number of every array is finite, else 0.")
      .groups("num_arrays", &MultiAllFiniteAttrs::num_arrays, {"array"})
      .outputs({"output"})
      .infer(infer_finite)
      .inplace(0, 0)
      .reference(prepare_finite);
}

}  // namespace symbind
