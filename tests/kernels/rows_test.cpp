// Softmax, normalisation and reductions over vectors, of every instruction set of this CPU, against
// the same formulas in double.

#include "kernels/vector/rows.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/targets.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
constexpr std::int64_t kSizes[] = {1, 3, 15, 16, 17, 31, 64, 1023};

Floats numbers(std::int64_t n, unsigned seed) {
  Floats v;
  for (std::int64_t i = 0; i < n; ++i)
    v.push_back(
        static_cast<float>((static_cast<std::uint64_t>(i) * 2654435761u + seed * 97u) % 2003) /
            400.f -
        2.5f);
  return v;
}

void expect_near(const Floats& got, const Doubles& want, double tolerance, const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], tolerance * (1 + std::abs(want[i])))
        << what << " at " << i << " of " << want.size();
}

Doubles softmax(const Floats& x, double scale, bool logarithm) {
  double sum = 0;
  for (const float v : x) sum += std::exp(scale * static_cast<double>(v));
  Doubles y;
  for (const float v : x) {
    const double z = scale * static_cast<double>(v);
    y.push_back(logarithm ? z - std::log(sum) : std::exp(z) / sum);
  }
  return y;
}

TEST(VectorRows, softmax_and_its_gradient) {
  for (const Isa isa : available_isas()) {
    const vector::SoftmaxTable& f = vector::softmax_kernels()[isa];
    for (const std::int64_t n : kSizes) {
      for (const double scale : {1.0, -1.0, 0.5}) {
        for (const bool logarithm : {false, true}) {
          const Floats x = numbers(n + 1, 1), dy = numbers(n, 2);
          const Floats shifted(x.begin() + 1, x.end());  // from an address that is not aligned
          Floats y(static_cast<std::size_t>(n) + 1, -7);
          f.row(x.data() + 1, y.data(), n, static_cast<float>(scale), logarithm);
          EXPECT_EQ(y.back(), -7);
          y.pop_back();
          const Doubles exact = softmax(shifted, scale, logarithm);
          expect_near(y, exact, 2e-6, "softmax");

          double sum = 0;
          for (std::size_t i = 0; i < dy.size(); ++i)
            sum += static_cast<double>(dy[i]) * (logarithm ? 1 : exact[i]);
          Doubles gradient;
          for (std::size_t i = 0; i < dy.size(); ++i) {
            const double d = static_cast<double>(dy[i]);
            gradient.push_back(scale *
                               (logarithm ? d - std::exp(exact[i]) * sum : exact[i] * (d - sum)));
          }
          Floats dx(y.size());
          f.row_backward(dy.data(), y.data(), dx.data(), n, static_cast<float>(scale), logarithm);
          expect_near(dx, gradient, 2e-5, "gradient");
        }
      }
    }
  }
}

TEST(VectorRows, softmax_of_columns_is_that_of_rows) {
  constexpr std::int64_t kExtent = 7;
  for (const Isa isa : available_isas()) {
    const vector::SoftmaxTable& f = vector::softmax_kernels()[isa];
    for (const std::int64_t n : {1, 5, 16, 33, 64}) {
      for (const bool logarithm : {false, true}) {
        const std::int64_t stride = n + 3;
        const Floats x = numbers(kExtent * stride, 3), dy = numbers(kExtent * stride, 4);
        Floats y(x.size(), -7), dx(x.size(), -7);
        f.columns(x.data(), y.data(), n, kExtent, stride, 1, logarithm);
        f.columns_backward(dy.data(), y.data(), dx.data(), n, kExtent, stride, 1, logarithm);
        for (std::int64_t i = 0; i < stride; ++i) {
          Floats one, column, heads, slopes;
          for (std::int64_t k = 0; k < kExtent; ++k) {
            const auto at = static_cast<std::size_t>(k * stride + i);
            one.push_back(x[at]), column.push_back(y[at]);
            heads.push_back(dy[at]), slopes.push_back(dx[at]);
          }
          if (i >= n) {
            EXPECT_EQ(column, Floats(kExtent, -7));
            continue;
          }
          expect_near(column, softmax(one, 1, logarithm), 2e-6, "column");
          Floats expected(kExtent);
          f.row_backward(heads.data(), column.data(), expected.data(), kExtent, 1, logarithm);
          expect_near(slopes, Doubles(expected.begin(), expected.end()), 2e-6, "gradient");
        }
      }
    }
  }
}

TEST(VectorRows, softmax_of_large_numbers_and_nan) {
  for (const Isa isa : available_isas()) {
    const vector::SoftmaxTable& f = vector::softmax_kernels()[isa];
    Floats x = {1e4f, -1e4f, 0, 1e4f}, y(4);
    f.row(x.data(), y.data(), 4, 1, false);
    EXPECT_EQ(y, (Floats{0.5f, 0, 0, 0.5f}));
    x = {3e38f, -3e38f, 0, -std::numeric_limits<float>::infinity()};
    f.row(x.data(), y.data(), 4, 1, false);
    EXPECT_EQ(y, (Floats{1, 0, 0, 0}));
    x[2] = std::numeric_limits<float>::quiet_NaN();
    f.row(x.data(), y.data(), 4, 1, false);
    for (const float v : y) EXPECT_TRUE(std::isnan(v));
  }
}

TEST(VectorRows, normalisation_and_its_gradient) {
  for (const Isa isa : available_isas()) {
    const vector::NormTable& f = vector::norm_kernels()[isa];
    for (const std::int64_t n : kSizes) {
      const Floats x = numbers(n, 5), dy = numbers(n, 6), gamma = numbers(n, 7),
                   beta = numbers(n, 8);
      double sum = 0, around = 0, squares = 0, dot = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum += static_cast<double>(x[i]);
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        dot += static_cast<double>(x[i]) * static_cast<double>(dy[i]);
      }
      const double mean = sum / static_cast<double>(n), inverse = 0.75;
      const auto unit = [&](std::size_t i) { return (static_cast<double>(x[i]) - mean) * inverse; };
      Doubles y, scaled, gradient;
      double product = 0, total = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        around += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
        y.push_back(unit(i) * static_cast<double>(gamma[i]) + static_cast<double>(beta[i]));
        scaled.push_back(unit(i) / inverse * 2 + 3);
        const double w = static_cast<double>(dy[i]) * static_cast<double>(gamma[i]);
        product += w * unit(i);
        total += w;
        gradient.push_back((w - 0.25 - unit(i) * 0.5) * 1.5);
      }
      const auto size = static_cast<double>(n);
      EXPECT_NEAR(static_cast<double>(f.sum(x.data(), n)), sum, 1e-6 * size + 1e-6);
      EXPECT_NEAR(f.squares(x.data(), n), squares, 1e-12 * squares);
      EXPECT_NEAR(f.dot(x.data(), dy.data(), n), dot, 1e-12 * squares + 1e-12);
      const auto m = static_cast<float>(mean);
      EXPECT_NEAR(static_cast<double>(f.squares_around(x.data(), n, m)), around,
                  1e-6 * around + 1e-6);
      Floats got(x.size());
      f.normalize(x.data(), got.data(), n, m, 0.75f, gamma.data(), beta.data());
      expect_near(got, y, 2e-6, "normalize");
      f.normalize_by(x.data(), got.data(), n, m, 2, 3);
      expect_near(got, scaled, 2e-6, "normalize_by");
      float sums[2];
      f.gradient_sums(dy.data(), x.data(), gamma.data(), n, m, 0.75f, sums);
      EXPECT_NEAR(static_cast<double>(sums[0]), product, 2e-6 * size + 1e-6);
      EXPECT_NEAR(static_cast<double>(sums[1]), total, 2e-6 * size + 1e-6);
      f.gradient(dy.data(), x.data(), gamma.data(), got.data(), n, m, 0.75f, 0.25f, 0.5f, 1.5f);
      expect_near(got, gradient, 4e-6, "gradient");
      Floats scale(x.size(), 1), shift(x.size(), 2);
      f.add_by_place(dy.data(), x.data(), n, m, 0.75f, scale.data(), shift.data());
      Doubles scales, shifts;
      for (std::size_t i = 0; i < x.size(); ++i) {
        scales.push_back(1 + static_cast<double>(dy[i]) * unit(i));
        shifts.push_back(2 + static_cast<double>(dy[i]));
      }
      expect_near(scale, scales, 2e-6, "scale");
      expect_near(shift, shifts, 2e-6, "shift");
    }
  }
}

TEST(VectorRows, reductions_of_blocks_and_rows) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : available_isas()) {
    const vector::ReduceTable& f = vector::reduce_kernels()[isa];
    for (const std::int64_t n : kSizes) {
      Floats x = numbers(n, 9);
      double sum = 0, magnitudes = 0, product = 1;
      float largest = x[0], smallest = x[0];
      for (float& v : x) {
        sum += static_cast<double>(v);
        magnitudes += static_cast<double>(std::abs(v));
        largest = std::max(largest, v), smallest = std::min(smallest, v);
      }
      Floats near_1;
      for (const float v : x)
        near_1.push_back(1 + v / 1000), product *= static_cast<double>(near_1.back());
      const double allowed = 1e-6 * magnitudes + 1e-6;
      EXPECT_NEAR(static_cast<double>(f.sum.block(x.data(), n)), sum, allowed);
      EXPECT_NEAR(static_cast<double>(f.norm1.block(x.data(), n)), magnitudes, allowed);
      EXPECT_NEAR(static_cast<double>(f.prod.block(near_1.data(), n)), product, 1e-4 * product);
      EXPECT_EQ(f.max.block(x.data(), n), largest);
      EXPECT_EQ(f.min.block(x.data(), n), smallest);
      const Doubles wide(x.begin(), x.end());
      EXPECT_NEAR(f.sum64.block(wide.data(), n), sum, 1e-12 * magnitudes);
      EXPECT_EQ(f.squares64.block(wide.data(), n),
                vector::norm_kernels()[isa].squares(x.data(), n));
      EXPECT_EQ(f.squares_of_floats.block(x.data(), n), f.squares64.block(wide.data(), n));
      // NaN counts as nothing, or propagates from any place.
      for (const std::size_t at : {std::size_t{0}, x.size() / 2, x.size() - 1}) {
        Floats with = x;
        with[at] = nan;
        EXPECT_TRUE(std::isnan(f.max.block(with.data(), n)));
        EXPECT_TRUE(std::isnan(f.min.block(with.data(), n)));
        EXPECT_TRUE(std::isnan(f.sum.block(with.data(), n)));
        EXPECT_NEAR(static_cast<double>(f.nansum.block(with.data(), n)),
                    sum - static_cast<double>(x[at]), allowed);
        Floats of_1 = near_1;
        of_1[at] = nan;
        EXPECT_NEAR(static_cast<double>(f.nanprod.block(of_1.data(), n)),
                    product / static_cast<double>(near_1[at]), 1e-4 * product);
      }
    }
    EXPECT_EQ(f.sum.block(nullptr, 0), 0);
    EXPECT_EQ(f.prod.block(nullptr, 0), 1);
  }
}

/// Each column has its own sum, in the order of the rows.
TEST(VectorRows, rows_are_folded_one_after_the_other) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : available_isas()) {
    const vector::ReduceTable& f = vector::reduce_kernels()[isa];
    for (const std::int64_t n : kSizes) {
      for (const std::size_t count : {1u, 7u, 8u, 9u, 31u, 32u}) {
        const auto size = static_cast<std::size_t>(n);
        std::vector<Floats> data;
        std::vector<const float*> rows;
        for (std::size_t k = 0; k < count; ++k)
          data.push_back(numbers(n, static_cast<unsigned>(20 + k)));
        data[count / 2][size / 2] = nan;
        if (count > 3) data[2][0] = 0.f, data[3][0] = -0.f;
        for (const Floats& row : data) rows.push_back(row.data());
        Floats sum(size + 1, 1), most(size + 1, 0), least(size + 1, 0), numbers_only(size + 1, 0);
        Doubles squares(size + 1, 1), total(size + 1, 5);
        const auto rows_of = static_cast<std::int64_t>(count);
        f.sum.rows(sum.data(), rows.data(), rows_of, n);
        f.max.rows(most.data(), rows.data(), rows_of, n);
        f.min.rows(least.data(), rows.data(), rows_of, n);
        f.nansum.rows(numbers_only.data(), rows.data(), rows_of, n);
        f.squares_of_floats.rows(squares.data(), rows.data(), rows_of, n);
        f.sum.join(total.data(), sum.data(), n);
        for (std::size_t i = 0; i < size; ++i) {
          float s = 1, high = 0, low = 0, m = 0;
          double q = 1;
          bool has_nan = false;
          for (const Floats& row : data) {
            const float v = row[i];
            s += v;
            has_nan |= std::isnan(v);
            high = std::max(high, v), low = std::min(low, v);
            m += std::isnan(v) ? 0.f : v;
            q += static_cast<double>(v) * static_cast<double>(v);
          }
          EXPECT_EQ(numbers_only[i], m);
          if (has_nan) {
            EXPECT_TRUE(std::isnan(sum[i]) && std::isnan(most[i]) && std::isnan(least[i]));
            EXPECT_TRUE(std::isnan(squares[i]) && std::isnan(total[i]));
            continue;
          }
          EXPECT_EQ(sum[i], s);
          EXPECT_EQ(most[i], high);
          EXPECT_EQ(least[i], low);
          EXPECT_NEAR(squares[i], q, 1e-14 * q);
          EXPECT_EQ(total[i], 5 + static_cast<double>(s));
        }
        EXPECT_TRUE(sum.back() == 1 && squares.back() == 1 && total.back() == 5);
      }
    }
  }
}

/// The first one of equal numbers of a partial sum: the sign of zero is the first zero's.
TEST(VectorRows, largest_and_smallest_of_zeros) {
  for (const Isa isa : available_isas()) {
    const vector::ReduceTable& f = vector::reduce_kernels()[isa];
    Floats x(64, -1.f);
    x[5] = -0.f, x[5 + 16] = 0.f, x[5 + 32] = -0.f;
    EXPECT_TRUE(std::signbit(f.max.block(x.data(), 64)));
    x[5] = 0.f, x[5 + 16] = -0.f;
    EXPECT_FALSE(std::signbit(f.max.block(x.data(), 64)));
    for (float& v : x) v = -v;
    EXPECT_TRUE(std::signbit(f.min.block(x.data(), 64)));
  }
}

TEST(VectorRows, avx2_and_avx512_give_equal_bits) {
  using Run = std::function<void(Isa, const Floats& x, const Floats& dy, Floats& out)>;
  const std::pair<const char*, Run> runs[] = {
      {"softmax",
       [](Isa isa, const Floats& x, const Floats&, Floats& y) {
         vector::softmax_kernels()[isa].row(x.data(), y.data(), static_cast<std::int64_t>(x.size()),
                                            1, false);
       }},
      {"log_softmax",
       [](Isa isa, const Floats& x, const Floats&, Floats& y) {
         vector::softmax_kernels()[isa].row(x.data(), y.data(), static_cast<std::int64_t>(x.size()),
                                            0.7f, true);
       }},
      {"softmax gradient",
       [](Isa isa, const Floats& x, const Floats& dy, Floats& y) {
         vector::softmax_kernels()[isa].row_backward(dy.data(), x.data(), y.data(),
                                                     static_cast<std::int64_t>(x.size()), 1, false);
       }},
      {"columns",
       [](Isa isa, const Floats& x, const Floats&, Floats& y) {
         const auto n = static_cast<std::int64_t>(x.size()) / 3;
         vector::softmax_kernels()[isa].columns(
             x.data(), y.data(), std::min<std::int64_t>(n, vector::kTile), 3, n, 1, false);
       }},
      {"sums",
       [](Isa isa, const Floats& x, const Floats& dy, Floats& y) {
         const vector::NormTable& f = vector::norm_kernels()[isa];
         const vector::ReduceTable& r = vector::reduce_kernels()[isa];
         const auto n = static_cast<std::int64_t>(x.size());
         y[0] = f.sum(x.data(), n);
         if (n < 7) return;
         y[1] = f.squares_around(x.data(), n, 0.3f);
         f.gradient_sums(dy.data(), x.data(), x.data(), n, 0.1f, 0.9f, y.data() + 2);
         y[4] = static_cast<float>(f.dot(x.data(), dy.data(), n) * 1e6);
         y[5] = r.prod.block(x.data(), n);
         y[6] = r.norm1.block(x.data(), n);
       }},
      {"normalize",
       [](Isa isa, const Floats& x, const Floats& dy, Floats& y) {
         const auto n = static_cast<std::int64_t>(x.size());
         vector::norm_kernels()[isa].normalize(x.data(), y.data(), n, 0.2f, 1.3f, dy.data(),
                                               x.data());
         vector::norm_kernels()[isa].gradient(dy.data(), y.data(), x.data(), y.data(), n, 0.2f,
                                              1.3f, 0.4f, 0.5f, 0.6f);
       }},
  };
  for (const auto& [name, run] : runs) {
    for (const std::int64_t n : kSizes) {
      const Floats x = numbers(n, 11), dy = numbers(n, 12);
      std::vector<Floats> results;
      for (const Isa isa : isas_with_fma()) {
        results.emplace_back(x.size());
        run(isa, x, dy, results.back());
        EXPECT_EQ(std::memcmp(results[0].data(), results.back().data(), x.size() * 4), 0)
            << name << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace symbind
