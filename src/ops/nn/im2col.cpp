// im2col and col2im: the patches under a window that slides over images, and patches added back.
//
//   im2col   y[n, (c, k), o] = x[n, c, o·stride − pad + k·dilate], zero outside of the image
//   col2im   y[n, c, i]      = Σ x[n, (c, k), o] over all (k, o) with o·stride − pad + k·dilate = i
//
// k runs over the window's taps and o over its positions, both row by row. Each is linear and the
// other's transpose, so each is the other's gradient. Decided here: the image's size is unknown
// before shapes are inferred, so im2col's gradient takes it from the data (_backward_im2col);
// 16-bit sums are kept in float.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "kernels/patches.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/nn/window_attrs.h"

namespace symbind {

namespace {

struct Im2colAttrs {
  Tuple kernel, stride, dilate, pad;

  void describe(AttrVisitor& v) {
    v.field("kernel", kernel, "Size of the window: (w,), (h, w) or (d, h, w).").required();
    v.field("stride", stride, "Step of the window along each axis; 1 by default.");
    v.field("dilate", dilate, "Distance between the window's taps; 1 by default.");
    v.field("pad", pad, "Zeros on both sides of each axis; 0 by default.");
  }
  int spatial() const { return static_cast<int>(kernel.size()); }
};

struct Col2imAttrs : Im2colAttrs {
  Tuple output_size;

  void describe(AttrVisitor& v) {
    v.field("output_size", output_size, "Size of the image.").required();
    Im2colAttrs::describe(v);
  }
};

// ---- Sizes --------------------------------------------------------------------------------------

/// Throws unless the attributes fit together; returns the number of taps.
std::int64_t check_window(const Im2colAttrs& a) {
  check(a.spatial() >= 1 && a.spatial() <= 3, "kernel {} must have 1, 2 or 3 axes",
        tuple_text(a.kernel));
  check_per_axis("kernel", a.kernel, a.kernel, 1);
  check_per_axis("stride", a.stride, a.kernel, 1);
  check_per_axis("dilate", a.dilate, a.kernel, 1);
  check_per_axis("pad", a.pad, a.kernel, 0);
  std::int64_t taps = 1;
  for (const std::int64_t n : a.kernel) {
    check(taps <= 0x7fffffff / n, "kernel {} is too large", tuple_text(a.kernel));
    taps *= n;
  }
  return taps;
}

/// The windows over an image of known size.
ConvolutionSizes windows(const Im2colAttrs& a, const Shape& image) {
  ConvolutionSizes s;
  s.spatial = a.spatial();
  s.batch = image[0];
  s.in_channels = image[1];
  for (int i = 0; i < a.spatial(); ++i) {
    const auto to = static_cast<std::size_t>(3 - a.spatial() + i);
    s.in[to] = image[i + 2];
    s.kernel[to] = a.kernel[i];
    if (!a.stride.empty()) s.stride[to] = a.stride[i];
    if (!a.dilate.empty()) s.dilate[to] = a.dilate[i];
    if (!a.pad.empty()) s.pad[to] = a.pad[i];
    const std::int64_t reach = s.dilate[to] * (s.kernel[to] - 1) + 1;
    const std::int64_t padded = s.in[to] + 2 * s.pad[to];
    check(reach <= padded, ErrorKind::kShape,
          "kernel {} covers {} along spatial axis {}, the image has {} ({} with padding)",
          tuple_text(a.kernel), reach, i, s.in[to], padded);
    s.out[to] = (padded - reach) / s.stride[to] + 1;
  }
  return s;
}

/// Both ways between an image (batch, channels, size…) and its patches.
void infer_both(const Im2colAttrs& a, Inference& io, Inference::Ref image, Inference::Ref patches) {
  const std::int64_t taps = check_window(a);
  io.same_dtype(image, patches);
  io.set_shape(image, Shape::of_rank(a.spatial() + 2), "(batch, channels, an axis per kernel's)");
  const Shape x = io.shape(image);
  Shape columns = Shape::of_rank(3);
  columns[0] = x[0];
  if (x[1] != kUnknownDim) columns[1] = checked_mul(x[1], taps, "channels · taps");
  bool known = true;
  for (int i = 0; i < a.spatial(); ++i) known = known && x[i + 2] != kUnknownDim;
  if (known) {
    columns[2] = 1;
    for (const std::int64_t positions : windows(a, x).out)
      columns[2] = checked_mul(columns[2], positions, "the positions of the window");
  }
  io.set_shape(patches, columns, "(batch, channels · taps, positions of the window)");
  Shape back = Shape::of_rank(a.spatial() + 2);
  back[0] = io.shape(patches)[0];
  if (const std::int64_t rows = io.shape(patches)[1]; rows != kUnknownDim) {
    check(rows % taps == 0, ErrorKind::kShape,
          "{} rows are not a multiple of the {} taps of kernel {}", rows, taps,
          tuple_text(a.kernel));
    back[1] = rows / taps;
  }
  io.set_shape(image, back, "it follows from the patches");
}

void infer_im2col(const Im2colAttrs& a, Inference& io) { infer_both(a, io, io.in(0), io.out(0)); }

void infer_col2im(const Col2imAttrs& a, Inference& io) {
  check_window(a);
  check(!a.output_size.empty(), "output_size {} must have as many axes as kernel {}",
        tuple_text(a.output_size), tuple_text(a.kernel));
  check_per_axis("output_size", a.output_size, a.kernel, 1);
  Shape image = Shape::of_rank(a.spatial() + 2);
  for (int i = 0; i < a.spatial(); ++i) image[i + 2] = a.output_size[i];
  io.set_shape(io.out(0), image, "(batch, channels, output_size…)");
  infer_both(a, io, io.out(0), io.in(0));
}

// Inputs: dy, and the data for its shape.
void infer_backward(const Im2colAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  infer_both(a, io, io.out(0), io.in(0));
}

// ---- Kernels ------------------------------------------------------------------------------------

std::int64_t image_elements(const ConvolutionSizes& s) {
  return s.in_channels * ConvolutionSizes::product(s.in);
}
std::int64_t patch_elements(const ConvolutionSizes& s) {
  return s.in_channels * ConvolutionSizes::product(s.kernel) * ConvolutionSizes::product(s.out);
}

Prepared take_patches(const Im2colAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = windows(a, r.in[0].shape)](const Args& args) {
      for (std::int64_t n = 0; n < s.batch; ++n)
        unroll(s, args.in<T>(0) + n * image_elements(s), args.out<T>(0) + n * patch_elements(s));
    };
  });
}

template <class A>
Offer offer_sums(const A& a, const KernelRequest& r) {
  const bool narrow = size_of(r.out[0].dtype) < sizeof(float);
  const auto elements = static_cast<std::size_t>(image_elements(windows(a, r.out[0].shape)));
  return accept_plain(r, narrow ? elements * sizeof(float) : 0);
}

template <class A>
Prepared add_patches(const A& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = windows(a, r.out[0].shape)](const Args& args) {
      const std::int64_t size = image_elements(s);
      for (std::int64_t n = 0; n < s.batch; ++n) {
        const T* patches = args.in<T>(0) + n * patch_elements(s);
        T* image = args.out<T>(0) + n * size;
        if constexpr (std::is_same_v<T, Accumulator<T>>) {
          fold(s, patches, image);
        } else {
          float* sums = static_cast<float*>(args.workspace);
          fold(s, patches, sums);
          for (std::int64_t i = 0; i < size; ++i) image[i] = static_cast<T>(sums[i]);
        }
      }
    };
  });
}

// ---- Gradients ----------------------------------------------------------------------------------

NodeEntries gradient_of_im2col(const Im2colAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_im2col", {g.head(0), g.input(0)});
}

NodeEntries gradient_of_col2im(const Col2imAttrs& a, GradientBuilder& g) {
  AttrDict attrs{{"kernel", tuple_text(a.kernel)}};
  if (!a.stride.empty()) attrs["stride"] = tuple_text(a.stride);
  if (!a.dilate.empty()) attrs["dilate"] = tuple_text(a.dilate);
  if (!a.pad.empty()) attrs["pad"] = tuple_text(a.pad);
  return {g.call("im2col", {g.head(0)}, attrs)};
}

}  // namespace

void register_im2col(OpRegistry& r) {
  r.add<Im2colAttrs>("im2col")
      .doc("The patches of images under a window, as columns.")
      .infer(infer_im2col)
      .gradient(gradient_of_im2col)
      .reference(take_patches);
  r.add<Im2colAttrs>("_backward_im2col")
      .backward()
      .inputs({"dy", "data"})
      .shape_only({1})
      .infer(infer_backward)
      .kernel(DeviceType::kCpu, "reference", offer_sums<Im2colAttrs>, add_patches<Im2colAttrs>);
  r.add<Col2imAttrs>("col2im")
      .doc("Images as sums of patches: the reverse of im2col.")
      .infer(infer_col2im)
      .gradient(gradient_of_col2im)
      .kernel(DeviceType::kCpu, "reference", offer_sums<Col2imAttrs>, add_patches<Col2imAttrs>);
}

}  // namespace symbind
