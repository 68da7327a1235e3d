// RROIAlign: rotated regions of images, each resized to one size by averages of interpolated
// points.
//
// A row of `rois` is (image, centre x, centre y, width, height, angle in degrees), scaled to the
// data by spatial_scale; a region is at least 1×1. Every bin is the mean of a grid of points,
// sampling_ratio in each direction or as many as the bin has pixels. A point is rotated around the
// centre, then interpolated between its four pixels; it counts as 0 when it is more than one pixel
// outside.
//
// Decided here: a region with an invalid image number gives 0. There is no gradient, as in MXNet.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/regions.h"

namespace symbind {
namespace {

/// More points than this in a bin come from invalid coordinates.
constexpr double kMostPoints = 1 << 12;

struct RROIAlignAttrs : PooledAttrs {
  int sampling_ratio = -1;

  void describe(AttrVisitor& v) {
    describe_pooled(v);
    v.field("sampling_ratio", sampling_ratio,
            "Points of a bin in each direction; else its pixels.");
  }
};

void infer(const RROIAlignAttrs& a, Inference& io) {
  check_pooled(a);
  io.all_same_dtype();
  infer_pooled(a, io, 0, 6, kRotated);
}

/// Four pixels and their weights.
template <class Acc>
struct Point {
  std::int64_t pixels[4];
  Acc weights[4];
};

template <class Acc>
Point<Acc> interpolate(Acc y, Acc x, std::int64_t height, std::int64_t width) {
  if (!(y >= -1 && y <= static_cast<Acc>(height) && x >= -1 && x <= static_cast<Acc>(width)))
    return {};
  y = std::clamp(y, Acc(0), static_cast<Acc>(height - 1));
  x = std::clamp(x, Acc(0), static_cast<Acc>(width - 1));
  const auto top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const Acc down = y - static_cast<Acc>(top), across = x - static_cast<Acc>(left);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}};
}

/// One region in the data's coordinates.
template <class Acc>
struct Region {
  template <class T>
  Region(const RROIAlignAttrs& a, const T* roi, std::int64_t images)
      : image(whole_or(static_cast<Acc>(roi[0]), -1)) {
    if (image >= images) image = -1;
    const auto scaled = [&](int i) {
      return static_cast<Acc>(roi[i]) * static_cast<Acc>(a.spatial_scale);
    };
    centre_x = scaled(1), centre_y = scaled(2);
    const Acc width = std::max(scaled(3), Acc(1)), height = std::max(scaled(4), Acc(1));
    const Acc angle =
        static_cast<Acc>(static_cast<double>(static_cast<Acc>(roi[5])) * std::numbers::pi / 180.0);
    cosine = std::cos(angle), sine = std::sin(angle);
    start_x = -width / 2, start_y = -height / 2;
    bin_y = height / static_cast<Acc>(a.pooled_size[0]);
    bin_x = width / static_cast<Acc>(a.pooled_size[1]);
    rows = points(bin_y, a.sampling_ratio, image);
    columns = points(bin_x, a.sampling_ratio, image);
  }

  static std::int64_t points(Acc bin, int ratio, std::int64_t image) {
    if (image < 0) return 0;
    const double wanted = ratio > 0 ? ratio : std::ceil(static_cast<double>(bin));
    check(wanted <= kMostPoints, "a region is outside any image: {} points in a bin", wanted);
    return static_cast<std::int64_t>(wanted);
  }

  Point<Acc> at(std::int64_t ph, std::int64_t pw, std::int64_t i, std::int64_t j,
                const Shape& data) const {
    const auto along = [](Acc start, std::int64_t bin, Acc size, std::int64_t k, std::int64_t n) {
      return start + static_cast<Acc>(bin) * size +
             (static_cast<Acc>(k) + Acc(0.5)) * size / static_cast<Acc>(n);
    };
    const Acc y = along(start_y, ph, bin_y, i, rows), x = along(start_x, pw, bin_x, j, columns);
    return interpolate(y * cosine - x * sine + centre_y, x * cosine + y * sine + centre_x, data[2],
                       data[3]);
  }

  std::int64_t image, rows, columns;
  Acc centre_x, centre_y, cosine, sine, start_x, start_y, bin_x, bin_y;
};

template <class T>
void align_bin(const Region<Accumulator<T>>& region, std::int64_t ph, std::int64_t pw,
               const Shape& data, const T* x, std::vector<Accumulator<T>>& sums) {
  using Acc = Accumulator<T>;
  std::ranges::fill(sums, Acc(0));
  if (region.image < 0 || data.count(2) == 0) return;
  const std::int64_t plane = data[2] * data[3];
  const T* image = x + region.image * data[1] * plane;
  for (std::int64_t i = 0; i < region.rows; ++i)
    for (std::int64_t j = 0; j < region.columns; ++j) {
      const Point<Acc> p = region.at(ph, pw, i, j, data);
      for (std::size_t c = 0; c < sums.size(); ++c)
        for (int k = 0; k < 4; ++k)
          sums[c] += p.weights[k] *
                     static_cast<Acc>(image[static_cast<std::int64_t>(c) * plane + p.pixels[k]]);
    }
  for (Acc& sum : sums) sum /= static_cast<Acc>(region.rows * region.columns);
}

Prepared forward(const RROIAlignAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [a, data = r.in[0].shape, out = r.out[0].shape](const Args& args) {
      const std::int64_t bins = out[2] * out[3];
      const std::int64_t grain = grain_of(8 * out[1] * bins);
      parallel_for(out[0], grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<Acc> sums(static_cast<std::size_t>(out[1]));
        for (std::int64_t n = begin; n < end; ++n) {
          const Region<Acc> region(a, args.in<T>(1) + n * 6, data[0]);
          for (std::int64_t bin = 0; bin < bins; ++bin) {
            align_bin(region, bin / out[3], bin % out[3], data, args.in<T>(0), sums);
            for (std::size_t c = 0; c < sums.size(); ++c)
              args.out<T>(0)[(n * out[1] + static_cast<std::int64_t>(c)) * bins + bin] =
                  static_cast<T>(sums[c]);
          }
        }
      });
    };
  });
}

}  // namespace

void register_rroi_align(OpRegistry& r) {
  r.add<RROIAlignAttrs>("_contrib_RROIAlign")
      .doc("Rotated regions of images, each resized to one size by averages of points.")
      .inputs({"data", "rois"})
      .infer(infer)
      .reference(forward);
}

}  // namespace symbind
