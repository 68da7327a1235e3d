// Shared by the update operators: the rules (kernels/update_rules-inl.h), the loop over elements,
// inference.
//
// Decided here: rules with a loop over vectors use it for float32 and 16-bit floats. The loop over
// numbers computes double, and the rules of single operators.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include <symbind/operator.h>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/element_type.h"
#include "kernels/vector/update.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace update_rules {

using std::abs, std::sqrt;

template <class C>
C pick(bool condition, C a, C b) {
  return condition ? a : b;
}

template <class C>
C decayed(C factor, C state) {
  return factor * state;
}

#include "kernels/update_rules-inl.h"

}  // namespace update_rules

using update_rules::clipped, update_rules::SgdRule, update_rules::SgdMomRule;

/// Powers of β are computed in double.
template <class C>
void begin(update_rules::Ftml<C>& rule) {
  const auto rest = [&](C beta) {
    return static_cast<C>(1 - std::pow(static_cast<double>(beta), static_cast<double>(rule.t)));
  };
  rule.rest1 = rest(rule.beta1);
  rule.rest2 = rest(rule.beta2);
}

/// The rule with these per-call attributes. Members after them are numbers that all elements share;
/// `begin` computes these.
template <class Rule>
Rule rule_of(const double* values) {
  Rule rule = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Rule{static_cast<typename Rule::Number>(values[I])...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Rule::kValues)>{});
  if constexpr (requires { rule.begin(); })
    rule.begin();
  else if constexpr (sizeof(Rule) != Rule::kValues * sizeof(typename Rule::Number))
    begin(rule);
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

/// n elements from `begin` on, as floats: those at `x` themselves, or converted in `buffer`.
template <class T>
const float* as_floats(const T* x, std::int64_t begin, std::int64_t n, float* buffer) {
  if constexpr (std::is_same_v<T, float>) return x + begin;
  fast_converter(dtype_of<T>, DType::kFloat32)(x + begin, buffer, n);
  return buffer;
}
template <class T>
void from_floats(const float* x, T* to, std::int64_t n) {
  if constexpr (!std::is_same_v<T, float>)
    fast_converter(DType::kFloat32, dtype_of<T>)(x, to, n);
  else if (x != to)
    std::copy_n(x, n, to);
}

/// A range of elements by the loop over vectors; 16-bit types go through buffers.
template <bool mixed, class Rule, class T, class W, class O>
void update_floats(const Rule& rule, const UpdateArrays<T, W, Rule::kStates, O>& arrays,
                   std::int64_t begin, std::int64_t end) {
  const auto& [kept, kept_out, grad, state, out] = arrays;
  constexpr std::size_t kStates = Rule::kStates;
  constexpr bool kDirect = std::is_same_v<T, float> && std::is_same_v<W, float>;
  const std::int64_t step = kDirect && std::is_same_v<O, float> ? end - begin : kChunk;
  std::array<float, sizeof(Rule) / sizeof(float)> numbers;
  std::memcpy(numbers.data(), &rule, sizeof rule);
  const vector::UpdateLoop loop =
      vector::update_loops().best().loops[static_cast<std::size_t>(Rule::kRule)];
  alignas(64) float w[kChunk], g[kChunk], s[kStates + 1][kChunk];
  for (std::int64_t i = begin; i < end; i += step) {
    const std::int64_t n = std::min(step, end - i);
    std::array<float*, kStates + 1> states{};
    for (std::size_t k = 0; k < kStates; ++k)
      states[k] = const_cast<float*>(as_floats(state[k], i, n, s[k]));
    float* next = w;
    if constexpr (mixed && std::is_same_v<W, float>)
      next = kept_out + i;
    else if constexpr (std::is_same_v<O, float>)
      next = out + i;
    loop(numbers.data(), as_floats(kept, i, n, w), as_floats(grad, i, n, g), states.data(), next,
         n);
    for (std::size_t k = 0; k < kStates; ++k)
      if constexpr (!std::is_same_v<W, float>) from_floats(s[k], state[k] + i, n);
    if constexpr (mixed && !std::is_same_v<W, float>) from_floats(next, kept_out + i, n);
    from_floats(next, out + i, n);
  }
}

template <bool mixed, class Rule, class T, class W, class O>
void update(const Rule& rule, std::int64_t n, const UpdateArrays<T, W, Rule::kStates, O>& arrays) {
  using C = typename Rule::Number;
  constexpr std::size_t kStates = Rule::kStates;
  parallel_for(n, kUpdateGrain, [rule, arrays](std::int64_t begin, std::int64_t end) {
    if constexpr (std::is_same_v<C, float> && requires { Rule::kRule; })
      return update_floats<mixed>(rule, arrays, begin, end);
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
