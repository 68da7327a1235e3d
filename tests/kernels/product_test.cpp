// The packed product of every instruction set of this CPU, against sums in double.

#include "kernels/packed/product.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/targets.h"

namespace symbind::packed {
namespace {

std::vector<float> random_values(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> value(-1.f, 1.f);
  std::vector<float> all(n);
  for (float& v : all) v = value(generator);
  return all;
}

/// Rows `k_step` · k apart in memory, blocks of 8 in reverse order.
struct Problem {
  std::int64_t rows, k, columns;
  std::vector<float> a, b, bias, c;
  std::vector<std::ptrdiff_t> offsets;

  Problem(std::int64_t rows_, std::int64_t k_, std::int64_t columns_)
      : rows(rows_),
        k(k_),
        columns(columns_),
        a(random_values(static_cast<std::size_t>(rows_ * (k_ + 8)), 1)),
        b(random_values(static_cast<std::size_t>(k_ * columns_), 2)),
        bias(random_values(static_cast<std::size_t>(columns_), 3)),
        c(random_values(static_cast<std::size_t>(rows_ * columns_), 4)) {}

  double at(std::int64_t r, std::int64_t p) const {
    return static_cast<double>(a[static_cast<std::size_t>(r * k + p)]);
  }
};

/// The problem computed panel by panel, with C row-major; A is laid out with the step given.
std::vector<float> multiply(const Products& products, const Problem& problem, std::int64_t vectors,
                            Step step, bool with_bias, bool add, float low, float high,
                            bool anywhere = false) {
  const std::int64_t lanes = products.lanes, panel = vectors * lanes;
  const std::int64_t apart = step == Step::kOne ? 1 : lanes;
  const std::int64_t blocks = (problem.k + kBlock - 1) / kBlock;
  // Block b of all rows is at b's place from the end, so that offsets are not sorted.
  std::vector<float> a(static_cast<std::size_t>(problem.rows * blocks * kBlock * apart), NAN);
  std::vector<const float*> rows;
  std::vector<std::ptrdiff_t> offsets;
  for (std::int64_t r = 0; r < problem.rows; ++r)
    rows.push_back(a.data() + r * blocks * kBlock * apart);
  for (std::int64_t b = 0; b < blocks; ++b) offsets.push_back((blocks - 1 - b) * kBlock * apart);
  for (std::int64_t r = 0; r < problem.rows; ++r)
    for (std::int64_t p = 0; p < problem.k; ++p)
      a[static_cast<std::size_t>(rows[static_cast<std::size_t>(r)] - a.data() +
                                 offsets[static_cast<std::size_t>(p / kBlock)] +
                                 p % kBlock * apart)] = static_cast<float>(problem.at(r, p));
  std::vector<float> packed(
      static_cast<std::size_t>((problem.columns + panel - 1) / panel * panel * problem.k));
  products.pack(problem.b.data(), problem.columns, 1, problem.k, problem.columns, vectors,
                packed.data());
  // For rows of B anywhere: in reverse order.
  const std::int64_t width = (problem.columns + panel - 1) / panel * panel;
  std::vector<float> reversed(static_cast<std::size_t>(width * problem.k));
  std::vector<std::ptrdiff_t> b_offsets;
  for (std::int64_t p = 0; p < problem.k; ++p) {
    b_offsets.push_back((problem.k - 1 - p) * width);
    for (std::int64_t j = 0; j < problem.columns; ++j)
      reversed[static_cast<std::size_t>(b_offsets.back() + j)] =
          problem.b[static_cast<std::size_t>(p * problem.columns + j)];
  }
  std::vector<float> bias(problem.bias), c(problem.c);
  bias.resize(static_cast<std::size_t>((problem.columns + panel - 1) / panel * panel));
  for (std::int64_t j = 0; j < problem.columns; j += panel) {
    Product p{.rows = problem.rows, .a = rows.data(), .offsets = offsets.data()};
    p.blocks = problem.k / kBlock;
    p.rest = problem.k % kBlock;
    p.b = packed.data() + j * problem.k;
    if (anywhere) {
      p.b = reversed.data() + j;
      p.b_offsets = b_offsets.data();
    }
    p.c = c.data() + j;
    p.c_row = problem.columns;
    p.c_vector = lanes;
    p.columns = problem.columns - j < panel ? problem.columns - j : 0;
    p.bias = with_bias ? bias.data() + j : nullptr;
    p.add = add ? p.c : nullptr;
    p.low = low;
    p.high = high;
    products(p, vectors, step);
  }
  return c;
}

TEST(Product, equals_the_sum_in_double) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Isa isa : available_isas()) {
    const Products& products = packed::products()[isa];
    for (const std::int64_t rows : {1, 2, 3, 5, 6, 7, 8, 9, 13, 49})
      for (const std::int64_t k : {1, 7, 8, 9, 64, 131})
        for (const std::int64_t columns :
             {std::int64_t{1}, products.lanes, 2 * products.lanes, 2 * products.lanes + 3})
          for (const int variant : {0, 1, 2, 3}) {
            const Problem problem(rows, k, columns);
            const bool bias = variant % 2 == 1, add = variant >= 2;
            const float low = variant == 3 ? -0.5f : -kInfinity,
                        high = variant == 3 ? 0.75f : kInfinity;
            for (const std::int64_t vectors : {1, 2})
              for (const Step step : {Step::kOne, Step::kLanes}) {
                const std::vector<float> got =
                    multiply(products, problem, vectors, step, bias, add, low, high);
                for (std::int64_t r = 0; r < rows; ++r)
                  for (std::int64_t j = 0; j < columns; ++j) {
                    const auto at = static_cast<std::size_t>(r * columns + j);
                    double want =
                        bias ? static_cast<double>(problem.bias[static_cast<std::size_t>(j)]) : 0;
                    if (add) want += static_cast<double>(problem.c[at]);
                    for (std::int64_t p = 0; p < k; ++p)
                      want +=
                          problem.at(r, p) *
                          static_cast<double>(problem.b[static_cast<std::size_t>(p * columns + j)]);
                    want = std::min(std::max(want, static_cast<double>(low)),
                                    static_cast<double>(high));
                    ASSERT_NEAR(got[at], want, 1e-5)
                        << "rows " << rows << " k " << k << " columns " << columns;
                  }
              }
          }
  }
}

TEST(Product, has_the_same_bits_with_avx2_and_avx512) {
  if (cpu_isa() != Isa::kAvx512) GTEST_SKIP() << "needs AVX-512";
  const Problem problem(23, 77, 37);
  const auto run = [&](Isa isa, std::int64_t vectors) {
    return multiply(packed::products()[isa], problem, vectors, Step::kOne, true, true, -1.f, 1.f);
  };
  const std::vector<float> narrow = run(Isa::kAvx2, 2);
  EXPECT_EQ(run(Isa::kAvx512, 2), narrow);
  EXPECT_EQ(run(Isa::kAvx512, 1), narrow);
  EXPECT_EQ(run(Isa::kAvx2, 1), narrow);
}

TEST(Product, takes_rows_of_b_from_anywhere) {
  for (const Isa isa : available_isas()) {
    const Products& products = packed::products()[isa];
    for (std::int64_t vectors = 1; vectors <= products.most_anywhere; ++vectors)
      for (const std::int64_t rows : {1, 5, 20})
        for (const std::int64_t k : {3, 25, 64})
          for (const std::int64_t columns : {37, 64}) {
            const Problem problem(rows, k, columns);
            EXPECT_EQ(multiply(products, problem, vectors, Step::kOne, true, true, -1.f, 1.f, true),
                      multiply(products, problem, 2, Step::kOne, true, true, -1.f, 1.f));
          }
  }
}

/// Rows as neighbouring pixels of a blocked tensor; what is fetched ahead changes nothing.
TEST(Product, takes_rows_that_follow_one_another) {
  for (const Isa isa : isas_with_fma()) {
    const Products& products = packed::products()[isa];
    const std::int64_t lanes = products.lanes;
    for (const std::int64_t vectors : {1, 2})
      for (std::int64_t rows = 1; rows <= 30; ++rows)
        for (const std::int64_t k : {3, 16, 45}) {
          const std::int64_t columns = vectors * lanes, padded = (k + 15) / 16 * 16;
          const Problem problem(rows, k, columns);
          std::vector<float> a(static_cast<std::size_t>(rows * padded), NAN);
          std::vector<std::ptrdiff_t> offsets;
          for (std::int64_t p = 0; p < k; p += kBlock)
            offsets.push_back(p / lanes * lanes * rows + p % lanes);
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t p = 0; p < k; ++p)
              a[static_cast<std::size_t>(p / lanes * lanes * rows + r * lanes + p % lanes)] =
                  static_cast<float>(problem.at(r, p));
          std::vector<float> packed(static_cast<std::size_t>(columns * k));
          products.pack(problem.b.data(), columns, 1, k, columns, vectors, packed.data());
          std::vector<float> c(problem.c);
          const float* first = a.data();
          Product p{.rows = rows, .a = &first, .rows_follow = true, .offsets = offsets.data()};
          p.blocks = k / kBlock;
          p.rest = k % kBlock;
          p.b = packed.data();
          p.c = c.data();
          p.c_row = columns;
          p.c_vector = lanes;
          p.bias = problem.bias.data();
          p.add = c.data();
          p.low = -1.f;
          p.high = 1.f;
          p.ahead = packed.data();
          p.ahead_size = static_cast<std::int64_t>(packed.size()) / 3;
          p.ahead_runs = 1 + rows % 5;  // past the end, too: fetching reads nothing
          p.ahead_step = p.ahead_size;
          products(p, vectors);
          EXPECT_EQ(c, multiply(products, problem, vectors, Step::kOne, true, true, -1.f, 1.f));
        }
  }
}

TEST(Product, can_replace_nan_by_the_lower_limit) {
  for (const Isa isa : available_isas()) {
    const Products& products = packed::products()[isa];
    const float a[kBlock] = {NAN}, *rows[] = {a};
    const std::ptrdiff_t offsets[] = {0};
    const std::vector<float> b(static_cast<std::size_t>(products.lanes), 1.f);
    for (const bool nan_is_low : {false, true}) {
      std::vector<float> c(b.size());
      Product p{.rows = 1, .a = rows, .offsets = offsets, .rest = 1, .b = b.data(), .c = c.data()};
      p.low = 0;
      p.nan_is_low = nan_is_low;
      products(p, 1);
      for (const float value : c)
        EXPECT_TRUE(nan_is_low ? value == 0.f : std::isnan(value)) << value;
    }
  }
}

TEST(Product, keeps_nan_and_infinity_in_their_rows) {
  for (const Isa isa : available_isas()) {
    Problem problem(9, 16, 5);
    problem.a[3 * 16 + 2] = NAN;
    problem.a[5 * 16 + 2] = INFINITY;
    const std::vector<float> got =
        multiply(packed::products()[isa], problem, 1, Step::kOne, false, false, 0.f, INFINITY);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (i / 5 == 3)
        EXPECT_TRUE(std::isnan(got[i])) << i;
      else
        EXPECT_EQ(std::isfinite(got[i]), i / 5 != 5 || got[i] == 0.f) << i;
    }
  }
}

}  // namespace
}  // namespace symbind::packed
