// Winograd's convolution and its gradients for every instruction set of this CPU, against the
// definition in double.

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/half.h"
#include "kernels/winograd/forward.h"
#include "kernels/winograd/weight_gradient.h"
#include "tests/kernels/targets.h"

namespace symbind::winograd {
namespace {

using Values = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> value;
  Values all(static_cast<std::size_t>(n));
  for (float& v : all) v = value(generator);
  return all;
}

/// Reads and writes one element, whatever the block of channels.
struct Tensor {
  std::int64_t channels, height, width, lanes;
  std::size_t operator()(std::int64_t n, std::int64_t c, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(
        (((n * (channels / lanes) + c / lanes) * height + i) * width + j) * lanes + c % lanes);
  }
  bool has(std::int64_t i, std::int64_t j) const {
    return i >= 0 && i < height && j >= 0 && j < width;
  }
};
Tensor input_of(const Squares& s) { return {s.in_channels, s.in_height, s.in_width, s.lanes}; }
Tensor output_of(const Squares& s) { return {s.out_channels, s.out_height, s.out_width, s.lanes}; }

/// Calls f(x index, y index, w index) for every product of the convolution.
template <class F>
void for_each_product(const Squares& s, F&& f) {
  const Tensor x = input_of(s), y = output_of(s);
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.out_channels; ++o)
      for (std::int64_t i = 0; i < s.out_height; ++i)
        for (std::int64_t j = 0; j < s.out_width; ++j)
          for (std::int64_t c = 0; c < s.in_channels; ++c)
            for (std::int64_t k = 0; k < 9; ++k) {
              const std::int64_t row = i - s.pad_top + k / 3, column = j - s.pad_left + k % 3;
              if (x.has(row, column))
                f(x(n, c, row, column), y(n, o, i, j),
                  static_cast<std::size_t>((o * s.in_channels + c) * 9 + k));
            }
}

/// The largest difference, relative to the largest wanted value.
double error_of(const Values& got, const std::vector<double>& want) {
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(got[i]) - want[i]);
    if (!(difference <= most)) most = difference;
    scale = std::max(scale, std::fabs(want[i]));
  }
  return most / std::max(scale, 1e-30);
}

struct Case {
  Squares squares;
  Values x, w, dy, bias, add;
  explicit Case(const Squares& s)
      : squares(s),
        x(random_values(s.batch * s.in_channels * s.in_height * s.in_width, 1)),
        w(random_values(s.out_channels * s.in_channels * 9, 2)),
        dy(random_values(s.batch * s.out_channels * s.out_height * s.out_width, 3)),
        bias(random_values(s.out_channels, 4)),
        add(random_values(static_cast<std::int64_t>(dy.size()), 5)) {}

  Values forward(int threads, bool epilogue = false) const {
    const Forward run(squares, threads);
    Values u(run.weight_size()), scratch(run.scratch_size(), NAN), y(dy.size(), NAN);
    run.transform(w.data(), squares.in_channels * 9, 9, false, u.data());
    Forward::Operands o{
        .x = x.data(), .u = u.data(), .y = y.data(), .low = -kInfinity, .high = kInfinity};
    if (epilogue) {
      y = add;  // the sum may share the output's memory
      o.bias = bias.data();
      o.add = y.data();
      o.low = -1.f;
      o.high = 6.f;
    }
    run(o, scratch.data());
    return y;
  }
  Values data_gradient(int threads) const {
    const Forward run(squares.transposed(), threads);
    Values u(run.weight_size()), scratch(run.scratch_size(), NAN), dx(x.size(), NAN);
    run.transform(w.data(), 9, squares.in_channels * 9, true, u.data());
    run({.x = dy.data(), .u = u.data(), .y = dx.data(), .low = -kInfinity, .high = kInfinity},
        scratch.data());
    return dx;
  }
  Values weight_gradient() const {
    const WeightGradient run(squares);
    Values scratch(run.scratch_size(), NAN), dw(w.size(), NAN);
    run(x.data(), dy.data(), dw.data(), scratch.data());
    return dw;
  }
};

Squares squares_of(Isa isa, int m, std::int64_t batch, std::int64_t in, std::int64_t out,
                   std::int64_t height, std::int64_t width, std::int64_t pad_top,
                   std::int64_t pad_left) {
  Squares s;
  s.m = m;
  s.isa = isa;
  s.lanes = transforms(m)[isa].lanes;
  s.batch = batch;
  s.in_channels = in;
  s.out_channels = out;
  s.in_height = height;
  s.in_width = width;
  s.pad_top = pad_top;
  s.pad_left = pad_left;
  s.out_height = height + 2 * pad_top - 2;
  s.out_width = width + 2 * pad_left - 2;
  return s;
}

/// Odd sizes, every pad, tails of channels and squares, one to nine images.
std::vector<Squares> shapes(Isa isa) {
  std::vector<Squares> all = {
      squares_of(isa, 4, 1, 16, 16, 3, 3, 0, 0),  squares_of(isa, 4, 1, 16, 16, 1, 1, 1, 1),
      squares_of(isa, 4, 2, 48, 16, 7, 7, 1, 1),  squares_of(isa, 2, 2, 16, 48, 7, 7, 1, 1),
      squares_of(isa, 4, 9, 16, 32, 5, 18, 2, 0), squares_of(isa, 4, 2, 272, 16, 6, 9, 1, 2)};
  std::mt19937 generator(7);
  const auto draw = [&](int low, int high) {
    return std::int64_t{std::uniform_int_distribution<int>(low, high)(generator)};
  };
  for (int i = 0; i < 12; ++i) {
    const int m = i % 3 == 2 ? 2 : 4;
    const std::int64_t batch = draw(1, 9), in = 16 * draw(1, 3), out = 16 * draw(1, 3),
                       height = draw(3, 15), width = draw(3, 15), top = draw(0, 2),
                       left = draw(0, 2);
    all.push_back(squares_of(isa, m, batch, in, out, height, width, top, left));
  }
  return all;
}

std::vector<Isa> wide_isas() {
  std::vector<Isa> all;
  for (const Isa isa : available_isas())
    if (isa != Isa::kSse41) all.push_back(isa);
  return all;
}

TEST(Winograd, equals_the_definition_in_double) {
  for (const Isa isa : wide_isas())
    for (const Squares& s : shapes(isa)) {
      const Case c(s);
      std::vector<double> y(c.dy.size()), dx(c.x.size()), dw(c.w.size());
      for_each_product(s, [&](std::size_t at_x, std::size_t at_y, std::size_t at_w) {
        const double x = c.x[at_x], w = c.w[at_w], dy = c.dy[at_y];
        y[at_y] += x * w;
        dx[at_x] += dy * w;
        dw[at_w] += dy * x;
      });
      EXPECT_LT(error_of(c.forward(1), y), 1e-5) << s.in_height << "x" << s.in_width;
      EXPECT_LT(error_of(c.data_gradient(1), dx), 1e-5) << s.in_height << "x" << s.in_width;
      EXPECT_LT(error_of(c.weight_gradient(), dw), 1e-5) << s.in_height << "x" << s.in_width;
      const Tensor out = output_of(s);
      for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t o = 0; o < s.out_channels; ++o)
          for (std::int64_t i = 0; i < s.out_height; ++i)
            for (std::int64_t j = 0; j < s.out_width; ++j) {
              double& value = y[out(n, o, i, j)];
              value += static_cast<double>(c.bias[static_cast<std::size_t>(o)]) +
                       static_cast<double>(c.add[out(n, o, i, j)]);
              value = std::min(std::max(value, -1.0), 6.0);
            }
      // The scale is that of the sum before it is limited.
      EXPECT_LT(error_of(c.forward(1, true), y), 1e-4);
    }
}

TEST(Winograd, reads_and_writes_bfloat16_with_one_rounding) {
  for (const Isa isa : wide_isas())
    for (const Squares& s : shapes(isa)) {
      Case c(s);
      std::vector<BFloat16> x(c.x.begin(), c.x.end()), y(c.dy.size());
      for (std::size_t i = 0; i < x.size(); ++i) c.x[i] = static_cast<float>(x[i]);
      const Forward run(s, 1);
      Values u(run.weight_size()), scratch(run.scratch_size());
      run.transform(c.w.data(), s.in_channels * 9, 9, false, u.data());
      run({.x = x.data(),
           .u = u.data(),
           .y = y.data(),
           .low = -kInfinity,
           .high = kInfinity,
           .x_dtype = DType::kBFloat16,
           .y_dtype = DType::kBFloat16},
          scratch.data());
      const Values wide = c.forward(1);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i].bits, BFloat16(wide[i]).bits) << i;
    }
}

TEST(ThreadsWinograd, change_no_bit) {
  for (const Isa isa : wide_isas())
    for (const Squares& s : shapes(isa)) {
      const Case c(s);
      const Values y = c.forward(1, true), dx = c.data_gradient(1);
      for (const int threads : {2, 3, 7}) {
        EXPECT_EQ(c.forward(threads, true), y) << threads;
        EXPECT_EQ(c.data_gradient(threads), dx) << threads;
      }
    }
}

TEST(Winograd, has_the_same_bits_with_avx2_and_avx512) {
  if (cpu_isa() != Isa::kAvx512) GTEST_SKIP() << "needs AVX-512";
  const std::vector<Squares> narrow = shapes(Isa::kAvx2), wide = shapes(Isa::kAvx512);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    Case a(narrow[i]), b(wide[i]);
    const Squares &s = narrow[i], &t = wide[i];
    const auto copy = [&](const Tensor& from, const Values& values, const Tensor& to) {
      Values result(values.size());
      for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t c = 0; c < from.channels; ++c)
          for (std::int64_t h = 0; h < from.height; ++h)
            for (std::int64_t w = 0; w < from.width; ++w)
              result[to(n, c, h, w)] = values[from(n, c, h, w)];
      return result;
    };
    b.x = copy(input_of(s), a.x, input_of(t));
    b.dy = copy(output_of(s), a.dy, output_of(t));
    EXPECT_EQ(b.forward(1), copy(output_of(s), a.forward(1), output_of(t)));
    EXPECT_EQ(b.data_gradient(1), copy(input_of(s), a.data_gradient(1), input_of(t)));
    EXPECT_EQ(b.weight_gradient(), a.weight_gradient());
  }
}

// A square of 4×4 outputs is computed from one square of 6×6 inputs: a NaN there reaches all 16.
TEST(Winograd, spreads_nan_within_squares_only) {
  for (const Isa isa : wide_isas()) {
    const Squares s = squares_of(isa, 4, 3, 16, 16, 16, 16, 1, 1);
    const Tensor x = input_of(s), y = output_of(s);
    for (const float bad : {static_cast<float>(NAN), kInfinity}) {
      Case c(s);
      c.x[x(1, 3, 6, 6)] = bad;  // only the square of outputs 4…7 reads it, from 3 to 8
      const Values got = c.forward(2);
      for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t o = 0; o < s.out_channels; ++o)
          for (std::int64_t i = 0; i < 16; ++i)
            for (std::int64_t j = 0; j < 16; ++j) {
              const bool near = n == 1 && i / 4 == 1 && j / 4 == 1;
              const bool direct = n == 1 && std::abs(i - 6) <= 1 && std::abs(j - 6) <= 1;
              const bool finite = std::isfinite(got[y(n, o, i, j)]);
              EXPECT_TRUE(near || finite) << n << " " << i << " " << j;
              EXPECT_FALSE(direct && finite) << n << " " << i << " " << j;
            }
    }
  }
}

}  // namespace
}  // namespace symbind::winograd
