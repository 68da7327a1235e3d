#include "kernels/vector/update.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/update_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

/// factor · state, with the same bits. All lanes of `factor` are equal.
///
/// The momentum of a weight whose gradient is 0 (before a relu whose output is always 0) decays to
/// the smallest numbers and stays there: 0.9 times the least denormal rounds to itself. Intel's
/// CPUs take over 100 cycles to multiply a vector with a denormal. Below 2^-125 the bits of a
/// magnitude are its multiple of 2^-149, an integer: such lanes are multiplied as doubles, exactly,
/// and rounded once.
HWY_INLINE F decayed(F factor, F state) {
  const F::Tag floats;
  const hn::RebindToSigned<F::Tag> integers;
  const auto bits = hn::BitCast(integers, state.raw);
  const auto magnitude = hn::And(bits, hn::Set(integers, 0x7fffffff));
  const auto small = hn::And(hn::Gt(magnitude, hn::Zero(integers)),
                             hn::Lt(magnitude, hn::Set(integers, 0x01000000)));
  const auto tiny =
      hn::And(hn::RebindMask(floats, small), hn::Le(hn::Abs(factor.raw), hn::Set(floats, 1.0f)));
  if (HWY_LIKELY(hn::AllFalse(floats, tiny))) return factor * state;
  const auto others = hn::Mul(factor.raw, hn::IfThenElse(tiny, hn::Zero(floats), state.raw));

  const hn::ScalableTag<double> doubles;
  const hn::Rebind<float, decltype(doubles)> half_floats;
  const hn::Rebind<std::int32_t, decltype(doubles)> half_integers;
  const auto by = hn::Abs(hn::PromoteTo(doubles, hn::LowerHalf(half_floats, factor.raw)));
  const auto multiply = [&](auto half) {
    return hn::DemoteTo(half_integers, hn::Round(hn::Mul(by, hn::PromoteTo(doubles, half))));
  };
  const auto product = hn::Combine(integers, multiply(hn::UpperHalf(half_integers, magnitude)),
                                   multiply(hn::LowerHalf(half_integers, magnitude)));
  const auto sign =
      hn::And(hn::Xor(bits, hn::BitCast(integers, factor.raw)), hn::Set(integers, INT32_MIN));
  return F(hn::IfThenElse(tiny, hn::BitCast(floats, hn::Or(product, sign)), others));
}

#include "kernels/update_rules-inl.h"

/// The rule with these numbers in every lane.
template <template <class> class Rule>
HWY_INLINE Rule<F> rule_of(const float* numbers) {
  constexpr std::size_t kMembers = sizeof(Rule<float>) / sizeof(float);
  static_assert(sizeof(Rule<F>) == kMembers * sizeof(F));
  F all[kMembers];
  for (std::size_t k = 0; k < kMembers; ++k) all[k] = F(numbers[k]);
  Rule<F> rule;
  std::memcpy(&rule, all, sizeof rule);
  return rule;
}

template <template <class> class Rule>
void loop(const float* numbers, const float* weight, const float* grad, float* const* states,
          float* out, std::int64_t size) {
  constexpr std::size_t kStates = Rule<F>::kStates, kLanes = F::kMost;
  const Rule<F> rule = rule_of<Rule>(numbers);
  float* state[kStates + 1] = {};
  for (std::size_t k = 0; k < kStates; ++k) state[k] = states[k];
  const auto n = static_cast<std::size_t>(size);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    F s[kStates + 1];
    for (std::size_t k = 0; k < kStates; ++k) s[k] = F::load(state[k] + i);
    const F w = rule(F::load(weight + i), F::load(grad + i), s);
    for (std::size_t k = 0; k < kStates; ++k) s[k].store(state[k] + i);
    w.store(out + i);
  }
  if (i == n) return;
  F s[kStates + 1];
  for (std::size_t k = 0; k < kStates; ++k) s[k] = load_first(state[k] + i, n - i);
  const F w = rule(load_first(weight + i, n - i), load_first(grad + i, n - i), s);
  for (std::size_t k = 0; k < kStates; ++k) store_first(s[k], state[k] + i, n - i);
  store_first(w, out + i, n - i);
}

constexpr UpdateTable kTable = {{loop<SgdRule>, loop<SgdMomRule>, loop<Adam>, loop<AdamW>,
                                 loop<Nag>, loop<NagApart>, loop<RmsProp>, loop<RmsPropAlex>,
                                 loop<Ftml>, loop<Ftrl>, loop<SignSgd>, loop<Signum>}};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<UpdateTable>& update_loops() {
  static constexpr ByIsa<UpdateTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
