// The elements in another type. Rules of conversion: ndarray/convert.h.
//
// amp_cast and amp_multicast are used in mixed-precision graphs: they convert only float32 and the
// 16-bit floats; other arrays are unchanged. amp_multicast converts all its arrays to the widest of
// these types among them, or with cast_narrow to the narrowest.
//
// Decided here: the gradient is cast back to the input's type. float16 and bfloat16 together widen
// to float32; of the two, the later one counts as the narrowest.
#include <symbind/operator.h>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/element_type.h"
#include "ndarray/convert.h"

namespace symbind {
namespace {

struct CastAttrs {
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("dtype", dtype, "The element type of the output.").required();
  }
};

void infer(const CastAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
}

/// Backward: head in the type of `like`.
void infer_back(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.same_dtype(io.in(1), io.out(0));
}

NodeEntries gradient(const CastAttrs&, GradientBuilder& g) {
  return {g.call("_backward_cast", {g.head(0), g.input(0)})};
}

// ---- Mixed precision ----------------------------------------------------------------------------

struct AmpMulticastAttrs {
  int num_outputs = 0;
  bool cast_narrow = false;
  void describe(AttrVisitor& v) {
    v.field("num_outputs", num_outputs, "Number of arrays.").required();
    v.field("cast_narrow", cast_narrow, "Whether to use the narrowest type instead of the widest.");
  }
};

bool takes_part(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

void infer_amp(const CastAttrs& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  const DType given = io.dtype(io.in(0));
  if (given != DType::kUnknown)
    io.set_dtype(io.out(0), takes_part(given) ? a.dtype : given, "attribute dtype, for floats");
}

void infer_multicast(const AmpMulticastAttrs& a, Inference& io) {
  DType common = DType::kUnknown;
  bool known = true;
  for (int i = 0; i < a.num_outputs; ++i) {
    io.same_shape(io.in(i), io.out(i));
    const DType given = io.dtype(io.in(i));
    known &= given != DType::kUnknown;
    if (!takes_part(given)) continue;
    const bool wide = given == DType::kFloat32;
    if (common == DType::kUnknown)
      common = given;
    else if (a.cast_narrow ? !wide : given != common)
      common = a.cast_narrow ? given : DType::kFloat32;
  }
  if (!known) return;
  for (int i = 0; i < a.num_outputs; ++i) {
    const DType given = io.dtype(io.in(i));
    io.set_dtype(io.out(i), takes_part(given) ? common : given, "the arrays' common type");
  }
}

NodeEntries multicast_gradient(const AmpMulticastAttrs& a, GradientBuilder& g) {
  NodeEntries gradients;
  for (int i = 0; i < a.num_outputs; ++i)
    gradients.push_back(g.wanted(i) ? g.call("_backward_cast", {g.head(i), g.input(i)})
                                    : NodeEntry{});
  return gradients;
}

/// All elements in another type, over threads.
void cast_all(const void* x, DType from, void* y, DType to, std::int64_t n) {
  const Convert fast = fast_converter(from, to);
  if (fast == nullptr) return convert(y, to, x, from, n);
  const auto* xs = static_cast<const char*>(x);
  auto* ys = static_cast<char*>(y);
  const auto x_size = static_cast<std::int64_t>(size_of(from)),
             y_size = static_cast<std::int64_t>(size_of(to));
  parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {
    fast(xs + begin * x_size, ys + begin * y_size, end - begin);
  });
}

Prepared prepare_multicast(const AmpMulticastAttrs&, const KernelRequest& q) {
  return [in = q.in, out = q.out](const Args& a) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (a.wants(static_cast<int>(i)) && a.outputs[i].data != a.inputs[i].data)
        cast_all(a.inputs[i].data, in[i].dtype, a.outputs[i].data, out[i].dtype,
                 in[i].shape.size());
    }
  };
}

// ---- Kernels ------------------------------------------------------------------------------------

template <class A>
Offer offer(const A&, const KernelRequest& request) {
  return accept_same_layout(request);
}
template <class A>
Prepared prepare(const A&, const KernelRequest& q, const Offer&) {
  return [from = q.in[0].dtype, to = q.out[0].dtype, n = q.out[0].shape.size()](const Args& a) {
    if (a.outputs[0].data != a.inputs[0].data)
      cast_all(a.inputs[0].data, from, a.outputs[0].data, to, n);
  };
}

}  // namespace

void register_cast(OpRegistry& r) {
  r.add<CastAttrs>("Cast")
      .slices(Slices::kFirst)
      .flops(0)
      .doc("The input in another element type.")
      .alias("cast")
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "native", offer<CastAttrs>, prepare<CastAttrs>);
  r.add<CastAttrs>("amp_cast")
      .flops(0)
      .doc("A float32 or 16-bit array in another element type; others are unchanged.")
      .infer(infer_amp)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "native", offer<CastAttrs>, prepare<CastAttrs>);
  r.add<AmpMulticastAttrs>("amp_multicast")
      .flops(0)
      .doc("float32 and 16-bit arrays in one type; others are unchanged.")
      .groups("num_outputs", &AmpMulticastAttrs::num_outputs, {"data"})
      .skips_unread()
      .infer(infer_multicast)
      .gradient(multicast_gradient)
      .cpu_kernel("native", prepare_multicast);
  r.add("_backward_cast")
      .flops(0)
      .inputs(std::vector<std::string>{"head", "like"})
      .infer(infer_back)
      .shape_only({1})
      .backward()
      .kernel(DeviceType::kCpu, "native", offer<NoAttrs>, prepare<NoAttrs>);
}

}  // namespace symbind
