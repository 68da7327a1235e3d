// Sums over devices. CPU devices share their memory: the sum is one pass over all operands, which
// is limited by memory speed only. On other devices the operands are copied to the target's device
// first.

#include "kvstore/reduce.h"

#include <algorithm>
#include <array>

#include <symbind/executor.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/access.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

// Whole numbers wrap as the type does; halves are summed in float.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Accumulator<T>>;

template <class T>
void sum_range(std::span<const T* const> in, T* out, std::int64_t begin, std::int64_t end) {
  // In pieces that stay in the cache, so that each operand is read once from memory.
  constexpr std::int64_t kPiece = 2048;
  std::array<Sum<T>, kPiece> sum;
  for (std::int64_t at = begin; at < end; at += kPiece) {
    const std::int64_t count = std::min(kPiece, end - at);
    for (std::int64_t i = 0; i < count; ++i)
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8 is a number here
      sum[static_cast<std::size_t>(i)] = static_cast<Sum<T>>(in[0][at + i]);
    for (std::size_t k = 1; k < in.size(); ++k)
      for (std::int64_t i = 0; i < count; ++i)
        sum[static_cast<std::size_t>(i)] += static_cast<Sum<T>>(in[k][at + i]);
    for (std::int64_t i = 0; i < count; ++i)
      out[at + i] = static_cast<T>(sum[static_cast<std::size_t>(i)]);
  }
}

bool all_on_cpu(const std::vector<NDArray>& values, const NDArray& target) {
  return !in_gpu_memory(target.context()) &&
         std::ranges::none_of(values, [](const NDArray& v) { return in_gpu_memory(v.context()); });
}

}  // namespace

bool check_sum(const std::vector<NDArray>& values, const NDArray& target) {
  for (const NDArray& v : values) {
    check(v.shape() == target.shape(), ErrorKind::kShape,
          "arrays of different shapes cannot be added up: {} and {}", v.shape().str(),
          target.shape().str());
    check(v.dtype() == target.dtype(), ErrorKind::kType,
          "arrays of different types cannot be added up: {} and {}", dtype_name(v.dtype()),
          dtype_name(target.dtype()));
    if (pass_error(v, target)) return false;
  }
  return true;
}

void sum_in_order(const std::vector<NDArray>& values, NDArray& target) {
  if (!check_sum(values, target)) return;
  if (values.size() == 1) return values.front().copy_to(target);
  if (all_on_cpu(values, target)) {
    return dispatch_dtype(target.dtype(), [&]<class T>() {
      std::vector<const T*> in;
      for (const NDArray& v : values) in.push_back(reinterpret_cast<const T*>(read_pointer(v)));
      T* out = reinterpret_cast<T*>(write_pointer(target));
      parallel_for(target.size(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
        sum_range<T>(in, out, begin, end);
      });
    });
  }
  std::vector<NDArray> here;
  for (const NDArray& v : values) here.push_back(v.as_in_context(target.context()));
  invoke("add_n", here, {}, {target});
}

void add_in_order(DType dtype, std::span<const std::byte* const> in, std::byte* out,
                  std::size_t bytes) {
  dispatch_dtype(dtype, [&]<class T>() {
    std::vector<const T*> typed;
    for (const std::byte* one : in) typed.push_back(reinterpret_cast<const T*>(one));
    sum_range<T>(typed, reinterpret_cast<T*>(out), 0, static_cast<std::int64_t>(bytes / sizeof(T)));
  });
}

}  // namespace symbind
