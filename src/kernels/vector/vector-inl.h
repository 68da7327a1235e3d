// A vector with operators, so that one formula serves numbers and vectors.
//
// Included once per instruction set, inside HWY_BEFORE_NAMESPACE; see kernels/vector/targets.h.
#if defined(SYMBIND_KERNELS_VECTOR_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SYMBIND_KERNELS_VECTOR_VECTOR_INL_H
#undef SYMBIND_KERNELS_VECTOR_VECTOR_INL_H
#else
#define SYMBIND_KERNELS_VECTOR_VECTOR_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct V {
  using Tag = hn::ScalableTag<T>;
  using Raw = hn::Vec<Tag>;
  static constexpr std::size_t kMost = hn::MaxLanes(Tag());

  Raw raw;

  V() = default;
  explicit V(Raw r) : raw(r) {}
  explicit V(T value) : raw(hn::Set(Tag(), value)) {}
  static V load(const T* from) { return V(hn::LoadU(Tag(), from)); }
  void store(T* to) const { hn::StoreU(raw, Tag(), to); }
  static std::size_t lanes() { return hn::Lanes(Tag()); }
};

template <class T>
struct M {
  hn::Mask<hn::ScalableTag<T>> raw;
};

using F = V<float>;
using I = V<std::int32_t>;

#define SYMBIND_VECTOR_OPERATOR(op, Function)   \
  template <class T>                            \
  HWY_INLINE V<T> operator op(V<T> a, V<T> b) { \
    return V<T>(hn::Function(a.raw, b.raw));    \
  }
SYMBIND_VECTOR_OPERATOR(+, Add)
SYMBIND_VECTOR_OPERATOR(-, Sub)
SYMBIND_VECTOR_OPERATOR(*, Mul)
SYMBIND_VECTOR_OPERATOR(/, Div)
#undef SYMBIND_VECTOR_OPERATOR

#define SYMBIND_VECTOR_COMPARISON(op, Function) \
  template <class T>                            \
  HWY_INLINE M<T> operator op(V<T> a, V<T> b) { \
    return {hn::Function(a.raw, b.raw)};        \
  }
SYMBIND_VECTOR_COMPARISON(==, Eq)
SYMBIND_VECTOR_COMPARISON(<, Lt)
SYMBIND_VECTOR_COMPARISON(<=, Le)
SYMBIND_VECTOR_COMPARISON(>, Gt)
SYMBIND_VECTOR_COMPARISON(>=, Ge)
#undef SYMBIND_VECTOR_COMPARISON

/// True for NaN, as for numbers; Highway's Ne is false there with AVX2.
template <class T>
HWY_INLINE M<T> operator!=(V<T> a, V<T> b) {
  return {hn::Not(hn::Eq(a.raw, b.raw))};
}

template <class T>
HWY_INLINE V<T> operator-(V<T> a) {
  return V<T>(hn::Neg(a.raw));
}
template <class T>
HWY_INLINE M<T> operator&(M<T> a, M<T> b) {
  return {hn::And(a.raw, b.raw)};
}
template <class T>
HWY_INLINE M<T> operator|(M<T> a, M<T> b) {
  return {hn::Or(a.raw, b.raw)};
}
template <class T>
HWY_INLINE M<T> operator^(M<T> a, M<T> b) {
  return {hn::Xor(a.raw, b.raw)};
}
template <class T>
HWY_INLINE M<T> operator!(M<T> a) {
  return {hn::Not(a.raw)};
}

/// a where the condition holds, else b.
template <class T>
HWY_INLINE V<T> pick(M<T> condition, V<T> a, V<T> b) {
  return V<T>(hn::IfThenElse(condition.raw, a.raw, b.raw));
}

#define SYMBIND_VECTOR_FUNCTION(name, Function) \
  template <class T>                            \
  HWY_INLINE V<T> name(V<T> x) {                \
    return V<T>(hn::Function(x.raw));           \
  }
SYMBIND_VECTOR_FUNCTION(abs, Abs)
SYMBIND_VECTOR_FUNCTION(sqrt, Sqrt)
SYMBIND_VECTOR_FUNCTION(floor, Floor)
SYMBIND_VECTOR_FUNCTION(ceil, Ceil)
SYMBIND_VECTOR_FUNCTION(trunc, Trunc)
#undef SYMBIND_VECTOR_FUNCTION

/// a · b + c with one rounding; SSE4 rounds the product, too.
template <class T>
HWY_INLINE V<T> fma(V<T> a, V<T> b, V<T> c) {
  return V<T>(hn::MulAdd(a.raw, b.raw, c.raw));
}
/// The magnitude of a with the sign of b.
template <class T>
HWY_INLINE V<T> copysign(V<T> a, V<T> b) {
  return V<T>(hn::CopySign(a.raw, b.raw));
}
/// The larger one; b if one of them is NaN.
template <class T>
HWY_INLINE V<T> max_or_right(V<T> a, V<T> b) {
  return V<T>(hn::Max(a.raw, b.raw));
}
/// The smaller one; b if one of them is NaN.
template <class T>
HWY_INLINE V<T> min_or_right(V<T> a, V<T> b) {
  return V<T>(hn::Min(a.raw, b.raw));
}

/// The first `count` numbers; the lanes after them are 0.
template <class T>
HWY_INLINE V<T> load_first(const T* from, std::size_t count) {
  HWY_ALIGN T part[V<T>::kMost] = {};
  std::memcpy(part, from, count * sizeof(T));
  return V<T>(hn::Load(typename V<T>::Tag(), part));
}
template <class T>
HWY_INLINE void store_first(V<T> v, T* to, std::size_t count) {
  HWY_ALIGN T part[V<T>::kMost];
  hn::Store(v.raw, typename V<T>::Tag(), part);
  std::memcpy(to, part, count * sizeof(T));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#endif
