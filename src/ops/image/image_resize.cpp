// Images resampled to another size: _cvimresize, which mx.image.imresize calls, and image.resize.
//
// Decided here: the numbers are OpenCV's (kernels/image_resize.cpp); there is no gradient, as in
// MXNet; the types are those that MXNet resizes with OpenCV: uint8, float32 and float64.
#include <symbind/operator.h>

#include "base/checked.h"
#include "kernels/first_run.h"
#include "kernels/image_resize.h"
#include "ops/image/images.h"

namespace symbind {
namespace {

struct CvResizeAttrs {
  int w = 0, h = 0, interp = 1;
  void describe(AttrVisitor& v) {
    v.field("w", w, "Width of the new image.").required().at_least(1);
    v.field("h", h, "Height of the new image.").required().at_least(1);
    v.field("interp", interp, "0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.")
        .at_least(0)
        .at_most(4);
  }
  ImageSize target(const Shape&) const { return {h, w}; }
};

struct ResizeAttrs {
  Tuple size;
  bool keep_ratio = false;
  int interp = 1;
  void describe(AttrVisitor& v) {
    v.field("size", size, "(width, height), or one number for both.");
    v.field("keep_ratio", keep_ratio, "A single size is that of the shorter edge.");
    v.field("interp", interp, "0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.")
        .at_least(0)
        .at_most(4);
  }
  ImageSize target(const Shape& image) const {
    check(size.size() == 1 || size.size() == 2, "size {} must be (width, height) or one number",
          tuple_text(size));
    for (const std::int64_t edge : size)
      check(edge > 0, "size {} must be positive", tuple_text(size));
    if (size.size() == 2) return {size[1], size[0]};
    const Images of(image);
    if (!keep_ratio) return {size[0], size[0]};
    const std::int64_t shorter = std::min(of.height, of.width),
                       longer = std::max(of.height, of.width);
    check(shorter > 0, ErrorKind::kShape, "an image of shape {} is empty and has no ratio",
          image.str());
    const std::int64_t other = checked_mul(longer, size[0], "the longer edge times size") / shorter;
    if (of.height > of.width) return {other, size[0]};
    return {size[0], other};
  }
};

template <class A>
void infer(const A& a, Inference& io, const char* op, bool batches) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape& in = io.shape(io.in(0));
  if (!in.rank_known()) return;
  check_image_rank(in, op, batches);
  if (!in.known()) return;
  const ImageSize to = a.target(in);
  io.set_shape(io.out(0), image_shape(in, to.height, to.width), "it follows from the attributes");
}

template <class A>
ResizeSizes sizes_of(const A& a, const Shape& shape) {
  const Images of(shape);
  check(of.size() > 0, ErrorKind::kShape, "an image of shape {} is empty and cannot be resized",
        shape.str());
  return {
      {of.height, of.width}, a.target(shape), of.channels, static_cast<Interpolation>(a.interp)};
}

template <class A>
Offer offer(const A& a, const KernelRequest& r) {
  switch (r.in[0].dtype) {
    case DType::kUint8:
    case DType::kFloat32:
    case DType::kFloat64: break;
    default: return refuse("images are resized as uint8, float32 or float64");
  }
  return accept_plain(r, sizes_of(a, r.in[0].shape).workspace(size_of(r.in[0].dtype)));
}

template <class T>
Prepared resize_all(const ResizeSizes& sizes, std::int64_t count) {
  return [made = FirstRun([sizes] { return ResizePlan(sizes); }), count](const Args& args) {
    const ResizePlan& plan = made();
    const std::int64_t from = plan.from.height * plan.from.width * plan.channels,
                       to = plan.to.height * plan.to.width * plan.channels;
    for (std::int64_t i = 0; i < count; ++i)
      resize_image(plan, args.in<T>(0) + i * from, args.out<T>(0) + i * to, args.workspace);
  };
}

template <class A>
Prepared prepare(const A& a, const KernelRequest& r, const Offer&) {
  const Shape& shape = r.in[0].shape;
  const std::int64_t count = Images(shape).count;
  if (r.in[0].dtype == DType::kUint8) return resize_all<std::uint8_t>(sizes_of(a, shape), count);
  if (r.in[0].dtype == DType::kFloat32) return resize_all<float>(sizes_of(a, shape), count);
  return resize_all<double>(sizes_of(a, shape), count);
}

}  // namespace

void register_image_resize(OpRegistry& r) {
  r.add<CvResizeAttrs>("_cvimresize")
      .inputs(std::vector<std::string>{"src"})
      .doc("An image resampled to another size, as OpenCV does it.")
      .infer([](const CvResizeAttrs& a, Inference& io) { infer(a, io, "_cvimresize", false); })
      .kernel(DeviceType::kCpu, "reference", offer<CvResizeAttrs>, prepare<CvResizeAttrs>);
  r.add<ResizeAttrs>("_image_resize")
      .inputs(std::vector<std::string>{"data"})
      .doc("An image, or a batch of them, resampled to another size.")
      .infer([](const ResizeAttrs& a, Inference& io) { infer(a, io, "image.resize", true); })
      .kernel(DeviceType::kCpu, "reference", offer<ResizeAttrs>, prepare<ResizeAttrs>);
}

}  // namespace symbind
