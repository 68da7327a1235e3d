// Decided here: this kernel is for plans that keep weights, where the data is blocked already and
// the channels of one side form no whole vectors (24 → 144 with AVX-512). oneDNN computes such a
// layer over plain tensors, 10 to 40 % faster, but the reorders around it take more than that:
// 24 → 144, 56², batch 32, two threads: 8.0 ms and 5.0 for the reorder. With whole vectors on both
// sides oneDNN's blocked kernel is 2 to 40 % faster.
#include "kernels/pointwise/convolution.h"

#include <memory>
#include <string>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/pointwise/forward.h"

namespace symbind::pointwise {

namespace {

/// The reason against this kernel, or nothing.
std::string unfit(const ConvolutionSizes& s, bool kept_weights, const KernelRequest& r) {
  using Axes = ConvolutionSizes::Axes;
  if (r.in[0].dtype != DType::kFloat32) return "dtype is not float32";
  if (s.batch == 0 || s.in_channels == 0 || ConvolutionSizes::product(s.in) == 0 ||
      ConvolutionSizes::product(s.out) == 0)
    return "the data is empty";
  if (s.groups != 1 || s.kernel != Axes{1, 1, 1} || s.pad != Axes{0, 0, 0})
    return "not 1x1, or with groups or a pad";
  if (cpu_isa() == Isa::kSse41) return "needs AVX2";
  if (!kept_weights) return "the weight is no parameter";
  if (r.in[0].layout == Layout::kPlain) return "the data is plain";
  const std::int64_t lanes = packed::products().best().lanes;
  if (s.in_channels % lanes == 0 && s.out_channels % lanes == 0)
    return "the channels form whole vectors";
  return s.out_channels < 8 ? "fewer than 8 filters" : "";
}

struct Plan {
  Forward run;
  FusedLayer layer;
};

}  // namespace

Offer offer_convolution(const ConvolutionSizes& s, const Epilogue& epilogue,
                        const KernelRequest& r) {
  const bool constant = r.constant.size() > 1 && r.constant[1];
  if (std::string reason = unfit(s, constant, r); !reason.empty()) return refuse(std::move(reason));
  const Layout x = r.in[0].layout;
  const double operations =
      2.0 * static_cast<double>(s.batch * s.out_channels) * s.out_plane_work();
  // Waking other threads takes about 10 µs: shorter work uses one thread.
  Forward run(s, x, operations < 1e6 ? 1 : r.threads);
  Carver workspace;
  const TensorDesc y{.shape = r.out[0].shape, .layout = run.y_layout()};
  FusedLayer layer(
      epilogue, s.bias, y, r,
      form_key({'p', static_cast<std::int64_t>(cpu_isa()), s.in_channels, s.out_channels}),
      run.weight_size() * sizeof(float), s.in_channels * s.out_channels, constant, workspace);
  Offer offer = accept_plain(r, workspace.total());
  offer.in_layouts[0] = x;
  offer.out_layouts[0] = run.y_layout();
  layer.complete(offer, r);
  offer.plan = std::make_shared<const Plan>(Plan{std::move(run), std::move(layer)});
  return offer;
}

Prepared prepare_convolution(const KernelRequest&, const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    const auto pack = [&](const float* w, void* packed) {
      plan->run.pack(w, static_cast<float*>(packed));
    };
    plan->layer.run(args, pack, [&](const LayerOutput& o) { plan->run(args.in<float>(0), o); });
  };
}

}  // namespace symbind::pointwise
