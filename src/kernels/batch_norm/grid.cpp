#include "kernels/batch_norm/grid.h"

#include <algorithm>

namespace symbind::batch_norm {
namespace {

/// Whether the channels of one position are neighbours: all of them, not a block.
bool is_channels_last(const Shape& x, Layout layout) {
  return layout == Layout::kChannelsLast || (layout == Layout::kPlain && x.count(2) == 1);
}

std::int64_t up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

}  // namespace

std::string Grid::unfit(const Shape& x, Layout layout) {
  if (x.rank() < 2) return "the rank is less than 2";
  if (x.size() == 0) return "the data is empty";
  if (is_channels_last(x, layout) && x[1] % 8 != 0) return "channels form no whole vectors";
  return {};
}

Grid::Grid(const Shape& x, Layout layout) {
  const std::int64_t images = x[0], channels = x[1], positions = x.count(2);
  if (is_channels_last(x, layout)) {
    lanes_ = width_ = channels % 16 == 0 ? 16 : 8;
    group_step_ = lanes_;
    whole_ = {.rows = 1, .length = images * positions, .step = channels};
  } else if (layout != Layout::kPlain) {
    lanes_ = width_ = layout == Layout::kBlocked16 ? 16 : 8;
    group_step_ = positions * lanes_;
    whole_ = {
        .rows = images, .row_step = channels * positions, .length = positions, .step = lanes_};
  } else {
    group_step_ = positions;
    whole_ = {.rows = images,
              .row_step = channels * positions,
              .length = positions / kMost,
              .step = kMost,
              .rest = positions % kMost};
  }
  groups_ = channels / width_;
  const std::int64_t length = whole_.length + (whole_.rest > 0 ? 1 : 0);
  mask_group_step_ = width_ > 1 ? group_step_ / 8 : length * (kMost / 8);
  whole_.mask_row_step = width_ > 1 ? whole_.row_step / 8 : channels * mask_group_step_;
  mask_bytes_ =
      static_cast<std::size_t>(width_ > 1 ? x.size() / 8 : images * channels * mask_group_step_);
  if (length > kPartLength) {
    parts_per_row_ = up(length, kPartLength);
    parts_ = whole_.rows * parts_per_row_;
  } else {
    rows_per_part_ = kPartLength / length;
    parts_ = up(whole_.rows, rows_per_part_);
  }
}

Part Grid::part(std::int64_t part) const {
  Part p = whole_;
  if (rows_per_part_ > 0) {
    p.rows = std::min(rows_per_part_, whole_.rows - part * rows_per_part_);
    return p;
  }
  const std::int64_t begin = part % parts_per_row_ * kPartLength;
  const bool is_last = part % parts_per_row_ == parts_per_row_ - 1;
  p.rows = 1;
  p.length = std::min(kPartLength, whole_.length - begin);
  if (!is_last) p.rest = 0;
  return p;
}

std::int64_t Grid::count(std::int64_t number) const {
  const Part p = part(number);
  return p.rows * (width_ > 1 ? p.length : p.length * kMost + p.rest);
}

std::int64_t Grid::offset(std::int64_t group, std::int64_t part) const {
  const std::int64_t row = rows_per_part_ > 0 ? part * rows_per_part_ : part / parts_per_row_;
  const std::int64_t begin = rows_per_part_ > 0 ? 0 : part % parts_per_row_ * kPartLength;
  return group * group_step_ + row * whole_.row_step + begin * whole_.step;
}

std::int64_t Grid::mask_offset(std::int64_t group, std::int64_t part) const {
  const std::int64_t row = rows_per_part_ > 0 ? part * rows_per_part_ : part / parts_per_row_;
  const std::int64_t begin = rows_per_part_ > 0 ? 0 : part % parts_per_row_ * kPartLength;
  return group * mask_group_step_ + row * whole_.mask_row_step + begin * whole_.step / 8;
}

const Loops& Grid::loops() const {
  const Table& table = batch_norm::loops().best();
  return lanes_ == 8 ? table.of_8 : table.of_16;
}

void Grid::join(const float* sums, double* to) const {
  if (width_ > 1) {
    std::copy_n(sums, width_, to);
    return;
  }
  double all[kMost];
  std::copy_n(sums, kMost, all);
  for (std::int64_t half = kMost / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) all[k] += all[k + half];
  *to = all[0];
}

void Grid::spread(const float* channel, Parameters& to) const {
  if (width_ == 1) {
    std::fill_n(to.at, kMost, *channel);
  } else {
    std::copy_n(channel, width_, to.at);
    std::copy_n(channel, width_, to.at + kMost - width_);
  }
}

}  // namespace symbind::batch_norm
