// ROIPooling: max pooling of regions of images, each to one size.
//
// A row of `rois` is (image, x1, y1, x2, y2), in coordinates that spatial_scale converts to those
// of the data, rounded; both corners belong to the region, which is at least 1×1. Bin i of n covers
// ⌊i·size/n⌋ … ⌈(i+1)·size/n⌉ of it, clipped to the image. An empty bin, a region with an invalid
// image number and a region with a NaN give 0. Decided here: the positions of the maxima are a
// hidden output; the gradient goes to them, and none to the regions.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/vision/regions.h"

namespace symbind {

namespace {

struct ROIPoolingAttrs : PooledAttrs {
  void describe(AttrVisitor& v) { describe_pooled(v); }
};

void infer(const ROIPoolingAttrs& a, Inference& io) {
  check_pooled(a);
  for (int o = 0; o < 2; ++o) infer_pooled(a, io, o, 5, kCorners);
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(io.in(0), io.out(0));
  io.set_dtype(io.out(1), DType::kInt64, "places");
}

// Inputs: dy, the positions, the data for its shape.
void infer_backward(const ROIPoolingAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(2), io.out(0));
  io.same_shape(io.in(2), io.out(0));
  io.same_shape(io.in(0), io.in(1));
  io.set_dtype(io.in(1), DType::kInt64);
  tie_to_forward(a, io, infer,
                 {.inputs = 2, .outputs = 2, .from = {io.out(0), io.out(1), io.in(0)}});
}

NodeEntries gradient(const ROIPoolingAttrs&, GradientBuilder& g) {
  return {g.call_with_same_attrs("_backward_ROIPooling", {g.head(0), g.output(1), g.input(0)})[0],
          {}};
}

struct Sizes {
  std::int64_t images, channels, height, width, regions, tall, wide;
};

/// Bin i of n of a region that begins at `start`, within the image.
template <class Acc>
std::pair<std::int64_t, std::int64_t> bin(std::int64_t i, Acc size, std::int64_t start,
                                          std::int64_t extent) {
  const auto low = static_cast<std::int64_t>(std::floor(static_cast<Acc>(i) * size)) + start,
             high = static_cast<std::int64_t>(std::ceil(static_cast<Acc>(i + 1) * size)) + start;
  return {std::clamp<std::int64_t>(low, 0, extent), std::clamp<std::int64_t>(high, 0, extent)};
}

/// Corners are clamped to this distance: no image is that large, and differences of such numbers
/// are exact.
constexpr std::int64_t kFar = std::int64_t{1} << 50;

/// One region of one channel.
template <class T>
void pool(const Sizes& z, const T* roi, float scale, std::int64_t channel, const T* x, T* y,
          std::int64_t* places) {
  using Acc = Accumulator<T>;
  const auto corner = [&](int i) {
    return clamped_whole(std::round(static_cast<Acc>(roi[i]) * static_cast<Acc>(scale)), -kFar,
                         kFar);
  };
  const bool is_nan = std::any_of(roi, roi + 5, [](T v) { return v != v; });
  const std::int64_t image = is_nan ? -1 : whole_or(static_cast<Acc>(roi[0]), -1);
  const std::int64_t left = corner(1), top = corner(2);
  const Acc tall = static_cast<Acc>(std::max<std::int64_t>(corner(4) - top + 1, 1)) /
                   static_cast<Acc>(z.tall),
            wide = static_cast<Acc>(std::max<std::int64_t>(corner(3) - left + 1, 1)) /
                   static_cast<Acc>(z.wide);
  const bool exists = image >= 0 && image < z.images;
  const std::int64_t plane = exists ? (image * z.channels + channel) * z.height * z.width : 0;
  for (std::int64_t i = 0; i < z.tall; ++i)
    for (std::int64_t j = 0; j < z.wide; ++j) {
      const auto [y1, y2] = bin(i, tall, top, z.height);
      const auto [x1, x2] = bin(j, wide, left, z.width);
      std::int64_t best = -1;
      for (std::int64_t r = y1; exists && r < y2; ++r)
        for (std::int64_t c = x1; c < x2; ++c) {
          const std::int64_t at = plane + r * z.width + c;
          if (best < 0 || x[at] > x[best]) best = at;
        }
      y[i * z.wide + j] = best < 0 ? T(0) : x[best];
      if (places) places[i * z.wide + j] = best;
    }
}

Prepared forward(const ROIPoolingAttrs& a, const KernelRequest& r) {
  const Shape &x = r.in[0].shape, &y = r.out[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [z = Sizes{x[0], x[1], x[2], x[3], y[0], y[2], y[3]},
            scale = a.spatial_scale](const Args& args) {
      const std::int64_t size = z.tall * z.wide;
      parallel_for(z.regions * z.channels, 4, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          pool(z, args.in<T>(1) + p / z.channels * 5, scale, p % z.channels, args.in<T>(0),
               args.out<T>(0) + p * size,
               args.wants(1) ? args.out<std::int64_t>(1) + p * size : nullptr);
      });
    };
  });
}

// One thread handles a channel: regions may overlap.
Prepared backward(const ROIPoolingAttrs&, const KernelRequest& r, const Offer&) {
  const Shape &x = r.out[0].shape, &y = r.in[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [regions = y[0], channels = y[1], size = y.count(2), images = x[0],
            plane = x.count(2)](const Args& args) {
      const T* dy = args.in<T>(0);
      const auto* places = args.in<std::int64_t>(1);
      Acc* sums = static_cast<Acc*>(args.workspace);
      const std::int64_t grain = grain_of(images * plane + regions * size);
      parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
          for (std::int64_t n = 0; n < images; ++n)
            std::fill_n(sums + (n * channels + c) * plane, plane, Acc(0));
          for (std::int64_t k = 0; k < regions; ++k)
            for (std::int64_t i = (k * channels + c) * size; i < (k * channels + c + 1) * size; ++i)
              if (places[i] >= 0)
                sums[checked_index(places[i], images * channels * plane)] +=
                    static_cast<Acc>(dy[i]);
          for (std::int64_t n = 0; n < images; ++n)
            for (std::int64_t i = (n * channels + c) * plane; i < (n * channels + c + 1) * plane;
                 ++i)
              args.out<T>(0)[i] = static_cast<T>(sums[i]);
        }
      });
    };
  });
}

}  // namespace

void register_roi_pooling(OpRegistry& r) {
  using A = ROIPoolingAttrs;
  r.add<A>("ROIPooling")
      .doc("Max pooling of regions of images, each to one size.")
      .inputs({"data", "rois"})
      .outputs({"output", "maxidx"}, 1)
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .reference(forward);
  add_region_gradient<ROIPoolingAttrs>(r, "_backward_ROIPooling", "maxidx", infer_backward,
                                       backward);
}

}  // namespace symbind
