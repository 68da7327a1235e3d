// Convolutions whose products have pixels as rows, for every instruction set of this CPU, against
// the definition in double.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/channel_lanes.h"
#include "kernels/pixels/forward.h"
#include "tests/kernels/random_values.h"
#include "tests/kernels/targets.h"

namespace symbind::pixels {
namespace {

using Values = std::vector<float>;

/// Where channel c of a pixel is.
std::size_t place(std::int64_t channels, std::int64_t positions, Layout layout, std::int64_t image,
                  std::int64_t c, std::int64_t position) {
  const std::int64_t lanes = channel_lanes(Shape{1, channels, 1}, layout);
  return static_cast<std::size_t>(
      ((image * (channels / lanes) + c / lanes) * positions + position) * lanes + c % lanes);
}

/// Random values; those of the same element are equal in every layout.
Values random_tensor(std::int64_t batch, std::int64_t channels, std::int64_t positions,
                     Layout layout, unsigned seed) {
  const Values plain = random_values(batch * channels * positions, seed);
  Values all(plain.size());
  auto value = plain.begin();
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < positions; ++p)
        all[place(channels, positions, layout, n, c, p)] = *value++;
  return all;
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

/// A larger kernel, with another stride of columns where `step` is not 0.
ConvolutionSizes with_kernel(ConvolutionSizes s, std::int64_t height, std::int64_t width,
                             std::int64_t pad_top, std::int64_t pad_left, std::int64_t step = 0) {
  if (step != 0) s.stride[2] = step;
  s.kernel = {1, height, width};
  s.pad = {0, pad_top, pad_left};
  s.out[1] = (s.in[1] + 2 * pad_top - height) / s.stride[1] + 1;
  s.out[2] = (s.in[2] + 2 * pad_left - width) / s.stride[2] + 1;
  return s;
}

/// Checks every `step`-th position. Returns y in the plain layout.
Values check(const ConvolutionSizes& s, Layout x_layout, Isa isa, int threads, int step = 1) {
  const Layout y_layout = Forward::blocks_or_last(s.out_channels, isa);
  const Forward run(s, x_layout, y_layout, threads, isa);
  const std::int64_t in_positions = ConvolutionSizes::product(s.in),
                     positions = ConvolutionSizes::product(s.out),
                     taps = ConvolutionSizes::product(s.kernel);
  const Values x = random_tensor(s.batch, s.in_channels, in_positions, x_layout, 1),
               w = random_values(s.in_channels * s.out_channels * taps, 2),
               bias = random_values(s.out_channels, 3),
               add = random_tensor(s.batch, s.out_channels, positions, y_layout, 4);
  // As wide as a cache line, as tensors of a plan are.
  Values packed(run.weight_size()), memory(add.size() + 16, -7.f);
  Values scratch(run.scratch_size(), std::numeric_limits<float>::quiet_NaN());
  void* aligned = memory.data();
  std::size_t bytes = memory.size() * sizeof(float);
  const std::span y(static_cast<float*>(std::align(64, add.size() * sizeof(float), aligned, bytes)),
                    add.size());
  std::ranges::copy(add, y.begin());  // the sum may be in the memory of the output
  run.pack(w.data(), packed.data());
  run(x.data(),
      {.weight = packed.data(),
       .bias = bias.data(),
       .add = y.data(),
       .low = -1.5f,
       .high = 1.5f,
       .y = y.data()},
      scratch.data());
  // Rounding errors of a sum grow with the root of its length.
  const double tolerance = 1e-6 * std::sqrt(static_cast<double>(s.in_channels * taps));
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.out_channels; ++o)
      for (std::int64_t p = 0; p < positions; p += step) {
        const std::size_t at = place(s.out_channels, positions, y_layout, n, o, p);
        double sum =
            static_cast<double>(bias[static_cast<std::size_t>(o)]) + static_cast<double>(add[at]);
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const std::int64_t i = p / s.out[2] * s.stride[1] + tap / s.kernel[2] - s.pad[1],
                             j = p % s.out[2] * s.stride[2] + tap % s.kernel[2] - s.pad[2];
          if (i < 0 || i >= s.in[1] || j < 0 || j >= s.in[2]) continue;
          for (std::int64_t c = 0; c < s.in_channels; ++c)
            sum += static_cast<double>(
                       x[place(s.in_channels, in_positions, x_layout, n, c, i * s.in[2] + j)]) *
                   static_cast<double>(
                       w[static_cast<std::size_t>((o * s.in_channels + c) * taps + tap)]);
        }
        EXPECT_NEAR(static_cast<double>(y[at]), std::clamp(sum, -1.5, 1.5), tolerance)
            << "image " << n << " filter " << o << " position " << p;
        if (testing::Test::HasFailure()) return {};
      }
  Values plain(y.size());
  for (std::int64_t n = 0, to = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.out_channels; ++o)
      for (std::int64_t p = 0; p < positions; ++p, ++to)
        plain[static_cast<std::size_t>(to)] =
            y[place(s.out_channels, positions, y_layout, n, o, p)];
  return plain;
}

TEST(Pixels, every_layout_and_size_is_the_definition) {
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

std::vector<ConvolutionSizes> larger_kernels() {
  return {with_kernel(sizes_of(1, 32, 48, 14, 14, 2), 3, 3, 1, 1),
          with_kernel(sizes_of(5, 64, 80, 7, 9, 2), 3, 3, 1, 1),  // several rounds
          with_kernel(sizes_of(2, 48, 32, 31, 30, 2), 5, 3, 2, 0),
          with_kernel(sizes_of(1, 32, 16, 40, 37, 3), 2, 7, 0, 5),
          with_kernel(sizes_of(1, 16, 16, 3, 2, 2), 3, 3, 2, 2),
          with_kernel(sizes_of(3, 16, 32, 1, 23, 2), 1, 4, 0, 1),
          with_kernel(sizes_of(2, 16, 16, 11, 12, 3), 2, 2, 0, 1),    // pixels that no tap reads
          with_kernel(sizes_of(3, 16, 48, 9, 10, 2), 3, 3, 1, 1, 1),  // rows at stride 2
          with_kernel(sizes_of(3, 16, 48, 9, 10, 1), 3, 3, 1, 1, 2),  // columns at stride 2
          with_kernel(sizes_of(1, 64, 928, 4, 5, 2), 3, 3, 1, 1),     // filters read once
          with_kernel(sizes_of(1, 144, 32, 28, 28, 2), 3, 3, 1, 1)};
}

/// Every number of threads and instruction set gives the bits of the first.
void check_larger_kernels() {
  for (const ConvolutionSizes& s : larger_kernels()) {
    Values first;
    for (const Isa isa : isas_with_fma())
      for (const int threads : {1, 2, 3}) {
        const Values y = check(s, Forward::blocks_or_last(s.in_channels, isa), isa, threads);
        if (first.empty()) first = y;
        EXPECT_EQ(y, first) << threads << " threads";
      }
  }
}

TEST(Pixels, larger_kernels_are_the_definition_and_equal_bits) { check_larger_kernels(); }
TEST(ThreadsPixels, change_no_bit) { check_larger_kernels(); }

/// 16 MiB and more, whose parts are fetched ahead and whose results are written past the caches.
TEST(Pixels, large_outputs_are_the_definition) {
  for (const Isa isa : available_isas())
    for (const int threads : {1, 2}) {
      check(sizes_of(3, 32, 64, 160, 141, 1), Layout::kBlocked16, isa, threads, 61);
      check(sizes_of(1, 80, 72, 240, 251, 1), Layout::kBlocked16, isa, threads, 61);
    }
}

}  // namespace
}  // namespace symbind::pixels
