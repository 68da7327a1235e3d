#include "ndarray/convert.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

constexpr std::int64_t kGrain = 1 << 16;

template <class To, class From>
void convert_range(To* dst, const From* src, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dst[i] = convert_element<To>(src[i]);
}

}  // namespace

void convert(void* dst, DType to, const void* src, DType from, std::int64_t n) {
  if (n == 0) return;
  if (to == from) {
    std::memmove(dst, src, static_cast<std::size_t>(n) * size_of(to));
    return;
  }
  dispatch_dtype(from, [&]<class From>() {
    dispatch_dtype(to, [&]<class To>() {
      parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
        convert_range(static_cast<To*>(dst) + begin, static_cast<const From*>(src) + begin,
                      end - begin);
      });
    });
  });
}

void fill(void* dst, DType dtype, double value, std::int64_t n) {
  dispatch_dtype(dtype, [&]<class T>() {
    const T element = convert_element<T>(value);
    parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {
      std::fill(static_cast<T*>(dst) + begin, static_cast<T*>(dst) + end, element);
    });
  });
}

}  // namespace symbind
