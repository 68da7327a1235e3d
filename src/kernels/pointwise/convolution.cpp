// Decided here: this kernel is for plans that keep weights, where the data is blocked already and
// the channels of one side form no whole vectors (24 → 144 with AVX-512). oneDNN computes such a
// layer over plain tensors, 10 to 40 % faster, but the reorders around it take more than that:
// 24 → 144, 56², batch 32, two threads: 8.0 ms and 5.0 for the reorder. With whole vectors on both
// sides oneDNN's blocked kernel is up to 10 % faster, except where memory takes longest, because
// this kernel fetches ahead what it reads next:
//
//   few pixels (7², batch 1): the filters. Five layers of ResNet-50, two threads of a Skylake with
//     AVX-512: 0.76 ms each, now 0.67.
//   data and output larger than the caches. Batch 32, two threads of a Zen 5, oneDNN's / ours:
//     256 → 256 at 128×16 21.9 / 17.1 ms, 128 → 128 5.3 / 4.6, 16 → 96 at 112² 5.7 / 4.7, 64 → 256
//     at 56² 7.4 / 6.9; at a quarter of these sizes oneDNN is faster by 1 to 6 %, and with 16
//     filters twice as fast.
//
// FullyConnected is the same product: its rows are the pixels of one image. Measured on two threads
// of a Zen 4, oneDNN's / ours: large outputs (32×200×10000 630 / 604 µs, 640×256×10000 23.6 / 17.0
// ms; with a weight that changes at each step, 1120×200×10000, 25.2 / 22.5) and small products
// (16×64×64 4.8 / 2.0 µs, 32×64×256 10.4 / 7.5) are ours, the others oneDNN's (32×2048×1000 610 /
// 623 µs, 100×784×128 93 / 106). A weight that changes is packed at each step, which takes many
// rows to pay off.
#include "kernels/pointwise/convolution.h"

#include <memory>
#include <string>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/pointwise/forward.h"

namespace symbind::pointwise {

namespace {

constexpr std::int64_t kFewestRows = 16;
constexpr std::int64_t kMostPixels = 64;       // whose filters take longer to read than to multiply
constexpr std::int64_t kLargeData = 48 << 20;  // bytes of data and output
constexpr std::int64_t kFewestFilters = 32;    // with large data
// Of FullyConnected.
constexpr std::int64_t kFewestChangingRows = 256;
constexpr std::int64_t kLargeOutput = 1 << 18;
constexpr std::int64_t kLargeChangingOutput = 1 << 20;
constexpr double kSmallWork = 500'000;

bool has_constant_weight(const KernelRequest& r) { return r.constant.size() > 1 && r.constant[1]; }

/// The reason against this kernel, or nothing.
std::string unfit(const ConvolutionSizes& s, const KernelRequest& r) {
  using Axes = ConvolutionSizes::Axes;
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.batch == 0 || s.in_channels == 0 || ConvolutionSizes::product(s.in) == 0 ||
      ConvolutionSizes::product(s.out) == 0)
    return "the data is empty";
  if (s.groups != 1 || s.kernel != Axes{1, 1, 1} || s.pad != Axes{0, 0, 0})
    return "not 1x1, or with groups or a pad";
  if (cpu_isa() == Isa::kSse41) return "needs AVX2";
  if (!has_constant_weight(r)) return "the weight is no parameter";
  if (r.in[0].layout == Layout::kPlain) return "the data is plain";
  const std::int64_t lanes = packed::products().best().lanes;
  const std::int64_t pixels = s.batch * ConvolutionSizes::product(s.out);
  const bool filters_take_longest = pixels >= kFewestRows && pixels <= kMostPixels;
  const bool data_take_longest = s.out_channels >= kFewestFilters &&
                                 static_cast<double>(pixels) * sizeof(float) *
                                         static_cast<double>(s.in_channels + s.out_channels) >=
                                     static_cast<double>(kLargeData);
  const bool memory_takes_longest =
      lanes == 16 && s.stride == Axes{1, 1, 1} && (filters_take_longest || data_take_longest);
  if (s.in_channels % lanes == 0 && s.out_channels % lanes == 0 && !memory_takes_longest)
    return "the channels form whole vectors";
  return s.out_channels < 8 ? "fewer than 8 filters" : "";
}

std::string unfit(const MatrixSizes& s, const KernelRequest& r) {
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (cpu_isa() == Isa::kSse41) return "needs AVX2";
  if (s.in == 0 || s.out < 8) return "fewer than 8 outputs, or no input";
  const bool constant = has_constant_weight(r);
  if (s.rows < (constant ? kFewestRows : kFewestChangingRows)) return "few rows";
  const double work =
      static_cast<double>(s.rows) * static_cast<double>(s.in) * static_cast<double>(s.out);
  const bool small = constant && work < kSmallWork;
  const bool large = s.rows * s.out >= (constant ? kLargeOutput : kLargeChangingOutput);
  return small || large ? "" : "oneDNN is faster for such an output";
}

struct Plan {
  Forward run;
  FusedLayer layer;
};

}  // namespace

namespace {

/// `y`: the output as the epilogue sees it, with its final layout.
std::shared_ptr<const Plan> make_plan(const ConvolutionSizes& s, const Epilogue& epilogue,
                                      const KernelRequest& r, Layout x, Layout y_rows,
                                      const TensorDesc& y, Carver& workspace) {
  const double operations =
      2.0 * static_cast<double>(s.batch * s.out_channels) * s.out_plane_work();
  // Waking other threads takes about 10 µs: shorter work uses one thread.
  Forward run(s, x, y_rows, operations < 1e6 ? 1 : r.threads);
  FusedLayer layer(
      epilogue, s.bias, y, r,
      form_key({'p', static_cast<std::int64_t>(cpu_isa()), s.in_channels, s.out_channels}),
      run.weight_size() * sizeof(float), s.in_channels * s.out_channels, has_constant_weight(r),
      workspace);
  return std::make_shared<const Plan>(Plan{std::move(run), std::move(layer)});
}

}  // namespace

Offer offer_convolution(const ConvolutionSizes& s, const Epilogue& epilogue,
                        const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  const Layout x = r.in[0].layout, y = Forward::blocks_or_last(s.out_channels);
  Carver workspace;
  auto plan = make_plan(s, epilogue, r, x, y, {.shape = r.out[0].shape, .layout = y}, workspace);
  Offer offer = accept_plain(r, workspace.total());
  offer.in_layouts[0] = x;
  offer.out_layouts[0] = y;
  plan->layer.complete(offer, r);
  offer.plan = std::move(plan);
  return offer;
}

Offer offer_inner_product(const MatrixSizes& s, bool bias, const Epilogue& epilogue,
                          const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  ConvolutionSizes rows;  // the rows are the pixels of one image
  rows.batch = 1;
  rows.in_channels = s.in;
  rows.out_channels = s.out;
  rows.in[2] = rows.out[2] = s.rows;
  rows.bias = bias;
  Carver workspace;
  auto plan = make_plan(rows, epilogue, r, Layout::kChannelsLast, Layout::kChannelsLast,
                        {.shape = Shape{s.rows, s.out}}, workspace);
  Offer offer = accept_plain(r, workspace.total());
  plan->layer.complete(offer, r);
  offer.plan = std::move(plan);
  return offer;
}

Prepared prepare(const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    const auto pack = [&](const float* w, void* packed) {
      plan->run.pack(w, static_cast<float*>(packed));
    };
    plan->layer.run(args, pack, [&](const LayerOutput& o) { plan->run(args.in<float>(0), o); });
  };
}

}  // namespace symbind::pointwise
