#include "kernels/vector/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/binary_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/elementwise_formulas.h"
#include "kernels/vector/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE F add(F a, F b) { return a + b; }
HWY_INLINE F subtract(F a, F b) { return a - b; }
HWY_INLINE F multiply(F a, F b) { return a * b; }
HWY_INLINE F divide(F a, F b) { return a / b; }

#define FUNCTOR(name, Functor, expression)    \
  struct Functor {                            \
    HWY_INLINE F operator()(F a, F b) const { \
      using T [[maybe_unused]] = F;           \
      return expression;                      \
    }                                         \
  };
SYMBIND_BINARY(FUNCTOR)
#undef FUNCTOR

#define GRADIENT(Functor, expression)                                                \
  struct Functor {                                                                   \
    HWY_INLINE F operator()(F g, [[maybe_unused]] F a, [[maybe_unused]] F b) const { \
      using T [[maybe_unused]] = F;                                                  \
      return expression;                                                             \
    }                                                                                \
  };
#define GRADIENTS(name, Left, left, Right, right) GRADIENT(Left, left) GRADIENT(Right, right)
SYMBIND_BINARY_GRADIENT(GRADIENTS)
#undef GRADIENT
#undef GRADIENTS

template <class Function, class A, class B>
void loop(const void* a, const void* b, void* y, std::int64_t n) {
  map(Function{}, static_cast<float*>(y), n, A{static_cast<const float*>(a)},
      B{static_cast<const float*>(b)});
}
template <class Function, class A, class B>
void gradient_loop(const void* g, const void* a, const void* b, void* y, std::int64_t n) {
  map(Function{}, static_cast<float*>(y), n, Array<float>{static_cast<const float*>(g)},
      A{static_cast<const float*>(a)}, B{static_cast<const float*>(b)});
}

#define FORMS(loop, Functor)                                                              \
  {                                                                                       \
    loop<Functor, Array<float>, Array<float>>, loop<Functor, Array<float>, Value<float>>, \
        loop<Functor, Value<float>, Array<float>>                                         \
  }
#define ENTRY(name, Functor, ...) {#name, FORMS(loop, Functor)},
#define GRADIENT_ENTRY(name, Left, left, Right, right) \
  {#name, FORMS(gradient_loop, Left), FORMS(gradient_loop, Right)},

constexpr BinaryLoops kFunctions[] = {SYMBIND_BINARY(ENTRY)};
constexpr GradientLoops kGradients[] = {SYMBIND_BINARY_GRADIENT(GRADIENT_ENTRY)};
#undef FORMS
#undef ENTRY
#undef GRADIENT_ENTRY

constexpr BinaryTable kTable = {kFunctions, kGradients};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<BinaryTable>& binary_loops() {
  static constexpr ByIsa<BinaryTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
