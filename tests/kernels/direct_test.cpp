// The convolution over plain tensors and its gradients, for every instruction set of this CPU,
// against the definition in double.

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/direct/forward.h"
#include "kernels/direct/scattered.h"
#include "kernels/direct/weight_gradient.h"
#include "tests/kernels/random_values.h"
#include "tests/kernels/targets.h"

namespace symbind::direct {
namespace {

using Values = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Plane plane_of(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t height,
               std::int64_t width, std::int64_t kernel_height, std::int64_t kernel_width,
               std::int64_t pad_top, std::int64_t pad_left, std::int64_t dilate) {
  Plane p;
  p.batch = batch;
  p.in_channels = in;
  p.out_channels = out;
  p.in_height = height;
  p.in_width = width;
  p.kernel_height = kernel_height;
  p.kernel_width = kernel_width;
  p.pad_top = pad_top;
  p.pad_left = pad_left;
  p.dilate_height = p.dilate_width = dilate;
  p.out_height = height + 2 * pad_top - (kernel_height - 1) * dilate;
  p.out_width = width + 2 * pad_left - (kernel_width - 1) * dilate;
  return p;
}

std::vector<Plane> planes() {
  std::vector<Plane> all = {
      plane_of(3, 1, 20, 28, 28, 5, 5, 0, 0, 1), plane_of(2, 20, 50, 12, 12, 5, 5, 0, 0, 1),
      plane_of(1, 1, 1, 1, 1, 1, 1, 0, 0, 1), plane_of(2, 7, 10, 1, 37, 1, 3, 0, 1, 1),
      plane_of(19, 3, 5, 4, 4, 3, 3, 1, 1, 1), plane_of(1, 60, 33, 9, 10, 3, 3, 1, 1, 2),
      // The sums of its groups take the most memory that is allowed for them.
      plane_of(16, 50, 50, 12, 12, 5, 5, 0, 0, 1), plane_of(1, 2, 70, 23, 41, 1, 1, 0, 0, 1),
      plane_of(2, 2, 3, 5, 6, 3, 2, 2, 1, 1)};
  std::mt19937 generator(11);
  const auto draw = [&](int low, int high) {
    return std::int64_t{std::uniform_int_distribution<int>(low, high)(generator)};
  };
  for (int i = 0; i < 12; ++i) {
    const std::int64_t kernel_height = draw(1, 4), kernel_width = draw(1, 4), dilate = draw(1, 2);
    const std::int64_t least = 3 * 2 + 1;
    all.push_back(plane_of(draw(1, 9), draw(1, 11), draw(1, 21), draw(least, 17), draw(least, 17),
                           kernel_height, kernel_width, draw(0, (kernel_height - 1) * dilate),
                           draw(0, (kernel_width - 1) * dilate), dilate));
  }
  return all;
}

/// Calls f(x index, y index, w index) for every product of the convolution.
template <class F>
void for_each_product(const Plane& p, F&& f) {
  for (std::int64_t n = 0; n < p.batch; ++n)
    for (std::int64_t o = 0; o < p.out_channels; ++o)
      for (std::int64_t y = 0; y < p.out_plane(); ++y)
        for (std::int64_t k = 0; k < p.depth(); ++k) {
          const std::int64_t c = k / p.taps(), tap = k % p.taps();
          const std::int64_t i =
              y / p.out_width - p.pad_top + tap / p.kernel_width * p.dilate_height;
          const std::int64_t j =
              y % p.out_width - p.pad_left + tap % p.kernel_width * p.dilate_width;
          if (i >= 0 && i < p.in_height && j >= 0 && j < p.in_width)
            f(static_cast<std::size_t>(((n * p.in_channels + c) * p.in_height + i) * p.in_width +
                                       j),
              static_cast<std::size_t>((n * p.out_channels + o) * p.out_plane() + y),
              static_cast<std::size_t>(o * p.depth() + k));
        }
}

struct Case {
  Plane plane;
  Isa isa;
  Values x, w, dy, bias, add;
  Case(const Plane& p, Isa isa_)
      : plane(p),
        isa(isa_),
        x(random_values(p.batch * p.in_channels * p.in_plane(), 1)),
        w(random_values(p.out_channels * p.depth(), 2)),
        dy(random_values(p.batch * p.out_channels * p.out_plane(), 3)),
        bias(random_values(p.out_channels, 4)),
        add(random_values(static_cast<std::int64_t>(dy.size()), 5)) {}

  Values forward(int threads, bool epilogue) const {
    const Forward run(plane, threads, isa);
    Values scratch(run.scratch_size(), NAN), y(dy.size(), NAN);
    Forward::Operands o{
        .x = x.data(), .w = w.data(), .y = y.data(), .low = -kInfinity, .high = kInfinity};
    if (epilogue) {
      y = add;  // the sum may share the output's memory
      o.bias = bias.data();
      o.add = y.data();
      o.low = -0.5f;
      o.high = 1.f;
    }
    run(o, scratch.data());
    return y;
  }
  Values scattered(int threads) const {
    const Scattered run(plane, threads, isa);
    Values scratch(run.scratch_size(), NAN), dx(x.size(), NAN);
    run(dy.data(), w.data(), dx.data(), scratch.data());
    return dx;
  }
  Values weight_gradient(int threads) const {
    const WeightGradient run(plane, threads, isa);
    Values scratch(run.scratch_size(), NAN), dw(w.size(), NAN);
    run(x.data(), dy.data(), dw.data(), scratch.data());
    return dw;
  }
};

TEST(Direct, equals_the_definition_in_double) {
  for (const Isa isa : available_isas())
    for (const Plane& p : planes()) {
      const Case c(p, isa);
      std::vector<double> y(c.dy.size()), dw(c.w.size()), dx(c.x.size());
      for_each_product(p, [&](std::size_t at_x, std::size_t at_y, std::size_t at_w) {
        dx[at_x] += static_cast<double>(c.w[at_w]) * static_cast<double>(c.dy[at_y]);
        y[at_y] += static_cast<double>(c.x[at_x]) * static_cast<double>(c.w[at_w]);
        dw[at_w] += static_cast<double>(c.x[at_x]) * static_cast<double>(c.dy[at_y]);
      });
      const Values plain = c.forward(1, false), limited = c.forward(1, true),
                   gradient = c.weight_gradient(1), data = c.scattered(1);
      for (std::size_t i = 0; i < dx.size(); ++i)
        ASSERT_NEAR(data[i], dx[i],
                    1e-5 * (1 + std::sqrt(static_cast<double>(p.out_channels * p.taps()))))
            << i;
      for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(plain[i], y[i], 1e-5 * (1 + std::sqrt(p.depth()))) << i;
        const auto filter =
            i / static_cast<std::size_t>(p.out_plane()) % static_cast<std::size_t>(p.out_channels);
        const double sum =
            y[i] + static_cast<double>(c.bias[filter]) + static_cast<double>(c.add[i]);
        ASSERT_NEAR(limited[i], std::min(std::max(sum, -0.5), 1.0),
                    1e-5 * (1 + std::sqrt(p.depth())))
            << i;
      }
      for (std::size_t i = 0; i < dw.size(); ++i)
        ASSERT_NEAR(gradient[i], dw[i],
                    1e-5 * (1 + std::sqrt(static_cast<double>(p.batch * p.out_plane()))))
            << i;
    }
}

TEST(ThreadsDirect, change_no_bit) {
  for (const Isa isa : available_isas())
    for (const Plane& p : planes()) {
      const Case c(p, isa);
      const Values y = c.forward(1, true), dw = c.weight_gradient(1), dx = c.scattered(1);
      for (const int threads : {2, 3, 7}) {
        EXPECT_EQ(c.forward(threads, true), y) << threads;
        EXPECT_EQ(c.weight_gradient(threads), dw) << threads;
        EXPECT_EQ(c.scattered(threads), dx) << threads;
      }
    }
}

TEST(Direct, has_the_same_bits_with_avx2_and_avx512) {
  const std::vector<Isa> all = isas_with_fma();
  if (all.size() < 2) return;
  for (const Plane& p : planes()) {
    const Case a(p, all[0]), b(p, all[1]);
    EXPECT_EQ(a.forward(1, true), b.forward(1, true));
    EXPECT_EQ(a.weight_gradient(1), b.weight_gradient(1));
    EXPECT_EQ(a.scattered(1), b.scattered(1));
  }
}

// Padding reads zeros, not neighbours: a NaN reaches the outputs and taps that read it, no others.
TEST(Direct, keeps_nan_where_it_is_read) {
  for (const Isa isa : available_isas())
    for (const Plane& p : planes()) {
      Case c(p, isa);
      const std::size_t bad = c.x.size() / 2;
      c.x[bad] = NAN;
      std::vector<bool> y(c.dy.size()), dw(c.w.size());
      for_each_product(p, [&](std::size_t at_x, std::size_t at_y, std::size_t at_w) {
        if (at_x == bad) y[at_y] = dw[at_w] = true;
      });
      const Values got = c.forward(1, false), gradient = c.weight_gradient(1);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(got[i]), y[i]) << i;
      for (std::size_t i = 0; i < dw.size(); ++i) ASSERT_EQ(std::isnan(gradient[i]), dw[i]) << i;
    }
}

}  // namespace
}  // namespace symbind::direct
