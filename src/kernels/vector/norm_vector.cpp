#include "kernels/vector/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector/norm_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

double squares(const float* x, std::int64_t n) {
  return fold(PlusProduct{}, 0.0, n, Widened{x}, Widened{x}).joined(Plus{});
}
double dot(const float* a, const float* b, std::int64_t n) {
  return fold(PlusProduct{}, 0.0, n, Widened{a}, Widened{b}).joined(Plus{});
}
float sum(const float* x, std::int64_t n) {
  return fold(Plus{}, 0.f, n, Array<float>{x}).joined(Plus{});
}

struct PlusSquareAround {
  F mean;
  HWY_INLINE F operator()(F total, F x) const { return fma(x - mean, x - mean, total); }
};
float squares_around(const float* x, std::int64_t n, float mean) {
  return fold(PlusSquareAround{F(mean)}, 0.f, n, Array<float>{x}).joined(Plus{});
}

struct Normalize {
  F mean, inverse;
  HWY_INLINE F operator()(F x, F gamma, F beta) const {
    return fma((x - mean) * inverse, gamma, beta);
  }
};
void normalize(const float* x, float* y, std::int64_t n, float mean, float inverse,
               const float* gamma, const float* beta) {
  map(Normalize{F(mean), F(inverse)}, y, n, Array<float>{x}, Array<float>{gamma},
      Array<float>{beta});
}
struct NormalizeBy {
  F mean, scale, shift;
  HWY_INLINE F operator()(F x) const { return fma(x - mean, scale, shift); }
};
void normalize_by(const float* x, float* y, std::int64_t n, float mean, float scale, float shift) {
  map(NormalizeBy{F(mean), F(scale), F(shift)}, y, n, Array<float>{x});
}

/// w · u of an element; gamma is an array, or the value 1.
struct PlusWeighted {
  F mean, inverse;
  HWY_INLINE F operator()(F total, F dy, F x, F gamma) const {
    return fma(dy * gamma, (x - mean) * inverse, total);
  }
};
struct Gradient {
  F mean, inverse, a, b, scale;
  HWY_INLINE F operator()(F dy, F x, F gamma) const {
    return (dy * gamma - a - (x - mean) * inverse * b) * scale;
  }
};

void gradient_sums(const float* dy, const float* x, const float* gamma, std::int64_t n, float mean,
                   float inverse, float* sums) {
  const Array<float> heads{dy}, inputs{x};
  const PlusWeighted step{F(mean), F(inverse)};
  if (gamma == nullptr) {
    const float one = 1;
    sums[0] = fold(step, 0.f, n, heads, inputs, Value<float>{&one}).joined(Plus{});
    sums[1] = fold(Plus{}, 0.f, n, heads).joined(Plus{});
  } else {
    sums[0] = fold(step, 0.f, n, heads, inputs, Array<float>{gamma}).joined(Plus{});
    sums[1] = fold(PlusProduct{}, 0.f, n, heads, Array<float>{gamma}).joined(Plus{});
  }
}
void gradient(const float* dy, const float* x, const float* gamma, float* dx, std::int64_t n,
              float mean, float inverse, float a, float b, float scale) {
  const Gradient f{F(mean), F(inverse), F(a), F(b), F(scale)};
  const float one = 1;
  if (gamma == nullptr)
    map(f, dx, n, Array<float>{dy}, Array<float>{x}, Value<float>{&one});
  else
    map(f, dx, n, Array<float>{dy}, Array<float>{x}, Array<float>{gamma});
}

struct PlusUnit {
  F mean, inverse;
  HWY_INLINE F operator()(F total, F dy, F x) const { return fma(dy, (x - mean) * inverse, total); }
};
void add_by_place(const float* dy, const float* x, std::int64_t n, float mean, float inverse,
                  float* scale, float* shift) {
  map(PlusUnit{F(mean), F(inverse)}, scale, n, Array<float>{scale}, Array<float>{dy},
      Array<float>{x});
  map(Plus{}, shift, n, Array<float>{shift}, Array<float>{dy});
}

struct Divide {
  F divisor;
  HWY_INLINE F operator()(F x) const { return x / divisor; }
};
void divide(const float* x, float* y, std::int64_t n, float divisor) {
  map(Divide{F(divisor)}, y, n, Array<float>{x});
}
struct SubtractScaled {
  F s, scale;
  HWY_INLINE F operator()(F a, F b) const { return (a - b * s) * scale; }
};
void subtract_scaled(const float* a, const float* b, float* y, std::int64_t n, float s,
                     float scale) {
  map(SubtractScaled{F(s), F(scale)}, y, n, Array<float>{a}, Array<float>{b});
}

constexpr NormTable kTable = {squares,        dot,           sum,      squares_around, normalize,
                              normalize_by,   gradient_sums, gradient, add_by_place,   divide,
                              subtract_scaled};

// ---- Reductions: as the numbers of kernels/reduce.cpp -------------------------------------------

struct Same {
  template <class T>
  HWY_INLINE V<T> operator()(V<T> x) const {
    return x;
  }
};
struct Product {
  template <class T>
  HWY_INLINE V<T> operator()(V<T> a, V<T> b) const {
    return a * b;
  }
};
struct NumberOr {
  float other;
  HWY_INLINE F operator()(F x) const { return pick(x != x, F(other), x); }
};
struct Magnitude {
  HWY_INLINE F operator()(F x) const { return abs(x); }
};
struct Square {
  HWY_INLINE V<double> operator()(V<double> x) const { return x * x; }
};

template <class Join, class Map>
struct JoinMapped {
  Join join;
  Map f;
  template <class T>
  HWY_INLINE V<T> operator()(V<T> total, V<T> x) const {
    return join(total, f(x));
  }
};

constexpr float kInfinity = __builtin_inff();

/// How elements of one type are read as another one.
template <class T, class S>
using Read = std::conditional_t<std::is_same_v<T, S>, Array<S>, Widened>;

/// Join for numbers that are not NaN, by one instruction; equal numbers: the left one, as in Join.
template <class Join>
HWY_INLINE F number(F left, F right) {
  return std::is_same_v<Join, Larger> ? max_or_right(right, left) : min_or_right(right, left);
}

/// The largest or smallest one; a block with NaN is folded again.
template <class Join>
float extreme(const float* x, std::int64_t n, float first) {
  constexpr std::int64_t kGroup = Sixteen<float>::kNumbers, kLanes = F::kMost;
  const std::int64_t whole = n / kGroup * kGroup;
  Sixteen<float> tops;
  for (F& top : tops.part) top = F(first);
  M<float> nan = tops.part[0] != tops.part[0];
  for (std::int64_t i = 0; i < whole; i += kGroup) {
    std::size_t k = 0;
    for (std::int64_t at = i; at < i + kGroup; at += kLanes, ++k) {
      const F v = F::load(x + at);
      tops.part[k] = number<Join>(tops.part[k], v);
      nan = nan | (v != v);
    }
  }
  if (!hn::AllFalse(F::Tag(), nan.raw))
    return fold(Join{}, first, n, Array<float>{x}).joined(Join{});
  return continued(tops, Join{}, n - whole, Array<float>{x + whole}).joined(Join{});
}

template <class T, class Join, class Map, int identity, class S = T>
struct Fold {
  static T first() {
    return identity == 2 ? T(-kInfinity) : identity == 3 ? T(kInfinity) : T(identity);
  }
  static JoinMapped<Join, Map> step() {
    if constexpr (std::is_same_v<Map, NumberOr>)
      return {Join{}, NumberOr{static_cast<float>(identity)}};
    else
      return {Join{}, Map{}};
  }
  static T block(const S* x, std::int64_t n) {
    if constexpr (identity >= 2)
      return extreme<Join>(x, n, first());
    else
      return fold(step(), first(), n, Read<T, S>{x}).joined(Join{});
  }
  /// kRows rows at once: the results are read and written once for all of them.
  static void rows(T* into, const S* const* rows, std::int64_t count, std::int64_t n) {
    constexpr std::int64_t kRows = 8;
    std::int64_t row = 0;
    for (; row + kRows <= count; row += kRows) {
      const S* const* r = rows + row;
      using R = Read<T, S>;
      map(Rows{step()}, into, n, Array<T>{into}, R{r[0]}, R{r[1]}, R{r[2]}, R{r[3]}, R{r[4]},
          R{r[5]}, R{r[6]}, R{r[7]});
    }
    for (; row < count; ++row) map(step(), into, n, Array<T>{into}, Read<T, S>{rows[row]});
  }
  static void join(double* into, const T* x, std::int64_t n) {
    map(Join{}, into, n, Array<double>{into}, Read<double, T>{x});
  }
  static constexpr FoldLoops<T, S> loops() { return {block, rows, join}; }

 private:
  struct Rows {
    JoinMapped<Join, Map> step;
    template <class... Elements>
    HWY_INLINE V<T> operator()(V<T> total, Elements... x) const {
      if constexpr (identity >= 2) {
        const M<T> nan = ((total != total) | ... | (x != x));
        if (HWY_LIKELY(hn::AllFalse(typename V<T>::Tag(), nan.raw))) {
          ((total = number<Join>(total, x)), ...);
          return total;
        }
      }
      ((total = step(total, x)), ...);
      return total;
    }
  };
};

constexpr ReduceTable kReduceTable = {
    Fold<float, Plus, Same, 0>::loops(),      Fold<float, Product, Same, 1>::loops(),
    Fold<float, Larger, Same, 2>::loops(),    Fold<float, Smaller, Same, 3>::loops(),
    Fold<float, Plus, NumberOr, 0>::loops(),  Fold<float, Product, NumberOr, 1>::loops(),
    Fold<float, Plus, Magnitude, 0>::loops(), Fold<double, Plus, Same, 0>::loops(),
    Fold<double, Plus, Square, 0>::loops(),   Fold<double, Plus, Square, 0, float>::loops()};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::vector {

const ByIsa<NormTable>& norm_kernels() {
  static constexpr ByIsa<NormTable> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}
const ByIsa<ReduceTable>& reduce_kernels() {
  static constexpr ByIsa<ReduceTable> kTables = SYMBIND_BY_ISA(kReduceTable);
  return kTables;
}

}  // namespace symbind::vector
#endif
