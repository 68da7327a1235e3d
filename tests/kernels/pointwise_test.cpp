// The 1×1 convolution over blocked and channels-last tensors, for every instruction set of this
// CPU, against the definition in double.

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/channel_lanes.h"
#include "kernels/pointwise/forward.h"
#include "tests/kernels/targets.h"

namespace symbind::pointwise {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> value(-1.f, 1.f);
  Values all(static_cast<std::size_t>(n));
  for (float& v : all) v = value(generator);
  return all;
}

/// Where channel c of a pixel is.
std::size_t place(std::int64_t channels, std::int64_t positions, Layout layout, std::int64_t image,
                  std::int64_t c, std::int64_t position) {
  const std::int64_t lanes = channel_lanes(Shape{1, channels, 1}, layout);
  return static_cast<std::size_t>(
      ((image * (channels / lanes) + c / lanes) * positions + position) * lanes + c % lanes);
}

ConvolutionSizes sizes_of(std::int64_t batch, std::int64_t in, std::int64_t out,
                          std::int64_t height, std::int64_t width, std::int64_t stride) {
  ConvolutionSizes s;
  s.batch = batch;
  s.in_channels = in;
  s.out_channels = out;
  s.in = {1, height, width};
  s.stride = {1, stride, stride};
  s.out = {1, (height - 1) / stride + 1, (width - 1) / stride + 1};
  return s;
}

/// Checks every `step`-th position.
void check(const ConvolutionSizes& s, Layout x_layout, Isa isa, int threads, int step = 1) {
  const Layout y_layout = Forward::blocks_or_last(s.out_channels, isa);
  const Forward run(s, x_layout, y_layout, threads, isa);
  const std::int64_t in_positions = ConvolutionSizes::product(s.in),
                     positions = ConvolutionSizes::product(s.out);
  const Values x = random_values(s.batch * s.in_channels * in_positions, 1),
               w = random_values(s.in_channels * s.out_channels, 2),
               bias = random_values(s.out_channels, 3),
               add = random_values(s.batch * s.out_channels * positions, 4);
  // As wide as a cache line, as tensors of a plan are.
  Values packed(run.weight_size()), memory(add.size() + 16, -7.f);
  void* aligned = memory.data();
  std::size_t bytes = memory.size() * sizeof(float);
  const std::span y(static_cast<float*>(std::align(64, add.size() * sizeof(float), aligned, bytes)),
                    add.size());
  run.pack(w.data(), packed.data());
  run(x.data(), {.weight = packed.data(),
                 .bias = bias.data(),
                 .add = add.data(),
                 .low = -1.5f,
                 .high = 1.5f,
                 .y = y.data()});
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.out_channels; ++o)
      for (std::int64_t p = 0; p < positions; p += step) {
        const std::int64_t pixel =
            p / s.out[2] * s.stride[1] * s.in[2] + p % s.out[2] * s.stride[2];
        const std::size_t at = place(s.out_channels, positions, y_layout, n, o, p);
        double sum =
            static_cast<double>(bias[static_cast<std::size_t>(o)]) + static_cast<double>(add[at]);
        for (std::int64_t c = 0; c < s.in_channels; ++c)
          sum += static_cast<double>(x[place(s.in_channels, in_positions, x_layout, n, c, pixel)]) *
                 static_cast<double>(w[static_cast<std::size_t>(o * s.in_channels + c)]);
        ASSERT_NEAR(static_cast<double>(y[at]), std::clamp(sum, -1.5, 1.5), 2e-5)
            << "image " << n << " filter " << o << " position " << p;
      }
}

TEST(Pointwise, every_layout_and_size_is_the_definition) {
  for (const Isa isa : available_isas())
    for (const int threads : {1, 3}) {
      check(sizes_of(2, 24, 144, 5, 7, 1), Layout::kChannelsLast, isa, threads);
      check(sizes_of(1, 144, 24, 14, 15, 1), Layout::kBlocked16, isa, threads);
      check(sizes_of(3, 40, 50, 3, 3, 1), Layout::kBlocked8, isa, threads);
      check(sizes_of(2, 13, 9, 6, 5, 2), Layout::kChannelsLast, isa, threads);
      check(sizes_of(1, 1040, 24, 2, 2, 1), Layout::kBlocked16, isa, threads);
      check(sizes_of(1, 16, 1000, 1, 1, 1), Layout::kBlocked16, isa, threads);
    }
}

/// 16 MiB and more, whose parts are fetched ahead and whose results are written past the caches.
TEST(Pointwise, large_outputs_are_the_definition) {
  for (const Isa isa : available_isas())
    for (const int threads : {1, 2}) {
      check(sizes_of(3, 32, 64, 160, 141, 1), Layout::kBlocked16, isa, threads, 61);
      check(sizes_of(1, 80, 72, 240, 251, 1), Layout::kBlocked16, isa, threads, 61);
    }
}

}  // namespace
}  // namespace symbind::pointwise
