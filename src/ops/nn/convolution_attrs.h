// Shared by Convolution and its fused forms: attributes, checks, inference.
#pragma once

#include "base/checked.h"
#include "ops/nn/filters.h"

namespace symbind {

struct ConvolutionAttrs : FilterAttrs {
  std::string epilogue;  ///< of _fused_Convolution

  ConvolutionAttrs() : FilterAttrs(1024, false) {}

  void describe(AttrVisitor& v) {
    describe_kernel(v);
    v.field("stride", stride, "Stride of each spatial axis; 1 by default.");
    v.field("dilate", dilate, "Distance between the kernel's taps; 1 by default.");
    v.field("pad", pad, "Zero padding on both sides of each spatial axis; 0 by default.");
    describe_filters(v, "Number of filters, the output's channels.");
  }

  std::int64_t stride_of(int axis) const { return stride.empty() ? 1 : stride[axis]; }
  std::int64_t dilate_of(int axis) const { return dilate.empty() ? 1 : dilate[axis]; }
  std::int64_t pad_of(int axis) const { return pad.empty() ? 0 : pad[axis]; }
  /// What the kernel covers with its dilation.
  std::int64_t reach(int axis) const { return dilate_of(axis) * (kernel[axis] - 1) + 1; }
};

/// Checks the attributes, and the data's rank if it is known.
inline void check_convolution(const ConvolutionAttrs& a, const Shape& data) {
  check_kernel(a);
  if (data.rank_known() && data.rank() != a.spatial() + 2) {
    const int axes = data.rank() - 2;
    check(axes >= 1 && axes <= 3, ErrorKind::kShape,
          "the data {} must be (batch, channels, spatial…) with 1 to 3 spatial axes", data.str());
    fail(ErrorKind::kValue, "kernel {} is {}-D but the data has {} spatial axes; give {}",
         tuple_text(a.kernel), a.spatial(), axes,
         tuple_text(Tuple(static_cast<std::size_t>(axes), a.kernel[0])));
  }
  check_filters(a);
}

/// Both ways between data, weight and output; `x`, `w`, `y` say which they are.
inline void infer_convolution(const ConvolutionAttrs& a, Inference& io, Inference::Ref x,
                              Inference::Ref w, Inference::Ref y) {
  check_convolution(a, io.shape(x));
  const int n = a.spatial();
  Shape data = Shape::of_rank(n + 2), weight = data, out = data;
  merge(data, io.shape(x));
  weight[0] = a.num_filter;
  if (data[1] != kUnknownDim) {
    check(data[1] % a.num_group == 0, ErrorKind::kShape,
          "{} channels of the data are not divisible by num_group {}", data[1], a.num_group);
    weight[1] = data[1] / a.num_group;
  }
  out[0] = data[0];
  out[1] = a.num_filter;
  for (int i = 0; i < n; ++i) {
    weight[i + 2] = a.kernel[i];
    if (data[i + 2] == kUnknownDim) continue;
    const std::int64_t padded = data[i + 2] + 2 * a.pad_of(i);
    check(a.reach(i) <= padded, ErrorKind::kShape,
          "kernel {} covers {} along spatial axis {}, the data has {} ({} with padding)",
          tuple_text(a.kernel), a.reach(i), i, data[i + 2], padded);
    out[i + 2] = (padded - a.reach(i)) / a.stride_of(i) + 1;
  }
  io.set_shape(w, weight, "(num_filter, channels / num_group, kernel…)");
  io.set_shape(y, out, "it follows from the data, kernel, stride, dilate and pad");
  // Backwards: channels from the weight, extents from the output where the stride is 1.
  Shape back = Shape::of_rank(n + 2);
  if (io.shape(w)[1] != kUnknownDim)
    back[1] = checked_mul(io.shape(w)[1], a.num_group, "the channels of all groups");
  back[0] = io.shape(y)[0];
  for (int i = 0; i < n; ++i) {
    const std::int64_t o = io.shape(y)[i + 2];
    if (o != kUnknownDim && a.stride_of(i) == 1) back[i + 2] = o + a.reach(i) - 1 - 2 * a.pad_of(i);
  }
  io.set_shape(x, back, "it follows from the output and the weight");
}

inline ConvolutionSizes convolution_sizes(const ConvolutionAttrs& a, const Shape& x,
                                          const Shape& y) {
  ConvolutionSizes s;
  s.spatial = a.spatial();
  s.batch = x[0];
  s.in_channels = x[1];
  s.out_channels = a.num_filter;
  s.groups = a.num_group;
  s.bias = !a.no_bias;
  for (int i = 0; i < a.spatial(); ++i) {
    const auto to = static_cast<std::size_t>(3 - a.spatial() + i);
    s.in[to] = x[i + 2];
    s.out[to] = y[i + 2];
    s.kernel[to] = a.kernel[i];
    s.stride[to] = a.stride_of(i);
    s.dilate[to] = a.dilate_of(i);
    s.pad[to] = a.pad_of(i);
  }
  return s;
}

}  // namespace symbind
