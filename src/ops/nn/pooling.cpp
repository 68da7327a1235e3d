// Pooling: maximum, average, sum or p-norm of a window that slides over the spatial axes.
//
//   max   y = max x           dx = dy at the first maximum of the window
//   avg   y = Σ x / count     dx = Σ dy / count over the windows that hold x
//   sum   y = Σ x             lp   y = (Σ x^p)^(1/p),    dx = dy · x^(p-1) / y^(p-1)
//
// Decided here: the convention rounds the number of windows down ("valid") or up ("full"); "same"
// gives ⌈in / stride⌉ windows and sets the padding itself. The average counts padding unless
// count_include_pad is false, but nothing beyond the padded edge. global_pool ignores kernel,
// stride and pad. The maximum's positions are an opaque output in training, so that backward reads
// only the shape of x, neither x nor y. NaN and −∞ are never a maximum, as in MXNet: a window that
// holds nothing else gives the lowest finite number, and its gradient goes to its first element; it
// is dropped if that is padding. oneDNN does the same.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/max_pooling/max_pooling.h"
#include "kernels/onednn/pooling.h"
#include "kernels/pooling_sizes.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/nn/window_attrs.h"

namespace symbind {

namespace {

struct PoolingAttrs {
  Tuple kernel;
  std::string pool_type = "max";
  bool global_pool = false;
  bool cudnn_off = false;
  std::string pooling_convention = "valid";
  Tuple stride, pad;
  std::optional<int> p_value;
  std::optional<bool> count_include_pad;
  std::optional<std::string> layout;

  /// Elements in a window.
  double window() const {
    double area = 1;
    for (const std::int64_t extent : kernel) area *= static_cast<double>(extent);
    return area;
  }
  void describe(AttrVisitor& v) {
    v.field("kernel", kernel, "Window size: (w,), (h, w) or (d, h, w).");
    v.field("pool_type", pool_type, "The function of a window.")
        .choices({"avg", "lp", "max", "sum"});
    v.field("global_pool", global_pool, "Whether the window is the whole image.");
    v.field("cudnn_off", cudnn_off, "Accepted, without effect.");
    v.field("pooling_convention", pooling_convention, "How the number of windows is rounded.")
        .choices({"full", "same", "valid"});
    v.field("stride", stride, "Stride of the window; 1 by default.");
    v.field("pad", pad, "Padding on both sides; 0 by default.");
    v.field("p_value", p_value, "The p of lp pooling.");
    v.field("count_include_pad", count_include_pad,
            "Whether averages count padding; true by default.");
    v.field("layout", layout, "Layout of the data.")
        .choices({"NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"});
  }

  bool channels_last() const { return layout && layout->back() == 'C'; }
  bool saves_positions() const { return pool_type == "max"; }
  std::int64_t stride_of(int axis) const { return stride.empty() ? 1 : stride[axis]; }
  std::int64_t pad_of(int axis) const {
    return axis < static_cast<int>(pad.size()) ? pad[static_cast<std::size_t>(axis)] : 0;
  }
};

// ---- Inference ----------------------------------------------------------------------------------

void check_attrs(const PoolingAttrs& a, const Shape& data) {
  check(data.rank() >= 3 && data.rank() <= 5, ErrorKind::kShape,
        "the data {} must be (batch, channels, spatial…) with 1 to 3 spatial axes", data.str());
  const int axes = data.rank() - 2;
  check(a.pool_type != "lp" || a.p_value.value_or(0) >= 1,
        "pool_type lp needs a p_value of 1 or more");
  if (a.global_pool) return;
  const std::string text = tuple_text(a.kernel);
  check(!a.kernel.empty(), "kernel is required unless global_pool is set");
  check(static_cast<int>(a.kernel.size()) == axes,
        "kernel {} is {}-D but the data has {} spatial axes; give {}", text, a.kernel.size(), axes,
        tuple_text(Tuple(static_cast<std::size_t>(axes), a.kernel[0])));
  check_per_axis("kernel", a.kernel, a.kernel, 1);
  check_per_axis("stride", a.stride, a.kernel, 1);
  const bool no_pad = std::ranges::all_of(a.pad, [](std::int64_t n) { return n == 0; });
  if (a.pooling_convention == "same" && no_pad) return;  // MXNet accepts any number of zeros
  check_per_axis("pad", a.pad, a.kernel, 0);
  for (int i = 0; i < axes; ++i) {
    check(a.pad_of(i) < a.kernel[i], "pad {} must be smaller than kernel {}", tuple_text(a.pad),
          text);
    check(a.pooling_convention != "same" || a.pad_of(i) == 0,
          "pooling_convention same sets the padding itself: omit pad {}", tuple_text(a.pad));
  }
}

std::int64_t windows(const PoolingAttrs& a, std::int64_t in, int axis) {
  if (a.global_pool) return 1;
  const std::int64_t stride = a.stride_of(axis), kernel = a.kernel[axis];
  if (a.pooling_convention == "same") return (in + stride - 1) / stride;
  const std::int64_t padded = in + 2 * a.pad_of(axis);
  check(kernel <= padded, ErrorKind::kShape,
        "kernel {} exceeds the data's {} ({} with padding) along spatial axis {}",
        tuple_text(a.kernel), in, padded, axis);
  const std::int64_t rest = a.pooling_convention == "full" ? stride - 1 : 0;
  return (padded - kernel + rest) / stride + 1;
}

/// Relates data and output, which may be any entries.
void infer_windows(const PoolingAttrs& a, Inference& io, Inference::Ref x, Inference::Ref y) {
  const Shape data = io.shape(x);
  if (!data.rank_known()) return;
  check_attrs(a, data);
  const int axes = data.rank() - 2, first = a.channels_last() ? 1 : 2;
  Shape out = data;
  for (int i = 0; i < axes; ++i) {
    if (a.global_pool || data[first + i] != kUnknownDim)
      out[first + i] = windows(a, data[first + i], i);
  }
  io.set_shape(y, out, "the windows that fit the data");
  Shape back = Shape::of_rank(data.rank());
  back[0] = io.shape(y)[0];
  const int channel = a.channels_last() ? data.rank() - 1 : 1;
  back[channel] = io.shape(y)[channel];
  io.set_shape(x, back, "batch and channels of the output");
}

void infer(const PoolingAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  infer_windows(a, io, io.in(0), io.out(0));
  if (a.saves_positions()) io.opaque(io.out(1));
}

// Inputs: dy, the shape of x, then positions (max) or x and y (lp).
void infer_backward(const PoolingAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  infer_windows(a, io, io.out(0), io.in(0));
  if (a.pool_type != "lp") return;
  io.same_shape(io.in(2), io.out(0));
  io.same_shape(io.in(3), io.in(0));
}

NodeEntries gradient(const PoolingAttrs& a, GradientBuilder& g) {
  NodeEntries inputs{g.head(0), g.input(0)};
  if (a.saves_positions()) inputs.push_back(g.output(1));
  if (a.pool_type == "lp") inputs.insert(inputs.end(), {g.input(0), g.output(0)});
  return g.call_with_same_attrs("_backward_Pooling", std::move(inputs));
}

// ---- Kernels ------------------------------------------------------------------------------------

PoolingSizes pooling_sizes(const PoolingAttrs& a, const Shape& x, const Shape& y) {
  PoolingSizes s;
  const int axes = x.rank() - 2, first = a.channels_last() ? 1 : 2;
  s.spatial = axes;
  s.kind = a.pool_type == "max"   ? PoolKind::kMax
           : a.pool_type == "avg" ? PoolKind::kAverage
           : a.pool_type == "sum" ? PoolKind::kSum
                                  : PoolKind::kLp;
  s.count_padding = a.count_include_pad.value_or(true);
  s.p = a.p_value.value_or(2);
  s.batch = x[0];
  s.channels = x[a.channels_last() ? x.rank() - 1 : 1];
  for (int i = 0; i < axes; ++i) {
    const auto to = static_cast<std::size_t>(3 - axes + i);
    s.in[to] = x[first + i];
    s.out[to] = y[first + i];
    s.kernel[to] = a.global_pool ? s.in[to] : a.kernel[i];
    if (a.global_pool) continue;
    s.stride[to] = a.stride_of(i);
    s.pad[to] = s.pad_after[to] = a.pad_of(i);
    if (a.pooling_convention == "same") {
      const std::int64_t total =
          std::max<std::int64_t>(0, (s.out[to] - 1) * s.stride[to] + s.kernel[to] - s.in[to]);
      s.pad[to] = total / 2;
      s.pad_after[to] = total - total / 2;
    }
  }
  return s;
}

/// One window, clipped to the image, and the divisor of its average.
struct Window {
  PoolingSizes::Axes begin, end;
  std::array<bool, 3> cut;  ///< whether it begins in the padding
  double count;             ///< a double, because a huge kernel may exceed 64 bits
};
Window window(const PoolingSizes& s, std::int64_t o) {
  const PoolingSizes::Axes at = {o / s.out[2] / s.out[1], o / s.out[2] % s.out[1], o % s.out[2]};
  Window w{{}, {}, {}, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t begin = at[i] * s.stride[i] - s.pad[i];
    const std::int64_t end = std::min(begin + s.kernel[i], s.in[i] + s.pad_after[i]);
    w.cut[i] = begin < 0;
    w.begin[i] = std::max<std::int64_t>(begin, 0);
    w.end[i] = std::min(end, s.in[i]);
    w.count *= static_cast<double>(
        s.count_padding ? end - begin : std::max<std::int64_t>(w.end[i] - w.begin[i], 0));
  }
  return w;
}

template <class F>
void each_inside(const PoolingSizes& s, const Window& w, F&& f) {
  for (std::int64_t z = w.begin[0]; z < w.end[0]; ++z)
    for (std::int64_t y = w.begin[1]; y < w.end[1]; ++y)
      for (std::int64_t x = w.begin[2]; x < w.end[2]; ++x) f((z * s.in[1] + y) * s.in[2] + x);
}

/// The offsets of the elements of a plane (one image, one channel).
struct Plane {
  std::int64_t in, out, step;
};
Plane plane(const PoolingSizes& s, bool channels_last, std::int64_t p) {
  const std::int64_t in = PoolingSizes::product(s.in), out = PoolingSizes::product(s.out);
  if (!channels_last) return {p * in, p * out, 1};
  const std::int64_t n = p / s.channels, c = p % s.channels;
  return {n * in * s.channels + c, n * out * s.channels + c, s.channels};
}

/// Below every maximum.
template <class T>
constexpr Accumulator<T> lowest_finite() {
  if constexpr (std::is_same_v<T, Half>) return -65504;
  if constexpr (std::is_same_v<T, BFloat16>) return -0x1.FEp127F;
  return std::numeric_limits<Accumulator<T>>::lowest();
}

/// The window's first element; −1 if that is padding.
std::int64_t first_place(const PoolingSizes& s, const Window& w) {
  for (std::size_t i = 0; i < 3; ++i)
    if (w.cut[i] || w.begin[i] >= s.in[i]) return -1;
  return (w.begin[0] * s.in[1] + w.begin[1]) * s.in[2] + w.begin[2];
}

template <class T>
void forward_plane(const PoolingSizes& s, std::int64_t step, const T* x, T* y,
                   std::int32_t* where) {
  using Acc = Accumulator<T>;
  for (std::int64_t o = 0; o < PoolingSizes::product(s.out); ++o) {
    const Window w = window(s, o);
    Acc total = s.kind == PoolKind::kMax ? lowest_finite<T>() : Acc(0);
    std::int64_t best = where ? first_place(s, w) : -1;
    each_inside(s, w, [&](std::int64_t i) {
      const Acc value = static_cast<Acc>(x[i * step]);
      switch (s.kind) {
        case PoolKind::kMax:
          if (value > total) best = i, total = value;
          break;
        case PoolKind::kLp: total += std::pow(value, static_cast<Acc>(s.p)); break;
        default: total += value;
      }
    });
    if (s.kind == PoolKind::kAverage)
      total = w.count > 0 ? total / static_cast<Acc>(w.count) : Acc(0);
    // An odd p keeps the sign, as in MXNet: a real root of a negative sum.
    if (s.kind == PoolKind::kLp)
      total = std::copysign(std::pow(std::abs(total), 1 / static_cast<Acc>(s.p)), total);
    y[o * step] = static_cast<T>(total);
    if (where) where[o * step] = static_cast<std::int32_t>(best);
  }
}

/// Gathers: each x sums over the windows that contain it, so no sum is rounded between windows.
template <class T>
void backward_plane(const PoolingSizes& s, std::int64_t step, const T* dy,
                    const std::int32_t* where, const T* x, const T* y, T* dx) {
  using Acc = Accumulator<T>;
  const auto first = [&](std::size_t axis, std::int64_t i) {
    const std::int64_t from = i + s.pad[axis] - s.kernel[axis];
    return from < 0 ? 0 : from / s.stride[axis] + 1;
  };
  const auto last = [&](std::size_t axis, std::int64_t i) {
    return std::min((i + s.pad[axis]) / s.stride[axis] + 1, s.out[axis]);
  };
  for (std::int64_t i = 0; i < PoolingSizes::product(s.in); ++i) {
    const PoolingSizes::Axes at = {i / s.in[2] / s.in[1], i / s.in[2] % s.in[1], i % s.in[2]};
    Acc total = 0;
    for (std::int64_t oz = first(0, at[0]); oz < last(0, at[0]); ++oz)
      for (std::int64_t oy = first(1, at[1]); oy < last(1, at[1]); ++oy)
        for (std::int64_t ox = first(2, at[2]); ox < last(2, at[2]); ++ox) {
          const std::int64_t o = (oz * s.out[1] + oy) * s.out[2] + ox;
          const Acc d = static_cast<Acc>(dy[o * step]);
          if (s.kind == PoolKind::kMax) {
            if (where[o * step] == i) total += d;
          } else if (s.kind == PoolKind::kAverage) {
            total += d / static_cast<Acc>(window(s, o).count);
          } else if (s.kind == PoolKind::kSum) {
            total += d;
          } else {
            const Acc value = static_cast<Acc>(x[i * step]), norm = static_cast<Acc>(y[o * step]);
            const Acc p = static_cast<Acc>(s.p);
            if (norm != 0 || s.p == 1) total += d * std::pow(value / norm, p - 1);
          }
        }
    dx[i * step] = static_cast<T>(total);
  }
}

Offer offer_reference(const PoolingAttrs& a, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  check(!a.saves_positions() || !r.wanted[1] ||
            pooling_sizes(a, r.in[0].shape, r.out[0].shape).plane() <=
                std::numeric_limits<std::int32_t>::max(),
        ErrorKind::kShape, "the positions of maxima in planes of {} do not fit int32",
        r.in[0].shape.str());
  if (a.saves_positions() && r.wanted[1])
    offer.opaque_bytes[1] = static_cast<std::size_t>(r.out[0].shape.size()) * sizeof(std::int32_t);
  return offer;
}

std::int64_t plane_grain(const PoolingSizes& s) {
  double work = static_cast<double>(PoolingSizes::product(s.out));  // may exceed 64 bits
  for (const std::int64_t k : s.kernel) work *= static_cast<double>(k);
  return clamped_whole(kElementGrain / (work + 1), 1, kElementGrain);
}

Prepared forward_reference(const PoolingAttrs& a, const KernelRequest& r, const Offer& offer) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    const bool saves = a.saves_positions() && offer.opaque_bytes[1] > 0;
    return [s = pooling_sizes(a, r.in[0].shape, r.out[0].shape), last = a.channels_last(),
            saves](const Args& args) {
      std::int32_t* where = saves ? args.out<std::int32_t>(1) : nullptr;
      parallel_for(s.batch * s.channels, plane_grain(s), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          const Plane at = plane(s, last, p);
          forward_plane(s, at.step, args.in<T>(0) + at.in, args.out<T>(0) + at.out,
                        where ? where + at.out : nullptr);
        }
      });
    };
  });
}

Prepared backward_reference(const PoolingAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = pooling_sizes(a, r.out[0].shape, r.in[0].shape),
            last = a.channels_last()](const Args& args) {
      const bool max = s.kind == PoolKind::kMax, lp = s.kind == PoolKind::kLp;
      parallel_for(s.batch * s.channels, plane_grain(s), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          const Plane at = plane(s, last, p);
          backward_plane(s, at.step, args.in<T>(0) + at.out,
                         max ? args.in<std::int32_t>(2) + at.out : nullptr,
                         lp ? args.in<T>(2) + at.in : nullptr,
                         lp ? args.in<T>(3) + at.out : nullptr, args.out<T>(0) + at.in);
        }
      });
    };
  });
}

}  // namespace

void register_pooling(OpRegistry& r) {
  using A = PoolingAttrs;
  using R = KernelRequest;
  r.add<A>("Pooling")
      .slices(Slices::kFirst)
      .precision(Precision::kAsStored)
      .flops([](const A& a, const Work& w) {
        return a.global_pool ? w.in[0].size() : a.window() * w.out[0].size();
      })
      .alias("Pooling_v1")
      .inputs(std::vector<std::string>{"data"})
      .doc("Maximum, average, sum or p-norm of a sliding window.")
      .outputs(
          [](const A& a) -> std::vector<std::string> {
            if (a.saves_positions()) return {"output", "workspace"};
            return {"output"};
          },
          [](const A&) { return 1; })
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .kernel(
          DeviceType::kCpu, "native",
          [](const A& a, const R& q) {
            if (a.channels_last()) return refuse("channels come last");
            return max_pooling::offer(pooling_sizes(a, q.in[0].shape, q.out[0].shape), q);
          },
          [](const A&, const R&, const Offer& o) { return max_pooling::prepare(o); })
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            if (a.channels_last()) return refuse("channels come last");
            return onednn::offer_pooling(pooling_sizes(a, q.in[0].shape, q.out[0].shape), q);
          },
          [](const A&, const R& q, const Offer& o) { return onednn::prepare_pooling(q, o); })
      .kernel(DeviceType::kCpu, "reference", offer_reference, forward_reference);
  r.add<A>("_backward_Pooling")
      .precision(Precision::kAsStored)
      .flops([](const A& a, const Work& w) {
        return a.global_pool ? w.all_out() : a.window() * w.in[0].size();
      })
      .backward()
      .inputs([](const A& a) -> std::vector<std::string> {
        if (a.saves_positions()) return {"dy", "shape_of_data", "workspace"};
        if (a.pool_type == "lp") return {"dy", "shape_of_data", "data", "output"};
        return {"dy", "shape_of_data"};
      })
      .infer(infer_backward)
      .shape_only({1})
      .kernel(
          DeviceType::kCpu, "native",
          [](const A& a, const R& q) {
            if (a.channels_last()) return refuse("channels come last");
            return max_pooling::offer_backward(pooling_sizes(a, q.out[0].shape, q.in[0].shape), q);
          },
          [](const A&, const R&, const Offer& o) { return max_pooling::prepare_backward(o); })
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) {
            if (a.channels_last()) return refuse("channels come last");
            return onednn::offer_pooling_backward(pooling_sizes(a, q.out[0].shape, q.in[0].shape),
                                                  q);
          },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_pooling_backward(q, o);
          })
      .reference(backward_reference);
}

}  // namespace symbind
