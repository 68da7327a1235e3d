// Decided here: this kernel is for plans that keep weights. It accepts three groups of layers.
//
// 1×1 between blocked data and channels of which one side forms no whole vectors (24 → 144 with
// AVX-512). oneDNN computes such a layer over plain tensors, 10 to 40 % faster, but the reorders
// around it take more than that: 24 → 144, 56², batch 32, two threads: 8.0 ms and 5.0 for the
// reorder.
//
// 1×1 with whole vectors on both sides, where memory takes longest, because this kernel fetches
// ahead what it reads next; elsewhere oneDNN's blocked kernel is up to 10 % faster:
//
//   few pixels (7², batch 1): the filters. Five layers of ResNet-50, two threads of a Skylake with
//     AVX-512: 0.76 ms each, now 0.67. Large filters and 14²: eleven layers, two threads of a Zen
//     5, 2.48 ms, now 2.42; with filters of less than 1 MiB oneDNN's is faster (128 → 256 at 14²:
//     0.040 and 0.050 ms).
//   data and output larger than the caches. Batch 32, two threads of a Zen 5, oneDNN's / ours:
//     256 → 256 at 128×16 21.9 / 17.1 ms, 128 → 128 5.3 / 4.6, 16 → 96 at 112² 5.7 / 4.7, 64 → 256
//     at 56² 7.4 / 6.9; at a quarter of these sizes oneDNN is faster by 1 to 6 %, and with 16
//     filters twice as fast.
//
// Larger kernels with a stride, for which oneDNN fetches nothing ahead, from 192 channels on. 3×3
// at stride 2, within networks on two threads of a Zen 5, oneDNN's / ours, ms, batch 1 and batch 32
// (ResNet-50: 8): 128 channels at 56² 0.52 / 0.54 and 4.4 / 4.9, 192 → 320 at 17² 0.24 / 0.20
// and 5.1 / 4.9, 256 at 28² 0.60 / 0.49 and 4.3 / 4.2, 512 at 14² 0.88 / 0.49 and 4.4 / 4.1, 288 →
// 384 at 35² 1.46 / 1.42 and 45 / 41.
//
// FullyConnected is the same product: its rows are the pixels of one image. Measured on two threads
// of a Zen 4, oneDNN's / ours: large outputs (32×200×10000 630 / 604 µs, 640×256×10000 23.6 / 17.0
// ms; with a weight that changes at each step, 1120×200×10000, 25.2 / 22.5) and small products
// (16×64×64 4.8 / 2.0 µs, 32×64×256 10.4 / 7.5) are ours, the others oneDNN's (32×2048×1000 610 /
// 623 µs, 100×784×128 93 / 106). A weight that changes is packed at each step, which takes many
// rows to pay off.
#include "kernels/pixels/convolution.h"

#include <memory>
#include <string>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/pixels/forward.h"

namespace symbind::pixels {

namespace {

constexpr std::int64_t kFewestRows = 16;
// Filters that take longer to read than to multiply have few pixels, or are large and have
// more of them.
constexpr std::int64_t kFewPixels = 64, kMorePixels = 256;
constexpr std::int64_t kLargeFilters = 1 << 18;                           // floats
constexpr std::int64_t kFewestStrided = 192, kFewestStridedFilters = 64;  // of larger kernels
constexpr std::int64_t kMostTaps = 49;
constexpr std::size_t kMostStaged = std::size_t{2} << 20;  // bytes of the copies that a part reads
constexpr std::int64_t kLargeData = 48 << 20;              // bytes of data and output
constexpr std::int64_t kFewestFilters = 32;                // with large data
// Of FullyConnected.
constexpr std::int64_t kFewestChangingRows = 256;
constexpr std::int64_t kLargeOutput = 1 << 18;
constexpr std::int64_t kLargeChangingOutput = 1 << 20;
constexpr double kSmallWork = 500'000;

bool has_constant_weight(const KernelRequest& r) { return r.constant.size() > 1 && r.constant[1]; }

std::string unfit_pointwise(const ConvolutionSizes& s, const KernelRequest& r) {
  using Axes = ConvolutionSizes::Axes;
  if (r.in[0].layout == Layout::kPlain) return "the data is plain";
  if (s.pad != Axes{0, 0, 0}) return "1x1 with a pad";
  const std::int64_t lanes = packed::products().best().lanes;
  const std::int64_t pixels = s.batch * ConvolutionSizes::product(s.out);
  const std::int64_t most_pixels =
      s.in_channels * s.out_channels >= kLargeFilters ? kMorePixels : kFewPixels;
  const bool filters_take_longest = pixels >= kFewestRows && pixels <= most_pixels;
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

std::string unfit_larger(const ConvolutionSizes& s) {
  using Axes = ConvolutionSizes::Axes;
  const std::int64_t lanes = packed::products().best().lanes;
  if (s.spatial > 2 || s.dilate != Axes{1, 1, 1}) return "three axes, or dilation";
  if (s.stride == Axes{1, 1, 1}) return "larger than 1x1 at stride 1";
  if (ConvolutionSizes::product(s.kernel) > kMostTaps) return "more than 49 taps";
  if (s.in_channels < kFewestStrided || s.out_channels < kFewestStridedFilters)
    return "oneDNN is faster with few channels";
  if (s.in_channels % lanes != 0 || s.out_channels % lanes != 0)
    return "the channels form no whole vectors";
  return "";
}

/// The reason against this kernel, or nothing.
std::string unfit(const ConvolutionSizes& s, const KernelRequest& r) {
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.batch == 0 || s.in_channels == 0 || ConvolutionSizes::product(s.in) == 0 ||
      ConvolutionSizes::product(s.out) == 0)
    return "the data is empty";
  if (s.groups != 1) return "has groups";
  if (cpu_isa() == Isa::kSse41) return "needs AVX2";
  if (!has_constant_weight(r)) return "the weight is no parameter";
  return ConvolutionSizes::product(s.kernel) == 1 ? unfit_pointwise(s, r) : unfit_larger(s);
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
  std::size_t scratch;
};

}  // namespace

namespace {

/// `y`: the output as the epilogue sees it, with its final layout.
std::shared_ptr<const Plan> make_plan(const ConvolutionSizes& s, const Epilogue& epilogue,
                                      const KernelRequest& r, Layout x, Layout y_rows,
                                      const TensorDesc& y, Carver& workspace) {
  const double operations =
      2.0 * static_cast<double>(s.batch * s.out_channels) * s.out_plane_work();
  const std::int64_t taps = ConvolutionSizes::product(s.kernel);
  // Waking other threads takes about 10 µs: shorter work uses one thread.
  Forward run(s, x, y_rows, operations < 1e6 ? 1 : r.threads);
  FusedLayer layer(
      epilogue, s.bias, y, r,
      form_key({'p', static_cast<std::int64_t>(cpu_isa()), s.in_channels, s.out_channels, taps}),
      run.weight_size() * sizeof(float), taps * s.in_channels * s.out_channels,
      has_constant_weight(r), workspace);
  const std::size_t scratch = workspace.take(run.scratch_size() * sizeof(float));
  return std::make_shared<const Plan>(Plan{std::move(run), std::move(layer), scratch});
}

}  // namespace

Offer offer_convolution(const ConvolutionSizes& s, const Epilogue& epilogue,
                        const KernelRequest& r) {
  if (std::string reason = unfit(s, r); !reason.empty()) return refuse(std::move(reason));
  // Where the layout is open, pixels are read as they are.
  const bool staged = ConvolutionSizes::product(s.kernel) > 1;
  const Layout x = staged ? Forward::blocks_or_last(s.in_channels) : r.in[0].layout,
               y = Forward::blocks_or_last(s.out_channels);
  Carver workspace;
  auto plan = make_plan(s, epilogue, r, x, y, {.shape = r.out[0].shape, .layout = y}, workspace);
  if (plan->run.staged_size() * sizeof(float) > kMostStaged)
    return refuse("the copies of the pixels of a part exceed 2 MiB");
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
    plan->layer.run(args, pack, [&](const LayerOutput& o) {
      plan->run(args.in<float>(0), o, at<float>(args, plan->scratch));
    });
  };
}

}  // namespace symbind::pixels
