// DeformableConvolution: a 2-D convolution whose taps are moved by separate offsets at every output
// position.
//
//   y[n,f,o] = b[f] + Σ_c Σ_k w[f,c,k] · x[n, c, o·stride − pad + k·dilate + offset[n,g(c),k,o]]
//
// x between pixels is interpolated; outside of the image it is 0. The offset has, for every
// deformable group g of channels and every tap k, a row part and a column part: (2 · taps · groups)
// channels.
//
// Decided here: the moved pixels of one image are gathered as columns (channels · taps, positions),
// and the rest are matrix products. dx and the offsets' gradient come from the columns' gradient
// Wᵀ·dy: dx uses the four interpolation weights, the offset the slope of the interpolation. On a
// pixel's border the right-hand slope is used. The gradient is summed in float for 16-bit types.
#include <algorithm>

#include "base/checked.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/convolution_reference.h"
#include "kernels/gemm.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/nn/convolution_attrs.h"

namespace symbind {
namespace {

struct DeformableConvolutionAttrs {
  Tuple kernel, stride, dilate, pad;
  int num_filter = 0;
  int num_group = 1;
  int num_deformable_group = 1;
  std::int64_t workspace = 1024;
  bool no_bias = false;
  std::optional<std::string> layout;

  void describe(AttrVisitor& v) {
    v.field("kernel", kernel, "Kernel size: (h, w).").required();
    v.field("stride", stride, "Stride of each spatial axis; 1 by default.");
    v.field("dilate", dilate, "Distance between the kernel's taps; 1 by default.");
    v.field("pad", pad, "Zero padding on both sides of each spatial axis; 0 by default.");
    v.field("num_filter", num_filter, "Number of filters, the output's channels.")
        .required()
        .at_least(1);
    v.field("num_group", num_group, "Number of groups the channels are split into.").at_least(1);
    v.field("num_deformable_group", num_deformable_group,
            "Number of groups of channels with separate offsets.")
        .at_least(1);
    v.field("workspace", workspace, "Accepted, without effect.").at_least(0);
    v.field("no_bias", no_bias, "Whether to disable the bias.");
    v.field("layout", layout, "Layout of the data; channels come second.")
        .choices({"NCDHW", "NCHW", "NCW"});
  }

  /// The convolution without its offsets.
  ConvolutionAttrs plain() const {
    ConvolutionAttrs a;
    a.kernel = kernel, a.stride = stride, a.dilate = dilate, a.pad = pad;
    a.num_filter = num_filter, a.num_group = num_group, a.no_bias = no_bias, a.layout = layout;
    return a;
  }
};
using A = DeformableConvolutionAttrs;

// ---- Inference and gradient ---------------------------------------------------------------------

void infer_all(const A& a, Inference& io, Inference::Ref x, Inference::Ref offset, Inference::Ref w,
               Inference::Ref y) {
  check(a.kernel.size() == 2, "kernel {} must be (h, w)", tuple_text(a.kernel));
  infer_convolution(a.plain(), io, x, w, y);
  const std::int64_t channels = io.shape(x)[1];
  check(channels < 0 || channels % a.num_deformable_group == 0, ErrorKind::kShape,
        "{} channels of the data are not divisible by num_deformable_group {}", channels,
        a.num_deformable_group);
  const std::int64_t taps = checked_mul(a.kernel[0], a.kernel[1], "the kernel's size");
  const Shape out = io.shape(y);
  io.set_shape(offset,
               Shape{out[0], checked_mul(2 * taps, a.num_deformable_group, "the offset's channels"),
                     out[2], out[3]},
               "(batch, 2 · taps · num_deformable_group, as many positions as the output)");
}

void infer(const A& a, Inference& io) {
  io.all_same_dtype();
  infer_all(a, io, io.in(0), io.in(1), io.in(2), io.out(0));
  if (!a.no_bias) io.set_shape(io.in(3), Shape{a.num_filter}, "one bias per filter");
}

// Inputs: dy, x, offset, w. Outputs: dx, doffset, dw and, with a bias, db.
void infer_backward(const A& a, Inference& io) {
  io.all_same_dtype();
  infer_all(a, io, io.in(1), io.in(2), io.in(3), io.in(0));
  for (int i = 0; i < 3; ++i) io.same_shape(io.in(i + 1), io.out(i));
  if (!a.no_bias) io.set_shape(io.out(3), Shape{a.num_filter});
}

NodeEntries gradient(const A&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_DeformableConvolution",
                                {g.head(0), g.input(0), g.input(1), g.input(2)});
}

// ---- Kernels ------------------------------------------------------------------------------------

/// A moved tap: four pixels around it, or none when it is outside.
template <class Acc>
struct Tap {
  bool inside = false;
  std::int64_t pixels[4] = {0, 0, 0, 0};  ///< top left, top right, bottom left, bottom right
  Acc down = 0, across = 0;               ///< how far it is from the top left one

  Tap(Acc y, Acc x, std::int64_t height, std::int64_t width) {
    if (!(y >= 0 && x >= 0 && y < static_cast<Acc>(height) && x < static_cast<Acc>(width))) return;
    inside = true;
    const auto top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
    const std::int64_t bottom = std::min(top + 1, height - 1),
                       right = std::min(left + 1, width - 1);
    down = bottom == top ? 0 : y - static_cast<Acc>(top);
    across = right == left ? 0 : x - static_cast<Acc>(left);
    pixels[0] = top * width + left, pixels[1] = top * width + right;
    pixels[2] = bottom * width + left, pixels[3] = bottom * width + right;
  }
  Acc weight(int i) const { return (i < 2 ? 1 - down : down) * (i % 2 == 0 ? 1 - across : across); }
};

constexpr const char* kColumns = "channels · taps · positions";

struct Sizes : ConvolutionSizes {
  std::int64_t deformable = 1;
  std::int64_t taps() const { return kernel[1] * kernel[2]; }
  std::int64_t positions() const { return out[1] * out[2]; }
  std::int64_t pixels() const { return in[1] * in[2]; }
  std::int64_t image() const { return in_channels * pixels(); }
  std::int64_t columns() const {
    return checked_mul(checked_mul(in_channels, taps(), kColumns), positions(), kColumns);
  }
  std::int64_t offsets() const { return 2 * taps() * deformable * positions(); }
  std::int64_t group_of(std::int64_t channel) const { return channel / (in_channels / deformable); }

  /// Tap `k` of deformable group `g` at position `o`, moved by the offsets of one image.
  template <class T>
  Tap<Accumulator<T>> tap(const T* offset, std::int64_t g, std::int64_t k, std::int64_t o) const {
    using Acc = Accumulator<T>;
    const T* row = offset + (g * taps() + k) * 2 * positions() + o;
    const std::int64_t y = o / out[2] * stride[1] - pad[1] + k / kernel[2] * dilate[1];
    const std::int64_t x = o % out[2] * stride[2] - pad[2] + k % kernel[2] * dilate[2];
    return {static_cast<Acc>(y) + static_cast<Acc>(row[0]),
            static_cast<Acc>(x) + static_cast<Acc>(row[positions()]), in[1], in[2]};
  }
};

Sizes sizes_of(const A& a, const Shape& x, const Shape& y) {
  Sizes s;
  static_cast<ConvolutionSizes&>(s) = convolution_sizes(a.plain(), x, y);
  s.deformable = a.num_deformable_group;
  return s;
}

/// The columns of one image: row (c, k) is tap k in channel c at every position.
template <class T>
void gather(const Sizes& s, const T* x, const T* offset, T* columns) {
  using Acc = Accumulator<T>;
  const std::int64_t grain = grain_of(8 * s.positions());
  parallel_for(s.in_channels * s.taps(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t c = r / s.taps(), k = r % s.taps();
      const T* plane = x + c * s.pixels();
      for (std::int64_t o = 0; o < s.positions(); ++o) {
        const Tap<Acc> tap = s.tap(offset, s.group_of(c), k, o);
        Acc sum = 0;
        if (tap.inside)
          for (int i = 0; i < 4; ++i) sum += tap.weight(i) * static_cast<Acc>(plane[tap.pixels[i]]);
        columns[r * s.positions() + o] = static_cast<T>(sum);
      }
    }
  });
}

/// dx of one image. One thread handles a channel: several taps may use one pixel.
template <class T>
void scatter(const Sizes& s, const T* d_columns, const T* offset, Accumulator<T>* sums, T* dx) {
  using Acc = Accumulator<T>;
  const std::int64_t grain = grain_of(8 * s.taps() * s.positions());
  parallel_for(s.in_channels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      Acc* plane = sums + c * s.pixels();
      std::fill_n(plane, s.pixels(), Acc(0));
      for (std::int64_t k = 0; k < s.taps(); ++k)
        for (std::int64_t o = 0; o < s.positions(); ++o) {
          const Tap<Acc> tap = s.tap(offset, s.group_of(c), k, o);
          if (!tap.inside) continue;
          const Acc d = static_cast<Acc>(d_columns[(c * s.taps() + k) * s.positions() + o]);
          for (int i = 0; i < 4; ++i) plane[tap.pixels[i]] += d * tap.weight(i);
        }
      for (std::int64_t i = 0; i < s.pixels(); ++i)
        dx[c * s.pixels() + i] = static_cast<T>(plane[i]);
    }
  });
}

/// The offsets' gradient of one image: the slopes of the interpolation in every channel of the
/// group.
template <class T>
void offset_gradient(const Sizes& s, const T* d_columns, const T* x, const T* offset, T* d_offset) {
  using Acc = Accumulator<T>;
  const std::int64_t channels = s.in_channels / s.deformable;
  const std::int64_t grain = grain_of(8 * channels * s.positions());
  parallel_for(s.deformable * s.taps(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t g = r / s.taps(), k = r % s.taps();
      for (std::int64_t o = 0; o < s.positions(); ++o) {
        const Tap<Acc> tap = s.tap(offset, g, k, o);
        Acc rows = 0, across = 0;
        for (std::int64_t c = g * channels; tap.inside && c < (g + 1) * channels; ++c) {
          const Acc d = static_cast<Acc>(d_columns[(c * s.taps() + k) * s.positions() + o]);
          const auto at = [&](int i) {
            return static_cast<Acc>(x[c * s.pixels() + tap.pixels[i]]);
          };
          rows += d * ((1 - tap.across) * (at(2) - at(0)) + tap.across * (at(3) - at(1)));
          across += d * ((1 - tap.down) * (at(1) - at(0)) + tap.down * (at(3) - at(2)));
        }
        d_offset[r * 2 * s.positions() + o] = static_cast<T>(rows);
        d_offset[(r * 2 + 1) * s.positions() + o] = static_cast<T>(across);
      }
    }
  });
}

/// One product per group: op(A) (m×k) of `a`, op(B) (k×n) of `b`; `beta` 1 adds to C.
template <class T>
void multiply(const Sizes& s, GemmShape shape, const T* a, std::int64_t step_a, const T* b,
              std::int64_t step_b, double beta, T* c, std::int64_t step_c) {
  using Acc = Accumulator<T>;
  if (shape.m * shape.n * shape.k == 0) return;
  for (std::int64_t g = 0; g < s.groups; ++g)
    gemm(shape, Acc(1), a + g * step_a, b + g * step_b, static_cast<Acc>(beta), c + g * step_c);
}

std::size_t column_bytes(const Sizes& s, DType t) {
  return (static_cast<std::size_t>(s.columns()) * size_of(t) + 63) / 64 * 64;
}
Offer offer_forward(const A& a, const KernelRequest& r) {
  return accept_plain(r, column_bytes(sizes_of(a, r.in[0].shape, r.out[0].shape), r.in[0].dtype));
}
Offer offer_backward(const A& a, const KernelRequest& r) {
  const Sizes s = sizes_of(a, r.in[1].shape, r.in[0].shape);
  const std::size_t sum = r.in[0].dtype == DType::kFloat64 ? 8 : 4;
  return accept_plain(r,
                      column_bytes(s, r.in[0].dtype) + static_cast<std::size_t>(s.image()) * sum);
}

Prepared forward(const A& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = sizes_of(a, r.in[0].shape, r.out[0].shape)](const Args& args) {
      T* columns = static_cast<T*>(args.workspace);
      const std::int64_t f = s.group_out(), k = s.group_in() * s.taps(), p = s.positions();
      for (std::int64_t n = 0; n < s.batch; ++n) {
        T* y = args.out<T>(0) + n * s.out_channels * p;
        gather(s, args.in<T>(0) + n * s.image(), args.in<T>(1) + n * s.offsets(), columns);
        for (std::int64_t i = 0; i < s.out_channels; ++i)
          std::fill_n(y + i * p, p, s.bias ? args.in<T>(3)[i] : T(0));
        multiply(s, {false, false, f, p, k, k, p, p}, args.in<T>(2), f * k, columns, k * p, 1.0, y,
                 f * p);
      }
    };
  });
}

Prepared backward(const A& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = sizes_of(a, r.in[1].shape, r.in[0].shape), t = r.in[0].dtype,
            weights = r.in[3].shape.size()](const Args& args) {
      T* columns = static_cast<T*>(args.workspace);
      auto* sums = reinterpret_cast<Accumulator<T>*>(static_cast<std::byte*>(args.workspace) +
                                                     column_bytes(s, t));
      const std::int64_t f = s.group_out(), k = s.group_in() * s.taps(), p = s.positions();
      if (args.wants(2)) std::fill_n(args.out<T>(2), weights, T(0));
      if (s.bias && args.wants(3)) bias_gradient(s, args.in<T>(0), args.out<T>(3));
      for (std::int64_t n = 0; n < s.batch; ++n) {
        const T* dy = args.in<T>(0) + n * s.out_channels * p;
        const T *x = args.in<T>(1) + n * s.image(), *offset = args.in<T>(2) + n * s.offsets();
        if (args.wants(2)) {
          gather(s, x, offset, columns);
          multiply(s, {false, true, f, k, p, p, p, k}, dy, f * p, columns, k * p, 1.0,
                   args.out<T>(2), f * k);
        }
        if (!args.wants(0) && !args.wants(1)) continue;
        multiply(s, {true, false, k, p, f, k, p, p}, args.in<T>(3), f * k, dy, f * p, 0.0, columns,
                 k * p);
        if (args.wants(0)) scatter(s, columns, offset, sums, args.out<T>(0) + n * s.image());
        if (args.wants(1)) offset_gradient(s, columns, x, offset, args.out<T>(1) + n * s.offsets());
      }
    };
  });
}

}  // namespace

void register_deformable_convolution(OpRegistry& r) {
  const auto names = [](const A& a) -> std::vector<std::string> {
    if (a.no_bias) return {"data", "offset", "weight"};
    return {"data", "offset", "weight", "bias"};
  };
  r.add<A>("_contrib_DeformableConvolution")
      .doc("A 2-D convolution whose taps are moved by offsets.")
      .inputs(names)
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "blas", offer_forward, forward);
  r.add<A>("_backward_DeformableConvolution")
      .backward()
      .inputs({"dy", "data", "offset", "weight"})
      .outputs(names, [](const A& a) { return a.no_bias ? 3 : 4; })
      .skips_unread()
      .infer(infer_backward)
      .kernel(DeviceType::kCpu, "blas", offer_backward, backward);
}

}  // namespace symbind
