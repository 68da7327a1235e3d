// Products of matrices that are split over threads, against their definition in double.

#include "kernels/gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "kernels/vector/small_product.h"
#include "tests/kernels/targets.h"

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

struct SmallCase {
  std::int64_t m, n, k;
};

// Rows and columns that fill vectors, leave some over, or are fewer than a vector has.
constexpr SmallCase kSmall[] = {{1, 1, 1},   {1, 64, 128}, {4, 16, 16},  {5, 19, 7},
                                {3, 33, 20}, {9, 15, 37},  {8, 70, 1},   {3, 5, 1},
                                {2, 5, 50},  {9, 1, 37},   {13, 100, 9}, {3, 4, 0}};

/// C after the product of this instruction set; B has `padding` numbers after each row.
std::vector<float> small_product(Isa isa, const SmallCase& z, bool ta, bool tb, float beta,
                                 std::int64_t padding) {
  const GemmShape s{ta,     tb, z.m, z.n, z.k, (ta ? z.m : z.k) + 3, (tb ? z.k : z.n) + padding,
                    z.n + 2};
  const std::vector<float> a = random_values<float>((ta ? z.k : z.m) * s.lda, 1),
                           b = random_values<float>((tb ? z.n : z.k) * s.ldb, 2);
  std::vector<float> c = random_values<float>(z.m * s.ldc, 3);
  vector::small_products()[isa].run(s, 0.75f, a.data(), b.data(), beta, c.data());
  return c;
}

template <class Check>
void for_small(const Check& check) {
  for (const SmallCase& z : kSmall)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const float beta : {0.f, 0.5f})
          for (const std::int64_t padding : {0, 3}) {
            SCOPED_TRACE(testing::Message() << z.m << "x" << z.k << "x" << z.n << " " << ta << tb
                                            << " beta " << beta << " padding " << padding);
            check(z, ta, tb, beta, padding);
          }
}

TEST(SmallProduct, is_the_sum_of_products_in_every_instruction_set) {
  for_small([](const SmallCase& z, bool ta, bool tb, float beta, std::int64_t padding) {
    const std::int64_t lda = (ta ? z.m : z.k) + 3, ldb = (tb ? z.k : z.n) + padding, ldc = z.n + 2;
    const std::vector<float> a = random_values<float>((ta ? z.k : z.m) * lda, 1),
                             b = random_values<float>((tb ? z.n : z.k) * ldb, 2),
                             before = random_values<float>(z.m * ldc, 3);
    const auto at = [](const std::vector<float>& v, std::int64_t i) {
      return static_cast<double>(v[static_cast<std::size_t>(i)]);
    };
    for (const Isa isa : available_isas()) {
      const std::vector<float> c = small_product(isa, z, ta, tb, beta, padding);
      for (std::int64_t i = 0; i < z.m; ++i)
        for (std::int64_t j = 0; j < ldc; ++j) {
          double expected = at(before, i * ldc + j);
          if (j < z.n) {
            expected *= beta;
            for (std::int64_t p = 0; p < z.k; ++p)
              expected += 0.75 * at(a, ta ? p * lda + i : i * lda + p) *
                          at(b, tb ? j * ldb + p : p * ldb + j);
          }
          ASSERT_NEAR(at(c, i * ldc + j), expected, 1e-5) << i << ", " << j;
        }
    }
  });
}

TEST(SmallProduct, has_equal_bits_with_avx2_and_avx512) {
  const std::vector<Isa> isas = isas_with_fma();
  for_small([&](const SmallCase& z, bool ta, bool tb, float beta, std::int64_t padding) {
    for (const Isa isa : isas)
      ASSERT_EQ(small_product(isa, z, ta, tb, beta, padding),
                small_product(isas.front(), z, ta, tb, beta, padding));
  });
}

TEST(SmallProduct, zero_times_a_negative_number_is_zero_without_a_sign) {
  const float a[] = {0, 0}, b[] = {-1, -2, -3};
  for (const Isa isa : available_isas())
    for (const std::int64_t k : {1, 2}) {
      float c[] = {1, 1, 1};
      vector::small_products()[isa].run({false, false, 1, 1, k, k, 1, 1}, 1, a, b, 0, c);
      vector::small_products()[isa].run({false, false, 1, 2, 1, 1, 2, 2}, 1, a, b, 0, c + 1);
      for (const float one : c) EXPECT_FALSE(std::signbit(one)) << k;
    }
}

TEST(SmallProduct, reads_no_factor_where_alpha_is_0) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[] = {nan, nan}, b[] = {nan, nan};
  for (const Isa isa : available_isas())
    for (const bool tb : {false, true})
      for (const std::int64_t k : {1, 2}) {
        float c[] = {3};
        vector::small_products()[isa].run({false, tb, 1, 1, k, k, tb ? k : 1, 1}, 0, a, b, 2, c);
        EXPECT_EQ(c[0], 6);
      }
}

TEST(Gemm, threads_do_not_change_the_bits_of_products_of_few_rows_or_values_of_k) {
  const GemmShape cases[] = {{false, true, 1, 300, 1000, 1000, 1000, 300},
                             {false, true, 2, 300, 1000, 1000, 1000, 300},
                             {true, false, 700, 300, 1, 700, 300, 300}};
  for (const GemmShape& s : cases) {
    const std::vector<float> a = random_values<float>(s.m * s.k, 1),
                             b = random_values<float>(s.n * s.k, 2);
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      results.emplace_back(static_cast<std::size_t>(s.m * s.n));
      gemm(s, 1, a.data(), b.data(), 0, results.back().data());
    }
    set_num_threads(0);
    EXPECT_EQ(results[1], results[0]);
    EXPECT_EQ(results[2], results[0]);
  }
}

TEST(Gemm, threads_share_several_products_where_gemm_does_not_divide_one) {
  const auto grain = [](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
    return grain_of_products({false, false, m, n, k, k, n, n}, count);
  };
  set_num_threads(2);
  EXPECT_EQ(grain(64, 64, 64, 384), 1);
  EXPECT_EQ(grain(1000, 1000, 1000, 5), 5);
  EXPECT_EQ(grain(16, 1'000'000, 1, 5), 5);  // by columns
  EXPECT_GT(grain(4, 4, 4, 1000), 100);
  set_num_threads(1);
  EXPECT_EQ(grain(1000, 1000, 1000, 5), 1);
  set_num_threads(0);
}

TEST(Gemm, a_sum_of_nothing_is_zero_or_what_was_there) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      double c[] = {3, 4};
      gemm({ta, tb, 1, 2, 0, ta ? 1 : 0, tb ? 0 : 2, 2}, 1.0, c, c, 2.0, c);
      EXPECT_EQ(c[0], 6);
      const double bias[] = {5, 7};
      gemm_bias({ta, tb, 1, 2, 0, ta ? 1 : 0, tb ? 0 : 2, 2}, c, c, bias, c);
      EXPECT_EQ(c[1], 7);
    }
}

TEST(SmallProduct, does_not_read_c_where_beta_is_0) {
  const float a[] = {2}, b[] = {3};
  for (const Isa isa : available_isas())
    for (const bool tb : {false, true}) {
      float c[] = {std::numeric_limits<float>::quiet_NaN()};
      vector::small_products()[isa].run({false, tb, 1, 1, 1, 1, 1, 1}, 1, a, b, 0, c);
      EXPECT_EQ(c[0], 6);
    }
}

}  // namespace
}  // namespace symbind
