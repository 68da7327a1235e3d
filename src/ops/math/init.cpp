// Arrays without inputs: _zeros, _ones, _full, _arange, _linspace, _eye; and arrays made from a
// shape only: zeros_like, ones_like, _contrib_arange_like.
//
// Decided here: an extent 0 in `shape` is unknown and is inferred from the readers of the array, as
// in MXNet; without a shape nothing is known.
#include <cmath>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/convert.h"

namespace symbind {
namespace {

struct InitAttrs {
  Tuple shape;
  std::string ctx;
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("shape", shape, "The shape of the output.");
    v.field("ctx", ctx, "The device, like cpu(0); only for imperative calls.");
    v.field("dtype", dtype, "The element type of the output.");
  }
};

struct FullAttrs : InitAttrs {
  double value = 0;
  void describe(AttrVisitor& v) {
    InitAttrs::describe(v);
    v.field("value", value, "The value of every element.").required().per_call();
  }
};

struct ArangeAttrs {
  double start = 0;
  std::optional<double> stop;
  double step = 1;
  int repeat = 1;
  bool infer_range = false;
  std::string ctx;
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("start", start, "The first value.").required();
    v.field("stop", stop, "The end, not included; None means from 0 to start.");
    v.field("step", step, "The distance between two values.");
    v.field("repeat", repeat, "How often each value is repeated.").at_least(1);
    v.field("infer_range", infer_range, "Whether the reader's shape decides the length.");
    v.field("ctx", ctx, "The device, like cpu(0); only for imperative calls.");
    v.field("dtype", dtype, "The element type of the output.");
  }
};

struct LinspaceAttrs {
  double start = 0, stop = 0;
  std::int64_t num = 0;
  bool endpoint = true;
  std::string ctx;
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("start", start, "The first value.").required();
    v.field("stop", stop, "The last value, or the end that is not included.").required();
    v.field("num", num, "How many values.").required().at_least(0);
    v.field("endpoint", endpoint, "Whether stop is the last value.");
    v.field("ctx", ctx, "The device, like cpu(0); only for imperative calls.");
    v.field("dtype", dtype, "The element type of the output.");
  }
};

struct EyeAttrs {
  std::int64_t N = 0, M = 0, k = 0;
  std::string ctx;
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("N", N, "Number of rows.").required().at_least(0);
    v.field("M", M, "Number of columns; 0 means as many as rows.").at_least(0);
    v.field("k", k, "Which diagonal: above the main one when positive, below when negative.");
    v.field("ctx", ctx, "The device, like cpu(0); only for imperative calls.");
    v.field("dtype", dtype, "The element type of the output.");
  }
};

struct ArangeLikeAttrs {
  double start = 0, step = 1;
  int repeat = 1;
  std::string ctx;
  std::optional<int> axis;
  void describe(AttrVisitor& v) {
    v.field("start", start, "The first value.");
    v.field("step", step, "The distance between two values.");
    v.field("repeat", repeat, "How often each value is repeated.").at_least(1);
    v.field("ctx", ctx, "Accepted, without effect: the result is where the input is.");
    v.field("axis", axis, "The axis whose length the result has; None: the input's shape.");
  }
};

void infer(const InitAttrs& a, Inference& io) {
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  io.set_shape(io.out(0), from_user(Shape(a.shape)), "attribute shape");
}
void infer_full(const FullAttrs& a, Inference& io) { infer(a, io); }

void infer_like(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

void infer_arange(const ArangeAttrs& a, Inference& io) {
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  if (a.infer_range) {
    io.set_shape(io.out(0), Shape::of_rank(1), "arange has one axis");
    return;
  }
  check(a.step != 0, "step of arange must not be 0");
  const double start = a.stop ? a.start : 0, stop = a.stop ? *a.stop : a.start;
  const double count = std::ceil((stop - start) / a.step);
  check(count > 0, "arange from {} to {} by {} is empty", start, stop, a.step);
  check(count * a.repeat < 0x1p62, "arange from {} to {} by {} is too long", start, stop, a.step);
  io.set_shape(io.out(0), Shape{static_cast<std::int64_t>(count) * a.repeat},
               "attributes start, stop and step");
}

void infer_linspace(const LinspaceAttrs& a, Inference& io) {
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  io.set_shape(io.out(0), Shape{a.num}, "attribute num");
}
void infer_eye(const EyeAttrs& a, Inference& io) {
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  io.set_shape(io.out(0), Shape{a.N, a.M == 0 ? a.N : a.M}, "attributes N and M");
}

void infer_arange_like(const ArangeLikeAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape data = io.shape(io.in(0));
  if (!a.axis)
    io.same_shape(io.in(0), io.out(0));
  else if (data.rank_known())
    io.set_shape(io.out(0), Shape{data[normalize_axis(*a.axis, data.rank())]}, "the axis' length");
}

template <class A>
NodeEntries no_gradient(const A&, GradientBuilder& g) {
  return NodeEntries(static_cast<std::size_t>(g.num_inputs()));
}

/// Writes one value everywhere, whatever the layout.
Prepared fill_with(double value, const KernelRequest& request) {
  const TensorDesc& out = request.out[0];
  return [value, dtype = out.dtype, n = out.shape.size()](const Args& a) {
    fill(a.outputs[0].data, dtype, value, n);
  };
}
Prepared zeros(const InitAttrs&, const KernelRequest& q) { return fill_with(0, q); }
Prepared ones(const InitAttrs&, const KernelRequest& q) { return fill_with(1, q); }
Prepared full(const FullAttrs&, const KernelRequest& request) {
  const TensorDesc& out = request.out[0];
  return [dtype = out.dtype, n = out.shape.size()](const Args& a) {
    fill(a.outputs[0].data, dtype, a.values[0], n);
  };
}

/// start, start + step, …, each `repeat` times.
Prepared evenly(double start, double step, std::int64_t repeat, const TensorDesc& out) {
  return [start, step, repeat, dtype = out.dtype, n = out.shape.size()](const Args& a) {
    double values[256];
    auto* y = static_cast<char*>(a.outputs[0].data);
    for (std::int64_t i = 0; i < n; i += 256) {
      const std::int64_t m = std::min<std::int64_t>(256, n - i);
      for (std::int64_t k = 0; k < m; ++k)
        values[k] = start + step * static_cast<double>((i + k) / repeat);
      convert(y + i * static_cast<std::int64_t>(size_of(dtype)), dtype, values, DType::kFloat64, m);
    }
  };
}
Prepared arange(const ArangeAttrs& a, const KernelRequest& q) {
  const double start = a.stop || a.infer_range ? a.start : 0;
  const bool whole = !is_float(q.out[0].dtype);  // NumPy and MXNet count in the array's type
  return evenly(whole ? std::trunc(start) : start, whole ? std::trunc(a.step) : a.step, a.repeat,
                q.out[0]);
}
Prepared linspace(const LinspaceAttrs& a, const KernelRequest& q) {
  const std::int64_t steps = a.endpoint ? a.num - 1 : a.num;
  return evenly(a.start, steps > 0 ? (a.stop - a.start) / static_cast<double>(steps) : 0, 1,
                q.out[0]);
}

Prepared eye(const EyeAttrs& a, const KernelRequest& q) {
  return [k = a.k, out = q.out[0]](const Args& args) {
    fill(args.outputs[0].data, out.dtype, 0, out.shape.size());
    const std::int64_t rows = out.shape[0], columns = out.shape[1];
    if (k <= -rows || k >= columns) return;  // no such diagonal; k may be any number
    auto* y = static_cast<char*>(args.outputs[0].data);
    for (std::int64_t row = std::max<std::int64_t>(0, -k); row < rows; ++row)
      if (row + k < columns)
        fill(y + (row * columns + row + k) * static_cast<std::int64_t>(size_of(out.dtype)),
             out.dtype, 1, 1);
  };
}
Prepared arange_like(const ArangeLikeAttrs& a, const KernelRequest& q) {
  return evenly(a.start, a.step, a.repeat, q.out[0]);
}

Offer offer_like(const NoAttrs&, const KernelRequest& request) {
  return accept_same_layout(request);
}

void add_like(OpRegistry& r, const char* name, double value) {
  r.add(name)
      .flops(0)
      .doc(std::string("An array of ") + (value == 0 ? "zeros" : "ones") +
           " with shape and element type of the input.")
      .infer(infer_like)
      .shape_only({0})
      .gradient(no_gradient<NoAttrs>)
      .inplace(0, 0)
      .kernel(DeviceType::kCpu, "reference", offer_like,
              [value](const NoAttrs&, const KernelRequest& q, const Offer&) {
                return fill_with(value, q);
              });
}

}  // namespace

void register_init(OpRegistry& r) {
  const std::vector<std::string> none;
  r.add<InitAttrs>("_zeros")
      .flops(0)
      .doc("An array of zeros.")
      .inputs(none)
      .infer(infer)
      .gradient(no_gradient)
      .reference(zeros);
  r.add<InitAttrs>("_ones")
      .flops(0)
      .doc("An array of ones.")
      .inputs(none)
      .infer(infer)
      .gradient(no_gradient)
      .reference(ones);
  r.add<FullAttrs>("_full")
      .flops(0)
      .doc("An array of one value.")
      .inputs(none)
      .infer(infer_full)
      .gradient(no_gradient)
      .reference(full);
  r.add<ArangeAttrs>("_arange")
      .doc("Evenly spaced values: start, start + step, … before stop.")
      .inputs(none)
      .infer(infer_arange)
      .gradient(no_gradient)
      .reference(arange);
  r.add<LinspaceAttrs>("_linspace")
      .doc("Evenly spaced values from start to stop.")
      .inputs(none)
      .infer(infer_linspace)
      .gradient(no_gradient)
      .reference(linspace);
  r.add<EyeAttrs>("_eye")
      .doc("A matrix that is 1 on a diagonal and 0 elsewhere.")
      .inputs(none)
      .infer(infer_eye)
      .gradient(no_gradient)
      .reference(eye);
  r.add<ArangeLikeAttrs>("_contrib_arange_like")
      .doc("Evenly spaced values, as many as the input has, or as many as one of its axes has.")
      .infer(infer_arange_like)
      .shape_only({0})
      .gradient(no_gradient)
      .reference(arange_like);
  add_like(r, "zeros_like", 0);
  add_like(r, "ones_like", 1);
}

}  // namespace symbind
