// Channels moved into blocks of pixels and back.
//
//   depth_to_space  y[n, c, h·b + i, w·b + j] = x[n, (i·b + j)·C + c, h, w]      C = channels / b²
//   space_to_depth  y[n, (i·b + j)·C + c, h, w] = x[n, c, h·b + i, w·b + j]      C = channels
//
// Each is the other's inverse and gradient.
#include <symbind/operator.h>

#include "base/check.h"
#include "base/checked.h"
#include "kernels/copy_block.h"

namespace symbind {
namespace {

struct BlockAttrs {
  int block_size = 1;
  void describe(AttrVisitor& v) {
    v.field("block_size", block_size, "The side of a block of pixels.").required().at_least(1);
  }
};

/// `deep` has the channels, `wide` the pixels; extents are inferred both ways.
void infer(const BlockAttrs& a, Inference& io, Inference::Ref deep, Inference::Ref wide) {
  io.all_same_dtype();
  const std::int64_t block = a.block_size, area = block * block;
  const auto image = [&](Inference::Ref side) {
    const Shape s = io.shape(side);
    check(!s.rank_known() || s.rank() == 4, ErrorKind::kShape,
          "an image of 4 axes (N, C, H, W) is needed, not {}", s.str());
    for (int axis = 0; axis < s.rank(); ++axis)
      check(s[axis] != 0 || is_np_shape(), ErrorKind::kShape, "axis {} of {} is empty", axis,
            s.str());
    return s;
  };
  Shape d = image(deep), w = image(wide);
  if (d.rank_known()) {
    check(d[1] < 0 || d[1] % area == 0, ErrorKind::kShape,
          "{} channels cannot be moved into blocks of {}×{} pixels; {} must divide them", d[1],
          block, block, area);
    const auto times = [&](std::int64_t x) {
      return x < 0 ? x : checked_mul(x, block, "pixels of blocks of block_size");
    };
    io.set_shape(wide, Shape{d[0], d[1] < 0 ? d[1] : d[1] / area, times(d[2]), times(d[3])},
                 "channels moved into pixels");
  }
  if (w.rank_known()) {
    check((w[2] < 0 || w[2] % block == 0) && (w[3] < 0 || w[3] % block == 0), ErrorKind::kShape,
          "an image of {}×{} pixels cannot be split into blocks of {}×{}", w[2], w[3], block,
          block);
    const auto part = [&](std::int64_t x) { return x < 0 ? x : x / block; };
    const std::int64_t channels =
        w[1] < 0 ? w[1] : checked_mul(w[1], area, "channels of blocks of block_size");
    io.set_shape(deep, Shape{w[0], channels, part(w[2]), part(w[3])}, "pixels moved into channels");
  }
}

/// One copy with the axes (n, c, h, i, w, j); `from` strides are the deep side's.
BlockCopy from_deep(std::int64_t b, const Shape& deep, const Shape& wide, DType dtype) {
  const Strides d = contiguous_strides(deep), w = contiguous_strides(wide);
  const std::int64_t channels = wide[1];
  BlockCopy copy{.shape = Shape{deep[0], channels, deep[2], b, deep[3], b},
                 .element_bytes = size_of(dtype)};
  copy.from[0] = d[0], copy.from[1] = d[1], copy.from[2] = d[2];
  copy.from[3] = b * channels * d[1], copy.from[4] = d[3], copy.from[5] = channels * d[1];
  copy.to[0] = w[0], copy.to[1] = w[1], copy.to[2] = b * w[2];
  copy.to[3] = w[2], copy.to[4] = b * w[3], copy.to[5] = w[3];
  return copy;
}

Prepared run(const BlockCopy& copy) {
  if (copy.shape.size() == 0) return [](const Args&) {};
  return [copy](const Args& args) { copy(args.outputs[0].data, args.inputs[0].data); };
}

}  // namespace

void register_depth_to_space(OpRegistry& r) {
  r.add<BlockAttrs>("depth_to_space")
      .inputs(std::vector<std::string>{"data"})
      .doc("Moves channels into blocks of pixels.")
      .infer([](const BlockAttrs& a, Inference& io) { infer(a, io, io.in(0), io.out(0)); })
      .gradient([](const BlockAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("space_to_depth", {g.head(0)});
      })
      .reference([](const BlockAttrs& a, const KernelRequest& q) {
        return run(from_deep(a.block_size, q.in[0].shape, q.out[0].shape, q.in[0].dtype));
      });
  r.add<BlockAttrs>("space_to_depth")
      .inputs(std::vector<std::string>{"data"})
      .doc("Moves blocks of pixels into channels.")
      .infer([](const BlockAttrs& a, Inference& io) { infer(a, io, io.out(0), io.in(0)); })
      .gradient([](const BlockAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("depth_to_space", {g.head(0)});
      })
      .reference([](const BlockAttrs& a, const KernelRequest& q) {
        BlockCopy copy = from_deep(a.block_size, q.out[0].shape, q.in[0].shape, q.in[0].dtype);
        std::swap(copy.to, copy.from);
        return run(copy);
      });
}

}  // namespace symbind
