// Shared by the update operators: the type they compute in, clipping, the loop over elements, the
// rules of gradient descent, inference.
//
// A rule is a struct of numbers, the operator's per-call attributes in their order, and computes
// one weight: it reads w, g and the states, returns the new weight and overwrites the states.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include <symbind/operator.h>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

/// x within [−bound, bound]; a negative bound means no limit.
template <class C>
C clipped(C x, C bound) {
  return bound >= C(0) ? std::clamp(x, -bound, bound) : x;
}

/// w ← (1 − lr·wd)·w − lr·clip(rescale·g)
template <class C>
struct SgdRule {
  using Number = C;
  static constexpr int kStates = 0, kValues = 4;
  C lr, wd, rescale, clip;
  C operator()(C w, C g, C*) const {
    return (C(1) - lr * wd) * w - lr * clipped(rescale * g, clip);
  }
};

/// m ← momentum·m − lr·wd·w − lr·clip(rescale·g),  w ← w + m
template <class C>
struct SgdMomRule {
  using Number = C;
  static constexpr int kStates = 1, kValues = 5;
  C lr, momentum, wd, rescale, clip;
  C operator()(C w, C g, C* s) const {
    s[0] = momentum * s[0] - lr * wd * w - lr * clipped(rescale * g, clip);
    return w + s[0];
  }
};

/// The rule with these per-call attributes. The rule's `begin`, if it has one, computes numbers
/// that all elements share.
template <class Rule>
Rule rule_of(const double* values) {
  Rule rule = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Rule{static_cast<typename Rule::Number>(values[I])...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Rule::kValues)>{});
  if constexpr (requires { rule.begin(); })
    rule.begin();
  else
    static_assert(sizeof(Rule) == Rule::kValues * sizeof(typename Rule::Number));
  return rule;
}

/// The arrays of one weight. W is the type the weight is stored in: T, or float if there is also a
/// copy in T; O is the output's type.
template <class T, class W, int states, class O = T>
struct UpdateArrays {
  const W* kept = nullptr;
  W* kept_out = nullptr;  ///< null if there is only the output
  const T* grad = nullptr;
  std::array<W*, static_cast<std::size_t>(states)> state = {};
  O* out = nullptr;
};

constexpr std::int64_t kUpdateGrain = 16384;

template <bool mixed, class Rule, class T, class W, class O>
void update(const Rule& rule, std::int64_t n, const UpdateArrays<T, W, Rule::kStates, O>& arrays) {
  using C = typename Rule::Number;
  constexpr std::size_t kStates = Rule::kStates;
  parallel_for(n, kUpdateGrain, [rule, arrays](std::int64_t begin, std::int64_t end) {
    const auto [kept, kept_out, grad, state, out] = arrays;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      std::array<C, kStates + 1> s{};
      for (std::size_t k = 0; k < kStates; ++k) s[k] = static_cast<C>(state[k][i]);
      const C w = rule(static_cast<C>(kept[i]), static_cast<C>(grad[i]), s.data());
      for (std::size_t k = 0; k < kStates; ++k) state[k][i] = static_cast<W>(s[k]);
      if constexpr (mixed) kept_out[i] = static_cast<W>(w);
      out[i] = static_cast<O>(w);
    }
  });
}

/// The inputs weight, grad, states… and, if mixed, the master copy, from input `first` on.
template <bool mixed, class T, class W, int states>
UpdateArrays<T, W, states> arrays_at(const Args& a, int first, int output) {
  UpdateArrays<T, W, states> arrays;
  arrays.kept = a.in<W>(mixed ? first + 2 + states : first);
  if (mixed) arrays.kept_out = a.mutable_in<W>(first + 2 + states);
  arrays.grad = a.in<T>(first + 1);
  for (int k = 0; k < states; ++k)
    arrays.state[static_cast<std::size_t>(k)] = a.mutable_in<W>(first + 2 + k);
  arrays.out = a.out<T>(output);
  return arrays;
}

/// The kernel of an operator with the inputs weight, grad, states… and, if mixed, the master copy.
template <class A, template <class> class Rule, bool mixed = false>
Prepared prepare_update(const A&, const KernelRequest& q) {
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    using W = std::conditional_t<mixed, float, T>;
    using R = Rule<Accumulator<W>>;
    return [n = q.out[0].shape.size()](const Args& a) {
      update<mixed>(rule_of<R>(a.values), n, arrays_at<mixed, T, W, R::kStates>(a, 0, 0));
    };
  });
}

template <class A>
void infer_update(const A&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

/// weight, grad and output in one type; states and master copy in float.
template <class A>
void infer_mixed_update(const A&, Inference& io) {
  io.all_same_shape();
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(io.in(0), io.out(0));
  for (int i = 2; i < io.num_inputs(); ++i)
    io.set_dtype(io.in(i), DType::kFloat32, "the master copy is kept in float32");
}

}  // namespace symbind
