// LayerNorm, InstanceNorm and GroupNorm: rows normalised to mean 0 and variance 1, then scaled and
// shifted.
//
//   y = γ x̂ + β,   x̂ = (x − μ)/σ,   σ² = Var x + eps (biased)
//   dβ = Σ dy,  dγ = Σ dy x̂,  dx = (w − mean w − x̂ mean(w x̂))/σ   with w = γ dy
//
//   LayerNorm     a row is along one axis; γ, β have one value for every index of it
//   InstanceNorm  a row is one channel of one sample; one γ, β for every channel
//   GroupNorm     a row is one of num_groups groups of a sample's channels; one γ, β per group
//
// Decided here, as in MXNet 1.9.1: mean and σ (InstanceNorm: mean and variance) are hidden outputs
// of the data's type; if output_mean_var makes them visible, they pass no gradient back. Sums run
// in 16 lanes, so the bits do not depend on threads.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/vector/rows.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct LayerNormAttrs {
  int axis = -1;
  float eps = 1e-5f;
  bool output_mean_var = false;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis to normalise along.");
    v.field("eps", eps, "Added to the variance.").at_least(0);
    v.field("output_mean_var", output_mean_var, "Whether mean and deviation are visible outputs.");
  }
};
struct InstanceNormAttrs {
  float eps = 1e-3f;
  void describe(AttrVisitor& v) { v.field("eps", eps, "Added to the variance.").at_least(0); }
};
struct GroupNormAttrs {
  int num_groups = 1;
  float eps = 1e-5f;
  bool output_mean_var = false;
  void describe(AttrVisitor& v) {
    v.field("num_groups", num_groups, "Number of groups the channels are split into.").at_least(1);
    v.field("eps", eps, "Added to the variance.").at_least(0);
    v.field("output_mean_var", output_mean_var, "Whether mean and deviation are visible outputs.");
  }
};

// ---- Inference and gradient ---------------------------------------------------------------------

/// Shapes of the parameters and of the moments that data of this shape has.
struct Companions {
  Shape parameter, moment;
};

Companions companions(const LayerNormAttrs& a, const Shape& x) {
  const int axis = normalize_axis(a.axis, x.rank());
  Companions c{Shape{x[axis]}, x};
  c.moment[axis] = 1;
  return c;
}
Companions companions(const InstanceNormAttrs&, const Shape& x) {
  check(x.rank() >= 3, ErrorKind::kShape,
        "InstanceNorm needs data (batch, channels, spatial…), this is {}", x.str());
  return {Shape{x[1]}, Shape{x[0], x[1]}};
}
Companions companions(const GroupNormAttrs& a, const Shape& x) {
  check(x.rank() >= 3, ErrorKind::kShape,
        "GroupNorm needs data (batch, channels, spatial…), this is {}", x.str());
  check(x[1] == kUnknownDim || x[1] % a.num_groups == 0, ErrorKind::kShape,
        "{} channels are not divisible by num_groups {}", x[1], a.num_groups);
  return {Shape{a.num_groups}, Shape{x[0], a.num_groups}};
}

/// Where the parameter's length is an extent of the data: its axis, else -1.
int parameter_axis(const LayerNormAttrs& a, int rank) { return normalize_axis(a.axis, rank); }
int parameter_axis(const InstanceNormAttrs&, int) { return 1; }
int parameter_axis(const GroupNormAttrs&, int) { return -1; }

template <class A>
void infer_around(const A& a, Inference& io, Inference::Ref x,
                  const std::vector<Inference::Ref>& parameters,
                  const std::vector<Inference::Ref>& moments) {
  for (const auto& p : parameters) io.set_shape(p, Shape::of_rank(1), "a vector");
  const Shape data = io.shape(x);
  if (!data.rank_known()) return;
  const int axis = parameter_axis(a, data.rank());
  Shape back = Shape::of_rank(data.rank());
  const Companions c = companions(a, data);
  for (const auto& p : parameters) {
    io.set_shape(p, c.parameter, "it follows from the data");
    if (axis >= 0 && io.shape(p)[0] != kUnknownDim) back[axis] = io.shape(p)[0];
  }
  for (const auto& m : moments) io.set_shape(m, c.moment, "one for every row");
  io.set_shape(x, back, "it follows from the parameters");
}

template <class A>
void infer(const A& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  infer_around(a, io, io.in(0), {io.in(1), io.in(2)}, {io.out(1), io.out(2)});
}

// Inputs: dy, x, γ, mean, σ or variance. Outputs: dx, dγ, dβ.
template <class A>
void infer_backward(const A& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.in(1));
  io.same_shape(io.in(1), io.out(0));
  infer_around(a, io, io.in(1), {io.in(2), io.out(1), io.out(2)}, {io.in(3), io.in(4)});
}

// ---- Rows ---------------------------------------------------------------------------------------

/// Row r has `extent` elements `stride` apart; its parameter is r % period, or with period 0 that
/// of the element's index.
struct Rows {
  std::int64_t count, extent, stride, period;
  double eps;
  bool saves_variance = false;
  std::int64_t first(std::int64_t row) const {
    return row / stride * extent * stride + row % stride;
  }
  template <class F>
  void each(F&& f) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / 4 / (extent + 1));
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) f(row);
    });
  }
};

Rows rows_of(const LayerNormAttrs& a, const Shape& x) {
  const int axis = normalize_axis(a.axis, x.rank());
  return {x.count(0, axis) * x.count(axis + 1), x[axis], x.count(axis + 1), 0, a.eps};
}
Rows rows_of(const InstanceNormAttrs& a, const Shape& x) {
  return {x[0] * x[1], x.count(2), 1, x[1], a.eps, true};
}
Rows rows_of(const GroupNormAttrs& a, const Shape& x) {
  return {x[0] * a.num_groups, x.count(1) / a.num_groups, 1, a.num_groups, a.eps};
}

/// Σ f(i) in 16 lanes.
template <class Acc, class F>
Acc lane_sum(std::int64_t n, F&& f) {
  constexpr std::int64_t kLanes = 16;
  Acc lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += f(i + k);
  for (; i < n; ++i) lanes[i % kLanes] += f(i);
  Acc sum = 0;
  for (const Acc lane : lanes) sum += lane;
  return sum;
}

/// A contiguous row of float32.
void forward_vector_row(const Rows& rows, std::int64_t row, const Args& args) {
  const vector::NormTable& f = vector::norm_kernels().best();
  const std::int64_t at = row * rows.extent, n = rows.extent;
  const float *x = args.in<float>(0) + at, *gamma = args.in<float>(1), *beta = args.in<float>(2);
  float* y = args.out<float>(0) + at;
  const float count = static_cast<float>(std::max<std::int64_t>(1, n)), mean = f.sum(x, n) / count,
              variance = f.squares_around(x, n, mean) / count,
              deviation = std::sqrt(variance + static_cast<float>(rows.eps)),
              inverse = 1 / deviation;
  if (args.wants(1)) args.out<float>(1)[row] = mean;
  if (args.wants(2)) args.out<float>(2)[row] = rows.saves_variance ? variance : deviation;
  if (rows.period == 0) return f.normalize(x, y, n, mean, inverse, gamma, beta);
  const std::int64_t p = row % rows.period;
  f.normalize_by(x, y, n, mean, gamma[p] * inverse, beta[p]);
}

template <class T>
void forward_row(const Rows& rows, std::int64_t row, const Args& args) {
  if constexpr (std::is_same_v<T, float>)
    if (rows.stride == 1) return forward_vector_row(rows, row, args);
  using Acc = Accumulator<T>;
  const std::int64_t at = rows.first(row), n = rows.extent, step = rows.stride;
  const T *x = args.in<T>(0) + at, *gamma = args.in<T>(1), *beta = args.in<T>(2);
  T* y = args.out<T>(0) + at;
  const Acc count = static_cast<Acc>(std::max<std::int64_t>(1, n));
  const Acc mean =
      lane_sum<Acc>(n, [&](std::int64_t i) { return static_cast<Acc>(x[i * step]); }) / count;
  const Acc variance = lane_sum<Acc>(n,
                                     [&](std::int64_t i) {
                                       const Acc d = static_cast<Acc>(x[i * step]) - mean;
                                       return d * d;
                                     }) /
                       count;
  const Acc deviation = std::sqrt(variance + static_cast<Acc>(rows.eps)), inverse = 1 / deviation;
  if (args.wants(1)) args.out<T>(1)[row] = static_cast<T>(mean);
  if (args.wants(2))
    args.out<T>(2)[row] = static_cast<T>(rows.saves_variance ? variance : deviation);
  if (rows.period == 0) {
    for (std::int64_t i = 0; i < n; ++i)
      y[i * step] = static_cast<T>((static_cast<Acc>(x[i * step]) - mean) * inverse *
                                       static_cast<Acc>(gamma[i]) +
                                   static_cast<Acc>(beta[i]));
    return;
  }
  const Acc scale = static_cast<Acc>(gamma[row % rows.period]) * inverse,
            shift = static_cast<Acc>(beta[row % rows.period]);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = static_cast<T>((static_cast<Acc>(x[i]) - mean) * scale + shift);
}

template <class T>
struct Saved {
  using Acc = Accumulator<T>;
  Saved(const Rows& rows, std::int64_t row, const Args& args)
      : mean(static_cast<Acc>(args.in<T>(3)[row])) {
    const Acc kept = static_cast<Acc>(args.in<T>(4)[row]);
    inverse = 1 / (rows.saves_variance ? std::sqrt(kept + static_cast<Acc>(rows.eps)) : kept);
  }
  Acc mean, inverse;
};

/// A contiguous row of float32.
void backward_vector_row(const Rows& rows, std::int64_t row, const Args& args, double* sums) {
  const vector::NormTable& f = vector::norm_kernels().best();
  const std::int64_t at = row * rows.extent, n = rows.extent;
  const float *dy = args.in<float>(0) + at, *x = args.in<float>(1) + at, *gamma = args.in<float>(2);
  const Saved<float> saved(rows, row, args);
  const bool per_row = rows.period > 0;
  const float shared = per_row ? gamma[row % rows.period] : 1;
  float both[2];
  f.gradient_sums(dy, x, per_row ? nullptr : gamma, n, saved.mean, saved.inverse, both);
  if (sums) sums[0] = static_cast<double>(both[0]), sums[1] = static_cast<double>(both[1]);
  if (!args.wants(0)) return;
  const float count = static_cast<float>(std::max<std::int64_t>(1, n));
  f.gradient(dy, x, per_row ? nullptr : gamma, args.out<float>(0) + at, n, saved.mean,
             saved.inverse, both[1] / count, both[0] / count, saved.inverse * shared);
}

/// dx of a row; `sums`, where given, receives Σ dy x̂ and Σ dy.
template <class T>
void backward_row(const Rows& rows, std::int64_t row, const Args& args, double* sums) {
  if constexpr (std::is_same_v<T, float>)
    if (rows.stride == 1) return backward_vector_row(rows, row, args, sums);
  using Acc = Accumulator<T>;
  const std::int64_t at = rows.first(row), n = rows.extent, step = rows.stride;
  const T *dy = args.in<T>(0) + at, *x = args.in<T>(1) + at, *gamma = args.in<T>(2);
  const Saved<T> saved(rows, row, args);
  const bool per_row = rows.period > 0;
  const Acc shared = per_row ? static_cast<Acc>(gamma[row % rows.period]) : Acc(1);
  const auto w = [&](std::int64_t i) {
    const Acc d = static_cast<Acc>(dy[i * step]);
    return per_row ? d : d * static_cast<Acc>(gamma[i]);
  };
  const auto unit = [&](std::int64_t i) {
    return (static_cast<Acc>(x[i * step]) - saved.mean) * saved.inverse;
  };
  const Acc sum = lane_sum<Acc>(n, w),
            product = lane_sum<Acc>(n, [&](std::int64_t i) { return w(i) * unit(i); });
  if (sums) sums[0] = static_cast<double>(product), sums[1] = static_cast<double>(sum);
  if (!args.wants(0)) return;
  const Acc count = static_cast<Acc>(std::max<std::int64_t>(1, n)), a = sum / count,
            b = product / count, scale = saved.inverse * shared;
  T* dx = args.out<T>(0) + at;
  for (std::int64_t i = 0; i < n; ++i)
    dx[i * step] = static_cast<T>((w(i) - a - unit(i) * b) * scale);
}

/// Adds n elements from `left` on of all rows of float32: in float over 32 rows, these sums in
/// double.
void add_rows(const Rows& rows, const Args& args, std::int64_t left, std::int64_t n, double* scale,
              double* shift) {
  constexpr std::int64_t kBlock = 64, kRows = 32;
  for (std::int64_t first = 0; first < rows.count; first += kRows) {
    float scales[kBlock] = {}, shifts[kBlock] = {};
    for (std::int64_t row = first; row < std::min(rows.count, first + kRows); ++row) {
      const Saved<float> saved(rows, row, args);
      const std::int64_t at = row * rows.extent + left;
      vector::norm_kernels().best().add_by_place(args.in<float>(0) + at, args.in<float>(1) + at, n,
                                                 saved.mean, saved.inverse, scales, shifts);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      scale[i] += static_cast<double>(scales[i]);
      shift[i] += static_cast<double>(shifts[i]);
    }
  }
}

/// dγ and dβ of parameters with one value for every index of a row.
template <class T>
void gradient_by_place(const Rows& rows, const Args& args) {
  using Acc = Accumulator<T>;
  constexpr std::int64_t kBlock = 64;
  const T *dy = args.in<T>(0), *x = args.in<T>(1);
  const std::int64_t grain = grain_of(kBlock * rows.count);
  parallel_for(
      (rows.extent + kBlock - 1) / kBlock, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t left = block * kBlock, n = std::min(kBlock, rows.extent - left);
          double scale[kBlock] = {}, shift[kBlock] = {};
          if constexpr (std::is_same_v<T, float>)
            if (rows.stride == 1) add_rows(rows, args, left, n, scale, shift);
          const bool added = std::is_same_v<T, float> && rows.stride == 1;
          for (std::int64_t row = added ? rows.count : 0; row < rows.count; ++row) {
            const Saved<T> saved(rows, row, args);
            const std::int64_t at = rows.first(row) + left * rows.stride;
            for (std::int64_t i = 0; i < n; ++i) {
              const Acc d = static_cast<Acc>(dy[at + i * rows.stride]);
              scale[i] += static_cast<double>(
                  d * (static_cast<Acc>(x[at + i * rows.stride]) - saved.mean) * saved.inverse);
              shift[i] += static_cast<double>(d);
            }
          }
          for (std::int64_t i = 0; i < n; ++i) {
            if (args.wants(1))
              args.out<T>(1)[left + i] = static_cast<T>(static_cast<Acc>(scale[i]));
            if (args.wants(2))
              args.out<T>(2)[left + i] = static_cast<T>(static_cast<Acc>(shift[i]));
          }
        }
      });
}

/// dγ and dβ of parameters with one value for every row, from the sums of the rows.
template <class T>
void gradient_by_row(const Rows& rows, const double* sums, const Args& args) {
  for (int output = 1; output <= 2; ++output) {
    if (!args.wants(output)) continue;
    for (std::int64_t p = 0; p < rows.period; ++p) {
      double total = 0;
      for (std::int64_t row = p; row < rows.count; row += rows.period)
        total += sums[2 * row + output - 1];
      args.out<T>(output)[p] = static_cast<T>(static_cast<Accumulator<T>>(total));
    }
  }
}

template <class A>
Prepared forward(const A& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [rows = rows_of(a, r.in[0].shape)](const Args& args) {
      rows.each([&](std::int64_t row) { forward_row<T>(rows, row, args); });
    };
  });
}

template <class A>
Offer offer_backward(const A& a, const KernelRequest& r) {
  const Rows rows = rows_of(a, r.in[1].shape);
  return accept_plain(r, rows.period > 0 ? static_cast<std::size_t>(rows.count) * 16 : 0);
}

template <class A>
Prepared backward(const A& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[1].dtype, [&]<class T>() -> Prepared {
    return [rows = rows_of(a, r.in[1].shape)](const Args& args) {
      const bool by_row = rows.period > 0;  // without rows there is no workspace
      double* sums = by_row ? static_cast<double*>(args.workspace) : nullptr;
      if (by_row || args.wants(0))
        rows.each([&](std::int64_t row) {
          backward_row<T>(rows, row, args, by_row ? sums + 2 * row : nullptr);
        });
      if (by_row) return gradient_by_row<T>(rows, sums, args);
      if (args.wants(1) || args.wants(2)) gradient_by_place<T>(rows, args);
    };
  });
}

// ---- Registration -------------------------------------------------------------------------------

template <class A>
int visible(const A& a) {
  if constexpr (requires { a.output_mean_var; })
    return a.output_mean_var ? 3 : 1;
  else
    return 1;
}

template <class A>
void add(OpRegistry& r, const std::string& name, const char* text, const char* second) {
  const auto outputs = [second](const A&) {
    return std::vector<std::string>{"output", "mean", second};
  };
  auto op = r.add<A>(name);
  op.precision(Precision::kAsStored);
  op.doc(text)
      .flops(8, Per::kFirstInput)
      .inputs({"data", "gamma", "beta"})
      .outputs(outputs, visible<A>)
      .skips_unread(1)
      .infer(infer<A>)
      .cpu_kernel("native", forward<A>);
  op.gradient([](const A&, GradientBuilder& g) {
    constexpr const char* kBackward = std::is_same_v<A, LayerNormAttrs> ? "_backward_LayerNorm"
                                      : std::is_same_v<A, InstanceNormAttrs>
                                          ? "_backward_InstanceNorm"
                                          : "_backward_GroupNorm";
    return g.call_with_same_attrs(kBackward,
                                  {g.head(0), g.input(0), g.input(1), g.output(1), g.output(2)});
  });
  r.add<A>("_backward_" + name)
      .precision(Precision::kAsStored)
      .flops(11, Per::kFirstInput)
      .backward()
      .inputs({"dy", "data", "gamma", "mean", second})
      .outputs({"data", "gamma", "beta"})
      .skips_unread()
      .infer(infer_backward<A>)
      .kernel(DeviceType::kCpu, "native", offer_backward<A>, backward<A>);
}

}  // namespace

void register_layer_norm(OpRegistry& r) {
  add<LayerNormAttrs>(r, "LayerNorm", "Normalises along one axis.", "std");
  add<InstanceNormAttrs>(r, "InstanceNorm", "Normalises every channel of every sample.", "var");
  add<GroupNormAttrs>(r, "GroupNorm", "Normalises groups of channels of every sample.", "std");
}

}  // namespace symbind
