// Batch normalisation through oneDNN, in the layout of the input.
//
// Decided here: two forward primitives are made, one with the batch's statistics and one with the
// given ones, because is_train is decided per run. oneDNN uses variances, MXNet inverse standard
// deviations: they are converted here, channel by channel.
#include "kernels/onednn/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/elementwise.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

namespace {

using dnnl::prop_kind;
using Flags = dnnl::normalization_flags;
using Forward = dnnl::batch_normalization_forward;
using Backward = dnnl::batch_normalization_backward;

/// oneDNN has only its reference for one spatial axis: such data is an image of height 1.
MemoryDesc as_image(const TensorDesc& x) {
  if (x.shape.rank() != 3) return describe(x.shape, x.layout, x.dtype);
  return describe(Shape{x.shape[0], x.shape[1], 1, x.shape[2]}, x.layout, x.dtype);
}

bool has_relu(const BatchNormSizes& s) { return s.relu != NormRelu::kNone; }

Flags flags_of(const BatchNormSizes& s, bool global) {
  Flags flags = Flags::use_scale | Flags::use_shift;
  if (has_relu(s)) flags |= Flags::fuse_norm_relu;
  if (global) flags |= Flags::use_global_stats;
  return flags;
}

Forward::primitive_desc forward_desc(const BatchNormSizes& s, const MemoryDesc& x, bool global,
                                     prop_kind kind) {
  return {Forward::desc(kind, x, static_cast<float>(s.eps), flags_of(s, global)), user_scratchpad(),
          engine(), true};
}

std::string unfit(const BatchNormSizes& s, const TensorDesc& x) {
  if (s.sum) return "oneDNN adds no tensor to a batch normalisation";
  if (s.relu == NormRelu::kKeepsNan) return "oneDNN's relu makes a NaN 0";
  if (x.dtype != DType::kFloat32) return "dtype is not float32";
  if (x.shape.rank() < 2 || x.shape.rank() > 5) return "rank is not 2 to 5";
  if (x.shape.size() == 0) return "the data is empty";
  return {};
}

/// One forward primitive: with the batch's statistics, or with given ones.
struct Variant {
  Call call;
  bool mask = false;
};

Variant make_variant(const BatchNormSizes& s, const MemoryDesc& x, const MemoryDesc& channels,
                     bool global, bool training, std::size_t& scratch, std::size_t& mask_bytes) {
  const auto pd = forward_desc(
      s, x, global, training ? prop_kind::forward_training : prop_kind::forward_inference);
  if (!pd) throw dnnl::error(dnnl_unimplemented, "no such batch normalisation");
  Call::Arguments arguments{{DNNL_ARG_SRC, x},          {DNNL_ARG_DST, x},
                            {DNNL_ARG_MEAN, channels},  {DNNL_ARG_VARIANCE, channels},
                            {DNNL_ARG_SCALE, channels}, {DNNL_ARG_SHIFT, channels}};
  Variant v;
  v.mask = has_relu(s) && training && pd.workspace_desc().get_size() > 0;
  if (v.mask) {
    arguments.emplace_back(DNNL_ARG_WORKSPACE, pd.workspace_desc());
    mask_bytes = std::max(mask_bytes, pd.workspace_desc().get_size());
  }
  scratch = std::max(scratch, pd.scratchpad_desc().get_size());
  v.call = Call(Forward(pd), pd.scratchpad_desc(), std::move(arguments));
  return v;
}

struct ForwardPlan {
  BatchNormSizes sizes;
  std::int64_t channels = 0;
  bool training = false;
  Variant batch, given;
  std::size_t mean = 0, variance = 0, ones = 0, mask = 0, scratch = 0;
};

struct BackwardPlan {
  BatchNormSizes sizes;
  std::int64_t channels = 0;
  int second = -1;        ///< the input that is added to dy
  std::int64_t size = 0;  ///< of the data
  std::size_t dy = 0;
  Call call;
  std::size_t variance = 0, ones = 0, dgamma = 0, dbeta = 0, dx = 0, scratch = 0;
};

void run_forward(const ForwardPlan& p, const Args& args) {
  const BatchNormSizes& s = p.sizes;
  const auto n = static_cast<std::size_t>(p.channels);
  float* gamma = args.mutable_in<float>(1);
  if (s.fix_gamma) {
    if (!p.training) gamma = static_cast<float*>(at(args, p.ones));  // the array is not written
    std::fill_n(gamma, n, 1.f);
  }
  const bool from_batch = args.run->is_train && !s.global_stats;
  float *mean = args.mutable_in<float>(3), *variance = args.mutable_in<float>(4);
  if (from_batch) {
    mean = args.wants(1) ? args.out<float>(1) : static_cast<float*>(at(args, p.mean));
    variance = static_cast<float*>(at(args, p.variance));
  }
  const Variant& v = from_batch ? p.batch : p.given;
  void *x = args.inputs[0].data, *y = args.outputs[0].data, *beta = args.inputs[2].data;
  void* scratch = at(args, p.scratch);
  if (v.mask)
    v.call({x, y, mean, variance, gamma, beta,
            args.wants(3) ? args.outputs[3].data : at(args, p.mask)},
           scratch);
  else
    v.call({x, y, mean, variance, gamma, beta}, scratch);
  if (!from_batch && args.wants(1)) std::copy_n(mean, n, args.out<float>(1));
  if (!args.wants(2)) return;
  float* inverse = args.out<float>(2);
  for (std::size_t c = 0; c < n; ++c)
    inverse[c] = static_cast<float>(1 / std::sqrt(static_cast<double>(variance[c]) + s.eps));
}

/// Of inverse standard deviations.
void variances(const float* inverse, std::size_t n, double eps, float* variance) {
  for (std::size_t c = 0; c < n; ++c) {
    const double i = static_cast<double>(inverse[c]);
    variance[c] = static_cast<float>(std::max(0.0, 1 / (i * i) - eps));
  }
}

void run_backward(const BackwardPlan& p, const Args& args) {
  const BatchNormSizes& s = p.sizes;
  const auto n = static_cast<std::size_t>(p.channels);
  float* variance = static_cast<float*>(at(args, p.variance));
  variances(args.in<float>(4), n, s.eps, variance);
  void* gamma = args.inputs[2].data;
  if (s.fix_gamma) {
    gamma = at(args, p.ones);
    std::fill_n(static_cast<float*>(gamma), n, 1.f);
  }
  void* dgamma = args.wants(1) && !s.fix_gamma ? args.outputs[1].data : at(args, p.dgamma);
  void* dbeta = args.wants(2) ? args.outputs[2].data : at(args, p.dbeta);
  void* dx = args.wants(0) ? args.outputs[0].data : at(args, p.dx);
  void *dy = args.inputs[0].data, *x = args.inputs[1].data, *mean = args.inputs[3].data;
  if (p.second >= 0) {
    dy = at(args, p.dy);
    const BinaryLoop add = binary_function("add").loops[0][0];
    parallel_for(p.size, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      add(args.in<float>(0) + begin, args.in<float>(p.second) + begin,
          static_cast<float*>(dy) + begin, end - begin);
    });
  }
  void* scratch = at(args, p.scratch);
  if (has_relu(s))
    p.call({x, dy, mean, variance, gamma, gamma, dx, dgamma, dbeta, args.inputs[7].data}, scratch);
  else
    p.call({x, dy, mean, variance, gamma, gamma, dx, dgamma, dbeta}, scratch);
  if (s.fix_gamma && args.wants(1)) std::fill_n(args.out<float>(1), n, 0.f);
  if (s.global_stats) return;
  float *moving_mean = args.mutable_in<float>(5), *moving_var = args.mutable_in<float>(6);
  const float keep = s.momentum;
  for (std::size_t c = 0; c < n; ++c) {
    moving_mean[c] = moving_mean[c] * keep + args.in<float>(3)[c] * (1 - keep);
    moving_var[c] = moving_var[c] * keep + variance[c] * (1 - keep);
  }
}

}  // namespace

Offer offer_batch_norm(const BatchNormSizes& s, const KernelRequest& r) {
  TensorDesc in = r.in[0];
  if (std::string reason = unfit(s, in); !reason.empty()) return refuse(std::move(reason));
  if (is_stored_in_bfloat16(r, 0)) in.dtype = DType::kBFloat16;
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(in.shape.size())));
    auto plan = std::make_shared<ForwardPlan>();
    plan->sizes = s;
    plan->channels = in.shape[1];
    plan->training = r.training;
    const MemoryDesc x = as_image(in), channels = describe(Shape{in.shape[1]});
    std::size_t scratch = 0, mask = 0;
    if (!s.global_stats) plan->batch = make_variant(s, x, channels, false, true, scratch, mask);
    plan->given = make_variant(s, x, channels, true, r.training, scratch, mask);
    Carver workspace;
    const std::size_t row = static_cast<std::size_t>(plan->channels) * sizeof(float);
    plan->mean = workspace.take(row);
    plan->variance = workspace.take(row);
    plan->ones = workspace.take(row);
    const bool saves = has_relu(s) && r.wanted[3];
    if (!saves) plan->mask = workspace.take(mask);
    plan->scratch = workspace.take(scratch);
    Offer offer = accept_plain(r, workspace.total());
    offer.in_layouts[0] = offer.out_layouts[0] = in.layout;
    state_dtypes(offer, r);
    offer.in_dtypes[0] = offer.out_dtypes[0] = in.dtype;
    if (saves) offer.opaque_bytes[3] = mask;
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_batch_norm(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const ForwardPlan>(offer.plan)](const Args& args) {
    run_forward(*plan, args);
  };
}

Offer offer_batch_norm_backward(const BatchNormSizes& s, bool two_heads, const KernelRequest& r) {
  const TensorDesc& in = r.in[1];
  if (std::string reason = unfit(s, in); !reason.empty()) return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(in.shape.size())));
    auto plan = std::make_shared<BackwardPlan>();
    plan->sizes = s;
    plan->channels = in.shape[1];
    const MemoryDesc x = as_image(in), channels = describe(Shape{in.shape[1]});
    const auto hint = forward_desc(s, x, s.global_stats, prop_kind::forward_training);
    if (!hint) return refuse("oneDNN has no such batch normalisation");
    const Backward::primitive_desc pd(
        Backward::desc(prop_kind::backward, x, x, static_cast<float>(s.eps),
                       flags_of(s, s.global_stats)),
        user_scratchpad(), engine(), hint, true);
    if (!pd) return refuse("oneDNN has no gradient of this batch normalisation");
    Call::Arguments arguments{{DNNL_ARG_SRC, x},
                              {DNNL_ARG_DIFF_DST, x},
                              {DNNL_ARG_MEAN, channels},
                              {DNNL_ARG_VARIANCE, channels},
                              {DNNL_ARG_SCALE, channels},
                              {DNNL_ARG_SHIFT, channels},  // required, not read
                              {DNNL_ARG_DIFF_SRC, x},
                              {DNNL_ARG_DIFF_SCALE, channels},
                              {DNNL_ARG_DIFF_SHIFT, channels}};
    if (has_relu(s)) arguments.emplace_back(DNNL_ARG_WORKSPACE, pd.workspace_desc());
    plan->call = Call(Backward(pd), pd.scratchpad_desc(), std::move(arguments));
    Carver workspace;
    const std::size_t row = static_cast<std::size_t>(plan->channels) * sizeof(float);
    plan->variance = workspace.take(row);
    plan->ones = workspace.take(row);
    plan->dgamma = workspace.take(row);
    plan->dbeta = workspace.take(row);
    if (!r.wanted[0]) plan->dx = workspace.take(x.get_size());
    if (two_heads) {
      plan->second = static_cast<int>(r.in.size()) - 1;
      plan->size = in.shape.size();
      plan->dy = workspace.take(x.get_size());
    }
    plan->scratch = workspace.take(pd.scratchpad_desc().get_size());
    Offer offer = accept_plain(r, workspace.total());
    offer.in_layouts[0] = offer.in_layouts[1] = offer.out_layouts[0] = in.layout;
    if (two_heads) offer.in_layouts.back() = in.layout;
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_batch_norm_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const BackwardPlan>(offer.plan)](const Args& args) {
    run_backward(*plan, args);
  };
}

Offer offer_batch_norm_again(const BatchNormSizes& s, const KernelRequest& r) {
  const TensorDesc& in = r.in[0];
  if (std::string reason = unfit(s, in); !reason.empty()) return refuse(std::move(reason));
  return guarded([&] {
    const VendorThreads threads(threads_for(8.0 * static_cast<double>(in.shape.size())));
    auto plan = std::make_shared<ForwardPlan>();
    plan->sizes = s;
    plan->channels = in.shape[1];
    std::size_t scratch = 0, mask = 0;
    plan->given =
        make_variant(s, as_image(in), describe(Shape{in.shape[1]}), true, false, scratch, mask);
    Carver workspace;
    plan->variance = workspace.take(static_cast<std::size_t>(plan->channels) * sizeof(float));
    plan->scratch = workspace.take(scratch);
    Offer offer = accept_plain(r, workspace.total());
    offer.in_layouts[0] = offer.out_layouts[0] = in.layout;
    offer.plan = std::move(plan);
    return offer;
  });
}

Prepared prepare_batch_norm_again(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const ForwardPlan>(offer.plan)](const Args& args) {
    const auto n = static_cast<std::size_t>(plan->channels);
    auto* variance = static_cast<float*>(at(args, plan->variance));
    variances(args.in<float>(4), n, plan->sizes.eps, variance);
    plan->given.call({args.inputs[0].data, args.outputs[0].data, args.inputs[3].data, variance,
                      args.inputs[1].data, args.inputs[2].data},
                     at(args, plan->scratch));
  };
}

}  // namespace symbind::onednn
