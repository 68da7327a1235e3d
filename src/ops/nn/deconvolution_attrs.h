// Deconvolution's attributes, and the convolution whose transpose it is.
#pragma once

#include <algorithm>

#include "base/checked.h"
#include "ops/nn/filters.h"

namespace symbind {

struct DeconvolutionAttrs : FilterAttrs {
  Tuple adj, target_shape;
  DeconvolutionAttrs() : FilterAttrs(512, true) {}

  void describe(AttrVisitor& v) {
    describe_kernel(v);
    v.field("stride", stride, "Stride of the convolution this undoes; 1 by default.");
    v.field("dilate", dilate, "Distance between the kernel's taps; 1 by default.");
    v.field("pad", pad, "Padding of the convolution this undoes, removed here; 0 by default.");
    v.field("adj", adj, "Added to the output's extents; below the stride.");
    v.field("target_shape", target_shape, "The output's extents; determines pad and adj.");
    describe_filters(v, "Number of the output's channels.");
  }

  static std::int64_t at(const Tuple& t, int axis, std::int64_t otherwise) {
    return static_cast<std::size_t>(axis) < t.size() ? t[static_cast<std::size_t>(axis)]
                                                     : otherwise;
  }
  std::int64_t stride_of(int axis) const { return at(stride, axis, 1); }
  std::int64_t dilate_of(int axis) const { return at(dilate, axis, 1); }
  std::int64_t reach(int axis) const { return dilate_of(axis) * (at(kernel, axis, 1) - 1) + 1; }
  /// The output's extent without padding.
  std::int64_t whole(int axis, std::int64_t in) const {
    const std::int64_t steps = checked_mul(stride_of(axis), in - 1, "stride times the data");
    return checked_add(steps, reach(axis), "the output axis of Deconvolution");
  }
  bool has_target() const {
    for (const std::int64_t t : target_shape)
      if (t != 0) return true;
    return false;
  }
};

/// Padding and adjustment of one axis of known extent.
struct DeconvolutionPad {
  std::int64_t pad, adj;
};
inline DeconvolutionPad deconvolution_pad(const DeconvolutionAttrs& a, int axis, std::int64_t in) {
  if (!a.has_target())
    return {DeconvolutionAttrs::at(a.pad, axis, 0), DeconvolutionAttrs::at(a.adj, axis, 0)};
  const std::int64_t target = DeconvolutionAttrs::at(a.target_shape, axis, 0),
                     whole = a.whole(axis, in);
  check(target <= whole, "target_shape {} is too big: spatial axis {} can be {} at most",
        tuple_text(a.target_shape), axis, whole);
  return {(whole - target + 1) / 2, (whole - target) % 2};
}

inline void check_deconvolution(const DeconvolutionAttrs& a, const Shape& data) {
  check_kernel(a);
  check(!data.rank_known() || data.rank() == a.spatial() + 2, ErrorKind::kShape,
        "kernel {} is {}-D: the data must be (batch, channels, {} spatial axes), it is {}",
        tuple_text(a.kernel), a.spatial(), a.spatial(), data.str());
  check_filters(a);
  check_per_axis("adj", a.adj, a.kernel, 0);
  check_per_axis("target_shape", a.target_shape, a.kernel, 0);
  for (int i = 0; i < a.spatial() && !a.has_target(); ++i)
    check(DeconvolutionAttrs::at(a.adj, i, 0) < a.stride_of(i),
          "adj {} must be smaller than stride {}", tuple_text(a.adj), tuple_text(a.stride));
}

/// Both ways between data, weight and output; `x`, `w`, `y` say which they are.
inline void infer_deconvolution(const DeconvolutionAttrs& a, Inference& io, Inference::Ref x,
                                Inference::Ref w, Inference::Ref y) {
  check_deconvolution(a, io.shape(x));
  const int n = a.spatial();
  Shape data = Shape::of_rank(n + 2), weight = data, out = data;
  merge(data, io.shape(x));
  check(data[1] == kUnknownDim || data[1] % a.num_group == 0, ErrorKind::kShape,
        "{} channels of the data are not divisible by num_group {}", data[1], a.num_group);
  weight[0] = data[1];
  weight[1] = a.num_filter / a.num_group;
  out[0] = data[0];
  out[1] = a.num_filter;
  for (int i = 0; i < n; ++i) {
    weight[i + 2] = a.kernel[static_cast<std::size_t>(i)];
    if (data[i + 2] == kUnknownDim) continue;
    const DeconvolutionPad p = deconvolution_pad(a, i, data[i + 2]);
    out[i + 2] = checked_add(a.whole(i, data[i + 2]) - 2 * p.pad, p.adj, "an axis with adj");
    check(out[i + 2] > 0 || data[i + 2] == 0, ErrorKind::kShape,
          "pad {} leaves nothing of spatial axis {}", tuple_text(a.pad), i);
    out[i + 2] = std::max<std::int64_t>(out[i + 2], 0);
  }
  io.set_shape(w, weight, "(channels, num_filter / num_group, kernel…)");
  io.set_shape(y, out, "it follows from the data, kernel, stride, dilate, pad and adj");
  Shape back = Shape::of_rank(n + 2);
  back[0] = io.shape(y)[0];
  back[1] = io.shape(w)[0];
  for (int i = 0; i < n && !a.has_target(); ++i) {
    const std::int64_t o = io.shape(y)[i + 2];
    if (o == kUnknownDim) continue;
    const DeconvolutionPad p = deconvolution_pad(a, i, 0);
    const std::int64_t steps = o + 2 * p.pad - p.adj - a.reach(i);
    if (steps >= 0 && steps % a.stride_of(i) == 0) back[i + 2] = steps / a.stride_of(i) + 1;
  }
  io.set_shape(x, back, "it follows from the output and the weight");
}

/// The convolution from the output y back to the data x.
inline ConvolutionSizes transposed_sizes(const DeconvolutionAttrs& a, const Shape& x,
                                         const Shape& y) {
  ConvolutionSizes s;
  s.spatial = a.spatial();
  s.batch = x[0];
  s.in_channels = a.num_filter;
  s.out_channels = x[1];
  s.groups = a.num_group;
  for (int i = 0; i < a.spatial(); ++i) {
    const auto to = static_cast<std::size_t>(3 - a.spatial() + i);
    s.in[to] = y[i + 2];
    s.out[to] = x[i + 2];
    s.kernel[to] = a.kernel[static_cast<std::size_t>(i)];
    s.stride[to] = a.stride_of(i);
    s.dilate[to] = a.dilate_of(i);
    s.pad[to] = deconvolution_pad(a, i, x[i + 2]).pad;
  }
  return s;
}

}  // namespace symbind
