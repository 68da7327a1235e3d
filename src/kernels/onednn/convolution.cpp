// Convolution through oneDNN.
//
// Decided here: oneDNN's preferred layouts are used where we support them (the channels divide into
// whole blocks), else the widest that divides. Weights are packed into the workspace at each run,
// or cached in packed form with the array where it is constant. Winograd is offered by the rule
// below; the direct algorithm for everything. In bfloat16 the output is rounded, too, unless a
// separate pass follows.
#include "kernels/onednn/convolution.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/check.h"
#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/element_type.h"
#include "kernels/onednn/post_ops.h"

namespace symbind::onednn {

namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
using Dims = dnnl::memory::dims;

/// Where Winograd beats the direct kernel: with AVX-512 (oneDNN has no other), 3×3 at stride 1, 32
/// channels or more on both sides, and enough tiles of 4×4 to amortise the transform of the
/// weights, unless that is cached. Direct / Winograd in CPU time, one thread, packing included:
///
///   tiles                forward  data  weights  forward kept
///      4 (7², batch 1)      0.45  0.43     0.45          1.27
///     16 (14², batch 1)     0.83  0.79     0.86          1.53
///     16 (7², batch 4)      0.85  0.92     1.26          1.47
///     32 (14², batch 2)     1.32  1.13     1.44          1.65
///     32 (7², batch 8)      1.29  1.23     1.49          1.71
///   1568 (56², batch 8)     2.30  2.35     2.24          2.32
///
/// It is less exact by about 1e-6 of the output's scale. Returns the reason against it, or nothing.
std::string against_winograd(const ConvolutionSizes& s, bool kept_weights, bool exact) {
  using Axes = ConvolutionSizes::Axes;
  const Axes ones{1, 1, 1};
  const bool fits = s.spatial == 2 && s.groups == 1 && s.kernel == Axes{1, 3, 3} &&
                    s.stride == ones && s.dilate == ones && s.pad[1] <= 1 && s.pad[2] <= 1 &&
                    s.in_channels % 16 == 0 && s.out_channels % 16 == 0 && s.in_channels >= 32 &&
                    s.out_channels >= 32;
  const std::int64_t tiles = s.batch * ((s.out[1] + 3) / 4) * ((s.out[2] + 3) / 4);
  if (!fits) return "not 3x3 at stride 1 over 32 channels or more";
  if (!kept_weights && tiles < 32) return "too few tiles";
  if (cpu_isa() != Isa::kAvx512) return "needs AVX-512";
  return exact ? "exact numbers are requested" : "";
}

/// The shapes and parameters for oneDNN.
struct Problem {
  explicit Problem(const ConvolutionSizes& s, DType type = DType::kFloat32)
      : sizes(s), dtype(type) {
    const auto tail = [&](const ConvolutionSizes::Axes& a) {
      return std::vector<std::int64_t>(a.end() - s.spatial, a.end());
    };
    x = Shape{s.batch, s.in_channels};
    y = Shape{s.batch, s.out_channels};
    w = s.groups == 1 ? Shape{s.out_channels, s.in_channels}
                      : Shape{s.groups, s.group_out(), s.group_in()};
    for (const auto d : tail(s.in)) x.push_back(d);
    for (const auto d : tail(s.out)) y.push_back(d);
    for (const auto d : tail(s.kernel)) w.push_back(d);
    b = Shape{s.out_channels};
    stride = tail(s.stride);
    dilate = tail(s.dilate);
    for (auto& d : dilate) d -= 1;
    pad = tail(s.pad);
    pad_after = pad;
    // Elements after the last window are ignored.
    for (std::size_t i = 0; i < pad.size(); ++i) {
      const int axis = static_cast<int>(i) + 2;
      pad_after[i] = (y[axis] - 1) * stride[i] + (tail(s.kernel)[i] - 1) * (dilate[i] + 1) + 1 -
                     x[axis] - pad[i];
    }
  }

  Forward::primitive_desc forward(const MemoryDesc& src, const MemoryDesc& dst, algorithm how,
                                  prop_kind kind, bool bias, const MemoryDesc& weight,
                                  const dnnl::primitive_attr& attr = user_scratchpad()) const {
    const Forward::desc d =
        bias ? Forward::desc(kind, how, src, weight, describe(b), dst, stride, dilate, pad,
                             pad_after)
             : Forward::desc(kind, how, src, weight, dst, stride, dilate, pad, pad_after);
    return {d, attr, engine(), true};
  }
  BackwardData::primitive_desc backward_data(const MemoryDesc& src, const MemoryDesc& dst,
                                             algorithm how) const {
    const auto hint = forward(src, dst, how, prop_kind::forward_training, sizes.bias, any_weight());
    if (!hint) return {};
    return {BackwardData::desc(how, src, any_weight(), dst, stride, dilate, pad, pad_after),
            user_scratchpad(), engine(), hint, true};
  }
  BackwardWeights::primitive_desc backward_weights(const MemoryDesc& src, const MemoryDesc& dst,
                                                   algorithm how, bool bias) const {
    const auto hint = forward(src, dst, how, prop_kind::forward_training, sizes.bias, any_weight());
    if (!hint) return {};
    const BackwardWeights::desc d =
        bias ? BackwardWeights::desc(how, src, any_weight(), describe(b), dst, stride, dilate, pad,
                                     pad_after)
             : BackwardWeights::desc(how, src, any_weight(), dst, stride, dilate, pad, pad_after);
    return {d, user_scratchpad(), engine(), hint, true};
  }

  MemoryDesc any_weight() const { return describe_any(w, dtype); }

  ConvolutionSizes sizes;
  DType dtype;  ///< of the data and the weight
  Shape x, y, w, b;
  Dims stride, dilate, pad, pad_after;
};

struct Layouts {
  Layout x = Layout::kPlain, y = Layout::kPlain;
};

/// Layouts of data and output to try, the same for forward and both gradients: what oneDNN prefers,
/// and plain ones.
std::vector<Layouts> candidates(const Problem& p) {
  std::vector<Layouts> all;
  const auto pd = p.forward(describe_any(p.x, p.dtype), describe_any(p.y, p.dtype),
                            algorithm::convolution_direct, prop_kind::forward_training,
                            p.sizes.bias, p.any_weight());
  if (pd) {
    const auto x = layout_of(pd.src_desc(), p.x, p.dtype),
               y = layout_of(pd.dst_desc(), p.y, p.dtype);
    all.push_back({x.value_or(widest_layout(p.x)), y.value_or(widest_layout(p.y))});
  }
  all.push_back({});
  return all;
}

/// oneDNN's own reference: slower than any of ours.
bool is_reference(const dnnl::primitive_desc_base& pd) {
  return std::string_view(pd.impl_info_str()).starts_with("ref");
}

/// Of one pass: forward, or the gradient of the data or of the weights.
double operations(const ConvolutionSizes& s) {
  return 2 * static_cast<double>(s.batch * s.out_channels) * s.out_plane_work();
}

std::string unfit(ConvolutionAlgorithm algorithm, const ConvolutionSizes& s, bool kept_weights,
                  const KernelRequest& r) {
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (algorithm == ConvolutionAlgorithm::kBFloat16) {
    if (r.compute_dtype != DType::kBFloat16) return "float32 is requested";
    if (!kept_weights) return "the weight is no parameter";
  }
  if (s.batch == 0 || ConvolutionSizes::product(s.in) == 0) return "the data is empty";
  if (!windows_fit(s.kernel, s.stride, s.dilate, s.pad)) return "the window is too wide";
  return algorithm == ConvolutionAlgorithm::kWinograd ? against_winograd(s, kept_weights, r.exact)
                                                      : "";
}

// ---- Forward ------------------------------------------------------------------------------------

struct ForwardPlan {
  ForwardPlan(const ConvolutionSizes& s, DType dtype) : problem(s, dtype), y_dtype(dtype) {}

  /// Looks for a fast primitive: the layouts in their order, as many operations inside as possible.
  Layouts choose(const Epilogue& items, std::size_t first, const KernelRequest& r);
  Call make_call(const Forward::primitive_desc& from,
                 const std::vector<PostOps::Operand>& operands) const;

  Problem problem;
  algorithm how = algorithm::convolution_direct;
  prop_kind kind = prop_kind::forward_training;
  bool bias = false;
  EpiloguePass epilogue;
  std::size_t last = 0;  ///< operations from here on are a separate pass
  PostOps inside;        ///< those before
  Forward::primitive_desc pd;
  Packing weights;
  std::size_t scratch = 0;
  std::int64_t y_size = 0;
  DType y_dtype;  ///< of the output and of tensors added to it
  Layout y_layout = Layout::kPlain;
  std::size_t num_inputs = 0;
};

Layouts ForwardPlan::choose(const Epilogue& items, std::size_t first, const KernelRequest& r) {
  Layouts layouts;
  for (const Layouts& candidate : candidates(problem)) {
    layouts = candidate;
    const TensorDesc y{.shape = problem.y, .layout = layouts.y};
    epilogue = EpiloguePass(items, problem.sizes.bias ? 3 : 2, y, r);
    for (last = items.size() + 1; last-- > first;) {
      std::optional<PostOps> ops =
          post_ops(epilogue, first, last, problem.y.rank(), problem.sizes.out_channels);
      if (!ops) continue;
      inside = *std::move(ops);
      y_dtype = last == items.size() ? problem.dtype : DType::kFloat32;
      pd = problem.forward(describe(problem.x, layouts.x, problem.dtype),
                           describe(problem.y, layouts.y, y_dtype), how, kind, bias,
                           problem.any_weight(), inside.attr);
      if (pd && !is_reference(pd)) return layouts;
    }
  }
  pd = {};
  return layouts;
}

Call ForwardPlan::make_call(const Forward::primitive_desc& from,
                            const std::vector<PostOps::Operand>& operands) const {
  Call::Arguments arguments{{DNNL_ARG_SRC, from.src_desc()},
                            {DNNL_ARG_WEIGHTS, from.weights_desc()},
                            {DNNL_ARG_DST, from.dst_desc()}};
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, describe(problem.b));
  for (const PostOps::Operand& o : operands) arguments.emplace_back(o.argument, o.desc);
  return Call(Forward(from), from.scratchpad_desc(), std::move(arguments));
}

/// A prepared convolution.
class ForwardRun {
 public:
  explicit ForwardRun(const ForwardPlan& plan)
      : plan_(plan), call_(plan.make_call(plan.pd, plan.inside.operands)) {}

  void operator()(const Args& args) const {
    void* scratch = at(args, plan_.scratch);
    void* y = args.outputs[0].data;
    const LayerWeights::Form form = plan_.weights(args, scratch);
    if (plan_.weights.folds() && !form.folded) return run_unfolded(args, form);
    const int sum = plan_.inside.sum;
    if (sum >= 0 && args.inputs[sum].data != y) {
      const char* from = args.in<char>(sum);
      parallel_for(plan_.y_size * static_cast<std::int64_t>(size_of(plan_.y_dtype)), 1 << 17,
                   [&](std::int64_t b, std::int64_t e) {
                     std::copy(from + b, from + e, static_cast<char*>(y) + b);
                   });
    }
    Pointers pointers(plan_, args, form, y);
    for (const PostOps::Operand& o : plan_.inside.operands) pointers.add(args.inputs[o.input].data);
    call_(pointers.all(), scratch);
    plan_.epilogue.run(args, static_cast<float*>(y), plan_.last);
  }

 private:
  /// The arguments of a primitive, in the order of make_call.
  class Pointers {
   public:
    Pointers(const ForwardPlan& plan, const Args& args, const LayerWeights::Form& form, void* y) {
      add(args.inputs[0].data);
      add(form.weight);
      add(y);
      if (plan.bias) add(const_cast<float*>(form.bias));  // oneDNN takes no const pointers
    }
    void add(void* p) { all_.at(count_++) = p; }
    std::span<void* const> all() const { return {all_.data(), count_}; }

   private:
    std::array<void*, 16> all_{};
    std::size_t count_ = 0;
  };

  /// With a BatchNorm that cannot be folded: the convolution, then all operations. Its output may
  /// share memory with the sum, which is read after it, so it is computed elsewhere.
  void run_unfolded(const Args& args, const LayerWeights::Form& form) const {
    const ForwardPlan& p = plan_;
    const VendorThreads threads(threads_for(operations(p.problem.sizes)));
    const auto pd = p.problem.forward(p.pd.src_desc(), describe(p.problem.y, p.y_layout), p.how,
                                      p.kind, p.bias, p.pd.weights_desc());
    check(static_cast<bool>(pd), ErrorKind::kState,
          "oneDNN has no convolution without epilogue for this shape");
    std::vector<float> y(static_cast<std::size_t>(p.y_size));
    std::vector<char> scratch(pd.scratchpad_desc().get_size() + 64);
    const Pointers pointers(p, args, form, y.data());
    p.make_call(pd, {})(pointers.all(), scratch.data());
    if (p.y_dtype == DType::kFloat32) {
      p.epilogue.run(args, y.data(), 0);
      std::ranges::copy(y, args.out<float>(0));
      return;
    }
    std::vector<TensorArg> inputs(args.inputs, args.inputs + p.num_inputs);
    std::vector<float> sum(p.inside.sum < 0 ? 0 : y.size());
    if (p.inside.sum >= 0) {
      TensorArg& operand = inputs[static_cast<std::size_t>(p.inside.sum)];
      fast_converter(p.y_dtype, DType::kFloat32)(operand.data, sum.data(), p.y_size);
      operand.data = sum.data();
    }
    Args with_floats = args;
    with_floats.inputs = inputs.data();
    p.epilogue.run(with_floats, y.data(), 0);
    fast_converter(DType::kFloat32, p.y_dtype)(y.data(), args.outputs[0].data, p.y_size);
  }

  ForwardPlan plan_;
  Call call_;
};

// ---- Backward -----------------------------------------------------------------------------------

struct BackwardPlan {
  Problem problem;
  bool wants_dx, wants_dw, wants_db;
  Packing weights;
  Unpacking dw;
  Call data_call, weights_call;
  std::size_t scratch = 0, dw_unused = 0;
};

algorithm named(ConvolutionAlgorithm a) {
  return a == ConvolutionAlgorithm::kWinograd ? algorithm::convolution_winograd
                                              : algorithm::convolution_direct;
}

}  // namespace

Offer offer_convolution(ConvolutionAlgorithm algorithm, const ConvolutionSizes& s,
                        const Epilogue& epilogue, const KernelRequest& r) {
  const bool constant = r.constant.size() > 1 && r.constant[1];
  if (std::string reason = unfit(algorithm, s, constant, r); !reason.empty())
    return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(operations(s)));
    const DType dtype =
        algorithm == ConvolutionAlgorithm::kBFloat16 ? DType::kBFloat16 : DType::kFloat32;
    auto plan = std::make_shared<ForwardPlan>(s, dtype);
    const Problem& p = plan->problem;
    const LayerInputs inputs = layer_inputs(s.bias, s.out_channels, epilogue, r);
    const std::size_t first = inputs.batch_norm < 0 ? 0 : 1;
    plan->kind = constant ? prop_kind::forward_inference : prop_kind::forward_training;
    plan->how = named(algorithm);
    plan->bias = s.bias || first > 0;
    const Layouts layouts = plan->choose(epilogue, first, r);
    if (!plan->pd || is_reference(plan->pd)) return refuse("oneDNN has nothing fast for this");
    Carver workspace;
    plan->weights = Packing(describe(p.w), plan->pd.weights_desc(), constant, workspace, inputs);
    plan->scratch = workspace.take(
        std::max(plan->pd.scratchpad_desc().get_size(), plan->weights.scratch_bytes()));
    plan->y_size = p.y.size();
    plan->y_layout = layouts.y;
    plan->num_inputs = r.in.size();

    Offer offer = accept_plain(r, workspace.total());
    offer.in_layouts[0] = layouts.x;
    offer.out_layouts[0] = layouts.y;
    state_dtypes(offer, r);
    offer.in_dtypes[0] = dtype;
    offer.out_dtypes[0] = plan->y_dtype;
    take_stored(offer, r, inputs);
    offer.inplace.emplace();
    for (std::size_t i = 0; i < epilogue.size(); ++i) {
      // These operands have the output's shape; the pass reads them in its layout.
      if (epilogue[i].kind != EpilogueItem::Kind::kSum &&
          epilogue[i].kind != EpilogueItem::Kind::kProduct)
        continue;
      const int operand = plan->epilogue.operand(i);
      offer.in_layouts[static_cast<std::size_t>(operand)] = layouts.y;
      offer.in_dtypes[static_cast<std::size_t>(operand)] = plan->y_dtype;
      if (operand == plan->inside.sum) offer.inplace->emplace_back(operand, 0);
    }
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_convolution(const KernelRequest&, const Offer& offer) {
  const auto& plan = *std::static_pointer_cast<const ForwardPlan>(offer.plan);
  const VendorThreads threads(threads_for(operations(plan.problem.sizes)));
  return [run = std::make_shared<const ForwardRun>(plan)](const Args& args) { (*run)(args); };
}

Offer offer_convolution_backward(ConvolutionAlgorithm algorithm, const ConvolutionSizes& s,
                                 const KernelRequest& r) {
  if (algorithm == ConvolutionAlgorithm::kBFloat16) return refuse("gradients are float32");
  if (std::string reason = unfit(algorithm, s, false, r); !reason.empty())
    return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(operations(s)));
    const bool wants_db = s.bias && r.wanted[2];
    auto plan = std::make_shared<BackwardPlan>(
        BackwardPlan{Problem(s), r.wanted[0], r.wanted[1] || wants_db, wants_db, {}, {}, {}, {}});
    const Problem& p = plan->problem;
    BackwardData::primitive_desc data;
    BackwardWeights::primitive_desc weights;
    MemoryDesc src, dst;
    Layouts layouts;
    bool found = false;
    for (const Layouts& candidate : candidates(p)) {
      layouts = candidate;
      src = describe(p.x, layouts.x);
      dst = describe(p.y, layouts.y);
      if (plan->wants_dx) data = p.backward_data(src, dst, named(algorithm));
      if (plan->wants_dw) weights = p.backward_weights(src, dst, named(algorithm), wants_db);
      found = (!plan->wants_dx || (data && !is_reference(data))) &&
              (!plan->wants_dw || (weights && !is_reference(weights)));
      if (found) break;
    }
    if (!found) return refuse("oneDNN has nothing fast for this gradient");
    Carver workspace;
    std::size_t scratch = 0;
    if (plan->wants_dx) {
      plan->weights = Packing(describe(p.w), data.weights_desc(), false, workspace, {.weight = 2});
      scratch = std::max(data.scratchpad_desc().get_size(), plan->weights.scratch_bytes());
      plan->data_call = Call(BackwardData(data), data.scratchpad_desc(),
                             {{DNNL_ARG_DIFF_DST, dst},
                              {DNNL_ARG_WEIGHTS, data.weights_desc()},
                              {DNNL_ARG_DIFF_SRC, src}});
    }
    if (plan->wants_dw) {
      const MemoryDesc dw = weights.diff_weights_desc();
      if (r.wanted[1])
        plan->dw = Unpacking(dw, describe(p.w), workspace);
      else
        plan->dw_unused = workspace.take(dw.get_size());
      scratch = std::max({scratch, weights.scratchpad_desc().get_size(), plan->dw.scratch_bytes()});
      Call::Arguments arguments{
          {DNNL_ARG_DIFF_DST, dst}, {DNNL_ARG_SRC, src}, {DNNL_ARG_DIFF_WEIGHTS, dw}};
      if (wants_db) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, describe(p.b));
      plan->weights_call =
          Call(BackwardWeights(weights), weights.scratchpad_desc(), std::move(arguments));
    }
    plan->scratch = workspace.take(scratch);
    Offer offer = accept_plain(r, workspace.total());
    offer.in_layouts[0] = layouts.y;
    offer.in_layouts[1] = layouts.x;
    offer.out_layouts[0] = layouts.x;
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_convolution_backward(const KernelRequest& r, const Offer& offer) {
  return [plan = std::static_pointer_cast<const BackwardPlan>(offer.plan),
          dw_wanted = r.wanted[1]](const Args& args) {
    void* scratch = at(args, plan->scratch);
    void *dy = args.inputs[0].data, *x = args.inputs[1].data;
    if (plan->wants_dx)
      plan->data_call({dy, plan->weights(args, scratch).weight, args.outputs[0].data}, scratch);
    if (!plan->wants_dw) return;
    void* dw = dw_wanted ? plan->dw.target(args, 1) : at(args, plan->dw_unused);
    if (plan->wants_db)
      plan->weights_call({dy, x, dw, args.outputs[2].data}, scratch);
    else
      plan->weights_call({dy, x, dw}, scratch);
    if (dw_wanted) plan->dw(args, 1, scratch);
  };
}

}  // namespace symbind::onednn
