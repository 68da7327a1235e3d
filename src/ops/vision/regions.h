// Shared by the operators on regions of images: attributes, inference between data, regions and
// output, and the registration of their gradients.
#pragma once

#include <symbind/operator.h>

#include <algorithm>

#include "base/check.h"
#include "base/checked.h"

namespace symbind {

inline void describe_scale(AttrVisitor& v, float& spatial_scale) {
  v.field("spatial_scale", spatial_scale, "Scale from the regions' coordinates to the data's.")
      .required()
      .at_least(0)
      .at_most(1);
}

/// Of operators whose outputs have pooled_size, height and width.
struct PooledAttrs {
  Tuple pooled_size;
  float spatial_scale = 0;

  void describe_pooled(AttrVisitor& v) {
    v.field("pooled_size", pooled_size, "The size of every output: (h, w).").required();
    describe_scale(v, spatial_scale);
  }
};

/// The numbers of a row of regions, in words.
inline constexpr const char* kCorners = "(image, x1, y1, x2, y2) for every region";
inline constexpr const char* kRotated = "(image, x, y, width, height, angle)";

inline void check_pooled(const PooledAttrs& a) {
  constexpr std::int64_t kMostBins = 1 << 20;  // per axis; so their product does not overflow
  const auto fits = [](std::int64_t bins) { return bins > 0 && bins <= kMostBins; };
  check(a.pooled_size.size() == 2 && std::ranges::all_of(a.pooled_size, fits),
        "pooled_size {} must be two positive numbers of at most {}", tuple_text(a.pooled_size),
        kMostBins);
}

/// The shapes of data, regions of `columns` numbers, and output `output`, which has one channel for
/// `share` of the data's.
inline void infer_pooled(const PooledAttrs& a, Inference& io, int output, std::int64_t columns,
                         const char* row, std::int64_t share = 1) {
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, channels, height, width)");
  io.set_shape(io.in(1), Shape{kUnknownDim, columns}, row);
  const std::int64_t channels = io.shape(io.in(0))[1];
  check(channels < 0 || channels % share == 0,
        "{} channels cannot be divided among the {} bins of pooled_size {}", channels, share,
        tuple_text(a.pooled_size));
  io.set_shape(io.out(output),
               Shape{io.shape(io.in(1))[0], channels < 0 ? kUnknownDim : channels / share,
                     a.pooled_size[0], a.pooled_size[1]},
               "(regions, channels, pooled_size)");
  const Shape& y = io.shape(io.out(output));
  io.set_shape(io.in(0),
               Shape{kUnknownDim,
                     y[1] < 0 ? kUnknownDim : checked_mul(y[1], share, "the channels of all bins"),
                     kUnknownDim, kUnknownDim},
               "the channels of the data");
  io.set_shape(io.in(1), Shape{y[0], columns}, "one output for each region");
}

/// The gradient of an operator on data and regions: it reads dy, `saved` and the data's shape, and
/// sums up in a workspace of the data's size, in float or double.
template <class A>
void add_region_gradient(OpRegistry& r, const char* name, const char* saved,
                         void (*infer)(const A&, Inference&),
                         Prepared (*prepare)(const A&, const KernelRequest&, const Offer&)) {
  const auto offer = [](const A&, const KernelRequest& q) {
    const std::size_t element = q.out[0].dtype == DType::kFloat64 ? 8 : 4;
    return accept_plain(q, static_cast<std::size_t>(q.out[0].shape.size()) * element);
  };
  r.add<A>(name)
      .backward()
      .inputs({"dy", saved, "data"})
      .shape_only({2})
      .infer(infer)
      .kernel(DeviceType::kCpu, "reference", offer, prepare);
}

}  // namespace symbind
