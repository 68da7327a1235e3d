// The loops of batch normalisation: AVX2 and AVX-512 give equal bits, and a part's sums are those
// of the mathematics.

#include "kernels/batch_norm/grid.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/targets.h"

namespace symbind {
namespace {

using batch_norm::Grid;
using batch_norm::Loops;
using batch_norm::Part;
using Floats = std::vector<float>;

Floats numbers(std::size_t n, unsigned seed) {
  Floats v;
  for (std::size_t i = 0; i < n; ++i)
    v.push_back(static_cast<float>((i * 2654435761u + seed * 97u) % 2003) / 400.f - 2.5f);
  return v;
}

batch_norm::Parameters parameters(unsigned seed) {
  batch_norm::Parameters p;
  const Floats v = numbers(batch_norm::kMost, seed);
  std::memcpy(p.at, v.data(), sizeof p.at);
  return p;
}

/// Everything that the loops of one instruction set write, for a part of rows of 5 groups.
struct Written {
  Floats sums, y, dz, dx;
  std::vector<std::uint8_t> mask;
  bool operator==(const Written&) const = default;
};

Written all_loops(const Loops& f, std::int64_t lanes, std::int64_t rest, NormRelu relu) {
  const Part p{.rows = 3,
               .row_step = 7 * lanes,
               .mask_row_step = 7 * lanes / 8,
               .length = 5,
               .step = lanes,
               .rest = rest};
  const auto size = static_cast<std::size_t>(p.rows * p.row_step);
  const Floats x = numbers(size, 1), add = numbers(size, 2), dy = numbers(size, 3);
  Written w{Floats(6 * batch_norm::kMost), Floats(size), Floats(size), Floats(size),
            std::vector<std::uint8_t>(size / 8 + 8)};
  float* sums = w.sums.data();
  const auto next = [&] { return sums += batch_norm::kMost; };
  f.sum(p, x.data(), sums);
  float *first = next(), *second = next();
  f.squares(p, x.data(), parameters(4), first, second);
  f.normalize(p, {.mean = parameters(4),
                  .scale = parameters(5),
                  .shift = parameters(6),
                  .relu = relu,
                  .x = x.data(),
                  .add = add.data(),
                  .y = w.y.data(),
                  .mask = relu == NormRelu::kNone ? nullptr : w.mask.data()});
  first = next(), second = next();
  f.head_sums(p,
              {.first = dy.data(),
               .second = add.data(),
               .mask = relu == NormRelu::kNone ? nullptr : w.mask.data(),
               .total = w.dz.data()},
              x.data(), parameters(4), first, second);
  f.gradient(p, {.mean = parameters(4),
                 .a = parameters(7),
                 .b = parameters(8),
                 .scale = parameters(5),
                 .dz = dy.data(),
                 .x = x.data(),
                 .mask = relu == NormRelu::kNone ? nullptr : w.mask.data(),
                 .dx = w.dx.data()});
  return w;
}

TEST(BatchNormLoops, avx2_and_avx512_give_equal_bits) {
  const std::vector<Isa> isas = isas_with_fma();
  for (const Isa isa : isas)
    for (const NormRelu relu : {NormRelu::kNone, NormRelu::kNanIsZero, NormRelu::kKeepsNan})
      for (const std::int64_t rest : {0, 1, 7, 15}) {
        const auto& table = batch_norm::loops()[isa];
        const auto& other = batch_norm::loops()[isas.front()];
        EXPECT_EQ(all_loops(table.of_16, 16, rest, relu), all_loops(other.of_16, 16, rest, relu));
        EXPECT_EQ(all_loops(table.of_8, 8, rest % 8, relu),
                  all_loops(other.of_8, 8, rest % 8, relu));
      }
}

TEST(BatchNormLoops, every_instruction_set_gives_the_mathematics) {
  for (const Isa isa : available_isas())
    for (const std::int64_t lanes : {8, 16}) {
      const auto& table = batch_norm::loops()[isa];
      const Loops& f = lanes == 8 ? table.of_8 : table.of_16;
      const Written w = all_loops(f, lanes, lanes - 1, NormRelu::kNanIsZero);
      const auto size = static_cast<std::size_t>(3 * 7 * lanes);
      const Floats x = numbers(size, 1), add = numbers(size, 2), dy = numbers(size, 3);
      const auto mean = parameters(4), scale = parameters(5), shift = parameters(6),
                 a = parameters(7), b = parameters(8);
      std::vector<double> sum(16), products(16);
      for (std::int64_t row = 0; row < 3; ++row)
        for (std::int64_t i = 0; i < 7 * lanes; ++i) {
          const auto at = static_cast<std::size_t>(row * 7 * lanes + i);
          const auto lane = static_cast<std::size_t>(i % lanes);
          if (i >= 6 * lanes - 1) {  // not part of it
            EXPECT_EQ(w.y[at], 0);
            EXPECT_EQ(w.dx[at], 0);
            continue;
          }
          const double away = static_cast<double>(x[at]) - static_cast<double>(mean.at[lane]);
          const double y = away * static_cast<double>(scale.at[lane]) +
                           static_cast<double>(shift.at[lane]) + static_cast<double>(add[at]);
          const double head = static_cast<double>(dy[at]) + static_cast<double>(add[at]);
          sum[lane] += static_cast<double>(x[at]);
          if (y > 0) products[lane] += head * away;
          ASSERT_NEAR(static_cast<double>(w.y[at]), std::max(y, 0.0), 1e-5);
          ASSERT_NEAR(static_cast<double>(w.dz[at]), y > 0 ? head : 0, 1e-6);
          const double dx =
              ((y > 0 ? static_cast<double>(dy[at]) : 0) - static_cast<double>(a.at[lane]) -
               away * static_cast<double>(b.at[lane])) *
              static_cast<double>(scale.at[lane]);
          ASSERT_NEAR(static_cast<double>(w.dx[at]), dx, 2e-5 * (1 + std::abs(dx)));
        }
      for (std::size_t k = 0; k < static_cast<std::size_t>(lanes); ++k) {
        EXPECT_NEAR(static_cast<double>(w.sums[k]), sum[k], 1e-4);
        EXPECT_NEAR(static_cast<double>(w.sums[4 * 16 + k]), products[k], 1e-3);
      }
    }
}

/// Every number belongs to one part of one group, and its mask to one bit.
TEST(BatchNormGrid, parts_cover_the_tensor_once) {
  const std::pair<Shape, Layout> tensors[] = {
      {{3, 5, 7, 6}, Layout::kPlain},      {{2, 3, 70, 70}, Layout::kPlain},
      {{600, 16}, Layout::kPlain},         {{2, 24, 3, 3}, Layout::kChannelsLast},
      {{9, 32, 7, 7}, Layout::kBlocked16}, {{2, 24, 20, 21}, Layout::kBlocked8}};
  for (const auto& [shape, layout] : tensors) {
    const Grid grid(shape, layout);
    std::vector<int> seen(static_cast<std::size_t>(shape.size())), bytes(grid.mask_bytes());
    std::int64_t count = 0;
    for (std::int64_t part = 0; part < grid.parts(); ++part) {
      count += grid.count(part);
      for (std::int64_t g = 0; g < grid.groups(); ++g) {
        const Part p = grid.part(part);
        const std::int64_t lanes = grid.width() > 1 ? grid.width() : 16;
        for (std::int64_t r = 0; r < p.rows; ++r)
          for (std::int64_t i = 0; i < p.length + (p.rest > 0 ? 1 : 0); ++i) {
            for (std::int64_t k = 0; k < (i < p.length ? lanes : p.rest); ++k)
              ++seen.at(
                  static_cast<std::size_t>(grid.offset(g, part) + r * p.row_step + i * p.step + k));
            for (std::int64_t k = 0; k < lanes / 8; ++k)
              ++bytes.at(static_cast<std::size_t>(grid.mask_offset(g, part) + r * p.mask_row_step +
                                                  i * p.step / 8 + k));
          }
      }
    }
    EXPECT_EQ(count, grid.count());
    EXPECT_EQ(count * grid.channels(), shape.size());
    for (const int times : seen) ASSERT_EQ(times, 1);
    for (const int times : bytes) ASSERT_EQ(times, 1);
  }
}

}  // namespace
}  // namespace symbind
