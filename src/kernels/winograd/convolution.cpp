// Decided here: data and output are in blocks of one vector of channels, so every transform is a
// sequence of vector operations. A gradient uses the same method for data and filters.
//
// A NaN or infinity in the data reaches all outputs of the squares that read it: up to 4 pixels
// further than with the direct method, never another image.
#include "kernels/winograd/convolution.h"

#include <limits>
#include <memory>
#include <string>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/fused_layer.h"
#include "kernels/winograd/forward.h"
#include "kernels/winograd/weight_gradient.h"

namespace symbind::winograd {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t lanes() { return transforms(4).best().lanes; }
Layout blocked() { return lanes() == 16 ? Layout::kBlocked16 : Layout::kBlocked8; }

Squares squares_of(const ConvolutionSizes& s, int m = 4) {
  Squares q;
  q.m = m;
  q.batch = s.batch;
  q.in_channels = s.in_channels;
  q.out_channels = s.out_channels;
  q.in_height = s.in[1];
  q.in_width = s.in[2];
  q.out_height = s.out[1];
  q.out_width = s.out[2];
  q.pad_top = s.pad[1];
  q.pad_left = s.pad[2];
  return q;
}

/// Where this kernel is the fastest: 32 channels or more, and enough squares to amortise the
/// transform of the filters unless that is kept. Direct / this kernel in CPU time, one thread held
/// to AVX2 (docs/design/0009-convolution.md):
///
///   squares                      forward  data  filters  kept
///    16 (14², batch 1)              0.90  0.82     1.05  1.56
///    16 (7², batch 4)               1.12  0.93     1.38  1.86
///    49 (28², batch 1)              2.86  2.40     3.46  3.32
///    64 (14², batch 4)              1.73  1.52     2.79  2.11
///   196 (56², batch 1)              2.59  2.17     3.24  2.39
///
/// In plans that compute in bfloat16 it reads and writes that type and multiplies in float32: a
/// quarter of the products at half the rate. Two threads of a Zen 5, oneDNN's bfloat16 / ours, ms:
/// 64 at 56² 0.22 / 0.19 with batch 1 and 1.8 / 1.6 with 8, 128 at 28² 0.22 / 0.17 and 1.7 / 1.3,
/// 256 at 14² 0.24 / 0.21 and 1.8 / 1.4, 512 at 7² 0.32 / 0.41 and 1.7 / 1.5.
///
/// Returns the reason against it, or nothing.
std::string unfit(const ConvolutionSizes& s, bool kept_weights, const KernelRequest& r) {
  using Axes = ConvolutionSizes::Axes;
  const Axes ones{1, 1, 1};
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.batch == 0 || s.in_channels == 0 || ConvolutionSizes::product(s.in) == 0 ||
      ConvolutionSizes::product(s.out) == 0)
    return "the data is empty";
  if (s.spatial != 2 || s.groups != 1 || s.kernel != Axes{1, 3, 3} || s.stride != ones ||
      s.dilate != ones || s.pad[1] > 2 || s.pad[2] > 2)
    return "not 3x3 at stride 1 with a pad of at most 2";
  if (cpu_isa() == Isa::kSse41) return "needs AVX2";
  if (s.in_channels % lanes() != 0 || s.out_channels % lanes() != 0)
    return "the channels are no multiple of " + std::to_string(lanes());
  if (s.in_channels < 32 || s.out_channels < 32) return "fewer than 32 channels";
  const bool bfloat16 = kept_weights && r.compute_dtype == DType::kBFloat16;
  const std::int64_t fewest = bfloat16 ? 16 : kept_weights ? 0 : 32;
  if (squares_of(s).count() < fewest) return "too few squares of 4x4 outputs";
  if (bfloat16 && cpu_has_amx()) return "AMX multiplies bfloat16 faster";
  return r.exact ? "exact numbers are requested" : "";
}

double products_of(const Squares& q) {
  return 2.0 * static_cast<double>(q.positions()) * static_cast<double>(q.count()) *
         static_cast<double>(q.in_channels) * static_cast<double>(q.out_channels);
}

/// Waking other threads takes about 10 µs: shorter work uses one thread.
int threads_for(const Squares& q, const KernelRequest& r) {
  return products_of(q) < 250e3 ? 1 : r.threads;
}

std::string key_of(const Squares& q, bool transposed) {
  return form_key({'w', q.m, q.lanes, q.in_channels, q.out_channels, transposed ? 1 : 0});
}

std::size_t bytes(std::size_t floats) { return floats * sizeof(float); }

// ---- Forward ------------------------------------------------------------------------------------

struct ForwardPlan {
  Forward run;
  FusedLayer layer;
  std::size_t scratch;
  std::int64_t in_channels;
  DType x_dtype;
};

// ---- Backward -----------------------------------------------------------------------------------

struct BackwardPlan {
  Squares squares;
  bool wants_dx, wants_dw, wants_db;
  Forward data;
  WeightGradient filters;
  WeightForm weights;
  std::size_t scratch;
};

/// db[c] = Σ dy: rows in float32, their sums in double.
void bias_gradient(const Squares& q, const float* dy, float* db) {
  const std::int64_t lanes = q.lanes, plane = q.out_height * q.out_width;
  parallel_for(q.out_blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      double total[16] = {};
      for (std::int64_t n = 0; n < q.batch; ++n) {
        const float* from = dy + (n * q.out_blocks() + block) * plane * lanes;
        for (std::int64_t row = 0; row < q.out_height; ++row) {
          float sum[16] = {};
          for (std::int64_t i = 0; i < q.out_width; ++i, from += lanes)
            for (std::int64_t k = 0; k < lanes; ++k) sum[k] += from[k];
          for (std::int64_t k = 0; k < lanes; ++k) total[k] += static_cast<double>(sum[k]);
        }
      }
      for (std::int64_t k = 0; k < lanes; ++k) db[block * lanes + k] = static_cast<float>(total[k]);
    }
  });
}

}  // namespace

Offer offer_convolution(const ConvolutionSizes& s, const Epilogue& epilogue,
                        const KernelRequest& r) {
  const bool constant = r.constant.size() > 1 && r.constant[1];
  if (std::string reason = unfit(s, constant, r); !reason.empty()) return refuse(std::move(reason));
  const Squares q = squares_of(s, constant && squares_of(s).count() < 8 ? 2 : 4);
  Forward run(q, threads_for(q, r));
  Carver workspace;
  const TensorDesc y{.shape = r.out[0].shape, .layout = blocked()};
  FusedLayer layer(epilogue, s.bias, y, r, key_of(q, false), bytes(run.weight_size()),
                   s.in_channels * s.out_channels * 9, constant, workspace);
  const std::size_t scratch = workspace.take(bytes(run.scratch_size()));
  Offer offer = accept_plain(r, workspace.total());
  offer.in_layouts[0] = offer.out_layouts[0] = blocked();
  DType x_dtype = DType::kFloat32;
  if (constant && r.compute_dtype == DType::kBFloat16) {  // oneDNN's kernel refuses other weights
    state_dtypes(offer, r);
    offer.out_dtypes[0] = layer.write_bfloat16();
    if (offer.out_dtypes[0] != DType::kBFloat16)
      return refuse("a sum or a pass after the layer is in float32");
    if (r.stored_dtype(0) == DType::kBFloat16) x_dtype = DType::kBFloat16;
    offer.in_dtypes[0] = x_dtype;
  }
  layer.complete(offer, r);
  offer.plan = std::make_shared<const ForwardPlan>(
      ForwardPlan{run, std::move(layer), scratch, s.in_channels, x_dtype});
  return offer;
}

Prepared prepare_convolution(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const ForwardPlan>(offer.plan)](const Args& args) {
    const auto transform = [&](const float* w, void* u) {
      plan->run.transform(w, plan->in_channels * 9, 9, false, static_cast<float*>(u));
    };
    plan->layer.run(args, transform, [&](const LayerOutput& o) {
      plan->run({.x = args.inputs[0].data,
                 .u = static_cast<const float*>(o.weight),
                 .y = o.y,
                 .bias = o.bias,
                 .add = o.add,
                 .low = o.low,
                 .high = o.high,
                 .nan_is_low = o.nan_is_low,
                 .x_dtype = plan->x_dtype,
                 .y_dtype = o.y_dtype},
                at<float>(args, plan->scratch));
    });
  };
}

Offer offer_convolution_backward(const ConvolutionSizes& s, const KernelRequest& r) {
  if (std::string reason = unfit(s, false, r); !reason.empty()) return refuse(std::move(reason));
  const Squares q = squares_of(s), back = q.transposed();
  const bool wants_db = s.bias && r.wanted[2];
  BackwardPlan plan{q,
                    r.wanted[0],
                    r.wanted[1],
                    wants_db,
                    Forward(back, threads_for(q, r)),
                    WeightGradient(q),
                    {},
                    0};
  Carver workspace;
  std::size_t scratch = 0;
  if (plan.wants_dx) {
    plan.weights = WeightForm(key_of(q, true), bytes(plan.data.weight_size()), false, workspace);
    scratch = plan.data.scratch_size();
  }
  if (plan.wants_dw) scratch = std::max(scratch, plan.filters.scratch_size());
  plan.scratch = workspace.take(bytes(scratch));
  Offer offer = accept_plain(r, workspace.total());
  offer.in_layouts[0] = offer.in_layouts[1] = offer.out_layouts[0] = blocked();
  offer.plan = std::make_shared<const BackwardPlan>(std::move(plan));
  return offer;
}

Prepared prepare_convolution_backward(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const BackwardPlan>(offer.plan)](const Args& args) {
    const float *dy = args.in<float>(0), *x = args.in<float>(1);
    float* scratch = at<float>(args, plan->scratch);
    const Squares& q = plan->squares;
    if (plan->wants_dx) {
      const auto* u = static_cast<const float*>(plan->weights(args, 2, [&](void* from, void* into) {
        plan->data.transform(static_cast<const float*>(from), 9, q.in_channels * 9, true,
                             static_cast<float*>(into));
      }));
      plan->data({.x = dy, .u = u, .y = args.out<float>(0), .low = -kInfinity, .high = kInfinity},
                 scratch);
    }
    if (plan->wants_dw) plan->filters(x, dy, args.out<float>(1), scratch);
    if (plan->wants_db) bias_gradient(q, dy, args.out<float>(2));
  };
}

}  // namespace symbind::winograd
