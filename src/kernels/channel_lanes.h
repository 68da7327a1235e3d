// How a layout stores a tensor of rank 3 or more: batch, groups of channels, positions, lanes. The
// lanes are the channels that are neighbours in memory: 1 in plain tensors, 8 or 16 in blocked
// ones, all of them with channels last.
#pragma once

#include <symbind/kernel.h>

namespace symbind {

inline std::int64_t channel_lanes(const Shape& shape, Layout layout) {
  switch (layout) {
    case Layout::kPlain: return 1;
    case Layout::kBlocked8: return 8;
    case Layout::kBlocked16: return 16;
    case Layout::kChannelsLast: return shape[1];
  }
  return 1;
}

struct ChannelLanes {
  std::int64_t batch, groups, positions, lanes;
  ChannelLanes(const Shape& x, Layout layout)
      : batch(x[0]), positions(x.count(2)), lanes(channel_lanes(x, layout)) {
    groups = lanes == 0 ? 0 : x[1] / lanes;
  }
};

/// Whether `channels` of a tensor in this layout are a tensor of the same layout.
inline bool has_whole_lanes(std::int64_t channels, Layout layout) {
  return (layout != Layout::kBlocked8 || channels % 8 == 0) &&
         (layout != Layout::kBlocked16 || channels % 16 == 0);
}

}  // namespace symbind
