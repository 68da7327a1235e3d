// Rows by index: Embedding (rows of a weight) and take (along any axis).
//
//   y[o, k, :] = x[o, index[k], :]        dx[o, index[k], :] += dy[o, k, :]
//
// Decided here: indices of any element type are truncated to integers; out of range they are
// clipped (Embedding always, take by its mode). No gradient flows to indices. `sparse_grad` has no
// effect.
#include <symbind/operator.h>

#include "graph/forward_rule.h"
#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct EmbeddingAttrs {
  int input_dim = 1, output_dim = 1;
  DType dtype = DType::kFloat32;
  bool sparse_grad = false;
  void describe(AttrVisitor& v) {
    v.field("input_dim", input_dim, "Number of rows of the weight.").required().at_least(1);
    v.field("output_dim", output_dim, "Length of a row.").required().at_least(1);
    v.field("dtype", dtype, "The weight's element type.");
    v.field("sparse_grad", sparse_grad, "Without effect: gradients are dense.");
  }
};
struct TakeAttrs {
  int axis = 0;
  std::string mode = "clip";
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis along which to take.");
    v.field("mode", mode, "What to do with an index out of range.")
        .choices({"clip", "raise", "wrap"});
  }
};

OutOfRange mode_of(const TakeAttrs& a) {
  return a.mode == "wrap"    ? OutOfRange::kWrap
         : a.mode == "raise" ? OutOfRange::kRaise
                             : OutOfRange::kClip;
}

void infer_embedding(const EmbeddingAttrs& a, Inference& io) {
  io.set_shape(io.in(1), Shape{a.input_dim, a.output_dim}, "attributes input_dim and output_dim");
  io.same_dtype(io.in(1), io.out(0));
  const bool nothing_known =
      io.dtype(io.out(0)) == DType::kUnknown && io.dtype(io.in(0)) != DType::kUnknown;
  if (a.dtype != DType::kFloat32 || nothing_known)
    io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  io.same_dtype(io.in(1), io.out(0));
  Shape out = io.shape(io.in(0));
  if (out.rank_known()) {
    out.push_back(a.output_dim);
    io.set_shape(io.out(0), out, "the indices' shape and output_dim");
  }
  const Shape known = io.shape(io.out(0));
  if (known.rank_known())
    io.set_shape(io.in(0), Shape(std::span(known.begin(), known.end() - 1)),
                 "the output without its last axis");
}
void infer_backward_embedding(const EmbeddingAttrs& a, Inference& io) {
  io.set_shape(io.out(0), Shape{a.input_dim, a.output_dim});
  io.same_dtype(io.in(0), io.out(0));
  tie_to_forward(a, io, infer_embedding,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

void infer_take(const TakeAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  const Shape &in = io.shape(io.in(0)), &index = io.shape(io.in(1));
  if (!in.rank_known() || !index.rank_known()) return;
  const int axis = normalize_axis(a.axis, in.rank());
  Shape out;
  for (int d = 0; d < axis; ++d) out.push_back(in[d]);
  for (const std::int64_t extent : index) out.push_back(extent);
  for (int d = axis + 1; d < in.rank(); ++d) out.push_back(in[d]);
  io.set_shape(io.out(0), out, "the indices' shape in place of the axis");
}
void infer_backward_take(const TakeAttrs& a, Inference& io) {
  io.same_shape(io.in(2), io.out(0));
  io.same_dtype(io.in(2), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  tie_to_forward(a, io, infer_take,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(1), io.in(0)}});
}

Gather rows_of(const Shape& in, int axis, const TensorDesc& index, OutOfRange mode) {
  return {.outer = in.count(0, axis),
          .extent = in[axis],
          .inner = in.count(axis + 1),
          .count = index.shape.size(),
          .index_type = index.dtype,
          .mode = mode};
}

Prepared gather(Gather rows, int data, int index, std::size_t bytes) {
  return [=](const Args& a) {
    rows.gather(a.inputs[data].data, a.inputs[index].data, a.outputs[0].data, bytes);
  };
}
/// Inputs: head, indices.
Prepared scatter(Gather rows, DType dtype) {
  return dispatch_dtype(dtype, [&]<class T>() -> Prepared {
    return [rows](const Args& a) { rows.scatter_add(a.in<T>(0), a.inputs[1].data, a.out<T>(0)); };
  });
}

Prepared prepare_embedding(const EmbeddingAttrs&, const KernelRequest& q) {
  return gather(rows_of(q.in[1].shape, 0, q.in[0], OutOfRange::kClip), 1, 0,
                size_of(q.in[1].dtype));
}
Prepared prepare_backward_embedding(const EmbeddingAttrs&, const KernelRequest& q) {
  return scatter(rows_of(q.out[0].shape, 0, q.in[1], OutOfRange::kClip), q.out[0].dtype);
}
Prepared prepare_take(const TakeAttrs& a, const KernelRequest& q) {
  const Shape& in = q.in[0].shape;
  return gather(rows_of(in, normalize_axis(a.axis, in.rank()), q.in[1], mode_of(a)), 0, 1,
                size_of(q.in[0].dtype));
}
Prepared prepare_backward_take(const TakeAttrs& a, const KernelRequest& q) {
  const Shape& in = q.out[0].shape;
  return scatter(rows_of(in, normalize_axis(a.axis, in.rank()), q.in[1], mode_of(a)),
                 q.out[0].dtype);
}

using Names = std::vector<std::string>;

}  // namespace

void register_take(OpRegistry& r) {
  r.add<EmbeddingAttrs>("Embedding")
      .flops(0)
      .doc("Rows of the weight, by index.")
      .alias("_contrib_SparseEmbedding")
      .inputs(Names{"data", "weight"})
      .infer(infer_embedding)
      .gradient([](const EmbeddingAttrs&, GradientBuilder& g) -> NodeEntries {
        return {{}, g.call_with_same_attrs("_backward_Embedding", {g.head(0), g.input(0)}).front()};
      })
      .reference(prepare_embedding);
  r.add<EmbeddingAttrs>("_backward_Embedding")
      .flops(1, Per::kFirstInput)
      .inputs(Names{"head", "data"})
      .infer(infer_backward_embedding)
      .backward()
      .reference(prepare_backward_embedding);
  r.add<TakeAttrs>("take")
      .flops(0)
      .doc("Elements along an axis, by index.")
      .inputs(Names{"a", "indices"})
      .infer(infer_take)
      .gradient([](const TakeAttrs&, GradientBuilder& g) -> NodeEntries {
        return {
            g.call_with_same_attrs("_backward_take", {g.head(0), g.input(1), g.input(0)}).front(),
            {}};
      })
      .reference(prepare_take);
  r.add<TakeAttrs>("_backward_take")
      .flops(1, Per::kFirstInput)
      .inputs(Names{"head", "indices", "a"})
      .infer(infer_backward_take)
      .shape_only({2})
      .backward()
      .reference(prepare_backward_take);
}

}  // namespace symbind
