// Crop: a window out of images (batch, channels, height, width).
//
// Its size is h_w, or that of a second input, of which only the shape is read; it begins at
// `offset` (y, x), or with center_crop in the middle. The gradient is 0 outside of the window.
#include <symbind/operator.h>

#include <algorithm>

#include "base/check.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"

namespace symbind {

namespace {

struct CropAttrs {
  int num_args = 1;
  Tuple offset{0, 0}, h_w{0, 0};
  bool center_crop = false;

  void describe(AttrVisitor& v) {
    v.field("num_args", num_args, "Number of inputs: two if the second gives the size.")
        .required()
        .at_least(1)
        .at_most(2);
    v.field("offset", offset, "Where the window begins: (y, x).");
    v.field("h_w", h_w, "The window's size, unless a second input gives it.");
    v.field("center_crop", center_crop, "Whether the window is in the middle.");
  }
};

/// Where the window begins along height (0) or width (1).
std::int64_t begin_of(const CropAttrs& a, int axis, std::int64_t in, std::int64_t out) {
  return a.center_crop ? (in - out) / 2 : a.offset[static_cast<std::size_t>(axis)];
}

void infer_window(const CropAttrs& a, Inference& io, Inference::Ref x, Inference::Ref y,
                  std::optional<Inference::Ref> like) {
  check(a.offset.size() == 2 && a.h_w.size() == 2, "offset {} and h_w {} must have two numbers",
        tuple_text(a.offset), tuple_text(a.h_w));
  io.set_shape(x, Shape::of_rank(4), "(batch, channels, height, width)");
  Shape window = io.shape(x);
  for (int axis = 0; axis < 2; ++axis) {
    window[axis + 2] = a.h_w[static_cast<std::size_t>(axis)];
    if (like)
      window[axis + 2] = io.shape(*like).rank() == 4 ? io.shape(*like)[axis + 2] : kUnknownDim;
    check(like || window[axis + 2] >= 1, "h_w {} must be positive", tuple_text(a.h_w));
  }
  io.set_shape(y, window, like ? "as large as the second input" : "as large as h_w");
  Shape back = io.shape(y);
  back[2] = back[3] = kUnknownDim;
  io.set_shape(x, back, "it follows from the output");
  if (like)
    io.set_shape(*like, Shape{kUnknownDim, kUnknownDim, io.shape(y)[2], io.shape(y)[3]},
                 "as large as the output");
  const Shape &in = io.shape(x), &out = io.shape(y);
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t from = in[axis + 2], to = out[axis + 2];
    if (from == kUnknownDim || to == kUnknownDim) continue;
    const std::int64_t begin = begin_of(a, axis, from, to);
    check(to <= from && begin >= 0 && begin <= from - to, ErrorKind::kShape,
          "a window of {} from {} does not fit into {} of the data {}", to, begin, from, in.str());
  }
}

void infer(const CropAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  if (a.num_args == 1) return infer_window(a, io, io.in(0), io.out(0), std::nullopt);
  io.same_dtype(io.in(0), io.in(1));
  infer_window(a, io, io.in(0), io.out(0), io.in(1));
}

// Inputs: dy, and the data for its shape.
void infer_backward(const CropAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  tie_to_forward(a, io, infer, {.inputs = a.num_args, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

NodeEntries gradient(const CropAttrs& a, GradientBuilder& g) {
  NodeEntries d = g.call_with_same_attrs("_backward_Crop", {g.head(0), g.input(0)});
  d.resize(static_cast<std::size_t>(a.num_args));
  return d;
}

/// The window as a strided block of the image.
BlockCopy window_of(const CropAttrs& a, const Shape& image, const Shape& window, std::size_t bytes,
                    bool into_image) {
  BlockCopy copy;
  copy.shape = window;
  const Strides inside = contiguous_strides(image), alone = contiguous_strides(window);
  const std::int64_t at =
      begin_of(a, 0, image[2], window[2]) * image[3] + begin_of(a, 1, image[3], window[3]);
  copy.to = into_image ? inside : alone;
  copy.from = into_image ? alone : inside;
  (into_image ? copy.to_offset : copy.from_offset) = at;
  copy.element_bytes = bytes;
  return copy;
}

Prepared forward(const CropAttrs& a, const KernelRequest& r) {
  return [copy = window_of(a, r.in[0].shape, r.out[0].shape, size_of(r.in[0].dtype), false)](
             const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}

Prepared backward(const CropAttrs& a, const KernelRequest& r) {
  return [copy = window_of(a, r.out[0].shape, r.in[0].shape, size_of(r.in[0].dtype), true),
          bytes = r.out[0].bytes()](const Args& args) {
    if (bytes > 0) std::memset(args.outputs[0].data, 0, bytes);
    copy(args.outputs[0].data, args.inputs[0].data);
  };
}

}  // namespace

void register_crop(OpRegistry& r) {
  using A = CropAttrs;
  r.add<A>("Crop")
      .flops(0)
      .doc("A window out of images.")
      .variadic("num_args", &A::num_args)
      .shape_only({1})
      .infer(infer)
      .gradient(gradient)
      .reference(forward);
  r.add<A>("_backward_Crop")
      .flops(0)
      .backward()
      .inputs({"dy", "data"})
      .shape_only({1})
      .infer(infer_backward)
      .reference(backward);
}

}  // namespace symbind
