// Row-major matrices are cuBLAS's transposed ones, so every product is written with its factors
// exchanged: yᵀ = W xᵀ, and the bias has one value per row of yᵀ. db has a custom kernel.

#include "kernels/cublas/inner_product.h"

#include <algorithm>
#include <limits>

#include "kernels/cublas/matmul.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"

namespace symbind::cublas {
namespace {

struct Backward {
  MatrixSizes sizes;
  bool bias;
  std::optional<Matmul> dx, dw;
};

/// Why these sizes are not supported; empty if they are.
std::string unfit(const MatrixSizes& s, const KernelRequest& request) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (request.in[0].dtype != DType::kFloat32) return "float32 only";
  if (s.rows == 0 || s.in == 0 || s.out == 0) return "an empty matrix";
  if (std::max({s.rows, s.in, s.out}) > kMost) return "a size beyond 32 bits";
  return {};
}

Offer offer_with(const KernelRequest& request, std::size_t workspace,
                 std::shared_ptr<const void> plan) {
  Offer offer = accept_plain(request, workspace);
  offer.plan = std::move(plan);
  return offer;
}

constexpr const char* kNoWay = "cuBLASLt has no algorithm for these sizes";

}  // namespace

Offer offer_inner_product(const MatrixSizes& s, bool bias, const KernelRequest& request) {
  if (std::string why = unfit(s, request); !why.empty()) return refuse(std::move(why));
  const auto y =
      Matmul::plan({.transpose_a = true, .m = s.out, .n = s.rows, .k = s.in, .bias = bias});
  if (!y) return refuse(kNoWay);
  return offer_with(request, y->workspace_bytes(), std::make_shared<const Matmul>(*y));
}

Prepared prepare_inner_product(const Offer& offer) {
  return [y = std::static_pointer_cast<const Matmul>(offer.plan),
          bias = offer.in_layouts.size() > 2](const Args& args) {
    y->run(args.inputs[1].data, args.inputs[0].data, args.outputs[0].data,
           bias ? args.inputs[2].data : nullptr, args.workspace, args.run->stream);
  };
}

Offer offer_inner_product_backward(const MatrixSizes& s, bool bias, const KernelRequest& request) {
  if (std::string why = unfit(s, request); !why.empty()) return refuse(std::move(why));
  Backward plan{.sizes = s, .bias = bias, .dx = {}, .dw = {}};
  std::size_t workspace = 0;
  if (request.wanted[0]) {
    plan.dx = Matmul::plan({.m = s.in, .n = s.rows, .k = s.out});
    if (!plan.dx) return refuse(kNoWay);
    workspace = plan.dx->workspace_bytes();
  }
  if (request.wanted[1]) {
    plan.dw = Matmul::plan({.transpose_b = true, .m = s.in, .n = s.out, .k = s.rows});
    if (!plan.dw) return refuse(kNoWay);
    workspace = std::max(workspace, plan.dw->workspace_bytes());
  }
  return offer_with(request, workspace, std::make_shared<const Backward>(plan));
}

Prepared prepare_inner_product_backward(const Offer& offer) {
  return [plan = std::static_pointer_cast<const Backward>(offer.plan)](const Args& args) {
    const void* dy = args.inputs[0].data;
    void* stream = args.run->stream;
    if (plan->dx && args.wants(0))
      plan->dx->run(args.inputs[2].data, dy, args.outputs[0].data, nullptr, args.workspace, stream);
    if (plan->dw && args.wants(1))
      plan->dw->run(args.inputs[1].data, dy, args.outputs[1].data, nullptr, args.workspace, stream);
    if (plan->bias && args.wants(2))
      cuda::check_launch(cuda::column_sums(stream, cuda::Number::kFloat, dy, args.outputs[2].data,
                                           plan->sizes.rows, plan->sizes.out),
                         "column_sums");
  };
}

}  // namespace symbind::cublas
