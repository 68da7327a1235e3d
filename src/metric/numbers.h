#pragma once
// An array's numbers on the host, where they lie if they can: float32 on the CPU is read in place,
// anything else is converted to double into memory that is kept between batches.

#include <cmath>
#include <limits>
#include <vector>

#include <symbind/ndarray.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "ndarray/access.h"

namespace symbind {

/// Memory for the numbers of one array.
using Scratch = std::vector<double>;

/// Calls f(const float*) or f(const double*) with the numbers of `array`. Waits; raises its error.
template <class F>
decltype(auto) with_numbers(const NDArray& array, Scratch& scratch, F&& f) {
  check_defined(array, "a metric's label or output");
  array.wait_to_read();
  if (array.dtype() == DType::kFloat32 && !in_gpu_memory(array.context()))
    return f(reinterpret_cast<const float*>(read_pointer(array)));
  scratch.resize(static_cast<std::size_t>(array.size()));
  array.copy_to_host(scratch.data(), DType::kFloat64);
  return f(static_cast<const double*>(scratch.data()));
}

/// A label as the class it means: cut toward zero, -1 for what no class can be.
template <class T>
std::int64_t class_of(T label) {
  return label > T(-2147483648.0) && label < T(2147483648.0) ? static_cast<std::int64_t>(label)
                                                             : -1;
}

/// Sum over count, NaN for none; a NaN without a sign, which log lines would show.
inline double ratio(double sum, double count) {
  const double value = sum / count;
  return count == 0 || std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

/// An array as [outer, axis, inner] around one axis.
struct AroundAxis {
  std::int64_t outer = 1, length = 1, inner = 1;
};
AroundAxis around_axis(const Shape& shape, int axis, const std::string& metric);

/// Where the largest of `length` numbers, `stride` apart, stands; the first of equals.
template <class T>
std::int64_t argmax(const T* numbers, std::int64_t length, std::int64_t stride) {
  std::int64_t best = 0;
  T largest = numbers[0];
  for (std::int64_t i = 1; i < length; ++i) {
    const T value = numbers[i * stride];
    best = value > largest ? i : best;
    largest = value > largest ? value : largest;
  }
  return best;
}

/// MXNet's text for things that should be alike.
template <class A, class B>
void check_same(const A& labels, const B& preds, const std::string& metric) {
  check(labels == preds, ErrorKind::kValue,
        "Shape of labels {} does not match shape of predictions {} in metric '{}'", labels, preds,
        metric);
}

}  // namespace symbind
