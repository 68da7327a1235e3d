// ROIAlign: regions of images, each resized to one size by averages of interpolated points.
//
// A row of `rois` is (image, x1, y1, x2, y2), scaled to the data by spatial_scale and not rounded;
// a region is at least 1×1, unless `aligned`, which moves it by half a pixel and needs a positive
// size. Every bin is the mean of a grid of points, sample_ratio in each direction or as many as the
// bin has pixels; a point is interpolated between its four pixels, and counts as 0 when more than
// one pixel outside. With position_sensitive every bin has its own channels.
//
// Decided here: a region with an invalid image number gives 0. The points of a bin are summed per
// axis into weights of rows and columns; points outside are skipped, so a region far from the image
// costs no more than its bins. The gradient goes to the data, none to the regions.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/regions.h"

namespace symbind {
namespace {

/// More points than this in a bin come from invalid coordinates.
constexpr double kMostPoints = 1 << 12;

struct ROIAlignAttrs : PooledAttrs {
  int sample_ratio = -1;
  bool position_sensitive = false;
  bool aligned = false;

  void describe(AttrVisitor& v) {
    describe_pooled(v);
    v.field("sample_ratio", sample_ratio, "Points of a bin in each direction; else its pixels.");
    v.field("position_sensitive", position_sensitive, "Whether every bin has its own channels.");
    v.field("aligned", aligned, "Whether regions are moved by half a pixel.");
  }
};

void infer(const ROIAlignAttrs& a, Inference& io) {
  check_pooled(a);
  io.all_same_dtype();
  infer_pooled(a, io, 0, 5, kCorners,
               a.position_sensitive ? a.pooled_size[0] * a.pooled_size[1] : 1);
}

// Inputs: dy, the regions, the data for its shape.
void infer_backward(const ROIAlignAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(2), io.out(0));
  tie_to_forward(a, io, infer,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1), io.in(0)}});
}

NodeEntries gradient(const ROIAlignAttrs&, GradientBuilder& g) {
  return {g.call_with_same_attrs("_backward_ROIAlign", {g.head(0), g.input(1), g.input(0)})[0], {}};
}

/// A pixel of one axis, and its weight in a bin.
template <class Acc>
struct Share {
  std::int64_t pixel = 0;
  Acc weight = 0;
};

/// The pixels that the bins of one axis of a region read.
template <class Acc>
struct Axis {
  Axis(Acc start, Acc end, std::int64_t extent, std::int64_t bins, const ROIAlignAttrs& a) {
    const Acc length = a.aligned ? end - start : std::max(end - start, Acc(1));
    check(!a.aligned || length > 0, "an aligned region must have a size, not {} to {}", start, end);
    const Acc bin = length / static_cast<Acc>(bins);
    const double wanted = a.sample_ratio > 0 ? a.sample_ratio : std::ceil(static_cast<double>(bin));
    check(std::isfinite(start) && wanted <= kMostPoints,
          "a region from {} to {} is outside any image: {} points in a bin", start, end, wanted);
    per_bin = static_cast<std::int64_t>(wanted);
    const Acc step = bin / static_cast<Acc>(per_bin), edge = static_cast<Acc>(extent);
    for (std::int64_t i = 0; i < bins; ++i) {
      const Acc from = start + static_cast<Acc>(i) * bin;
      // One more on each side than the division gives: the point itself is checked.
      const std::int64_t first = clamped_whole((-1 - from) / step - 2, 0, per_bin),
                         last = clamped_whole((edge - from) / step + 2, 0, per_bin);
      for (std::int64_t k = first; k < last; ++k)
        add(from + static_cast<Acc>(static_cast<float>(k) + .5f) * bin / static_cast<Acc>(per_bin),
            edge);
      ends.push_back(shares.size());
    }
  }
  Axis() = default;

  /// A point of the bin that is being filled; points come in order.
  void add(Acc where, Acc extent) {
    if (extent < 1 || !(where >= -1 && where <= extent)) return;
    const Acc inside = std::clamp(where, Acc(0), extent - 1);
    const auto low = static_cast<std::int64_t>(inside);
    const Acc beyond = inside - static_cast<Acc>(low);
    add_share(low, 1 - beyond);
    if (low + 1 < static_cast<std::int64_t>(extent)) add_share(low + 1, beyond);
  }
  void add_share(std::int64_t pixel, Acc weight) {
    const std::size_t begin = ends.empty() ? 0 : ends.back();
    for (std::size_t i = shares.size(); i > begin && i + 2 > shares.size(); --i)
      if (shares[i - 1].pixel == pixel) return void(shares[i - 1].weight += weight);
    shares.push_back({pixel, weight});
  }
  std::span<const Share<Acc>> of_bin(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(shares).subspan(begin, ends[i] - begin);
  }

  std::int64_t per_bin = 1;
  std::vector<Share<Acc>> shares;
  std::vector<std::size_t> ends;  ///< by bin
};

template <class Acc>
struct Region {
  std::int64_t image;  ///< -1: none
  Axis<Acc> y, x;
};

template <class T>
std::vector<Region<Accumulator<T>>> regions_of(const ROIAlignAttrs& a, const Shape& data,
                                               const T* rois, std::int64_t count) {
  using Acc = Accumulator<T>;
  std::vector<Region<Acc>> regions;
  for (std::int64_t n = 0; n < count; ++n) {
    const T* roi = rois + 5 * n;
    const auto corner = [&](int i) {
      return static_cast<Acc>(roi[i]) * static_cast<Acc>(a.spatial_scale) -
             (a.aligned ? Acc(0.5) : Acc(0));
    };
    const Acc image = static_cast<Acc>(roi[0]);
    const bool exists = image >= 0 && image < static_cast<Acc>(data[0]) && data.count(2) > 0;
    const auto axis = [&](int i, std::int64_t extent, std::int64_t bins) {
      return exists ? Axis<Acc>(corner(i), corner(i + 2), extent, bins, a) : Axis<Acc>();
    };
    regions.push_back({exists ? static_cast<std::int64_t>(image) : -1,
                       axis(2, data[2], a.pooled_size[0]), axis(1, data[3], a.pooled_size[1])});
  }
  return regions;
}

/// Calls f(bin, pixel, weight) for every pixel that a bin of one region reads.
template <class Acc, class F>
void each_pixel(const Region<Acc>& region, std::int64_t width, F f) {
  const Axis<Acc>&y = region.y, &x = region.x;
  const Acc count = static_cast<Acc>(y.per_bin * x.per_bin);
  for (std::size_t i = 0; i < y.ends.size(); ++i) {
    const std::span<const Share<Acc>> rows = y.of_bin(i);
    if (rows.empty()) continue;
    for (std::size_t j = 0; j < x.ends.size(); ++j) {
      const auto bin = static_cast<std::int64_t>(i * x.ends.size() + j);
      for (const Share<Acc>& v : rows)
        for (const Share<Acc>& h : x.of_bin(j))
          f(bin, v.pixel * width + h.pixel, v.weight * h.weight / count);
    }
  }
}

/// The offset of channel `c` of bin `bin` in the data.
struct Planes {
  Planes(const ROIAlignAttrs& a, const Shape& data)
      : bins(a.pooled_size[0] * a.pooled_size[1]),
        own(a.position_sensitive),
        channels(data[1]),
        plane(data[2] * data[3]) {}
  std::int64_t at(std::int64_t image, std::int64_t c, std::int64_t bin) const {
    return (image * channels + (own ? c * bins + bin : c)) * plane;
  }
  std::int64_t bins;
  bool own;
  std::int64_t channels, plane;
};

Prepared forward(const ROIAlignAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [a, data = r.in[0].shape, out = r.out[0].shape,
            planes = Planes(a, r.in[0].shape)](const Args& args) {
      const auto regions = regions_of(a, data, args.in<T>(1), out[0]);
      const T* x = args.in<T>(0);
      parallel_for(out[0] * out[1], 4, [&](std::int64_t begin, std::int64_t end) {
        std::vector<Acc> sums(static_cast<std::size_t>(planes.bins));
        for (std::int64_t p = begin; p < end; ++p) {
          const auto& region = regions[static_cast<std::size_t>(p / out[1])];
          std::ranges::fill(sums, Acc(0));
          if (region.image >= 0)
            each_pixel(region, data[3], [&](std::int64_t bin, std::int64_t pixel, Acc weight) {
              sums[static_cast<std::size_t>(bin)] +=
                  weight * static_cast<Acc>(x[planes.at(region.image, p % out[1], bin) + pixel]);
            });
          for (std::int64_t i = 0; i < planes.bins; ++i)
            args.out<T>(0)[p * planes.bins + i] = static_cast<T>(sums[static_cast<std::size_t>(i)]);
        }
      });
    };
  });
}

// One thread handles a channel: regions may overlap.
Prepared backward(const ROIAlignAttrs& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [a, data = r.out[0].shape, out = r.in[0].shape,
            planes = Planes(a, r.out[0].shape)](const Args& args) {
      const auto regions = regions_of(a, data, args.in<T>(1), out[0]);
      const T* dy = args.in<T>(0);
      Acc* sums = static_cast<Acc*>(args.workspace);
      std::fill_n(sums, data.size(), Acc(0));
      const std::int64_t grain = grain_of(8 * out[0] * out[2] * out[3]);
      parallel_for(out[1], grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c)
          for (std::int64_t n = 0; n < out[0]; ++n) {
            const auto& region = regions[static_cast<std::size_t>(n)];
            if (region.image < 0) continue;
            const T* head = dy + (n * out[1] + c) * planes.bins;
            each_pixel(region, data[3], [&](std::int64_t bin, std::int64_t pixel, Acc weight) {
              sums[planes.at(region.image, c, bin) + pixel] += weight * static_cast<Acc>(head[bin]);
            });
          }
      });
      for (std::int64_t i = 0; i < data.size(); ++i) args.out<T>(0)[i] = static_cast<T>(sums[i]);
    };
  });
}

}  // namespace

void register_roi_align(OpRegistry& r) {
  using A = ROIAlignAttrs;
  r.add<A>("_contrib_ROIAlign")
      .doc("Regions of images, each resized to one size by averages of interpolated points.")
      .inputs({"data", "rois"})
      .infer(infer)
      .gradient(gradient)
      .reference(forward);
  add_region_gradient<ROIAlignAttrs>(r, "_backward_ROIAlign", "rois", infer_backward, backward);
}

}  // namespace symbind
