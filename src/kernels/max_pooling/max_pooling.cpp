// Decided here: a plane is split by the columns' remainder modulo the stride, with padding around
// it. So the same tap of neighbouring windows is one vector, whatever the stride. Padding is −∞,
// which is never a maximum. A place is the number of the tap within its window, one byte.
//
// oneDNN's kernel for plain tensors computes one window at a time: with LeNet's first pooling (20
// channels, 24×24, 2×2, batch 64) 1.7 ms forward and as much backward. Whole blocks of channels are
// left to it.
#include "kernels/max_pooling/max_pooling.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "kernels/max_pooling/rows.h"

namespace symbind::max_pooling {
namespace {

constexpr std::int64_t kMostTaps = 255;
constexpr float kPadding = -std::numeric_limits<float>::infinity();

std::string unfit(const PoolingSizes& s, const KernelRequest& r, Layout data) {
  if (s.kind != PoolKind::kMax) return "not a maximum";
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.spatial > 2) return "more than two axes";
  if (data != Layout::kPlain || s.channels % 8 == 0) return "channels form whole blocks";
  for (std::size_t i = 1; i < 3; ++i)
    if (s.kernel[i] > kMostTaps) return "the window is too large";
  if (s.kernel[1] * s.kernel[2] > kMostTaps) return "the window is too large";
  if (s.plane() == 0) return "the data is empty";
  return {};
}

struct Plan {
  Plan(const PoolingSizes& sizes, int threads)
      : s(sizes),
        planes(s.batch * s.channels),
        height((s.out[1] - 1) * s.stride[1] + s.kernel[1]),
        remainders(std::min(s.stride[2], s.kernel[2])),
        is_whole(s.pad[1] == 0 && s.pad[2] == 0 && s.in[2] % s.stride[2] == 0 &&
                 remainders == s.stride[2] && height <= s.in[1] &&
                 (s.out[2] - 1) * s.stride[2] + s.kernel[2] <= s.in[2]),
        columns(is_whole ? s.in[2] / s.stride[2]
                         : s.out[2] + (s.kernel[2] - 1) / s.stride[2] + kSlack),
        slots(std::clamp<std::int64_t>(planes, 1, threads)) {}

  /// From one remainder to the next.
  std::int64_t part() const { return (is_whole ? s.in[1] : height) * columns; }
  std::size_t split_floats() const {
    return static_cast<std::size_t>(remainders * part() + kSlack);
  }
  /// Elements of one plane of the output, as `largest` writes them.
  std::size_t outputs() const {
    return static_cast<std::size_t>(PoolingSizes::product(s.out) + kSlack);
  }
  /// In floats, of one slot: the split plane, the maxima, their places.
  std::size_t slot_floats() const {
    return split_floats() + outputs() + outputs() / sizeof(float) + 1;
  }

  void split(const float* plane, float* to) const;
  void forward(const float* x, float* y, std::uint8_t* places, float* scratch) const;
  void backward(const float* dy, const std::uint8_t* places, float* dx) const;
  /// Calls f(plane, slot) for all planes; those of one slot run one after the other.
  template <class F>
  void each_plane(F&& f) const {
    parallel_for(slots, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot)
        for (std::int64_t p = planes * slot / slots; p < planes * (slot + 1) / slots; ++p)
          f(p, slot);
    });
  }

  PoolingSizes s;
  std::int64_t planes;
  std::int64_t height;      ///< rows that windows reach, with padding
  std::int64_t remainders;  ///< of columns modulo the stride, those that windows read
  /// Windows reach the data only, and its rows form whole groups of columns: all rows are split as
  /// one.
  bool is_whole;
  std::int64_t columns;  ///< of one row and one remainder
  std::int64_t slots;    ///< planes that may run at once
  const Rows& rows = max_pooling::rows().best();
};

void Plan::split(const float* plane, float* to) const {
  const std::int64_t stride = s.stride[2], pad = s.pad[2];
  if (is_whole && stride == 1) {
    std::copy_n(plane, s.plane(), to);
    return;
  }
  if (is_whole && stride == 2) return rows.split(plane, s.plane(), to, to + part());
  std::fill_n(to, split_floats(), kPadding);
  // Columns beyond the last window are not read.
  const std::int64_t width = std::min(s.in[2], (s.out[2] - 1) * stride + s.kernel[2] - pad);
  for (std::int64_t y = 0; y < s.in[1] && y + s.pad[1] < height; ++y) {
    const float* from = plane + y * s.in[2];
    float* row = to + (y + s.pad[1]) * columns;
    if (stride == 1) {
      if (width > 0) std::copy_n(from, width, row + pad);
    } else if (stride == 2 && remainders == 2 && width > 0) {
      // An odd pad exchanges the two.
      rows.split(from, width, row + pad % 2 * part() + pad / 2,
                 row + (pad + 1) % 2 * part() + (pad + 1) / 2);
    } else {
      for (std::int64_t x = 0; x < width; ++x)
        if (const std::int64_t remainder = (x + pad) % stride; remainder < remainders)
          row[remainder * part() + (x + pad) / stride] = from[x];
    }
  }
}

void Plan::forward(const float* x, float* y, std::uint8_t* places, float* scratch) const {
  split(x, scratch);
  float* best = scratch + split_floats();
  auto* place = places != nullptr ? reinterpret_cast<std::uint8_t*>(best + outputs()) : nullptr;
  std::array<const float*, kMostTaps> taps;
  std::size_t count = 0;
  for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky)
    for (std::int64_t kx = 0; kx < s.kernel[2]; ++kx)
      taps[count++] = scratch + kx % s.stride[2] * part() + ky * columns + kx / s.stride[2];
  rows.largest({.taps = taps.data(),
                .count = static_cast<std::int64_t>(count),
                .step = s.stride[1] * columns,
                .height = s.out[1],
                .width = s.out[2],
                .best = best,
                .place = place});
  const auto n = static_cast<std::size_t>(PoolingSizes::product(s.out));
  std::memcpy(y, best, n * sizeof(float));
  if (places != nullptr) std::memcpy(places, place, n);
}

void Plan::backward(const float* dy, const std::uint8_t* places, float* dx) const {
  std::fill_n(dx, s.plane(), 0.f);
  std::array<std::int32_t, kMostTaps> tap_row, tap_column;
  for (std::int64_t k = 0; k < s.kernel[1] * s.kernel[2]; ++k) {
    tap_row[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(k / s.kernel[2]);
    tap_column[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(k % s.kernel[2]);
  }
  for (std::int64_t oy = 0; oy < s.out[1]; ++oy)
    for (std::int64_t ox = 0; ox < s.out[2]; ++ox) {
      const std::int64_t o = oy * s.out[2] + ox;
      const std::int64_t y = oy * s.stride[1] - s.pad[1] + tap_row[places[o]],
                         x = ox * s.stride[2] - s.pad[2] + tap_column[places[o]];
      // A window without a maximum has its first place, which may be padding.
      if (y >= 0 && y < s.in[1] && x >= 0 && x < s.in[2]) dx[y * s.in[2] + x] += dy[o];
    }
}

}  // namespace

Offer offer(const PoolingSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r, r.in[0].layout); !reason.empty())
    return refuse(std::move(reason));
  auto plan = std::make_shared<Plan>(s, r.threads);
  Offer offer =
      accept_plain(r, plan->slot_floats() * static_cast<std::size_t>(plan->slots) * sizeof(float));
  if (r.wanted[1]) offer.opaque_bytes[1] = static_cast<std::size_t>(r.out[0].shape.size());
  offer.plan = std::move(plan);
  return offer;
}

Prepared prepare(const Offer& offer) {
  const bool saves = offer.opaque_bytes[1] > 0;
  return [plan = std::static_pointer_cast<const Plan>(offer.plan), saves](const Args& args) {
    const std::int64_t out = PoolingSizes::product(plan->s.out);
    const float* x = args.in<float>(0);
    float *y = args.out<float>(0), *scratch = static_cast<float*>(args.workspace);
    std::uint8_t* places = saves ? args.out<std::uint8_t>(1) : nullptr;
    plan->each_plane([&](std::int64_t p, std::int64_t slot) {
      plan->forward(x + p * plan->s.plane(), y + p * out, saves ? places + p * out : nullptr,
                    scratch + static_cast<std::size_t>(slot) * plan->slot_floats());
    });
  };
}

Offer offer_backward(const PoolingSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r, Layout::kPlain); !reason.empty())
    return refuse(std::move(reason));
  Offer offer = accept_plain(r);
  offer.plan = std::make_shared<Plan>(s, r.threads);
  return offer;
}

Prepared prepare_backward(const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    const std::int64_t out = PoolingSizes::product(plan->s.out);
    const float* dy = args.in<float>(0);
    const std::uint8_t* places = args.in<std::uint8_t>(2);
    float* dx = args.out<float>(0);
    plan->each_plane([&](std::int64_t p, std::int64_t) {
      plan->backward(dy + p * out, places + p * out, dx + p * plan->s.plane());
    });
  };
}

}  // namespace symbind::max_pooling
