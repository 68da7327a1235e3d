// FullyConnected through oneDNN.
//
// Decided here, by measurement (1 thread, µs; 32×2048×1000 unless said): packing weights at every
// run never pays off, because packing takes oneDNN milliseconds (14,290 with, 5,440 without). So
// weights stay as they are bound, out × in, and forward uses
//   matmul          from 16 rows on (4,040 against inner_product's 5,440; 100×784×128: 185
//                   against 194),
//   inner_product   with packed weights where they are constant and cached in packed form (2,390).
// With fewer rows kernels/gemm.h divides the rows of the weight over threads, forward and backward
// (two threads of a Zen 5, both directions, inner_product / gemm.h: 4×1024×1024 182 / 154,
// 10×784×128 36.5 / 34.0, 8×2048×1000 377 / 356).
// Both gradients are inner_products over the weight as it is; with large outputs kernels/gemm.h is
// faster (1120×200×10000, two threads: 50 against 47 ms). Products of less than 100,000
// multiplications are left to kernels/gemm.h as well.
// In bfloat16 the data and the packed weight are rounded, the bias and the output stay float32.
#include "kernels/onednn/inner_product.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/epilogue.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

namespace {

using dnnl::prop_kind;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeights = dnnl::inner_product_backward_weights;

constexpr double kFewestMultiplications = 100'000;
constexpr std::int64_t kFewestRows = 16;
constexpr std::int64_t kLargeOutput = std::int64_t{1} << 20;

std::string unfit(const MatrixSizes& s, DType dtype, bool constant) {
  if (dtype != DType::kFloat32) return "dtype is not float32";
  if (static_cast<double>(s.rows) * static_cast<double>(s.in) * static_cast<double>(s.out) <
      kFewestMultiplications)
    return "kernels/gemm.h is faster for such a small product";
  if (!constant && s.rows < kFewestRows) return "kernels/gemm.h is faster for so few rows";
  return {};
}

/// Of one product. Of few rows, reading the weight takes the time of about four.
double operations(const MatrixSizes& s) {
  return 2.0 * static_cast<double>(std::max<std::int64_t>(s.rows, 4)) * static_cast<double>(s.in) *
         static_cast<double>(s.out);
}

struct Matrices {
  explicit Matrices(const MatrixSizes& s, DType dtype = DType::kFloat32)
      : x(describe(Shape{s.rows, s.in}, Layout::kPlain, dtype)),
        w(describe(Shape{s.out, s.in})),
        y(describe(Shape{s.rows, s.out})),
        b(describe(Shape{s.out})) {}
  Forward::primitive_desc forward(const MemoryDesc& weight, bool bias, prop_kind kind) const {
    const Forward::desc d =
        bias ? Forward::desc(kind, x, weight, b, y) : Forward::desc(kind, x, weight, y);
    return {d, user_scratchpad(), engine()};
  }
  MemoryDesc x, w, y, b;
};

struct ForwardPlan {
  bool bias;
  Packing weights;
  Call call;
  EpiloguePass epilogue;  ///< a separate pass: the output is small beside the weight
  std::size_t scratch = 0;
};

/// Inputs in the order x, w, y[, b].
Call matmul_call(const MatrixSizes& s, const Matrices& m, bool bias, std::size_t& scratch) {
  const MemoryDesc transposed({s.in, s.out}, dnnl::memory::data_type::f32, Tag::ba);
  const MemoryDesc row = describe(Shape{1, s.out});
  const dnnl::matmul::desc d = bias ? dnnl::matmul::desc(m.x, transposed, row, m.y)
                                    : dnnl::matmul::desc(m.x, transposed, m.y);
  const dnnl::matmul::primitive_desc pd(d, user_scratchpad(), engine());
  Call::Arguments arguments{
      {DNNL_ARG_SRC, m.x}, {DNNL_ARG_WEIGHTS, transposed}, {DNNL_ARG_DST, m.y}};
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, row);
  scratch = pd.scratchpad_desc().get_size();
  return Call(dnnl::matmul(pd), pd.scratchpad_desc(), std::move(arguments));
}

struct BackwardPlan {
  Call data, weights;
  bool wants_dx, wants_dw, wants_db;
};

}  // namespace

Offer offer_inner_product(const MatrixSizes& s, bool with_bias, const Epilogue& epilogue,
                          bool in_bfloat16, const KernelRequest& r) {
  const bool constant = r.constant.size() > 1 && r.constant[1];
  if (std::string reason = unfit(s, r.in[0].dtype, constant); !reason.empty())
    return refuse(std::move(reason));
  if (in_bfloat16 && r.compute_dtype != DType::kBFloat16) return refuse("float32 is requested");
  if (in_bfloat16 && !constant) return refuse("the weight is no parameter");
  return guarded([&] {
    const VendorThreads threads(threads_for(operations(s)));
    const DType dtype = in_bfloat16 ? DType::kBFloat16 : DType::kFloat32;
    const Matrices m(s, dtype);
    auto plan = std::make_shared<ForwardPlan>();
    const LayerInputs inputs = layer_inputs(with_bias, s.out, epilogue, r);
    const bool bias = plan->bias = with_bias || inputs.batch_norm >= 0;
    plan->epilogue = EpiloguePass(epilogue, with_bias ? 3 : 2, {.shape = Shape{s.rows, s.out}}, r);
    Carver workspace;
    std::size_t scratch = 0;
    if (!constant) {
      plan->weights = Packing(m.w, m.w, false, workspace, inputs);
      plan->call = matmul_call(s, m, bias, scratch);
    } else {
      const auto pd =
          m.forward(describe_any(Shape{s.out, s.in}, dtype), bias, prop_kind::forward_inference);
      plan->weights = Packing(m.w, pd.weights_desc(), true, workspace, inputs);
      scratch = std::max(pd.scratchpad_desc().get_size(), plan->weights.scratch_bytes());
      Call::Arguments arguments{
          {DNNL_ARG_SRC, m.x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, m.y}};
      if (bias) arguments.emplace_back(DNNL_ARG_BIAS, m.b);
      plan->call = Call(Forward(pd), pd.scratchpad_desc(), std::move(arguments));
    }
    plan->scratch = workspace.take(scratch);
    Offer offer = accept_plain(r, workspace.total());
    offer.inplace.emplace();  // y is written before a sum is read
    state_dtypes(offer, r);
    offer.in_dtypes[0] = dtype;
    take_stored(offer, r, inputs);
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_inner_product(const Offer& offer) {
  return [plan = std::static_pointer_cast<const ForwardPlan>(offer.plan)](const Args& args) {
    void* scratch = at(args, plan->scratch);
    void *x = args.inputs[0].data, *y = args.outputs[0].data;
    const LayerWeights::Form form = plan->weights(args, scratch);
    if (plan->bias)  // oneDNN takes no const pointers
      plan->call({x, form.weight, y, const_cast<float*>(form.bias)}, scratch);
    else
      plan->call({x, form.weight, y}, scratch);
    plan->epilogue.run(args, static_cast<float*>(y), form.folded ? 1 : 0);
  };
}

Offer offer_inner_product_backward(const MatrixSizes& s, bool bias, const KernelRequest& r) {
  if (std::string reason = unfit(s, r.in[0].dtype, false); !reason.empty())
    return refuse(std::move(reason));
  if (s.rows * s.out >= kLargeOutput) return refuse("the products of kernels/gemm.h are faster");
  const bool wants_db = bias && r.wanted[2];
  if (wants_db && !r.wanted[1]) return refuse("the bias alone needs no product");
  return guarded([&] {
    const VendorThreads threads(threads_for(operations(s)));
    const Matrices m(s);
    const auto hint = m.forward(m.w, false, prop_kind::forward_training);
    auto plan =
        std::make_shared<BackwardPlan>(BackwardPlan{{}, {}, r.wanted[0], r.wanted[1], wants_db});
    std::size_t scratch = 0;
    if (plan->wants_dx) {
      const BackwardData::primitive_desc pd({m.x, m.w, m.y}, user_scratchpad(), engine(), hint);
      scratch = pd.scratchpad_desc().get_size();
      plan->data =
          Call(BackwardData(pd), pd.scratchpad_desc(),
               {{DNNL_ARG_DIFF_DST, m.y}, {DNNL_ARG_WEIGHTS, m.w}, {DNNL_ARG_DIFF_SRC, m.x}});
    }
    if (plan->wants_dw) {
      const BackwardWeights::desc d = wants_db ? BackwardWeights::desc(m.x, m.w, m.b, m.y)
                                               : BackwardWeights::desc(m.x, m.w, m.y);
      const BackwardWeights::primitive_desc pd(d, user_scratchpad(), engine(), hint);
      scratch = std::max(scratch, pd.scratchpad_desc().get_size());
      Call::Arguments arguments{
          {DNNL_ARG_DIFF_DST, m.y}, {DNNL_ARG_SRC, m.x}, {DNNL_ARG_DIFF_WEIGHTS, m.w}};
      if (wants_db) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, m.b);
      plan->weights = Call(BackwardWeights(pd), pd.scratchpad_desc(), std::move(arguments));
    }
    Offer offer = accept_plain(r, scratch);
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_inner_product_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const BackwardPlan>(offer.plan)](const Args& args) {
    void *dy = args.inputs[0].data, *x = args.inputs[1].data, *w = args.inputs[2].data;
    if (plan->wants_dx) plan->data({dy, w, args.outputs[0].data}, args.workspace);
    if (plan->wants_db)
      plan->weights({dy, x, args.outputs[1].data, args.outputs[2].data}, args.workspace);
    else if (plan->wants_dw)
      plan->weights({dy, x, args.outputs[1].data}, args.workspace);
  };
}

}  // namespace symbind::onednn
