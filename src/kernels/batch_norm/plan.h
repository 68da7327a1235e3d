// What the kernels of batch normalisation share: their plan, and the order of their loops.
//
// Decided here: groups of channels are computed in panels. A thread computes both loops over a
// panel in the order of memory, so that the second loop reads from a cache what the first one read,
// and the CPU's prefetch sees long runs. With fewer panels than threads, threads share the parts of
// all groups. Neither changes bits.
//
// Results that are larger than the nearer caches are written past them: the CPU then does not read
// the memory that is overwritten. Measured on Zen 4 (L2 1 MiB, L3 32 MiB), ResNet-50, batch 8.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/batch_norm/grid.h"
#include "kernels/workspace.h"

namespace symbind::batch_norm {

using Doubles = std::array<double, kMost>;
using Floats = std::array<float, kMost>;

struct Plan {
  static constexpr std::int64_t kParameters = 4;  ///< of a group, for the second loop
  static constexpr std::int64_t kPanelBytes = 1 << 20;
  static constexpr std::int64_t kStreamBytes = 1 << 20;

  Plan(const BatchNormSizes& sizes, const TensorDesc& x, const KernelRequest& r)
      : s(sizes),
        grid(x.shape, x.layout),
        training(r.training),
        panel(std::max<std::int64_t>(1, kPanelBytes / group_bytes())) {}
  /// Why there is no plan; empty if there is one.
  static std::string unfit(const TensorDesc& x, const KernelRequest& r, std::size_t input) {
    if (x.dtype != DType::kFloat32) return "dtype is not float32";
    if (r.compute_dtype == DType::kBFloat16 && r.stored_dtype(input) == DType::kBFloat16)
      return "the data is stored in bfloat16";
    return Grid::unfit(x.shape, x.layout);
  }
  /// Sets the workspace and an offer in which tensors of the data's shape have its layout.
  Offer offer(const TensorDesc& x, const KernelRequest& r, bool sums);

  std::int64_t group_bytes() const {
    return grid.width() * grid.count() * static_cast<std::int64_t>(sizeof(float));
  }
  double* partial_of(const Args& args, std::int64_t group, std::int64_t part) const {
    return at<double>(args, partial) + (group * grid.parts() + part) * 2 * grid.width();
  }
  Parameters* parameters_of(const Args& args, std::int64_t group) const {
    return at<Parameters>(args, parameters) + group * kParameters;
  }
  /// γ/σ of a group's channels; γ is 1 where `gamma` is null.
  void spread_scales(const float* gamma, const float* inverse, std::int64_t group,
                     Parameters& to) const;
  /// Whether a result at `to`, which is no input's memory, is written past the caches.
  bool streams(const float* to) const {
    return grid.is_contiguous() && reinterpret_cast<std::uintptr_t>(to) % 64 == 0 &&
           grid.groups() * group_bytes() >= kStreamBytes;
  }

  /// Runs `part(group, part)` for all parts of the groups [first, last), in the order of memory.
  template <class F>
  void in_order(std::int64_t first, std::int64_t last, F&& part) const {
    const std::int64_t row = grid.parts_per_row();
    for (std::int64_t p = 0; p < grid.parts(); p += row)
      for (std::int64_t g = first; g < last; ++g)
        for (std::int64_t k = 0; k < row; ++k) part(g, p + k);
  }
  /// Runs `part(group, part)` for all parts of all groups; threads share them.
  template <class F>
  void each_part(F&& part) const {
    const std::int64_t row = grid.parts_per_row(), groups = grid.groups();
    const double size = static_cast<double>(grid.width() * grid.count() / grid.parts());
    parallel_for(groups * grid.parts(), grain_of(size), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        part(i / row % groups, i / row / groups * row + i % row);
    });
  }
  /// Runs `before(group, part)` for all parts of a group, then `between(group)`, then `after(group,
  /// part)` for all parts.
  template <class Before, class Between, class After>
  void in_two_loops(Before&& before, Between&& between, After&& after) const {
    const std::int64_t groups = grid.groups(), threads = num_threads(),
                       most = std::min(panel, std::max<std::int64_t>(1, groups / threads)),
                       panels = (groups + most - 1) / most;
    if (panels % threads != 0 && panels < 4 * threads) {
      each_part(before);
      for (std::int64_t g = 0; g < groups; ++g) between(g);
      each_part(after);
      return;
    }
    const double size = static_cast<double>(most * grid.width() * grid.count());
    parallel_for(panels, grain_of(size), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i * most, last = std::min(groups, first + most);
        in_order(first, last, before);
        for (std::int64_t g = first; g < last; ++g) between(g);
        in_order(first, last, after);
      }
    });
  }

  BatchNormSizes s;
  Grid grid;
  bool training, two_heads = false;
  std::int64_t panel;  ///< groups
  // Offsets in the workspace: two sums of each part and channel, the statistics of each channel,
  // the parameters of each group.
  std::size_t partial = 0, mean = 0, inverse = 0, parameters = 0;
};

}  // namespace symbind::batch_norm
