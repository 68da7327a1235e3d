// _contrib_AdaptiveAvgPooling2D and _contrib_BilinearResize2D: images resized to any size.
//
// Both are the same kind of sum, separable in height and width:
//   y[i, j] = Σ a[i, k] b[j, l] x[k, l]
//   pooling   output i is the mean of inputs ⌊i·in/out⌋ … ⌈(i+1)·in/out⌉
//   resize    output i is at p = i·(in−1)/(out−1), or without align_corners at
//             max(0, (i+½)·in/out − ½), between inputs ⌊p⌋ and ⌊p⌋+1 (or the last one twice)
//
// Decided here: positions are computed in float32 whatever the type, as MXNet does. A resize to
// the same size is a copy; else a pixel of weight 0 still counts if it is infinite or NaN, as in
// MXNet. Images are (batch, channels, height, width).
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/first_run.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct PoolingAttrs {
  Tuple output_size;
  void describe(AttrVisitor& v) {
    v.field("output_size", output_size, "The output's size: one number or (height, width).");
  }
};

struct ResizeAttrs {
  int height = 1, width = 1;
  std::optional<float> scale_height, scale_width;
  std::string mode = "size";
  bool align_corners = true;

  void describe(AttrVisitor& v) {
    v.field("height", height, "The output's height in mode size.").at_least(1);
    v.field("width", width, "The output's width in mode size.").at_least(1);
    v.field("scale_height", scale_height, "The factor of the height in modes size and odd_scale.");
    v.field("scale_width", scale_width, "The factor of the width in modes size and odd_scale.");
    v.field("mode", mode, "What decides the output's size.")
        .choices({"like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down",
                  "to_odd_up"});
    v.field("align_corners", align_corners,
            "Whether the centres of the corner pixels are aligned.");
  }
  bool is_like() const { return mode == "like"; }
};

// ---- Sizes --------------------------------------------------------------------------------------

/// The output's extent along height (0) or width (1) for an input's; unknown if that must be known.
std::int64_t out_extent(const PoolingAttrs& a, int axis, std::int64_t) {
  if (a.output_size.empty() || a.output_size.size() > 2) return 1;
  const std::int64_t size =
      a.output_size[a.output_size.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
  check(size >= 1, "output_size {} must be positive", tuple_text(a.output_size));
  return size;
}

/// An extent times a factor, which may be any number.
std::int64_t scaled(std::int64_t in, float scale) {
  const std::int64_t out = whole_or(static_cast<float>(in) * scale, -1);
  check(out >= 0, "scale_height or scale_width {} cannot scale an extent of {}", scale, in);
  return out;
}

std::int64_t out_extent(const ResizeAttrs& a, int axis, std::int64_t in) {
  const std::optional<float> scale = axis == 0 ? a.scale_height : a.scale_width;
  if (a.mode == "size" && !scale) return axis == 0 ? a.height : a.width;
  if (in == kUnknownDim) return in;
  const bool even = in % 2 == 0;
  if (a.mode == "size") return scaled(in, *scale);
  if (a.mode == "odd_scale") {
    check(scale.has_value(), "mode odd_scale needs scale_height and scale_width");
    return even ? scaled(in, *scale) : checked_add(scaled(in - 1, *scale), 1, "an odd extent");
  }
  const bool to_even = a.mode.starts_with("to_even"), up = a.mode.ends_with("up");
  return even == to_even ? in : up ? in + 1 : in - 1;
}

template <class A>
void infer(const A& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, channels, height, width)");
  Shape out = io.shape(io.in(0));
  for (int axis = 0; axis < 2; ++axis) {
    bool like = false;
    if constexpr (std::is_same_v<A, ResizeAttrs>) like = a.is_like();
    if (like) {
      const Shape& other = io.shape(io.in(1));
      out[axis + 2] = other.rank() == 4 ? other[axis + 2] : kUnknownDim;
    } else {
      out[axis + 2] = out_extent(a, axis, out[axis + 2]);
      check(out[axis + 2] == kUnknownDim || out[axis + 2] >= 1, ErrorKind::kShape,
            "nothing is left of an image {}", io.shape(io.in(0)).str());
    }
  }
  io.set_shape(io.out(0), out, "it follows from the attributes");
  Shape back = io.shape(io.out(0));
  back[2] = back[3] = kUnknownDim;
  io.set_shape(io.in(0), back, "it follows from the output");
}

// Inputs: dy, and the data for its shape.
template <class A>
void infer_backward(const A& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  tie_to_forward(a, io, infer<A>, {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

// ---- The sums -----------------------------------------------------------------------------------

/// Output i of one axis is Σ weight(k) · input first[i] + k, over `count[i]` inputs; past the edge
/// the last input is repeated. Two weights are enough: that of the last input, and that of all
/// others.
struct Axis {
  std::vector<std::int64_t> first, count;
  std::vector<float> weight, last;
  std::int64_t in = 0;
  std::int64_t size() const { return static_cast<std::int64_t>(first.size()); }
  std::int64_t input(std::size_t i, std::int64_t k) const { return std::min(first[i] + k, in - 1); }
  void reserve(std::int64_t out) {
    const auto n = static_cast<std::size_t>(out);
    first.reserve(n), count.reserve(n), weight.reserve(n), last.reserve(n);
  }
};

Axis axis_of(const PoolingAttrs&, std::int64_t in, std::int64_t out) {
  Axis a;
  a.in = in;
  a.reserve(out);
  checked_mul(in, checked_add(out, 1, "the output's extent"), "input extent · output extent");
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    a.first.push_back(begin);
    a.count.push_back(end - begin);
    a.weight.push_back(0);  // a mean: divided by the count instead
    a.last.push_back(0);
  }
  return a;
}

Axis axis_of(const ResizeAttrs& r, std::int64_t in, std::int64_t out) {
  Axis a;
  a.in = in;
  a.reserve(out);
  const auto real = [](std::int64_t v) { return static_cast<float>(v); };
  float ratio = 0;
  if (out > 1) ratio = r.align_corners ? real(in - 1) / real(out - 1) : real(in) / real(out);
  for (std::int64_t i = 0; i < out; ++i) {
    float place = ratio * real(i);
    if (!r.align_corners)
      place = std::max(0.f, static_cast<float>(
                                static_cast<double>(ratio) * (static_cast<double>(i) + 0.5) - 0.5));
    const auto low = std::min(static_cast<std::int64_t>(place), in - 1);
    const float part = place - real(low);
    a.first.push_back(low);
    a.count.push_back(2);
    a.weight.push_back(1 - part);
    a.last.push_back(part);
  }
  return a;
}

/// Weight of the k-th of `count` inputs.
template <class Acc>
Acc weight_of(const Axis& a, std::size_t i, std::int64_t k, bool mean) {
  if (mean) return 1 / static_cast<Acc>(a.count[i]);
  return static_cast<Acc>(k + 1 == a.count[i] ? a.last[i] : a.weight[i]);
}

struct ResizeRule {
  Axis rows, columns;
  std::int64_t planes = 0;
  bool mean = false;
  bool copies = false;  ///< a resize to the same size

  std::int64_t grain() const { return grain_of(4 * rows.size() * columns.size()); }
  /// Calls f(output element, row, column) for every output element of a plane.
  template <class F>
  void each(std::int64_t plane, F&& f) const {
    std::int64_t out = plane * rows.size() * columns.size();
    for (std::int64_t i = 0; i < rows.size(); ++i)
      for (std::int64_t j = 0; j < columns.size(); ++j, ++out)
        f(out, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  }
  /// Calls f(input element, weight) for the inputs of one output element.
  template <class Acc, class F>
  void each_input(std::int64_t plane, std::size_t row, std::size_t column, F&& f) const {
    for (std::int64_t k = 0; k < rows.count[row]; ++k) {
      const std::int64_t in = (plane * rows.in + rows.input(row, k)) * columns.in;
      const Acc outer = weight_of<Acc>(rows, row, k, mean);
      for (std::int64_t l = 0; l < columns.count[column]; ++l)
        f(in + columns.input(column, l), outer * weight_of<Acc>(columns, column, l, mean));
    }
  }
};

template <class A>
ResizeRule plan_of(const A& a, const Shape& x, const Shape& y) {
  const bool mean = std::is_same_v<A, PoolingAttrs>;
  return {axis_of(a, x[2], y[2]), axis_of(a, x[3], y[3]), x[0] * x[1], mean, !mean && x == y};
}

/// Every output element is a mean of input elements.
template <class T>
void forward_plane(const PoolingAttrs&, const ResizeRule& plan, std::int64_t plane, const T* x,
                   T* y) {
  using Acc = Accumulator<T>;
  plan.each(plane, [&](std::int64_t out, std::size_t row, std::size_t column) {
    Acc sum = 0;
    plan.template each_input<Acc>(plane, row, column, [&](std::int64_t in, Acc weight) {
      sum += weight * static_cast<Acc>(x[in]);
    });
    y[out] = static_cast<T>(sum);
  });
}

/// Of two rows, then of the two results, in MXNet's order.
template <class T>
void forward_plane(const ResizeAttrs&, const ResizeRule& plan, std::int64_t plane, const T* x,
                   T* y) {
  using Acc = Accumulator<T>;
  const Axis &rows = plan.rows, &columns = plan.columns;
  x += plane * rows.in * columns.in;
  y += plane * rows.size() * columns.size();
  if (plan.copies) {
    std::copy_n(x, rows.in * columns.in, y);
    return;
  }
  for (std::size_t i = 0; i < rows.first.size(); ++i, y += columns.size()) {
    const T* top = x + rows.input(i, 0) * columns.in;
    const T* bottom = x + rows.input(i, 1) * columns.in;
    const Acc high = static_cast<Acc>(rows.weight[i]), low = static_cast<Acc>(rows.last[i]);
    for (std::size_t j = 0; j < columns.first.size(); ++j) {
      const std::int64_t left = columns.input(j, 0), right = columns.input(j, 1);
      const Acc near = static_cast<Acc>(columns.weight[j]);
      const Acc far = static_cast<Acc>(columns.last[j]);
      const auto between = [&](const T* row) {
        return near * static_cast<Acc>(row[left]) + far * static_cast<Acc>(row[right]);
      };
      y[j] = static_cast<T>(high * between(top) + low * between(bottom));
    }
  }
}

// An output element without input elements: the mean is NaN, an interpolation has no value.
template <class A>
Prepared forward(const A& a, const KernelRequest& r) {
  const Shape& x = r.in[0].shape;
  check((std::is_same_v<A, PoolingAttrs>) || x.size() > 0, ErrorKind::kShape,
        "there is no pixel to interpolate: the images have shape {}", x.str());
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return
        [a,
         made = FirstRun([a, x = r.in[0].shape, y = r.out[0].shape] { return plan_of(a, x, y); }),
         empty = x.size() == 0, n = r.out[0].shape.size()](const Args& args) {
          const T* x = args.in<T>(0);
          T* y = args.out<T>(0);
          if (empty) {
            std::fill_n(y, n, static_cast<T>(std::numeric_limits<Acc>::quiet_NaN()));
            return;
          }
          const ResizeRule& plan = made();
          parallel_for(plan.planes, plan.grain(), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t p = begin; p < end; ++p) forward_plane(a, plan, p, x, y);
          });
        };
  });
}

template <class A>
Offer offer_backward(const A&, const KernelRequest& r) {
  const std::size_t element = r.out[0].dtype == DType::kFloat64 ? 8 : 4;
  return accept_plain(r, static_cast<std::size_t>(r.out[0].shape.size()) * element);
}

template <class A>
Prepared backward(const A& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [made = FirstRun([a, x = r.out[0].shape, y = r.in[0].shape] {
              return plan_of(a, x, y);
            })](const Args& args) {
      const ResizeRule& plan = made();
      const T* dy = args.in<T>(0);
      T* dx = args.out<T>(0);
      if (plan.copies) {
        std::copy_n(dy, plan.planes * plan.rows.in * plan.columns.in, dx);
        return;
      }
      Acc* sums = static_cast<Acc*>(args.workspace);
      const std::int64_t size = plan.rows.in * plan.columns.in;
      parallel_for(plan.planes, plan.grain(), [&](std::int64_t begin, std::int64_t end) {
        std::fill(sums + begin * size, sums + end * size, Acc(0));
        for (std::int64_t p = begin; p < end; ++p)
          plan.each(p, [&](std::int64_t out, std::size_t row, std::size_t column) {
            const Acc d = static_cast<Acc>(dy[out]);
            plan.template each_input<Acc>(
                p, row, column, [&](std::int64_t in, Acc weight) { sums[in] += weight * d; });
          });
        for (std::int64_t i = begin * size; i < end * size; ++i) dx[i] = static_cast<T>(sums[i]);
      });
    };
  });
}

template <class A>
void add(OpRegistry& r, const char* name, const char* backward_name, const char* text,
         NodeEntries (*gradient)(const A&, GradientBuilder&)) {
  auto op = r.add<A>(name);
  op.doc(text).infer(infer<A>).gradient(gradient).reference(forward<A>);
  if constexpr (std::is_same_v<A, ResizeAttrs>)
    op.shape_only({1}).inputs([](const A& a) -> std::vector<std::string> {
      if (a.is_like()) return {"data", "like"};
      return {"data"};
    });
  r.add<A>(backward_name)
      .backward()
      .inputs({"dy", "data"})
      .shape_only({1})
      .infer(infer_backward<A>)
      .kernel(DeviceType::kCpu, "reference", offer_backward<A>, backward<A>);
}

}  // namespace

void register_resize(OpRegistry& r) {
  add<PoolingAttrs>(r, "_contrib_AdaptiveAvgPooling2D", "_backward_contrib_AdaptiveAvgPooling2D",
                    "Means over as many parts of the image as the output has elements.",
                    [](const PoolingAttrs&, GradientBuilder& g) {
                      return g.call_with_same_attrs("_backward_contrib_AdaptiveAvgPooling2D",
                                                    {g.head(0), g.input(0)});
                    });
  add<ResizeAttrs>(r, "_contrib_BilinearResize2D", "_backward_contrib_BilinearResize2D",
                   "Images of another size, interpolated bilinearly.",
                   [](const ResizeAttrs& a, GradientBuilder& g) {
                     NodeEntries d = g.call_with_same_attrs("_backward_contrib_BilinearResize2D",
                                                            {g.head(0), g.input(0)});
                     if (a.is_like()) d.emplace_back();
                     return d;
                   });
}

}  // namespace symbind
