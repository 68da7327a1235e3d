// Loops over arrays, vector by vector.
//
// Decided here: the last elements, fewer than a vector has, are computed as one vector too: every
// element gets the same operations, wherever it is.
#if defined(SYMBIND_KERNELS_VECTOR_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SYMBIND_KERNELS_VECTOR_LOOPS_INL_H
#undef SYMBIND_KERNELS_VECTOR_LOOPS_INL_H
#else
#define SYMBIND_KERNELS_VECTOR_LOOPS_INL_H
#endif

#include "kernels/vector/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::vector {
namespace HWY_NAMESPACE {
namespace {

/// An operand of a loop: an array, or one value.
template <class T>
struct Array {
  const T* at;
  HWY_INLINE V<T> whole(std::size_t i) const { return V<T>::load(at + i); }
  HWY_INLINE V<T> part(std::size_t i, std::size_t n) const { return load_first(at + i, n); }
};
template <class T>
struct Value {
  V<T> value;
  explicit Value(const T* at) : value(*at) {}
  HWY_INLINE V<T> whole(std::size_t) const { return value; }
  HWY_INLINE V<T> part(std::size_t, std::size_t) const { return value; }
};

/// y[i] = f(operands[i]…)
template <class T, class Function, class... Operands>
HWY_INLINE void map(const Function& f, T* y, std::int64_t size, const Operands&... x) {
  const auto n = static_cast<std::size_t>(size);
  const std::size_t lanes = V<T>::lanes();
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) f(x.whole(i)...).store(y + i);
  if (i < n) store_first(f(x.part(i, n - i)...), y + i, n - i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::vector
HWY_AFTER_NAMESPACE();

#endif
