// UpSampling: images made larger by a whole factor.
//
//   nearest   every element fills a square. The output has scale times the size of the first
//             input; the others are scaled to it, then joined along the channels or summed.
//   bilinear  Deconvolution of each channel with a separate weight (initialise it with the
//             Bilinear initializer): kernel 2·scale − scale % 2, stride scale,
//             pad ⌈(scale − 1)/2⌉.
//
// Decided here: gradients of nearest are the sums over the squares. Nearest keeps blocked layouts.
#include <symbind/operator.h>

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/channel_lanes.h"
#include "kernels/convolution_reference.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct UpSamplingAttrs {
  int scale = 1, num_filter = 0;
  std::string sample_type, multi_input_mode = "concat";
  int num_args = 1;
  std::int64_t workspace = 512;

  void describe(AttrVisitor& v) {
    v.field("scale", scale, "The factor.").required().at_least(1).at_most(1000);
    v.field("num_filter", num_filter, "The number of channels; bilinear only.").at_least(0);
    v.field("sample_type", sample_type, "How to interpolate.")
        .required()
        .choices({"bilinear", "nearest"});
    v.field("multi_input_mode", multi_input_mode, "What to do with several inputs.")
        .choices({"concat", "sum"});
    v.field("num_args", num_args, "Number of inputs; bilinear has two.").required().at_least(1);
    v.field("workspace", workspace, "Accepted, without effect.").at_least(0);
  }
  bool nearest() const { return sample_type == "nearest"; }
  bool sums() const { return multi_input_mode == "sum"; }
  std::int64_t kernel() const { return 2 * scale - scale % 2; }
  std::vector<std::string> inputs() const {
    if (!nearest()) return {"data", "weight"};
    std::vector<std::string> names;
    for (int i = 0; i < num_args; ++i) names.push_back("arg" + std::to_string(i));
    return names;
  }
};

// ---- Inference and gradient ---------------------------------------------------------------------

void infer_nearest(const UpSamplingAttrs& a, Inference& io, const std::vector<Inference::Ref>& in,
                   Inference::Ref y) {
  Shape out = Shape::of_rank(4);
  bool all_known = true;
  std::int64_t channels = 0;
  for (const auto& r : in) {
    io.set_shape(r,
                 Shape{io.shape(y).rank() == 4 ? io.shape(y)[0] : kUnknownDim, kUnknownDim,
                       kUnknownDim, kUnknownDim},
                 "(batch, channels, height, width)");
    const Shape& x = io.shape(r);
    if (x[0] != kUnknownDim) out[0] = x[0];
    all_known &= x[1] != kUnknownDim;
    channels = a.sums() ? x[1] : channels + x[1];
    if (a.sums() && x[1] != kUnknownDim) out[1] = x[1];
  }
  if (!a.sums() && all_known) out[1] = channels;
  const Shape& first = io.shape(in[0]);
  for (int axis = 2; axis < 4; ++axis)
    if (first[axis] != kUnknownDim) out[axis] = first[axis] * a.scale;
  io.set_shape(y, out, "scale times the first input");
  for (const auto& r : in) {
    Shape back = Shape::of_rank(4);
    back[0] = io.shape(y)[0];
    if (a.sums() || in.size() == 1) back[1] = io.shape(y)[1];
    io.set_shape(r, back, "it follows from the output");
    for (int axis = 2; axis < 4; ++axis) {
      const std::int64_t small = io.shape(r)[axis], large = io.shape(y)[axis];
      check(small == kUnknownDim || large == kUnknownDim ||
                (small > 0 ? large % small == 0 : large == 0),
            ErrorKind::kShape, "an input of {} cannot be scaled to {} by a whole factor",
            io.shape(r).str(), io.shape(y).str());
    }
  }
}

void infer_bilinear(const UpSamplingAttrs& a, Inference& io, Inference::Ref x, Inference::Ref w,
                    Inference::Ref y) {
  io.set_shape(x, Shape::of_rank(4), "(batch, channels, height, width)");
  const Shape data = io.shape(x);
  check(a.num_filter == 0 || data[1] == kUnknownDim || data[1] == a.num_filter, ErrorKind::kShape,
        "num_filter {} must be the number of the data's channels, {}", a.num_filter, data[1]);
  io.set_shape(w, Shape{data[1], 1, a.kernel(), a.kernel()}, "a kernel for every channel");
  Shape out = data;
  for (int axis = 2; axis < 4; ++axis)
    if (out[axis] != kUnknownDim) out[axis] *= a.scale;
  io.set_shape(y, out, "scale times the data");
  Shape back = io.shape(y);
  for (int axis = 2; axis < 4; ++axis) {
    const bool whole = back[axis] != kUnknownDim && back[axis] % a.scale == 0;
    back[axis] = whole ? back[axis] / a.scale : kUnknownDim;
  }
  io.set_shape(x, back, "it follows from the output");
}

void infer(const UpSamplingAttrs& a, Inference& io) {
  io.all_same_dtype();
  if (!a.nearest()) return infer_bilinear(a, io, io.in(0), io.in(1), io.out(0));
  std::vector<Inference::Ref> in;
  for (int i = 0; i < io.num_inputs(); ++i) in.push_back(io.in(i));
  infer_nearest(a, io, in, io.out(0));
}

// Inputs: dy and all inputs, of which nearest reads the shapes only. Outputs: their gradients.
void infer_backward(const UpSamplingAttrs& a, Inference& io) {
  io.all_same_dtype();
  for (int i = 0; i < io.num_outputs(); ++i) io.same_shape(io.in(i + 1), io.out(i));
  if (!a.nearest()) return infer_bilinear(a, io, io.in(1), io.in(2), io.in(0));
  std::vector<Inference::Ref> in;
  for (int i = 1; i < io.num_inputs(); ++i) in.push_back(io.in(i));
  infer_nearest(a, io, in, io.in(0));
}

NodeEntries gradient(const UpSamplingAttrs& a, GradientBuilder& g) {
  NodeEntries inputs{g.head(0)};
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  return g.call_with_same_attrs(
      a.nearest() ? "_backward_UpSampling_nearest" : "_backward_UpSampling", std::move(inputs));
}

// ---- nearest ------------------------------------------------------------------------------------

/// One input and where its channels begin in the output. Channels are counted in groups of `lanes`
/// neighbours.
struct ScaledInput {
  std::int64_t batch, groups, height, width, tall, wide, first, out_groups, lanes;
};

std::vector<ScaledInput> scaled_inputs(const UpSamplingAttrs& a, const TensorDesc* in,
                                       std::size_t count, const Shape& y, Layout layout) {
  std::vector<ScaledInput> all;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& x = in[i].shape;
    const ChannelLanes stored(x, layout);
    all.push_back({x[0], stored.groups, x[2], x[3], x[2] > 0 ? y[2] / x[2] : 1,
                   x[3] > 0 ? y[3] / x[3] : 1, a.sums() ? 0 : first, ChannelLanes(y, layout).groups,
                   stored.lanes});
    first += stored.groups;
  }
  return all;
}

/// Calls f(row of the input, first of its rows in the output) for every row.
template <class F>
void each_row(const ScaledInput& s, F&& f) {
  const std::int64_t grain = grain_of(s.width * s.tall * s.wide * s.lanes);
  parallel_for(s.batch * s.groups * s.height, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t plane = row / s.height, n = plane / s.groups, c = plane % s.groups;
      f(row * s.width * s.lanes, ((n * s.out_groups + s.first + c) * s.height + row % s.height) *
                                     s.tall * s.width * s.wide * s.lanes);
    }
  });
}

/// The layout of all tensors: blocked if every input has whole blocks, and channels last only with
/// one input, whose channels are then those of the output.
Layout nearest_layout(const TensorDesc* in, std::size_t count, Layout preferred) {
  if (preferred == Layout::kChannelsLast) return count == 1 ? preferred : Layout::kPlain;
  for (std::size_t i = 0; i < count; ++i)
    if (!has_whole_lanes(in[i].shape[1], preferred)) return Layout::kPlain;
  return preferred;
}

Offer offer_forward(const UpSamplingAttrs& a, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  if (!a.nearest()) return offer;
  const Layout layout = nearest_layout(r.in.data(), r.in.size(), r.in[0].layout);
  offer.in_layouts.assign(r.in.size(), layout);
  offer.out_layouts.assign(1, layout);
  return offer;
}

Offer offer_backward_nearest(const UpSamplingAttrs&, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  const Layout layout = nearest_layout(r.in.data() + 1, r.in.size() - 1, r.in[0].layout);
  offer.in_layouts[0] = layout;
  for (std::size_t i = 1; i < r.in.size(); ++i)
    offer.in_layouts[i] = r.in[i].layout;  // only their shapes are read
  offer.out_layouts.assign(r.out.size(), layout);
  return offer;
}

Prepared forward_nearest(const UpSamplingAttrs& a, const KernelRequest& r, const Offer& offer) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [all = scaled_inputs(a, r.in.data(), r.in.size(), r.out[0].shape, offer.in_layouts[0]),
            sums = a.sums()](const Args& args) {
      using Acc = Accumulator<T>;
      T* y = args.out<T>(0);
      for (std::size_t k = 0; k < all.size(); ++k) {
        const ScaledInput& s = all[k];
        const T* x = args.in<T>(static_cast<int>(k));
        const std::int64_t width = s.width * s.wide * s.lanes;
        each_row(s, [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t j = 0; j < s.tall; ++j) {
            T* row = y + to + j * width;
            for (std::int64_t i = 0; i < s.width; ++i) {
              const T* v = x + from + i * s.lanes;
              for (std::int64_t p = 0; p < s.wide; ++p)
                for (std::int64_t lane = 0; lane < s.lanes; ++lane, ++row)
                  *row = sums && k > 0
                             ? static_cast<T>(static_cast<Acc>(*row) + static_cast<Acc>(v[lane]))
                             : v[lane];
            }
          }
        });
      }
    };
  });
}

Prepared backward_nearest(const UpSamplingAttrs& a, const KernelRequest& r, const Offer& offer) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [all = scaled_inputs(a, r.in.data() + 1, r.in.size() - 1, r.in[0].shape,
                                offer.in_layouts[0])](const Args& args) {
      using Acc = Accumulator<T>;
      const T* dy = args.in<T>(0);
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (!args.wants(static_cast<int>(k))) continue;
        const ScaledInput& s = all[k];
        T* dx = args.out<T>(static_cast<int>(k));
        const std::int64_t width = s.width * s.wide * s.lanes;
        each_row(s, [&](std::int64_t to, std::int64_t from) {
          for (std::int64_t i = 0; i < s.width; ++i)
            for (std::int64_t lane = 0; lane < s.lanes; ++lane) {
              const T* square = dy + from + i * s.wide * s.lanes + lane;
              Acc sum = 0;
              for (std::int64_t j = 0; j < s.tall; ++j)
                for (std::int64_t p = 0; p < s.wide; ++p)
                  sum += static_cast<Acc>(square[j * width + p * s.lanes]);
              dx[to + i * s.lanes + lane] = static_cast<T>(sum);
            }
        });
      }
    };
  });
}

// ---- bilinear -----------------------------------------------------------------------------------

/// The convolution from the output back to the data, channel by channel.
ConvolutionSizes convolution(const UpSamplingAttrs& a, const Shape& x, const Shape& y) {
  ConvolutionSizes s;
  s.batch = x[0];
  s.in_channels = s.out_channels = s.groups = x[1];
  s.in = {1, y[2], y[3]};
  s.out = {1, x[2], x[3]};
  s.kernel = {1, a.kernel(), a.kernel()};
  s.stride = {1, a.scale, a.scale};
  s.pad = {0, a.scale / 2, a.scale / 2};  // ⌈(scale − 1)/2⌉
  return s;
}

Prepared forward_bilinear(const UpSamplingAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution(a, r.in[0].shape, r.out[0].shape)](const Args& args) {
      const std::int64_t grain = grain_of(s.in_plane_work());
      parallel_for(s.batch * s.in_channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          backward_data_plane(s, p / s.in_channels, p % s.in_channels, args.in<T>(0), args.in<T>(1),
                              args.out<T>(0));
      });
    };
  });
}

Prepared backward_bilinear(const UpSamplingAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = convolution(a, r.in[1].shape, r.in[0].shape)](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *w = args.in<T>(2), *none = nullptr;
      if (args.wants(0))
        parallel_for(s.batch * s.out_channels, grain_of(s.out_plane_work()),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t p = begin; p < end; ++p)
                         forward_plane(s, p / s.out_channels, p % s.out_channels, dy, w, none,
                                       args.out<T>(0));
                     });
      if (args.wants(1))
        parallel_for(s.out_channels, grain_of(s.tap_work()),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t f = begin; f < end; ++f)
                         backward_weight_taps(s, f, 0, x, dy, args.out<T>(1));
                     });
    };
  });
}

}  // namespace

void register_upsampling(OpRegistry& r) {
  using A = UpSamplingAttrs;
  using R = KernelRequest;
  r.add<A>("UpSampling")
      .precision(Precision::kAsStored)
      .doc("Makes images larger by a whole factor.")
      .variadic("num_args", &A::num_args)
      .inputs([](const A& a) { return a.inputs(); })
      .init_hint(1, R"(["bilinear", {}])")
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "reference", offer_forward,
              [](const A& a, const R& q, const Offer& offer) {
                return a.nearest() ? forward_nearest(a, q, offer) : forward_bilinear(a, q);
              });
  const auto backward_inputs = [](const A& a) {
    std::vector<std::string> names{"dy"};
    for (const std::string& name : a.inputs()) names.push_back(name);
    return names;
  };
  const auto count = [](const A& a) { return static_cast<int>(a.inputs().size()); };
  r.add<A>("_backward_UpSampling")
      .precision(Precision::kAsStored)
      .backward()
      .inputs(backward_inputs)
      .outputs([](const A& a) { return a.inputs(); }, count)
      .skips_unread()
      .infer(infer_backward)
      .reference(backward_bilinear);
  r.add<A>("_backward_UpSampling_nearest")
      .precision(Precision::kAsStored)
      .backward()
      .inputs(backward_inputs)
      .outputs([](const A& a) { return a.inputs(); }, count)
      .skips_unread()
      .infer(infer_backward)
      .kernel(DeviceType::kCpu, "reference", offer_backward_nearest, backward_nearest);
}

}  // namespace symbind
