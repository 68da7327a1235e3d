// softmax, log_softmax and softmin along one axis, and SoftmaxActivation.
//
//   softmax      y = exp(z) / Σ exp(z),  z = (x − max x) / t      dx = y (dy − Σ dy·y) / t
//   log_softmax  y = z − log Σ exp(z)                             dx = (dy − exp(y) Σ dy) / t
//   softmin      softmax of −x                                    dx = −y (dy − Σ dy·y) / t
//
// Decided here: the gradient reads y only. use_length uses only the first length[…] elements of
// every row; the rest are 0 and get no gradient; a length beyond the row means the whole row. Only
// softmax has it, as in MXNet; log_softmax and softmin refuse it at run time. 16-bit types
// are computed in float, and mixed types (dtype) in double where one of them is. SoftmaxActivation
// normalises the last axis, or with mode "channel" axis 1.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/element_type.h"
#include "kernels/gather.h"
#include "kernels/onednn/softmax.h"
#include "kernels/vector/rows.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

enum class Kind : std::uint8_t { kSoftmax, kLogSoftmax, kSoftmin };

struct SoftmaxAttrs {
  int axis = -1;
  std::optional<double> temperature;
  std::optional<std::string> dtype;
  std::optional<bool> use_length = false;

  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis along which to normalise.");
    v.field("temperature", temperature, "Divides the input; None is 1.");
    v.field("dtype", dtype, "The output's type; None is the input's.")
        .choices({"float16", "float32", "float64"});
    v.field("use_length", use_length, "Whether a second input gives the length of each row.");
  }
  bool has_length() const { return use_length.value_or(false); }
};

/// log_softmax and softmin accept the parameter, as in MXNet, but not the lengths.
struct NoLengthAttrs : SoftmaxAttrs {
  void describe(AttrVisitor& v) {
    SoftmaxAttrs::describe(v);
    AttrField& field = v.fields().back();
    field.at_most(0).doc =
        "Only softmax supports lengths: mask the input, or take the logarithm of softmax.";
  }
};

struct SoftmaxActivationAttrs {
  std::string mode = "instance";

  void describe(AttrVisitor& v) {
    v.field("mode", mode,
            "Whether to normalise along the last axis, or along the channels (axis 1).")
        .choices({"channel", "instance"});
  }
};

// ---- Inference and gradient ---------------------------------------------------------------------

void infer_types(const SoftmaxAttrs& a, Inference& io, Inference::Ref x, Inference::Ref y) {
  if (!a.dtype) return io.same_dtype(x, y);
  const DType wanted = dtype_from_name(*a.dtype);
  io.set_dtype(y, wanted, "attribute dtype");
  if (io.dtype(x) == DType::kUnknown) io.set_dtype(x, wanted);
}

void infer(const SoftmaxAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  infer_types(a, io, io.in(0), io.out(0));
  const Shape& x = io.shape(io.in(0));
  if (!x.rank_known() || x.rank() == 0) return;
  const int axis = normalize_axis(a.axis, x.rank());
  if (!a.has_length()) return;
  Shape rows;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) rows.push_back(x[i]);
  if (rows.rank() == 0) rows.push_back(1);
  io.set_shape(io.in(1), rows, "one length for every row");
}

// Inputs: dy, y[, length][, x, where its type is not that of y].
void infer_backward(const SoftmaxAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(a.dtype ? io.in(io.num_inputs() - 1) : io.in(1), io.out(0));
  ForwardSides sides{
      .inputs = a.has_length() ? 2 : 1, .outputs = 1, .from = {io.out(0), io.out(0)}};
  if (a.has_length()) sides.from.push_back(io.in(1));
  if (a.dtype) sides.from.push_back(io.in(0));
  tie_to_forward(a, io, infer, sides);
}

NodeEntries gradient_by(const char* op, const SoftmaxAttrs& a, GradientBuilder& g) {
  NodeEntries inputs{g.head(0), g.output(0)};
  if (a.has_length()) inputs.push_back(g.input(1));
  if (a.dtype) inputs.push_back(g.input(0));
  NodeEntries d = g.call_with_same_attrs(op, std::move(inputs));
  if (a.has_length()) d.emplace_back();
  return d;
}

// ---- The plain reference ------------------------------------------------------------------------

/// The data as (outer, extent, inner), normalised along `extent`.
struct Rows {
  std::int64_t outer, extent, inner;
  Rows(const Shape& x, int axis)
      : outer(x.count(0, axis)), extent(x[axis]), inner(x.count(axis + 1)) {}
  /// Calls f(offset, n) for runs of at most `most` neighbouring rows.
  template <class F>
  void each_run(std::int64_t most, F&& f) const {
    const std::int64_t runs = (inner + most - 1) / most;
    const std::int64_t grain = grain_of(4 * extent * std::min(most, inner));
    parallel_for(outer * runs, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t first = p % runs * most;
        f(p / runs * extent * inner + first, std::min(most, inner - first));
      }
    });
  }
  /// Calls f(row, offset of its first element) for every row.
  template <class F>
  void each(F&& f) const {
    const std::int64_t grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, extent));
    parallel_for(outer * inner, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        f(row, row / inner * extent * inner + row % inner);
    });
  }
};

Rows rows_of(const SoftmaxAttrs& a, const Shape& x) {
  if (x.rank() == 0) return Rows(Shape{1}, 0);
  return Rows(x, normalize_axis(a.axis, x.rank()));
}

/// The lengths of all rows, of any type.
struct Lengths {
  const void* data = nullptr;
  DType dtype = DType::kInt32;
  std::int64_t of(std::int64_t row, std::int64_t extent) const {
    if (!data) return extent;
    std::int64_t n = extent;
    for_indices(dtype, data, row, row + 1,
                [&](std::int64_t, std::int64_t, const std::int64_t* at) { n = *at; });
    return std::clamp<std::int64_t>(n, 0, extent);
  }
};

template <class T, class O>
using Wide =
    std::conditional_t<std::is_same_v<T, double> || std::is_same_v<O, double>, double, float>;

template <Kind kind, class T, class O>
void forward_row(const T* x, O* y, std::int64_t length, std::int64_t extent, std::int64_t stride,
                 Wide<T, O> inverse) {
  using A = Wide<T, O>;
  const auto value = [&](std::int64_t i) {
    const A v = static_cast<A>(x[i * stride]);
    return kind == Kind::kSoftmin ? -v : v;
  };
  A top = -std::numeric_limits<A>::infinity();
  for (std::int64_t i = 0; i < length; ++i) top = std::max(top, value(i));
  A sum = 0;
  for (std::int64_t i = 0; i < length; ++i) sum += std::exp((value(i) - top) * inverse);
  const A log_sum = std::log(sum);
  for (std::int64_t i = 0; i < length; ++i) {
    const A z = (value(i) - top) * inverse;
    y[i * stride] = static_cast<O>(kind == Kind::kLogSoftmax ? z - log_sum : std::exp(z) / sum);
  }
  for (std::int64_t i = length; i < extent; ++i) y[i * stride] = O(0);
}

template <Kind kind, class O, class T>
void backward_row(const O* dy, const O* y, T* dx, std::int64_t length, std::int64_t extent,
                  std::int64_t stride, Wide<T, O> inverse) {
  using A = Wide<T, O>;
  A sum = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const A d = static_cast<A>(dy[i * stride]);
    sum += kind == Kind::kLogSoftmax ? d : d * static_cast<A>(y[i * stride]);
  }
  const A scale = kind == Kind::kSoftmin ? -inverse : inverse;
  for (std::int64_t i = 0; i < length; ++i) {
    const A d = static_cast<A>(dy[i * stride]), v = static_cast<A>(y[i * stride]);
    const A grad = kind == Kind::kLogSoftmax ? d - std::exp(v) * sum : v * (d - sum);
    dx[i * stride] = static_cast<T>(grad * scale);
  }
  for (std::int64_t i = length; i < extent; ++i) dx[i * stride] = T(0);
}

using vector::kTile;

/// The kernels over vectors compute float32, and 16-bit rows of this length through buffers.
constexpr std::int64_t kBuffered = 2048;

template <class T, class O>
constexpr bool kVectors = std::is_same_v<T, O> && !std::is_same_v<T, double>;

/// Whether the kernels over vectors compute rows of this type and length.
template <class T>
bool by_vectors(std::int64_t length, std::int64_t stride) {
  return stride == 1 && (std::is_same_v<T, float> || length <= kBuffered);
}

template <Kind kind, class T>
void vector_row(const T* x, T* y, std::int64_t length, std::int64_t extent, float inverse) {
  const auto row = vector::softmax_kernels().best().row;
  const float scale = kind == Kind::kSoftmin ? -inverse : inverse;
  if constexpr (std::is_same_v<T, float>) {
    row(x, y, length, scale, kind == Kind::kLogSoftmax);
  } else {
    alignas(64) float buffer[kBuffered];
    fast_converter(dtype_of<T>, DType::kFloat32)(x, buffer, length);
    row(buffer, buffer, length, scale, kind == Kind::kLogSoftmax);
    fast_converter(DType::kFloat32, dtype_of<T>)(buffer, y, length);
  }
  std::fill(y + length, y + extent, T(0));
}

template <Kind kind, class T>
void vector_row_backward(const T* dy, const T* y, T* dx, std::int64_t length, std::int64_t extent,
                         float inverse) {
  const auto row = vector::softmax_kernels().best().row_backward;
  const float scale = kind == Kind::kSoftmin ? -inverse : inverse;
  if constexpr (std::is_same_v<T, float>) {
    row(dy, y, dx, length, scale, kind == Kind::kLogSoftmax);
  } else {
    alignas(64) float heads[kBuffered], outputs[kBuffered];
    fast_converter(dtype_of<T>, DType::kFloat32)(dy, heads, length);
    fast_converter(dtype_of<T>, DType::kFloat32)(y, outputs, length);
    row(heads, outputs, heads, length, scale, kind == Kind::kLogSoftmax);
    fast_converter(DType::kFloat32, dtype_of<T>)(heads, dx, length);
  }
  std::fill(dx + length, dx + extent, T(0));
}

/// `n` neighbouring rows at once, whose elements are `stride` apart: memory is read in order.
template <Kind kind, class T, class O>
void forward_tile(const T* x, O* y, std::int64_t n, std::int64_t extent, std::int64_t stride,
                  Wide<T, O> inverse) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<O, float>) {
    const float scale = kind == Kind::kSoftmin ? -inverse : inverse;
    return vector::softmax_kernels().best().columns(x, y, n, extent, stride, scale,
                                                    kind == Kind::kLogSoftmax);
  }
  using A = Wide<T, O>;
  constexpr A kSign = kind == Kind::kSoftmin ? A(-1) : A(1);
  A top[kTile], sum[kTile] = {};
  std::fill_n(top, n, -std::numeric_limits<A>::infinity());
  for (std::int64_t k = 0; k < extent; ++k)
    for (std::int64_t i = 0; i < n; ++i)
      top[i] = std::max(top[i], kSign * static_cast<A>(x[k * stride + i]));
  for (std::int64_t k = 0; k < extent; ++k)
    for (std::int64_t i = 0; i < n; ++i)
      sum[i] += std::exp((kSign * static_cast<A>(x[k * stride + i]) - top[i]) * inverse);
  for (std::int64_t i = 0; i < n; ++i)
    sum[i] = kind == Kind::kLogSoftmax ? std::log(sum[i]) : 1 / sum[i];
  for (std::int64_t k = 0; k < extent; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      const A z = (kSign * static_cast<A>(x[k * stride + i]) - top[i]) * inverse;
      y[k * stride + i] =
          static_cast<O>(kind == Kind::kLogSoftmax ? z - sum[i] : std::exp(z) * sum[i]);
    }
}

template <Kind kind, class O, class T>
void backward_tile(const O* dy, const O* y, T* dx, std::int64_t n, std::int64_t extent,
                   std::int64_t stride, Wide<T, O> inverse) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<O, float>) {
    const float scale = kind == Kind::kSoftmin ? -inverse : inverse;
    return vector::softmax_kernels().best().columns_backward(dy, y, dx, n, extent, stride, scale,
                                                             kind == Kind::kLogSoftmax);
  }
  using A = Wide<T, O>;
  A sum[kTile] = {};
  for (std::int64_t k = 0; k < extent; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      const A d = static_cast<A>(dy[k * stride + i]);
      sum[i] += kind == Kind::kLogSoftmax ? d : d * static_cast<A>(y[k * stride + i]);
    }
  const A scale = kind == Kind::kSoftmin ? -inverse : inverse;
  for (std::int64_t k = 0; k < extent; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      const A d = static_cast<A>(dy[k * stride + i]), v = static_cast<A>(y[k * stride + i]);
      const A grad = kind == Kind::kLogSoftmax ? d - std::exp(v) * sum[i] : v * (d - sum[i]);
      dx[k * stride + i] = static_cast<T>(grad * scale);
    }
}

/// Calls f<T, O>() for the types of x and y.
template <class F>
Prepared with_types(DType x, DType y, F&& f) {
  return dispatch_float(x, [&]<class T>() -> Prepared {
    if (x == y) return f.template operator()<T, T>();
    if (y == DType::kFloat64) return f.template operator()<T, double>();
    if (y == DType::kFloat16) return f.template operator()<T, Half>();
    return f.template operator()<T, float>();
  });
}

template <Kind kind>
Prepared forward(const SoftmaxAttrs& a, const KernelRequest& r) {
  return with_types(r.in[0].dtype, r.out[0].dtype, [&]<class T, class O>() -> Prepared {
    return [rows = rows_of(a, r.in[0].shape),
            inverse = static_cast<Wide<T, O>>(1 / a.temperature.value_or(1)),
            has_length = a.has_length(),
            type = a.has_length() ? r.in[1].dtype : DType::kInt32](const Args& args) {
      const Lengths lengths{has_length ? args.inputs[1].data : nullptr, type};
      const T* x = args.in<T>(0);
      O* y = args.out<O>(0);
      if (rows.inner > 1 && !has_length)
        return rows.each_run(vector::column_tile(rows.extent, rows.outer * rows.inner),
                             [&](std::int64_t at, std::int64_t n) {
                               forward_tile<kind>(x + at, y + at, n, rows.extent, rows.inner,
                                                  inverse);
                             });
      rows.each([&](std::int64_t row, std::int64_t at) {
        const std::int64_t length = lengths.of(row, rows.extent);
        if constexpr (kVectors<T, O>)
          if (by_vectors<T>(length, rows.inner))
            return vector_row<kind>(x + at, y + at, length, rows.extent, inverse);
        forward_row<kind>(x + at, y + at, length, rows.extent, rows.inner, inverse);
      });
    };
  });
}

template <Kind kind>
Prepared backward(const SoftmaxAttrs& a, const KernelRequest& r) {
  return with_types(r.out[0].dtype, r.in[1].dtype, [&]<class T, class O>() -> Prepared {
    return [rows = rows_of(a, r.out[0].shape),
            inverse = static_cast<Wide<T, O>>(1 / a.temperature.value_or(1)),
            has_length = a.has_length(),
            type = a.has_length() ? r.in[2].dtype : DType::kInt32](const Args& args) {
      const Lengths lengths{has_length ? args.inputs[2].data : nullptr, type};
      const O *dy = args.in<O>(0), *y = args.in<O>(1);
      T* dx = args.out<T>(0);
      if (rows.inner > 1 && !has_length)
        return rows.each_run(vector::column_tile(rows.extent, rows.outer * rows.inner),
                             [&](std::int64_t at, std::int64_t n) {
                               backward_tile<kind>(dy + at, y + at, dx + at, n, rows.extent,
                                                   rows.inner, inverse);
                             });
      rows.each([&](std::int64_t row, std::int64_t at) {
        const std::int64_t length = lengths.of(row, rows.extent);
        if constexpr (kVectors<T, O>)
          if (by_vectors<T>(length, rows.inner))
            return vector_row_backward<kind>(dy + at, y + at, dx + at, length, rows.extent,
                                             inverse);
        backward_row<kind>(dy + at, y + at, dx + at, length, rows.extent, rows.inner, inverse);
      });
    };
  });
}

// ---- SoftmaxActivation: the same rows -----------------------------------------------------------

void infer_activation(const SoftmaxActivationAttrs& a, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
  const Shape& x = io.shape(io.in(0));
  check(!x.rank_known() || x.rank() >= (a.mode == "channel" ? 3 : 1), ErrorKind::kShape,
        "mode {} needs data of rank {} or more, this is {}", a.mode, a.mode == "channel" ? 3 : 1,
        x.str());
}

SoftmaxAttrs as_softmax(const SoftmaxActivationAttrs& a) {
  SoftmaxAttrs along;
  along.axis = a.mode == "channel" ? 1 : -1;
  return along;
}

// ---- Registration -------------------------------------------------------------------------------

Offer offer_onednn(const SoftmaxAttrs& a, const KernelRequest& r, bool logarithm, bool backward) {
  if (a.temperature.value_or(1) != 1) return refuse("temperature is set");
  if (a.has_length() || a.dtype) return refuse("use_length or dtype is set");
  const Rows rows = rows_of(a, r.out[0].shape);
  if (rows.inner != 1) return refuse("the axis is not the last one");
  // Measured by bench_vector: ours is faster there, oneDNN's with older instructions.
  if (cpu_isa() == Isa::kAvx512) return refuse("the native kernel is faster with AVX-512");
  const onednn::SoftmaxSizes s{rows.outer, rows.extent, logarithm};
  return backward ? onednn::offer_softmax_backward(s, r) : onednn::offer_softmax(s, r);
}

template <Kind kind>
void add(OpRegistry& r, const std::string& name, const char* text) {
  using A = std::conditional_t<kind == Kind::kSoftmax, SoftmaxAttrs, NoLengthAttrs>;
  using R = KernelRequest;
  const std::string backward_name = "_backward_" + name;
  auto op = r.add<A>(name);
  op.precision(Precision::kAsStored);
  op.doc(text)
      .flops(4, Per::kFirstInput)
      .slices([](const A& a, std::span<const Shape> in, const Shape& out) {
        return std::vector<bool>(normalize_axis(a.axis, out.rank()) > 0 ? in.size() : 0, true);
      })
      .infer([](const A& a, Inference& io) { infer(a, io); })
      .inplace(0, 0);
  op.gradient([](const A& a, GradientBuilder& g) {
    constexpr const char* kNames[] = {"_backward_softmax", "_backward_log_softmax",
                                      "_backward_softmin"};
    return gradient_by(kNames[static_cast<int>(kind)], a, g);
  });
  if constexpr (kind == Kind::kLogSoftmax) op.inputs(std::vector<std::string>{"data"});
  if constexpr (kind == Kind::kSoftmax)
    op.inputs([](const A& a) -> std::vector<std::string> {
      if (a.has_length()) return {"data", "length"};
      return {"data"};
    });
  auto back = r.add<A>(backward_name);
  back.precision(Precision::kAsStored);
  back.flops(kind == Kind::kLogSoftmax ? 3 : 4, Per::kFirstInput);
  back.backward().inplace(0, 0).inplace(1, 0);
  back.infer([](const A& a, Inference& io) { infer_backward(a, io); });
  back.inputs([](const A& a) {
    std::vector<std::string> names{"dy", "output"};
    if (a.has_length()) names.emplace_back("length");
    if (a.dtype) names.emplace_back("data");
    return names;
  });
  if constexpr (kind != Kind::kSoftmin) {
    constexpr bool kLog = kind == Kind::kLogSoftmax;
    op.kernel(
        DeviceType::kCpu, "onednn",
        [](const A& a, const R& q) { return offer_onednn(a, q, kLog, false); },
        [](const A&, const R& q, const Offer& o) { return onednn::prepare_softmax(q, o); });
    back.kernel(
        DeviceType::kCpu, "onednn",
        [](const A& a, const R& q) { return offer_onednn(a, q, kLog, true); },
        [](const A&, const R& q, const Offer& o) {
          return onednn::prepare_softmax_backward(q, o);
        });
  }
  op.cpu_kernel("native", [](const A& a, const R& q) { return forward<kind>(a, q); });
  back.cpu_kernel("native", [](const A& a, const R& q) { return backward<kind>(a, q); });
}

void add_activation(OpRegistry& r) {
  using A = SoftmaxActivationAttrs;
  using R = KernelRequest;
  r.add<A>("SoftmaxActivation")
      .precision(Precision::kAsStored)
      .flops(4, Per::kFirstInput)
      .slices([](const A&, std::span<const Shape>, const Shape& out) {
        return std::vector<bool>(out.rank() > 1 ? 1 : 0, true);
      })
      .doc("Softmax along the last axis, or over the channels of each position.")
      .infer(infer_activation)
      .gradient([](const A&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_SoftmaxActivation", {g.head(0), g.output(0)});
      })
      .inplace(0, 0)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) { return offer_onednn(as_softmax(a), q, false, false); },
          [](const A&, const R& q, const Offer& o) { return onednn::prepare_softmax(q, o); })
      .cpu_kernel("native",
                  [](const A& a, const R& q) { return forward<Kind::kSoftmax>(as_softmax(a), q); });
  r.add<A>("_backward_SoftmaxActivation")
      .precision(Precision::kAsStored)
      .flops(2, Per::kFirstInput)
      .backward()
      .inputs({"dy", "output"})
      .infer(infer_activation)
      .inplace(0, 0)
      .inplace(1, 0)
      .kernel(
          DeviceType::kCpu, "onednn",
          [](const A& a, const R& q) { return offer_onednn(as_softmax(a), q, false, true); },
          [](const A&, const R& q, const Offer& o) {
            return onednn::prepare_softmax_backward(q, o);
          })
      .cpu_kernel("native", [](const A& a, const R& q) {
        return backward<Kind::kSoftmax>(as_softmax(a), q);
      });
}

}  // namespace

void register_softmax(OpRegistry& r) {
  add<Kind::kSoftmax>(r, "softmax", "Exponentials along an axis, normalised to the sum 1.");
  add<Kind::kLogSoftmax>(r, "log_softmax", "The logarithm of softmax.");
  add<Kind::kSoftmin>(r, "softmin", "Softmax of the negated data.");
  add_activation(r);
}

}  // namespace symbind
