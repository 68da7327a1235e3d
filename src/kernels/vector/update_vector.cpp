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
