// PSROIPooling: regions of images, divided into bins; every bin is the mean of its pixels in the
// channels that belong to its position.
//
// A row of `rois` is (image, x1, y1, x2, y2). Corners are rounded, then scaled by spatial_scale; a
// region is at least 0.1 wide. Channel (d · group + gh) · group + gw of the data belongs to output
// channel d and to the bins of group (gh, gw).
//
// Decided here: a bin without pixels and a region with an invalid image number give 0. The gradient
// goes to the data, none to the regions. MXNet reads past the data where it has fewer channels than
// the groups need; here that is an error.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/regions.h"

namespace symbind {
namespace {

struct PSROIPoolingAttrs {
  float spatial_scale = 0;
  int output_dim = 0;
  int pooled_size = 0;
  int group_size = 0;

  void describe(AttrVisitor& v) {
    describe_scale(v, spatial_scale);
    v.field("output_dim", output_dim, "Channels of the output.").required().at_least(1);
    v.field("pooled_size", pooled_size, "Bins of a region along each axis.").required().at_least(1);
    v.field("group_size", group_size, "Groups of bins along each axis; 0: a group for each bin.")
        .at_least(0);
  }
  std::int64_t groups() const { return group_size == 0 ? pooled_size : group_size; }
};

std::int64_t channels_of(const PSROIPoolingAttrs& a) {
  const std::int64_t squared = a.groups() * a.groups();
  return checked_mul(a.output_dim, squared, "output_dim · group_size²");
}

void infer(const PSROIPoolingAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.set_shape(io.in(0), Shape{kUnknownDim, channels_of(a), kUnknownDim, kUnknownDim},
               "(batch, output_dim · group_size², height, width)");
  io.set_shape(io.in(1), Shape{kUnknownDim, 5}, kCorners);
  io.set_shape(io.out(0), Shape{io.shape(io.in(1))[0], a.output_dim, a.pooled_size, a.pooled_size},
               "(regions, output_dim, pooled_size, pooled_size)");
  io.set_shape(io.in(1), Shape{io.shape(io.out(0))[0], 5}, "one output for each region");
}

// Inputs: dy, the regions, the data for its shape.
void infer_backward(const PSROIPoolingAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(2), io.out(0));
  io.set_shape(io.out(0), Shape{kUnknownDim, channels_of(a), kUnknownDim, kUnknownDim},
               "(batch, output_dim · group_size², height, width)");
  io.set_shape(io.in(1), Shape{kUnknownDim, 5}, kCorners);
  io.set_shape(io.in(0), Shape{io.shape(io.in(1))[0], a.output_dim, a.pooled_size, a.pooled_size},
               "(regions, output_dim, pooled_size, pooled_size)");
}

NodeEntries gradient(const PSROIPoolingAttrs&, GradientBuilder& g) {
  return {g.call_with_same_attrs("_backward_PSROIPooling", {g.head(0), g.input(1), g.input(0)})[0],
          {}};
}

struct Pixels {
  std::int64_t begin, end;
  std::int64_t count() const { return std::max<std::int64_t>(0, end - begin); }
};

/// The pixels of one bin along one axis.
template <class Acc>
Pixels pixels_of(Acc first, Acc last, const PSROIPoolingAttrs& a, std::int64_t bin,
                 std::int64_t extent) {
  const auto scale = static_cast<Acc>(a.spatial_scale);
  const Acc start = std::round(first) * scale, end = (std::round(last) + 1) * scale;
  const Acc size = std::max(end - start, Acc(0.1)) / static_cast<Acc>(a.pooled_size);
  return {clamped_whole(std::floor(static_cast<Acc>(bin) * size + start), 0, extent),
          clamped_whole(std::ceil(static_cast<Acc>(bin + 1) * size + start), 0, extent)};
}

/// Calls f(bin, group, rows, columns) for every bin of a region.
template <class T, class F>
void each_bin(const PSROIPoolingAttrs& a, const Shape& data, const T* roi, F f) {
  using Acc = Accumulator<T>;
  const std::int64_t bins = a.pooled_size, groups = a.groups();
  const auto corner = [&](int i) { return static_cast<Acc>(roi[i]); };
  for (std::int64_t ph = 0; ph < bins; ++ph) {
    const Pixels rows = pixels_of(corner(2), corner(4), a, ph, data[2]);
    for (std::int64_t pw = 0; pw < bins; ++pw) {
      const Pixels columns = pixels_of(corner(1), corner(3), a, pw, data[3]);
      f(ph * bins + pw, ph * groups / bins * groups + pw * groups / bins, rows, columns);
    }
  }
}

/// The image of a region, or -1.
template <class T>
std::int64_t image_of(const T* roi, std::int64_t images) {
  const std::int64_t image = whole_or(static_cast<Accumulator<T>>(roi[0]), -1);
  return image < images ? image : -1;
}

Prepared forward(const PSROIPoolingAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [a, data = r.in[0].shape, regions = r.out[0].shape[0]](const Args& args) {
      const std::int64_t plane = data[2] * data[3], squared = a.groups() * a.groups();
      const std::int64_t bins = std::int64_t{a.pooled_size} * a.pooled_size;
      parallel_for(regions * a.output_dim, 4, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          const T* roi = args.in<T>(1) + p / a.output_dim * 5;
          const std::int64_t image = image_of(roi, data[0]);
          const std::int64_t first = image * data[1] + p % a.output_dim * squared;
          each_bin(a, data, roi,
                   [&](std::int64_t bin, std::int64_t group, Pixels rows, Pixels columns) {
                     const std::int64_t count = rows.count() * columns.count();
                     Acc sum = 0;
                     if (image >= 0 && count > 0) {
                       const T* x = args.in<T>(0) + (first + group) * plane;
                       for (std::int64_t h = rows.begin; h < rows.end; ++h)
                         for (std::int64_t w = columns.begin; w < columns.end; ++w)
                           sum += static_cast<Acc>(x[h * data[3] + w]);
                       sum /= static_cast<Acc>(count);
                     }
                     args.out<T>(0)[p * bins + bin] = static_cast<T>(sum);
                   });
        }
      });
    };
  });
}

// One thread handles the channels of one output channel: regions may overlap.
Prepared backward(const PSROIPoolingAttrs& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [a, data = r.out[0].shape, regions = r.in[0].shape[0]](const Args& args) {
      const std::int64_t plane = data[2] * data[3], squared = a.groups() * a.groups();
      const std::int64_t bins = std::int64_t{a.pooled_size} * a.pooled_size;
      Acc* sums = static_cast<Acc*>(args.workspace);
      std::fill_n(sums, data.size(), Acc(0));
      const std::int64_t grain = grain_of(8 * regions * bins);
      parallel_for(a.output_dim, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t d = begin; d < end; ++d)
          for (std::int64_t n = 0; n < regions; ++n) {
            const T* roi = args.in<T>(1) + n * 5;
            const std::int64_t image = image_of(roi, data[0]);
            if (image < 0) continue;
            const T* head = args.in<T>(0) + (n * a.output_dim + d) * bins;
            each_bin(a, data, roi,
                     [&](std::int64_t bin, std::int64_t group, Pixels rows, Pixels columns) {
                       Acc* dx = sums + (image * data[1] + d * squared + group) * plane;
                       const Acc share = static_cast<Acc>(head[bin]) /
                                         static_cast<Acc>(rows.count() * columns.count());
                       for (std::int64_t h = rows.begin; h < rows.end; ++h)
                         for (std::int64_t w = columns.begin; w < columns.end; ++w)
                           dx[h * data[3] + w] += share;
                     });
          }
      });
      for (std::int64_t i = 0; i < data.size(); ++i) args.out<T>(0)[i] = static_cast<T>(sums[i]);
    };
  });
}

}  // namespace

void register_psroi_pooling(OpRegistry& r) {
  using A = PSROIPoolingAttrs;
  r.add<A>("_contrib_PSROIPooling")
      .doc(
          "Regions of images, divided into bins; each bin is a mean in the channels of its "
          "position.")
      .inputs({"data", "rois"})
      .infer(infer)
      .gradient(gradient)
      .reference(forward);
  add_region_gradient<PSROIPoolingAttrs>(r, "_backward_PSROIPooling", "rois", infer_backward,
                                         backward);
}

}  // namespace symbind
