// Products of matrices that are split over threads, against their definition in double.

#include "kernels/gemm.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace symbind {
namespace {

template <class T>
std::vector<T> random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<T> value(-1, 1);
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& v : all) v = value(generator);
  return all;
}

/// With rows of all matrices that are longer than what the product reads.
template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, double tolerance) {
  SCOPED_TRACE(testing::Message() << m << "x" << k << "x" << n << " " << ta << tb);
  GemmShape s{ta, tb, m, n, k, (ta ? m : k) + 3, (tb ? k : n) + 1, n + 2};
  const std::vector<T> a = random_values<T>((ta ? k : m) * s.lda, 1),
                       b = random_values<T>((tb ? n : k) * s.ldb, 2), bias = random_values<T>(n, 3),
                       before = random_values<T>(m * s.ldc, 4);
  std::vector<T> sum = before, with_bias = before;
  gemm(s, T(2), a.data(), b.data(), T(-1), sum.data());
  gemm_bias(s, a.data(), b.data(), bias.data(), with_bias.data());
  const auto at = [](const std::vector<T>& v, std::int64_t i) {
    return static_cast<double>(v[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < s.ldc; ++j) {
      const std::int64_t place = i * s.ldc + j;
      double product = 0;
      for (std::int64_t p = 0; j < n && p < k; ++p)
        product +=
            at(a, ta ? p * s.lda + i : i * s.lda + p) * at(b, tb ? j * s.ldb + p : p * s.ldb + j);
      const double old = at(before, place);
      ASSERT_NEAR(at(sum, place), j < n ? 2 * product - old : old, tolerance) << i << ", " << j;
      ASSERT_NEAR(at(with_bias, place), j < n ? product + at(bias, j) : old, tolerance)
          << i << ", " << j;
    }
}

TEST(Gemm, threads_compute_all_rows_and_columns) {
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    set_num_threads(threads);
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        check<float>(601, 70, 40, ta, tb, 1e-4);   // by rows, in pieces of 512
        check<float>(37, 2200, 24, ta, tb, 1e-4);  // by columns, in pieces of 1024
        check<float>(3, 5, 2, ta, tb, 1e-5);       // by one thread
        check<double>(601, 70, 40, ta, tb, 1e-12);
        check<double>(37, 1100, 24, ta, tb, 1e-12);
      }
    set_num_threads(0);
  }
}

}  // namespace
}  // namespace symbind
