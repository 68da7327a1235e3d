// Updates of weights by optimizers, vector by vector. The bits are those of the rules over numbers.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind {

/// The rules of kernels/update_rules-inl.h.
enum class UpdateRule : std::uint8_t {
  kSgd,
  kSgdMom,
  kAdam,
  kAdamW,
  kNag,
  kNagApart,
  kRmsProp,
  kRmsPropAlex,
  kFtml,
  kFtrl,
  kSignSgd,
  kSignum
};
inline constexpr std::size_t kNumUpdateRules = 12;

namespace vector {

/// `numbers` are the members of the rule in float. `out` may be `weight`; states are overwritten.
using UpdateLoop = void (*)(const float* numbers, const float* weight, const float* grad,
                            float* const* states, float* out, std::int64_t n);
struct UpdateTable {
  UpdateLoop loops[kNumUpdateRules];
};
const ByIsa<UpdateTable>& update_loops();

}  // namespace vector
}  // namespace symbind
