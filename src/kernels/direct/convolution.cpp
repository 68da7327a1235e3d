// Decided here: this kernel is for numbers of filters that form no whole blocks of 8 channels.
// There the tensors are plain anyway, and oneDNN's kernels for plain tensors are slow. Everywhere
// else oneDNN's blocked kernels are as fast or faster.
#include "kernels/direct/convolution.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <variant>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/direct/forward.h"
#include "kernels/direct/scattered.h"
#include "kernels/direct/weight_gradient.h"
#include "kernels/fused_layer.h"
#include "kernels/vector/rows.h"

namespace symbind::direct {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Larger images would not stay in the L2 cache in their staged form.
constexpr std::size_t kMostStagedBytes = std::size_t{4} << 20;

Plane plane_of(const ConvolutionSizes& s) {
  Plane p;
  p.batch = s.batch;
  p.in_channels = s.in_channels;
  p.out_channels = s.out_channels;
  p.in_height = s.in[1];
  p.in_width = s.in[2];
  p.out_height = s.out[1];
  p.out_width = s.out[2];
  p.kernel_height = s.kernel[1];
  p.kernel_width = s.kernel[2];
  p.dilate_height = s.dilate[1];
  p.dilate_width = s.dilate[2];
  p.pad_top = s.pad[1];
  p.pad_left = s.pad[2];
  return p;
}

std::size_t bytes(std::size_t floats) { return floats * sizeof(float); }

bool staged_is_small(const Plane& p) {
  const double floats = static_cast<double>(p.kernel_width * p.in_channels) *
                        static_cast<double>(p.staged_rows() * p.columns());
  return floats * sizeof(float) <= static_cast<double>(kMostStagedBytes);
}

/// The reason against this kernel, or nothing.
std::string unfit(const ConvolutionSizes& s, const KernelRequest& r) {
  using Axes = ConvolutionSizes::Axes;
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.batch == 0 || s.in_channels == 0 || ConvolutionSizes::product(s.in) == 0 ||
      ConvolutionSizes::product(s.out) == 0)
    return "the data is empty";
  if (s.spatial > 2 || s.groups != 1 || s.stride != Axes{1, 1, 1})
    return "more than two axes, groups or a stride";
  if (cpu_isa() == Isa::kSse41) return "needs AVX2";
  if (s.out_channels % 8 == 0) return "the filters form whole blocks";
  const Plane p = plane_of(s);
  if (!staged_is_small(p) || !staged_is_small(p.transposed())) return "the images are large";
  return "";
}

/// The gradient of the data is a convolution from the output's shape to the data's. Where the data
/// is much larger, that one would multiply mostly zeros.
bool scatters(const Plane& p) { return 3 * p.transposed().positions() > 4 * p.positions(); }

std::string unfit_backward(const ConvolutionSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return reason;
  const Plane p = plane_of(s), t = p.transposed();
  if (t.pad_top < 0 || t.pad_left < 0) return "the pad is larger than the kernel";
  if (r.wanted[0] && scatters(p) && p.taps() > Scattered::kMostTaps) return "the kernel is large";
  return "";
}

/// Waking other threads takes about 10 µs: shorter work uses one thread.
int threads_for(const Plane& p, const KernelRequest& r) {
  const double operations = 2.0 * static_cast<double>(p.batch * p.out_plane()) *
                            static_cast<double>(p.depth() * p.out_channels);
  return operations < 1e6 ? 1 : r.threads;
}

/// A vector of the gradient's product holds filters: short ones waste less.
Isa isa_for_filters(const ConvolutionSizes& s) {
  const auto padded = [&](std::int64_t lanes) {
    return (s.out_channels + lanes - 1) / lanes * lanes;
  };
  return 5 * padded(16) > 6 * padded(8) ? Isa::kAvx2 : cpu_isa();
}

struct ForwardPlan {
  Forward run;
  FusedLayer layer;
  std::size_t scratch;
  std::int64_t weight_size;
};

struct BackwardPlan {
  Plane plane;
  bool wants_dx, wants_dw, wants_db;
  std::variant<Forward, Scattered> data;
  WeightGradient filters;
  std::size_t flipped, scratch;  ///< in the workspace
};

/// Filters of the transposed convolution: (in_channels, out_channels, taps in reverse order).
void flip(const Plane& p, const float* w, float* flipped) {
  const std::int64_t taps = p.taps();
  for (std::int64_t i = 0; i < p.in_channels; ++i)
    for (std::int64_t o = 0; o < p.out_channels; ++o)
      for (std::int64_t k = 0; k < taps; ++k)
        *flipped++ = w[(o * p.in_channels + i) * taps + taps - 1 - k];
}

void bias_gradient(const Plane& p, const float* dy, float* db) {
  const std::int64_t plane = p.out_plane();
  const auto sum = vector::norm_kernels().best().sum;
  parallel_for(p.out_channels, 1 + 65536 / std::max<std::int64_t>(1, p.batch * plane),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t f = begin; f < end; ++f) {
                   double total = 0;
                   for (std::int64_t n = 0; n < p.batch; ++n)
                     total +=
                         static_cast<double>(sum(dy + (n * p.out_channels + f) * plane, plane));
                   db[f] = static_cast<float>(total);
                 }
               });
}

}  // namespace

Offer offer_convolution(const ConvolutionSizes& s, const Epilogue& epilogue,
                        const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  const bool constant = r.constant.size() > 1 && r.constant[1];
  const Plane p = plane_of(s);
  const std::int64_t size = p.out_channels * p.depth();
  Carver workspace;
  Forward run(p, threads_for(p, r));
  FusedLayer layer(epilogue, s.bias, {.shape = r.out[0].shape}, r, "",
                   bytes(static_cast<std::size_t>(size)), size, constant, workspace);
  const std::size_t scratch = workspace.take(bytes(run.scratch_size()));
  Offer offer = accept_plain(r, workspace.total());
  layer.complete(offer, r);
  offer.plan = std::make_shared<const ForwardPlan>(
      ForwardPlan{std::move(run), std::move(layer), scratch, size});
  return offer;
}

Prepared prepare_convolution(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const ForwardPlan>(offer.plan)](const Args& args) {
    const auto copy = [&](const float* w, void* to) {
      std::copy_n(w, plan->weight_size, static_cast<float*>(to));
    };
    plan->layer.run(args, copy, [&](const LayerOutput& o) {
      plan->run({.x = args.in<float>(0),
                 .w = static_cast<const float*>(o.weight),
                 .y = static_cast<float*>(o.y),
                 .bias = o.bias,
                 .add = o.add,
                 .low = o.low,
                 .high = o.high,
                 .nan_is_low = o.nan_is_low},
                at<float>(args, plan->scratch));
    });
  };
}

namespace {

std::variant<Forward, Scattered> data_gradient(const Plane& p, int threads) {
  if (scatters(p)) return Scattered(p, threads);
  return Forward(p.transposed(), threads);
}

}  // namespace

Offer offer_convolution_backward(const ConvolutionSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit_backward(s, r); !reason.empty()) return refuse(std::move(reason));
  const Plane p = plane_of(s);
  const int threads = threads_for(p, r);
  BackwardPlan plan{p,
                    r.wanted[0],
                    r.wanted[1],
                    s.bias && r.wanted[2],
                    data_gradient(p, threads),
                    WeightGradient(p, threads, isa_for_filters(s)),
                    0,
                    0};
  Carver workspace;
  std::size_t scratch = 0;
  if (plan.wants_dx) {
    plan.flipped = workspace.take(bytes(static_cast<std::size_t>(p.out_channels * p.depth())));
    scratch = std::visit([](const auto& run) { return run.scratch_size(); }, plan.data);
  }
  if (plan.wants_dw) scratch = std::max(scratch, plan.filters.scratch_size());
  plan.scratch = workspace.take(bytes(scratch));
  Offer offer = accept_plain(r, workspace.total());
  offer.plan = std::make_shared<const BackwardPlan>(std::move(plan));
  return offer;
}

Prepared prepare_convolution_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const BackwardPlan>(offer.plan)](const Args& args) {
    const float *dy = args.in<float>(0), *x = args.in<float>(1);
    float* scratch = at<float>(args, plan->scratch);
    if (plan->wants_dx) {
      const float* w = args.in<float>(2);
      float* dx = args.out<float>(0);
      if (const auto* scattered = std::get_if<Scattered>(&plan->data)) {
        (*scattered)(dy, w, dx, scratch);
      } else {
        float* flipped = at<float>(args, plan->flipped);
        flip(plan->plane, w, flipped);
        std::get<Forward>(plan->data)(
            {.x = dy, .w = flipped, .y = dx, .low = -kInfinity, .high = kInfinity}, scratch);
      }
    }
    if (plan->wants_dw) plan->filters(x, dy, args.out<float>(1), scratch);
    if (plan->wants_db) bias_gradient(plan->plane, dy, args.out<float>(2));
  };
}

}  // namespace symbind::direct
