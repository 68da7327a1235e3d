// How a tensor is divided: into groups of channels, and each of them into parts.
//
// Decided here: a part has at most 256 groups of numbers, 16 KiB, so that a second loop over it
// reads the nearest cache. Parts depend on the tensor's size alone: sums over parts, added in their
// order, have the same bits whatever thread computes them.
#pragma once

#include <symbind/kernel.h>

#include "kernels/batch_norm/loops.h"

namespace symbind::batch_norm {

inline constexpr std::int64_t kPartLength = 256;

/// Of a tensor of rank 2 or more with channels in axis 1.
class Grid {
 public:
  Grid() = default;
  Grid(const Shape& x, Layout layout);
  /// Why there is no grid for this tensor; empty if there is one.
  static std::string unfit(const Shape& x, Layout layout);

  std::int64_t channels() const { return groups_ * width_; }
  std::int64_t groups() const { return groups_; }
  std::int64_t parts() const { return parts_; }
  /// Parts that follow each other in memory.
  std::int64_t parts_per_row() const { return parts_per_row_; }
  /// Channels of a group: one in plain tensors.
  std::int64_t width() const { return width_; }
  /// Of one channel.
  std::int64_t count() const { return whole_.rows * row_count(); }
  std::int64_t count(std::int64_t part) const;
  Part part(std::int64_t part) const;
  std::int64_t offset(std::int64_t group, std::int64_t part) const;
  std::int64_t mask_offset(std::int64_t group, std::int64_t part) const;
  std::size_t mask_bytes() const { return mask_bytes_; }
  bool is_contiguous() const { return whole_.step == lanes_ && width_ > 1; }
  const Loops& loops() const;

  /// One number per channel of the group: the sums of a part, in double.
  void join(const float* sums, double* to) const;
  /// The parameters of a group; `channel` is the first of its values.
  void spread(const float* channel, Parameters& to) const;

 private:
  std::int64_t row_count() const {
    return width_ > 1 ? whole_.length : whole_.length * kMost + whole_.rest;
  }
  Part whole_;
  std::int64_t lanes_ = kMost, width_ = 1, groups_ = 0;
  std::int64_t group_step_ = 0, mask_group_step_ = 0;
  std::int64_t parts_ = 0, rows_per_part_ = 0;  ///< a part has whole rows, or
  std::int64_t parts_per_row_ = 1;              ///< a row has several parts
  std::size_t mask_bytes_ = 0;
};

}  // namespace symbind::batch_norm
