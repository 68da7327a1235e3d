// The sum of the squares of an array, in double, the same bits at any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/parallel.h"

namespace symbind {

struct ExactSquare {
  template <class T>
  double operator()(T x) const {
    return static_cast<double>(x) * static_cast<double>(x);
  }
};

template <class T, class Square = ExactSquare>
double sum_squares(const T* x, std::int64_t n, Square square = {}) {
  constexpr std::int64_t kParts = 64, kFewest = 1024;
  const std::int64_t size = std::max(kFewest, (n + kParts - 1) / kParts);
  const std::int64_t parts = (n + size - 1) / size;
  std::array<double, static_cast<std::size_t>(kParts)> sums{};
  parallel_for(parts, std::max<std::int64_t>(1, 32768 / size),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t p = begin; p < end; ++p) {
                   double sum = 0;
                   for (std::int64_t i = p * size; i < std::min(n, (p + 1) * size); ++i)
                     sum += square(x[i]);
                   sums[static_cast<std::size_t>(p)] = sum;
                 }
               });
  double total = 0;
  for (std::int64_t p = 0; p < parts; ++p) total += sums[static_cast<std::size_t>(p)];
  return total;
}

}  // namespace symbind
