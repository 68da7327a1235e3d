// SoftmaxOutput: softmax whose gradient is that of the cross entropy with its label.
//
//   p = softmax(x)        dx = (p - onehot(label)) · grad_scale / normaliser
//
// Classes are along axis 1 with multi_output, along the last axis with preserve_shape, else along
// all axes after the first. The head gradient is never read: out_grad multiplies by p itself, as
// MXNet 1.9.1 does. Decided here: a label of the data's shape is a distribution and gets no
// normalisation, smoothing or ignoring. A label that is not a class gives dx = p; SYMBIND_CHECK
// makes it an error. A label (N, 1) counts as (N,). Without multi_output row i reads the i-th
// label, however many there are.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/build.h"
#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "base/settings.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/cuda/launch.h"
#include "kernels/element_type.h"
#include "kernels/vector/rows.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/loss/softmax_output_cuda.h"

namespace symbind {

namespace {

struct SoftmaxOutputAttrs {
  float grad_scale = 1;
  float ignore_label = -1;
  bool multi_output = false;
  bool use_ignore = false;
  bool preserve_shape = false;
  std::string normalization = "null";
  bool out_grad = false;
  float smooth_alpha = 0;

  void describe(AttrVisitor& v) {
    v.field("grad_scale", grad_scale, "Scales the gradient.");
    v.field("ignore_label", ignore_label, "With use_ignore, rows of this label have no gradient.");
    v.field("multi_output", multi_output, "Whether the classes are along axis 1.");
    v.field("use_ignore", use_ignore, "Whether ignore_label is used.");
    v.field("preserve_shape", preserve_shape, "Whether the classes are along the last axis.");
    v.field("normalization", normalization,
            "Divides the gradient by 1, the batch size or the number of labels not ignored.")
        .choices({"batch", "null", "valid"});
    v.field("out_grad", out_grad, "Multiplies the gradient with the output.");
    v.field("smooth_alpha", smooth_alpha, "Moved from the label's class to all others.")
        .at_least(0)
        .at_most(1);
  }
};

// ---- Inference ----------------------------------------------------------------------------------

void infer(const SoftmaxOutputAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& x = io.shape(io.in(0));
  const Shape& label = io.shape(io.in(1));
  check(!x.rank_known() || x.rank() > (a.multi_output ? 1 : 0), ErrorKind::kShape,
        "SoftmaxOutput needs classes along axis {}, the data is {}", a.multi_output ? 1 : 0,
        x.str());
  if (!x.rank_known() || label == x) return;
  if (!x.known() && (a.multi_output || label.rank() >= x.rank())) return;
  if (label.rank() == x.rank() && !label.known()) return;  // a distribution, or one label per row
  Shape without_class;
  if (a.multi_output) {
    without_class = Shape{x[0]};
    for (int i = 2; i < x.rank(); ++i) without_class.push_back(x[i]);
    Shape with_one = x;
    with_one[1] = 1;
    if (label.known() && (label == without_class || label == with_one)) return;
    io.set_shape(io.in(1), Shape{x[0], x.count(2)}, "(batch, positions) of the data");
    return;
  }
  // A vector counts as rows of one class: MXNet takes one label for all of them and reads beyond
  // it.
  check(x.rank() > 1 || a.preserve_shape || x[0] <= 1, ErrorKind::kShape,
        "SoftmaxOutput takes data (batch, classes), a vector {} has no classes and the label {} is "
        "not one for each of its rows\n  fix:  reshape the data to (1, {}), or set preserve_shape",
        x.str(), label.str(), x[0]);
  for (int i = 0; i + 1 < x.rank(); ++i) without_class.push_back(x[i]);
  Shape with_one = without_class;
  with_one.push_back(1);
  if (label.known() && label == with_one) return;
  io.set_shape(io.in(1), without_class, "the data's axes without that of the classes");
}

// Inputs: p and the label.
void infer_backward(const SoftmaxOutputAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  tie_to_forward(a, io, infer, {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1)}});
}

NodeEntries gradient(const SoftmaxOutputAttrs&, GradientBuilder& g) {
  const NodeEntries dx =
      g.call_with_same_attrs("_backward_SoftmaxOutput", {g.output(0), g.input(1)});
  return {dx[0], {}};
}

// ---- Kernels ------------------------------------------------------------------------------------

/// The data as (batch, classes, positions).
struct ClassGrid {
  std::int64_t batch, classes, positions;
  std::int64_t rows() const { return batch * positions; }
  std::int64_t grain() const {
    return std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, classes));
  }
};

ClassGrid class_grid(const SoftmaxOutputAttrs& a, const Shape& x) {
  if (a.multi_output) return {x[0], x[1], x.count(2)};
  if (a.preserve_shape) return {x.count(0, x.rank() - 1), x.back(), 1};
  return {x[0], x.count(1), 1};
}

/// 16-bit rows up to this length are computed in a buffer of floats.
constexpr std::int64_t kBuffered = 2048;

template <class T>
void softmax_row(const T* x, T* p, std::int64_t classes, std::int64_t stride) {
  const auto row = vector::softmax_kernels().best().row;
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) return row(x, p, classes, 1, false);
  } else if constexpr (!std::is_same_v<T, double>) {
    if (stride == 1 && classes <= kBuffered) {
      alignas(64) float buffer[kBuffered];
      fast_converter(dtype_of<T>, DType::kFloat32)(x, buffer, classes);
      row(buffer, buffer, classes, 1, false);
      return fast_converter(DType::kFloat32, dtype_of<T>)(buffer, p, classes);
    }
  }
  using Acc = Accumulator<T>;
  Acc top = -std::numeric_limits<Acc>::infinity();
  for (std::int64_t c = 0; c < classes; ++c) top = std::max(top, static_cast<Acc>(x[c * stride]));
  Acc sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<Acc>(x[c * stride]) - top);
  for (std::int64_t c = 0; c < classes; ++c)
    p[c * stride] = static_cast<T>(std::exp(static_cast<Acc>(x[c * stride]) - top) / sum);
}

/// Neighbouring positions at once: memory is read in order.
void softmax_tiles(const ClassGrid& g, const float* x, float* p) {
  const std::int64_t tile = vector::column_tile(g.classes, g.rows()),
                     tiles = (g.positions + tile - 1) / tile;
  const std::int64_t grain = grain_of(static_cast<double>(4 * g.classes * tile));
  parallel_for(g.batch * tiles, grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t first = t % tiles * tile;
      const std::int64_t at = t / tiles * g.classes * g.positions + first;
      vector::softmax_kernels().best().columns(x + at, p + at, std::min(tile, g.positions - first),
                                               g.classes, g.positions, 1, false);
    }
  });
}

Prepared forward(const SoftmaxOutputAttrs& a, const KernelRequest& r) {
  const ClassGrid g = class_grid(a, r.in[0].shape);
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [g](const Args& args) {
      const T* x = args.in<T>(0);
      T* p = args.out<T>(0);
      if constexpr (std::is_same_v<T, float>)
        if (g.positions > 1) return softmax_tiles(g, x, p);
      parallel_for(g.rows(), g.grain(), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t at = row / g.positions * g.classes * g.positions + row % g.positions;
          softmax_row(x + at, p + at, g.classes, g.positions);
        }
      });
    };
  });
}

/// A label as a class; NaN and numbers beyond 32 bits become the lowest integer, which is not a
/// class, as in MXNet.
int label_of(float value) {
  constexpr std::int64_t kNone = std::numeric_limits<int>::min();
  const std::int64_t whole = whole_or(value, kNone);
  return static_cast<int>(whole > std::numeric_limits<int>::max() ? kNone : std::max(whole, kNone));
}

template <class T>
struct HardLabels {
  const T* label;
  std::int64_t count, ignore;

  std::int64_t at(std::int64_t row) const { return label_of(static_cast<float>(label[row])); }
  std::int64_t valid() const {
    std::int64_t n = count;
    for (std::int64_t i = 0; i < count; ++i) n -= at(i) == ignore;
    return std::max<std::int64_t>(n, 1);
  }
};

template <class T>
void check_labels(const SoftmaxOutputAttrs& a, const HardLabels<T>& labels, const ClassGrid& g) {
  for (std::int64_t row = 0; row < g.rows(); ++row) {
    const float value = static_cast<float>(labels.label[row]);
    const bool ignored = a.use_ignore && labels.at(row) == labels.ignore;
    check(ignored || (value >= 0 && value < static_cast<float>(g.classes)),
          "SoftmaxOutput: the label of row {} is {}, but there are {} classes (0 to {})", row,
          value, g.classes, g.classes - 1);
  }
}

/// The factor of the whole gradient.
template <class T>
double label_scale(const SoftmaxOutputAttrs& a, const HardLabels<T>& labels, const ClassGrid& g) {
  double scale = a.grad_scale;
  if (a.normalization == "valid") return scale / static_cast<double>(labels.valid());
  if (a.multi_output) scale /= static_cast<double>(g.positions);
  if (a.normalization == "batch")
    scale /= static_cast<double>(a.multi_output ? g.batch : labels.count);
  return scale;
}

template <class T>
void hard_gradient(const SoftmaxOutputAttrs& a, const ClassGrid& g, const HardLabels<T>& labels,
                   const T* p, T* dx) {
  using Acc = Accumulator<T>;
  const Acc scale = static_cast<Acc>(label_scale(a, labels, g));
  const Acc alpha = a.multi_output ? Acc(0) : static_cast<Acc>(a.smooth_alpha);
  const Acc others = g.classes > 1 ? alpha / static_cast<Acc>(g.classes - 1) : Acc(0);
  const bool use_ignore = a.use_ignore, by_output = a.out_grad;
  if constexpr (std::is_same_v<T, float>) {
    if (g.positions == 1 && !by_output)
      return parallel_for(g.rows(), g.grain(), [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const float* y = p + row * g.classes;
          float* d = dx + row * g.classes;
          const std::int64_t label = labels.at(row);
          if (use_ignore && label == labels.ignore) {
            std::fill_n(d, g.classes, 0.f);
            continue;
          }
          const bool is_class = label >= 0 && label < g.classes;
          const float at_label = is_class ? (y[label] - 1 + alpha) * scale : 0;
          vector::softmax_kernels().best().shift_and_scale(y, d, g.classes, others, scale);
          if (is_class) d[label] = at_label;
        }
      });
  }
  parallel_for(g.rows(), g.grain(), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row / g.positions * g.classes * g.positions + row % g.positions;
      const std::int64_t label = labels.at(row);
      const bool ignored = use_ignore && label == labels.ignore;
      for (std::int64_t c = 0; c < g.classes; ++c) {
        const std::int64_t i = at + c * g.positions;
        const Acc y = static_cast<Acc>(p[i]);
        Acc d = ignored ? Acc(0) : c == label ? y - 1 + alpha : y - others;
        d *= scale;
        dx[i] = static_cast<T>(by_output ? d * y : d);
      }
    }
  });
}

template <class T>
void soft_gradient(const SoftmaxOutputAttrs& a, std::int64_t n, const T* label, const T* p, T* dx) {
  using Acc = Accumulator<T>;
  const Acc scale = static_cast<Acc>(a.grad_scale);
  const bool by_output = a.out_grad;
  parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Acc y = static_cast<Acc>(p[i]);
      const Acc d = scale * (y - static_cast<Acc>(label[i]));
      dx[i] = static_cast<T>(by_output ? d * y : d);
    }
  });
}

Prepared backward(const SoftmaxOutputAttrs& a, const KernelRequest& r) {
  const Shape &x = r.in[0].shape, &label = r.in[1].shape;
  const bool soft = x == label, checked = settings::flag("SYMBIND_CHECK");
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, soft, checked, g = class_grid(a, x), n = label.size()](const Args& args) {
      const T *p = args.in<T>(0), *given = args.in<T>(1);
      if (soft) return soft_gradient(a, n, given, p, args.out<T>(0));
      const HardLabels<T> labels{given, n, label_of(a.ignore_label)};
      if (checked) check_labels(a, labels, g);
      hard_gradient(a, g, labels, p, args.out<T>(0));
    };
  });
}

// ---- On the GPU: the same arithmetic in softmax_output.cu, without SYMBIND_CHECK ----------------

[[maybe_unused]] cuda::SoftmaxGrid cuda_grid(const SoftmaxOutputAttrs& a, const Shape& x) {
  const ClassGrid g = class_grid(a, x);
  return {.batch = g.batch, .classes = g.classes, .positions = g.positions};
}

[[maybe_unused]] cuda::HardLabelGradient hard_labels(const SoftmaxOutputAttrs& a,
                                                     const ClassGrid& g, std::int64_t labels) {
  cuda::HardLabelGradient how{.by_valid = a.normalization == "valid",
                              .labels = labels,
                              .smooth_alpha = a.multi_output ? 0 : a.smooth_alpha,
                              .ignore = label_of(a.ignore_label),
                              .use_ignore = a.use_ignore,
                              .times_output = a.out_grad};
  how.scale = a.grad_scale;
  if (how.by_valid) return how;
  if (a.multi_output) how.scale /= static_cast<double>(g.positions);
  if (a.normalization == "batch")
    how.scale /= static_cast<double>(a.multi_output ? g.batch : labels);
  return how;
}

constexpr auto kForwardCuda = [](const auto& attrs, const KernelRequest& r,
                                 const Offer&) -> Prepared {
  return [grid = cuda_grid(attrs, r.in[0].shape),
          number = cuda::number_of(r.in[0].dtype)](const Args& a) {
    cuda::check_launch(
        cuda::softmax_rows(a.run->stream, number, a.inputs[0].data, a.outputs[0].data, grid),
        "softmax");
  };
};

constexpr auto kBackwardCuda = [](const auto& attrs, const KernelRequest& r,
                                  const Offer&) -> Prepared {
  const Shape &x = r.in[0].shape, &label = r.in[1].shape;
  const cuda::Number number = cuda::number_of(r.in[0].dtype);
  if (x == label) {
    return [n = x.size(), number, scale = attrs.grad_scale, times = attrs.out_grad](const Args& a) {
      cuda::check_launch(
          cuda::soft_label_gradient(a.run->stream, number, a.inputs[0].data, a.inputs[1].data,
                                    a.outputs[0].data, n, scale, times),
          "softmax_gradient");
    };
  }
  return [grid = cuda_grid(attrs, x), number,
          how = hard_labels(attrs, class_grid(attrs, x), label.size())](const Args& a) {
    cuda::check_launch(
        cuda::hard_label_gradient(a.run->stream, number, a.inputs[0].data, a.inputs[1].data,
                                  a.outputs[0].data, grid, how, a.workspace),
        "softmax_gradient");
  };
};

}  // namespace

void register_softmax_output(OpRegistry& r) {
  r.add<SoftmaxOutputAttrs>("SoftmaxOutput")
      .precision(Precision::kAsStored)
      .flops(4, Per::kFirstInput)
      .slices([](const SoftmaxOutputAttrs&, std::span<const Shape> in, const Shape& out) {
        return std::vector<bool>(out.rank() > 1 ? in.size() : 0, true);
      })
      .alias("Softmax")
      .doc("Softmax; its gradient is that of the cross entropy with the label.")
      .inputs({"data", "label"})
      .infer(infer)
      .gradient(gradient)
      .loss()
      .inplace(0, 0)
      .reference(forward)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda",
          [](const SoftmaxOutputAttrs&, const KernelRequest& q) { return cuda::offer_floats(q); },
          kForwardCuda);
  r.add<SoftmaxOutputAttrs>("_backward_SoftmaxOutput")
      .precision(Precision::kAsStored)
      .flops(2, Per::kFirstInput)
      .backward()
      .inputs({"output", "label"})
      .infer(infer_backward)
      .inplace(0, 0)
      .reference(backward)
      .kernel_if<kCuda>(
          DeviceType::kGpu, "cuda",
          [](const SoftmaxOutputAttrs& a, const KernelRequest& q) {
            return cuda::offer_floats(q, a.normalization == "valid" ? 8 : 0);
          },
          kBackwardCuda);
}

}  // namespace symbind
