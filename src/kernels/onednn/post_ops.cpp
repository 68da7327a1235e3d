// Decided here: clip is not left to oneDNN, which makes a bound of a NaN; MXNet's clip and `relu`
// keep it. MXNet's Activation makes 0 of a NaN by relu, as oneDNN does.
#include "kernels/onednn/post_ops.h"

namespace symbind::onednn {
namespace {

using dnnl::algorithm;
using Kind = EpilogueItem::Kind;

struct Function {
  algorithm how;
  float alpha = 0;
};

std::optional<Function> function_of(const EpilogueItem& item) {
  const float a = static_cast<float>(item.a);
  switch (item.kind) {
    case Kind::kRelu: return Function{algorithm::eltwise_relu};
    case Kind::kLeaky: return Function{algorithm::eltwise_relu, a};
    case Kind::kElu: return Function{algorithm::eltwise_elu, a};
    case Kind::kSigmoid: return Function{algorithm::eltwise_logistic};
    case Kind::kTanh: return Function{algorithm::eltwise_tanh};
    case Kind::kSoftRelu: return Function{algorithm::eltwise_soft_relu};
    case Kind::kGelu: return Function{algorithm::eltwise_gelu_erf};
    case Kind::kSwish: return Function{algorithm::eltwise_swish, 1};
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<PostOps> post_ops(const EpiloguePass& epilogue, std::size_t first, std::size_t last,
                                int rank, std::int64_t channels) {
  PostOps made{.attr = user_scratchpad(), .sum = -1, .operands = {}};
  dnnl::post_ops ops;
  for (std::size_t i = first; i < last; ++i) {
    const EpilogueItem& item = epilogue.items()[i];
    const int operand = epilogue.operand(i);
    if (item.kind == Kind::kSum) {
      if (made.sum >= 0) return std::nullopt;  // the output holds one array
      made.sum = operand;
      ops.append_sum(1.f);
    } else if (item.kind == Kind::kPRelu) {
      const bool shared = epilogue.is_shared(i);
      Shape shape = Shape::of_rank(rank);
      for (int axis = 0; axis < rank; ++axis) shape[axis] = axis == 1 && !shared ? channels : 1;
      made.operands.push_back(
          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_WEIGHTS, operand, describe(shape)});
      ops.append_prelu(shared ? 0 : 1 << 1);
    } else if (const std::optional<Function> f = function_of(item)) {
      ops.append_eltwise(1.f, f->how, f->alpha, 0.f);
    } else {
      return std::nullopt;
    }
  }
  made.attr.set_post_ops(ops);
  return made;
}

}  // namespace symbind::onednn
