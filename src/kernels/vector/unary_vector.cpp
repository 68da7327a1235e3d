#include "kernels/vector/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/unary_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/elementwise_formulas.h"
#include "kernels/vector/loops-inl.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

constexpr float kPi = 3.14159265358979323846f, kInvSqrtPi = 0.56418958354775628695f,
                kLn2 = 0.69314718055994530942f, kLn10 = 2.30258509299404568402f;

/// Halves are rounded away from zero.
HWY_INLINE F round(F x) {
  const F whole = trunc(x);
  return pick(abs(x - whole) >= F(0.5f), whole + copysign(F(1.f), x), whole);
}
/// Halves are rounded down, as MXNet's rint.
HWY_INLINE F rint_down(F x) {
  const F low = floor(x), high = ceil(x);
  return pick(x - low <= high - x, low, high);
}

#define FUNCTOR(name, needs, forward, backward, ...)                \
  struct Forward_##name {                                           \
    HWY_INLINE F operator()(F x) const {                            \
      using T [[maybe_unused]] = F;                                 \
      return forward;                                               \
    }                                                               \
  };                                                                \
  struct Backward_##name {                                          \
    HWY_INLINE F operator()(F dy, [[maybe_unused]] F saved) const { \
      using T [[maybe_unused]] = F;                                 \
      [[maybe_unused]] const F x = saved, y = saved;                \
      return backward;                                              \
    }                                                               \
  };
SYMBIND_UNARY(FUNCTOR)
SYMBIND_UNARY_EXACT(FUNCTOR)
#undef FUNCTOR

template <class Function>
void forward_loop(const void* x, void* y, std::int64_t n) {
  map(Function{}, static_cast<float*>(y), n, Array<float>{static_cast<const float*>(x)});
}
template <class Function>
void backward_loop(const void* dy, const void* saved, void* dx, std::int64_t n) {
  map(Function{}, static_cast<float*>(dx), n, Array<float>{static_cast<const float*>(dy)},
      Array<float>{static_cast<const float*>(saved)});
}

#define ENTRY(name, ...) {#name, forward_loop<Forward_##name>, backward_loop<Backward_##name>},
constexpr UnaryLoops kFunctions[] = {
    // clang-format off
    SYMBIND_UNARY(ENTRY)
    SYMBIND_UNARY_EXACT(ENTRY)
    // clang-format on
};
#undef ENTRY

constexpr UnaryTable kTable = {kFunctions};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<UnaryTable>& unary_loops() {
  static constexpr ByIsa<UnaryTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
