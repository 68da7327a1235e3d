#pragma once
// An array's numbers on the host: float32 on the CPU is read in place, anything else is converted
// to double in memory that is kept between batches.

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

/// A label as a class: truncated toward zero, -1 if it cannot be a class.
template <class T>
std::int64_t class_of(T label) {
  return label > T(-2147483648.0) && label < T(2147483648.0) ? static_cast<std::int64_t>(label)
                                                             : -1;
}

/// Sum over count, NaN for none; the NaN has no sign, because log lines would show it.
inline double ratio(double sum, double count) {
  const double value = sum / count;
  return count == 0 || std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

/// An array as [outer, axis, inner] around one axis.
struct AroundAxis {
  std::int64_t outer = 1, length = 1, inner = 1;
};
AroundAxis around_axis(const Shape& shape, int axis, const std::string& metric);

/// The index of the largest of `length` numbers, `stride` apart; the first of equals.
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

/// MXNet's text for counts that should be equal.
template <class A, class B>
void check_same(const A& labels, const B& preds, const std::string& metric) {
  check(labels == preds, ErrorKind::kValue,
        "Shape of labels {} does not match shape of predictions {} in metric '{}'", labels, preds,
        metric);
}

}  // namespace symbind
