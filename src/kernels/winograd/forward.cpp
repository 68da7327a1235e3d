// Decided here: squares are processed in groups. A group's input is transformed; then, position by
// position, one matrix product (squares × channels, channels × filters) follows; then the outputs
// are transformed back. A group is as large as the L2 cache allows, because every group reads all
// transformed filters once. Threads take groups; with fewer groups than threads they share the
// filters of a group, and each transforms the group's input for itself, which costs little where
// there are many filters.
#include "kernels/winograd/forward.h"

#include <array>

#include "base/check.h"
#include "base/parallel.h"

namespace symbind::winograd {

namespace {

constexpr std::int64_t kMostSquares = 128, kFewSquares = 48;
constexpr std::int64_t kGroupBytes = std::int64_t{1} << 20;

std::int64_t up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

}  // namespace

struct Forward::Part {
  std::int64_t first, count;  ///< squares
  std::int64_t first_panel, end_panel;
};

Forward::Forward(const Squares& squares, int threads)
    : s_(squares),
      transforms_(transforms(squares.m)[squares.isa]),
      products_(packed::products()[squares.isa]),
      slots_(std::max(threads, 1)) {
  SYMBIND_ASSERT(s_.in_channels % s_.lanes == 0 && s_.out_channels % s_.lanes == 0 &&
                 s_.lanes == transforms_.lanes);
  const std::int64_t bytes = s_.positions() * (s_.in_channels + s_.out_channels) * 4;
  const std::int64_t fitting = std::clamp(kGroupBytes / bytes, kFewSquares, kMostSquares);
  groups_ = up(s_.count(), fitting);
  // As many groups as threads, or a multiple, unless groups would become too small.
  const std::int64_t even = up(groups_, slots_) * slots_;
  if (s_.count() / even >= kFewSquares / 3) groups_ = even;
  column_groups_ = 1;
  if (groups_ < slots_ || (groups_ % slots_ != 0 && groups_ < 4 * slots_))
    column_groups_ = std::min(slots_, panels());
  slots_ = std::min(slots_, groups_ * column_groups_);
  filters_once_ = groups_ <= slots_ && packed::read_once(weight_size() * sizeof(float), groups_);
}

// ---- Filters ------------------------------------------------------------------------------------

// Position by position; in each, panels of two vectors of filters (the last may have one), whose
// channels follow one another.
std::size_t Forward::weight_size() const {
  return static_cast<std::size_t>(s_.positions() * position_step(s_.in_channels * s_.out_channels));
}

void Forward::transform(const float* w, std::ptrdiff_t out_step, std::ptrdiff_t in_step,
                        bool flipped, float* u) const {
  const std::int64_t lanes = s_.lanes, step = position_step(s_.in_channels * s_.out_channels);
  parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const std::int64_t vectors = std::min<std::int64_t>(2, s_.out_blocks() - 2 * panel);
      float* to = u + panel * 2 * lanes * s_.in_channels;
      for (std::int64_t i = 0; i < s_.in_channels; ++i)
        for (std::int64_t v = 0; v < vectors; ++v, to += lanes)
          transforms_.weight(w + (2 * panel + v) * lanes * out_step + i * in_step, out_step, lanes,
                             flipped, to, step);
    }
  });
}

// ---- Data ---------------------------------------------------------------------------------------

std::size_t Forward::part_scratch() const {
  const std::int64_t squares = up(s_.count(), groups_);
  const std::int64_t filters = up(panels(), column_groups_) * 2 * s_.lanes;
  return static_cast<std::size_t>(s_.positions() * (position_step(s_.in_channels * squares) +
                                                    position_step(filters * squares)));
}

std::size_t Forward::scratch_size() const {
  return part_scratch() * static_cast<std::size_t>(slots_);
}

void Forward::operator()(const Operands& operands, float* scratch) const {
  const std::int64_t parts = groups_ * column_groups_;
  parallel_for(slots_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      float* memory = scratch + static_cast<std::size_t>(slot) * part_scratch();
      for (std::int64_t p = slot * parts / slots_; p < (slot + 1) * parts / slots_; ++p) {
        const std::int64_t group = p / column_groups_, columns = p % column_groups_;
        const std::int64_t first = group * s_.count() / groups_;
        run({first, (group + 1) * s_.count() / groups_ - first, columns * panels() / column_groups_,
             (columns + 1) * panels() / column_groups_},
            operands, memory);
      }
    }
  });
}

void Forward::run(const Part& part, const Operands& o, float* scratch) const {
  const std::int64_t lanes = s_.lanes, count = part.count;
  const std::ptrdiff_t v_step = position_step(s_.in_channels * count);
  const std::int64_t first_block = 2 * part.first_panel,
                     end_block = std::min(2 * part.end_panel, s_.out_blocks());
  const std::ptrdiff_t m_step = position_step((end_block - first_block) * lanes * count);
  const std::ptrdiff_t u_step = position_step(s_.in_channels * s_.out_channels);
  float *v = scratch, *m = scratch + s_.positions() * v_step;

  const std::int64_t in_plane = s_.in_height * s_.in_width * lanes;
  for (std::int64_t block = 0; block < s_.in_blocks(); ++block) {
    for (std::int64_t t = 0; t < count; ++t) {
      const Place from = input_place(s_, part.first + t);
      const std::ptrdiff_t at = block * in_plane + from.offset, row = s_.in_width * lanes;
      float* to = v + (block * count + t) * lanes;
      if (o.x_dtype == DType::kBFloat16)
        transforms_.input_bfloat16(static_cast<const std::uint16_t*>(o.x) + at, row, from.window,
                                   to, v_step);
      else
        transforms_.input(static_cast<const float*>(o.x) + at, row, from.window, to, v_step);
    }
  }

  std::array<std::ptrdiff_t, kDepth / packed::kBlock> offsets;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const std::int64_t k = static_cast<std::int64_t>(b) * packed::kBlock;
    offsets[b] = k / lanes * lanes * count + k % lanes;
  }
  const float* first_row = v;
  packed::Product product{
      .rows = count, .a = &first_row, .rows_follow = true, .offsets = offsets.data()};
  product.c_row = lanes;
  product.c_vector = count * lanes;
  product.ahead_once = filters_once_;
  const auto vectors_of = [&](std::int64_t panel) {
    return std::min<std::int64_t>(2, s_.out_blocks() - 2 * panel);
  };
  const auto filters = [&](std::int64_t position, std::int64_t k, std::int64_t panel) {
    return o.u + position * u_step + panel * 2 * lanes * s_.in_channels +
           k * vectors_of(panel) * lanes;
  };
  for (std::int64_t position = 0; position < s_.positions(); ++position) {
    for (std::int64_t k = 0; k < s_.in_channels; k += kDepth) {
      const std::int64_t depth = std::min(kDepth, s_.in_channels - k);
      product.shift = position * v_step + k * count;
      product.blocks = depth / packed::kBlock;
      for (std::int64_t panel = part.first_panel; panel < part.end_panel; ++panel) {
        product.b = filters(position, k, panel);
        product.c = m + position * m_step + (2 * panel - first_block) * count * lanes;
        product.add = k == 0 ? nullptr : product.c;
        product.ahead_size = depth * vectors_of(panel) * lanes;
        if (panel + 1 < part.end_panel)
          product.ahead = filters(position, k, panel + 1);
        else if (k + depth < s_.in_channels)
          product.ahead = filters(position, k + depth, part.first_panel);
        else if (position + 1 < s_.positions())
          product.ahead = filters(position + 1, 0, part.first_panel);
        else
          product.ahead_size = 0;
        products_(product, vectors_of(panel));
      }
    }
  }

  const std::int64_t out_plane = s_.out_height * s_.out_width * lanes;
  for (std::int64_t block = first_block; block < end_block; ++block) {
    for (std::int64_t t = 0; t < count; ++t) {
      const Place to = output_place(s_, part.first + t);
      const std::ptrdiff_t at = block * out_plane + to.offset;
      const Finish finish{o.bias == nullptr ? nullptr : o.bias + block * lanes,
                          o.add == nullptr ? nullptr : o.add + at, o.low, o.high, o.nan_is_low};
      const float* from = m + ((block - first_block) * count + t) * lanes;
      const std::ptrdiff_t row = s_.out_width * lanes;
      if (o.y_dtype == DType::kBFloat16)
        transforms_.output_bfloat16(from, m_step, finish, static_cast<std::uint16_t*>(o.y) + at,
                                    row, to.window);
      else
        transforms_.output(from, m_step, finish, static_cast<float*>(o.y) + at, row, to.window);
    }
  }
}

}  // namespace symbind::winograd
