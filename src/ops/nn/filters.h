// Shared by Convolution and Deconvolution: attributes, checks, inference of data, weight and bias,
// and the offer of BLAS kernels.
#pragma once

#include <symbind/operator.h>

#include <string>

#include "base/check.h"
#include "kernels/blas/convolution.h"
#include "kernels/convolution_sizes.h"
#include "ops/nn/window_attrs.h"

namespace symbind {

struct FilterAttrs {
  Tuple kernel, stride, dilate, pad;
  int num_filter = 0;
  int num_group = 1;
  std::int64_t workspace;
  bool no_bias;
  std::optional<std::string> cudnn_tune;
  bool cudnn_off = false;
  std::optional<std::string> layout;

  FilterAttrs(std::int64_t default_workspace, bool default_no_bias)
      : workspace(default_workspace), no_bias(default_no_bias) {}

  void describe_kernel(AttrVisitor& v) {
    v.field("kernel", kernel, "Kernel size: (w,), (h, w) or (d, h, w).").required();
  }
  /// num_filter, which `filters` documents, and the fields after it.
  void describe_filters(AttrVisitor& v, const char* filters) {
    v.field("num_filter", num_filter, filters).required().at_least(1);
    v.field("num_group", num_group, "Number of groups the channels are split into.").at_least(1);
    v.field("workspace", workspace, "Accepted, without effect.").at_least(0);
    v.field("no_bias", no_bias, "Whether to disable the bias.");
    v.field("cudnn_tune", cudnn_tune, "Accepted, without effect.")
        .choices({"fastest", "limited_workspace", "off"});
    v.field("cudnn_off", cudnn_off, "Accepted, without effect.");
    v.field("layout", layout, "Layout of the data; channels come second.")
        .choices({"NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"});
  }

  int spatial() const { return static_cast<int>(kernel.size()); }
};

inline void check_kernel(const FilterAttrs& a) {
  check(a.spatial() >= 1 && a.spatial() <= 3, "kernel {} must have 1, 2 or 3 axes",
        tuple_text(a.kernel));
}

/// Checks the attributes of a kernel that passed check_kernel.
inline void check_filters(const FilterAttrs& a) {
  check_per_axis("kernel", a.kernel, a.kernel, 1);
  check_per_axis("stride", a.stride, a.kernel, 1);
  check_per_axis("dilate", a.dilate, a.kernel, 1);
  check_per_axis("pad", a.pad, a.kernel, 0);
  check(a.num_filter % a.num_group == 0, "num_filter {} must be divisible by num_group {}",
        a.num_filter, a.num_group);
  check(!a.layout || (*a.layout)[1] == 'C', ErrorKind::kNotImplemented,
        "layout {} is not supported: give the data as (batch, channels, spatial…)",
        a.layout.value_or(""));
}

/// Data, weight and optional bias; `shapes` relates the first two and the output.
template <auto shapes, class A>
void infer_filter_shapes(const A& a, Inference& io) {
  shapes(a, io, io.in(0), io.in(1), io.out(0));
  if (!a.no_bias) io.set_shape(io.in(2), Shape{a.num_filter}, "one bias per filter");
}
template <auto shapes, class A>
void infer_filter(const A& a, Inference& io) {
  io.all_same_dtype();
  infer_filter_shapes<shapes, A>(a, io);
}

/// Inputs: dy, x, w. Outputs: dx, dw and, with a bias, db.
template <auto shapes, class A>
void infer_filter_backward(const A& a, Inference& io) {
  io.all_same_dtype();
  shapes(a, io, io.in(1), io.in(2), io.in(0));
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
  if (!a.no_bias) io.set_shape(io.out(2), Shape{a.num_filter});
}

/// The names of a filter's inputs, and of its gradients.
inline std::vector<std::string> filter_names(const FilterAttrs& a) {
  if (a.no_bias) return {"data", "weight"};
  return {"data", "weight", "bias"};
}

inline Offer offer_blas(const ConvolutionSizes& s, const KernelRequest& r) {
  const DType t = r.in[0].dtype;
  if (t != DType::kFloat32 && t != DType::kFloat64)
    return refuse("BLAS has float32 and float64 only");
  return accept_plain(r, static_cast<std::size_t>(blas::patch_elements(s)) * size_of(t));
}

template <class F>
Prepared with_real(DType t, F&& f) {
  return t == DType::kFloat64 ? f.template operator()<double>() : f.template operator()<float>();
}

}  // namespace symbind
