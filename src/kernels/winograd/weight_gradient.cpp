// Decided here: the sum over all squares is a matrix product per position (input channels ×
// squares, squares × filters). Squares are processed in groups, one after the other; in each,
// threads share the channels to transform, then the positions and filters to multiply. So every sum
// has one order, whatever the number of threads.
#include "kernels/winograd/weight_gradient.h"

#include <array>

#include "base/check.h"
#include "base/parallel.h"

namespace symbind::winograd {

namespace {

/// Squares of a group. Every group reads and writes the sums of all products once.
constexpr std::int64_t kMostSquares = 128;
/// Input channels of one call of the product.
constexpr std::int64_t kRows = 256;

}  // namespace

WeightGradient::WeightGradient(const Squares& squares)
    : s_(squares),
      transforms_(transforms(squares.m)[squares.isa]),
      products_(packed::products()[squares.isa]),
      groups_((squares.count() + kMostSquares - 1) / kMostSquares) {
  SYMBIND_ASSERT(s_.in_channels % s_.lanes == 0 && s_.out_channels % s_.lanes == 0 &&
                 s_.lanes == transforms_.lanes);
}

std::size_t WeightGradient::scratch_size() const {
  const std::int64_t most = (s_.count() + groups_ - 1) / groups_;
  return static_cast<std::size_t>(s_.positions() *
                                  (position_step(s_.in_channels * most) +
                                   position_step(s_.out_channels * most) +
                                   position_step(s_.in_channels * s_.out_channels)));
}

void WeightGradient::operator()(const float* x, const float* dy, float* dw, float* scratch) const {
  Memory memory;
  memory.sums = scratch;
  memory.sums_step = position_step(s_.in_channels * s_.out_channels);
  memory.v = scratch + s_.positions() * memory.sums_step;
  for (std::int64_t g = 0; g < groups_; ++g) {
    const std::int64_t first = g * s_.count() / groups_,
                       count = (g + 1) * s_.count() / groups_ - first;
    memory.v_step = position_step(s_.in_channels * count);
    memory.d = memory.v + s_.positions() * memory.v_step;
    memory.d_step = position_step(s_.out_channels * count);
    transform(x, dy, first, count, memory);
    multiply(count, g == 0, memory);
  }
  parallel_for(s_.out_blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t panel = block / 2, width = panel_vectors(panel) * s_.lanes;
      const float* from =
          memory.sums + panel * 2 * s_.lanes * s_.in_channels + block % 2 * s_.lanes;
      for (std::int64_t i = 0; i < s_.in_channels; ++i)
        transforms_.weight_gradient(from + i * width, memory.sums_step,
                                    dw + (block * s_.lanes * s_.in_channels + i) * 9,
                                    s_.in_channels * 9, s_.lanes);
    }
  });
}

void WeightGradient::transform(const float* x, const float* dy, std::int64_t first,
                               std::int64_t count, const Memory& memory) const {
  const std::int64_t lanes = s_.lanes, in_plane = s_.in_height * s_.in_width * lanes,
                     out_plane = s_.out_height * s_.out_width * lanes;
  parallel_for(s_.in_blocks() + s_.out_blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      if (b < s_.in_blocks()) {
        for (std::int64_t t = 0; t < count; ++t) {
          const Place from = input_place(s_, first + t);
          transforms_.input(x + b * in_plane + from.offset, s_.in_width * lanes, from.window,
                            memory.v + (b * count + t) * lanes, memory.v_step);
        }
        continue;
      }
      const std::int64_t block = b - s_.in_blocks(), panel = block / 2,
                         width = panel_vectors(panel) * lanes;
      float* to = memory.d + panel * 2 * lanes * count + block % 2 * lanes;
      for (std::int64_t t = 0; t < count; ++t) {
        const Place from = output_place(s_, first + t);
        transforms_.output_gradient(dy + block * out_plane + from.offset, s_.out_width * lanes,
                                    from.window, to + t * width, memory.d_step);
      }
    }
  });
}

void WeightGradient::multiply(std::int64_t count, bool is_first, const Memory& memory) const {
  const std::int64_t lanes = s_.lanes;
  std::array<const float*, kRows> rows;
  for (std::int64_t r = 0; r < kRows; ++r)
    rows[static_cast<std::size_t>(r)] = memory.v + r / lanes * lanes * count + r % lanes;
  std::array<std::ptrdiff_t, kMostSquares / packed::kBlock + 1> offsets;
  for (std::size_t b = 0; b < offsets.size(); ++b)
    offsets[b] = static_cast<std::ptrdiff_t>(b) * packed::kBlock * lanes;
  parallel_for(s_.positions() * panels(), 1, [&](std::int64_t begin, std::int64_t end) {
    packed::Product product{.a = rows.data(), .offsets = offsets.data()};
    product.blocks = count / packed::kBlock;
    product.rest = count % packed::kBlock;
    product.c_vector = lanes;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t position = item / panels(), panel = item % panels(),
                         vectors = panel_vectors(panel);
      product.b = memory.d + position * memory.d_step + panel * 2 * lanes * count;
      product.c_row = vectors * lanes;
      for (std::int64_t i = 0; i < s_.in_channels; i += kRows) {
        product.rows = std::min(kRows, s_.in_channels - i);
        product.shift = position * memory.v_step + i * count;
        product.c = memory.sums + position * memory.sums_step + panel * 2 * lanes * s_.in_channels +
                    i * vectors * lanes;
        product.add = is_first ? nullptr : product.c;
        products_(product, vectors, packed::Step::kLanes);
      }
    }
  });
}

}  // namespace symbind::winograd
