#include "kernels/vector/activation.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/activation_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/elementwise_formulas.h"
#include "kernels/vector/math-inl.h"
#include "kernels/vector/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

constexpr float kInvSqrtPi = 0.56418958354775628695f, kSqrtHalf = 0.70710678118654752440f,
                kSeluScale = 1.0507009873554804934f, kSeluAlpha = 1.6732632423543772848f;

#define FUNCTOR(name, forward, backward)                        \
  struct Forward_##name {                                       \
    F p, q;                                                     \
    HWY_INLINE F operator()(F x) const {                        \
      using T [[maybe_unused]] = F;                             \
      return forward;                                           \
    }                                                           \
  };                                                            \
  struct Backward_##name {                                      \
    F p, q;                                                     \
    HWY_INLINE F operator()(F dy, [[maybe_unused]] F v) const { \
      using T [[maybe_unused]] = F;                             \
      return backward;                                          \
    }                                                           \
  };
SYMBIND_ACTIVATION(FUNCTOR)
#undef FUNCTOR

template <class Function>
void forward_loop(const float* x, float* y, std::int64_t n, float p, float q) {
  map(Function{F(p), F(q)}, y, n, Array<float>{x});
}
template <class Function>
void backward_loop(const float* dy, const float* v, float* dx, std::int64_t n, float p, float q) {
  map(Function{F(p), F(q)}, dx, n, Array<float>{dy}, Array<float>{v});
}

struct Leaky {
  HWY_INLINE F operator()(F x, F slope) const { return pick(x > F(0.f), x, x * slope); }
};
struct LeakyBackward {
  HWY_INLINE F operator()(F dy, F x, F slope) const { return dy * pick(x > F(0.f), F(1.f), slope); }
};
struct PlusSlope {
  HWY_INLINE F operator()(F sum, F dy, F x) const { return pick(x > F(0.f), sum, fma(dy, x, sum)); }
};

void prelu(const float* x, const float* slopes, float* y, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t at = 0; at < rows * columns; at += columns)
    map(Leaky{}, y + at, columns, Array<float>{x + at}, Array<float>{slopes});
}
void prelu_backward(const float* dy, const float* x, const float* slopes, float* dx,
                    std::int64_t rows, std::int64_t columns) {
  for (std::int64_t at = 0; at < rows * columns; at += columns)
    map(LeakyBackward{}, dx + at, columns, Array<float>{dy + at}, Array<float>{x + at},
        Array<float>{slopes});
}

constexpr std::int64_t kRows = 32, kBlock = 512;

void slope_gradients(const float* dy, const float* x, double* sums, std::int64_t rows,
                     std::int64_t columns, std::int64_t stride) {
  HWY_ALIGN float part[kSlopes];
  for (std::int64_t block = 0; block < rows; block += kRows) {
    std::fill_n(part, columns, 0.f);
    for (std::int64_t row = block; row < std::min(rows, block + kRows); ++row)
      map(PlusSlope{}, part, columns, Array<float>{part}, Array<float>{dy + row * stride},
          Array<float>{x + row * stride});
    for (std::int64_t i = 0; i < columns; ++i) sums[i] += static_cast<double>(part[i]);
  }
}
double slope_gradient(const float* dy, const float* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; i += kBlock)
    sum += static_cast<double>(
        fold(PlusSlope{}, 0.f, std::min(kBlock, n - i), Array<float>{dy + i}, Array<float>{x + i})
            .joined(Plus{}));
  return sum;
}

#define ENTRY(name, ...) {#name, forward_loop<Forward_##name>, backward_loop<Backward_##name>},
constexpr ActivationLoops kFunctions[] = {SYMBIND_ACTIVATION(ENTRY)};
#undef ENTRY

constexpr ActivationTable kTable = {kFunctions,
                                    {prelu, prelu_backward, slope_gradients, slope_gradient}};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<ActivationTable>& activation_loops() {
  static constexpr ByIsa<ActivationTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
