// Decided here: the mean and the variance of a part are computed around the part's own mean, while
// the part is in the nearest cache, and joined in double. So neither a large mean nor a large batch
// costs digits, and the data is read from memory once for both.
#include <cmath>

#include "kernels/batch_norm/batch_norm.h"
#include "kernels/batch_norm/plan.h"

namespace symbind::batch_norm {
namespace {

/// Sums and squared distances from their mean, of one part.
void part_statistics(const Plan& plan, const float* x, std::int64_t g, std::int64_t p,
                     double* partial) {
  const Grid& grid = plan.grid;
  const Part part = grid.part(p);
  const float* from = x + grid.offset(g, p);
  const auto count = static_cast<double>(grid.count(p));
  const double share = 1 / count;
  const auto width = static_cast<std::size_t>(grid.width());
  Floats sums, squares, mean;
  Doubles sum, distance, square;
  grid.loops().sum(part, from, sums.data());
  grid.join(sums.data(), sum.data());
  for (std::size_t c = 0; c < width; ++c) mean[c] = static_cast<float>(sum[c] * share);
  Parameters around;
  grid.spread(mean.data(), around);
  grid.loops().squares(part, from, around, sums.data(), squares.data());
  grid.join(sums.data(), distance.data());
  grid.join(squares.data(), square.data());
  double finite = 0;  // a NaN if a distance is not finite
  for (std::size_t c = 0; c < width; ++c) finite += distance[c] * 0;
  for (std::size_t c = 0; c < width; ++c) {
    // The distances' sum is what rounding took from the mean.
    if (finite == 0 || std::isfinite(distance[c])) {
      sum[c] = static_cast<double>(mean[c]) * count + distance[c];
      square[c] -= distance[c] * distance[c] * share;
    }
    partial[c] = sum[c];
    partial[width + c] = square[c];
  }
}

void group_statistics(const Plan& plan, const Args& args, std::int64_t g, float* mean,
                      float* inverse) {
  const Grid& grid = plan.grid;
  const auto width = static_cast<std::size_t>(grid.width());
  const auto count = static_cast<double>(grid.count());
  Doubles center{}, squares{};
  for (std::int64_t p = 0; p < grid.parts(); ++p) {
    const double* partial = plan.partial_of(args, g, p);
    for (std::size_t c = 0; c < width; ++c) center[c] += partial[c];
  }
  for (std::size_t c = 0; c < width; ++c) center[c] /= count;
  for (std::int64_t p = 0; p < grid.parts(); ++p) {
    const double* partial = plan.partial_of(args, g, p);
    const auto n = static_cast<double>(grid.count(p));
    const double share = 1 / n;
    for (std::size_t c = 0; c < width; ++c) {
      const double d = partial[c] * share - center[c];
      squares[c] += partial[width + c] + d * d * n;
    }
  }
  for (std::size_t c = 0; c < width; ++c) {
    mean[c] = static_cast<float>(center[c]);
    inverse[c] = static_cast<float>(1 / std::sqrt(squares[c] / count + plan.s.eps));
  }
}

/// The tensors of a normalisation, or of its repetition.
struct Output {
  const float *x, *gamma, *beta, *add;
  const float *mean, *inverse;
  float* y;
  std::uint8_t* mask;
};

void prepare_group(const Plan& plan, const Output& o, const Args& args, std::int64_t g) {
  Parameters* to = plan.parameters_of(args, g);
  plan.grid.spread(o.mean + g * plan.grid.width(), to[0]);
  plan.spread_scales(o.gamma, o.inverse, g, to[1]);
  plan.grid.spread(o.beta + g * plan.grid.width(), to[2]);
}

void normalize_part(const Plan& plan, const Output& o, const Args& args, std::int64_t g,
                    std::int64_t p) {
  const Grid& grid = plan.grid;
  const Parameters* parameters = plan.parameters_of(args, g);
  const std::int64_t offset = grid.offset(g, p);
  grid.loops().normalize(grid.part(p),
                         {.mean = parameters[0],
                          .scale = parameters[1],
                          .shift = parameters[2],
                          .relu = plan.s.relu,
                          .x = o.x + offset,
                          .add = o.add == nullptr ? nullptr : o.add + offset,
                          .y = o.y + offset,
                          .mask = o.mask == nullptr ? nullptr : o.mask + grid.mask_offset(g, p),
                          .stream = o.y != o.add && plan.streams(o.y)});
}

/// With the statistics of `o`.
void normalize_all(const Plan& plan, const Output& o, const Args& args) {
  for (std::int64_t g = 0; g < plan.grid.groups(); ++g) prepare_group(plan, o, args, g);
  plan.each_part([&](std::int64_t g, std::int64_t p) { normalize_part(plan, o, args, g, p); });
}

void run_forward(const Plan& plan, const Args& args) {
  const BatchNormSizes& s = plan.s;
  const Grid& grid = plan.grid;
  const std::int64_t channels = grid.channels();
  if (s.fix_gamma && plan.training) std::fill_n(args.mutable_in<float>(1), channels, 1.f);
  float *mean = args.wants(1) ? args.out<float>(1) : at<float>(args, plan.mean),
        *inverse = args.wants(2) ? args.out<float>(2) : at<float>(args, plan.inverse);
  const bool masks = s.relu != NormRelu::kNone && args.wants(3);
  const Output o{.x = args.in<float>(0),
                 .gamma = s.fix_gamma ? nullptr : args.in<float>(1),
                 .beta = args.in<float>(2),
                 .add = s.sum ? args.in<float>(5) : nullptr,
                 .mean = mean,
                 .inverse = inverse,
                 .y = args.out<float>(0),
                 .mask = masks ? args.out<std::uint8_t>(3) : nullptr};
  if (!args.run->is_train || s.global_stats) {
    std::copy_n(args.in<float>(3), channels, mean);
    for (std::int64_t c = 0; c < channels; ++c)
      inverse[c] =
          static_cast<float>(1 / std::sqrt(static_cast<double>(args.in<float>(4)[c]) + s.eps));
    normalize_all(plan, o, args);
    return;
  }
  plan.in_two_loops(
      [&](std::int64_t g, std::int64_t p) {
        part_statistics(plan, o.x, g, p, plan.partial_of(args, g, p));
      },
      [&](std::int64_t g) {
        group_statistics(plan, args, g, mean + g * grid.width(), inverse + g * grid.width());
        prepare_group(plan, o, args, g);
      },
      [&](std::int64_t g, std::int64_t p) { normalize_part(plan, o, args, g, p); });
}

}  // namespace

void Plan::spread_scales(const float* gamma, const float* inverse_std, std::int64_t group,
                         Parameters& to) const {
  const std::int64_t channel = group * grid.width();
  Floats scale;
  for (std::int64_t c = 0; c < grid.width(); ++c)
    scale[static_cast<std::size_t>(c)] =
        (gamma == nullptr ? 1.f : gamma[channel + c]) * inverse_std[channel + c];
  grid.spread(scale.data(), to);
}

Offer Plan::offer(const TensorDesc& x, const KernelRequest& r, bool sums) {
  Carver workspace;
  const auto channels = static_cast<std::size_t>(grid.channels()),
             parts = static_cast<std::size_t>(grid.parts()),
             groups = static_cast<std::size_t>(grid.groups());
  if (sums) partial = workspace.take(channels * parts * 2 * sizeof(double));
  mean = workspace.take(channels * sizeof(float));
  inverse = workspace.take(channels * sizeof(float));
  parameters = workspace.take(groups * kParameters * sizeof(Parameters));
  Offer offer = accept_plain(r, workspace.total());
  for (std::size_t i = 0; i < r.in.size(); ++i)
    if (r.in[i].shape == x.shape) offer.in_layouts[i] = x.layout;
  for (std::size_t o = 0; o < r.out.size(); ++o)
    if (r.out[o].shape == x.shape) offer.out_layouts[o] = x.layout;
  offer.inplace.emplace();
  return offer;
}

Offer offer(const BatchNormSizes& s, const KernelRequest& r) {
  if (std::string reason = Plan::unfit(r.in[0], r, 0); !reason.empty())
    return refuse(std::move(reason));
  auto plan = std::make_shared<Plan>(s, r.in[0], r);
  Offer offer = plan->offer(r.in[0], r, !s.global_stats);
  if (s.relu != NormRelu::kNone && r.wanted[3]) offer.opaque_bytes[3] = plan->grid.mask_bytes();
  if (s.sum) offer.inplace->emplace_back(5, 0);
  offer.plan = std::move(plan);
  return offer;
}

Prepared prepare(const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    run_forward(*plan, args);
  };
}

Offer offer_again(const BatchNormSizes& s, const KernelRequest& r) {
  if (std::string reason = Plan::unfit(r.in[0], r, 0); !reason.empty())
    return refuse(std::move(reason));
  auto plan = std::make_shared<Plan>(s, r.in[0], r);
  Offer offer = plan->offer(r.in[0], r, false);
  offer.plan = std::move(plan);
  return offer;
}

Prepared prepare_again(const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    normalize_all(*plan,
                  {.x = args.in<float>(0),
                   .gamma = plan->s.fix_gamma ? nullptr : args.in<float>(1),
                   .beta = args.in<float>(2),
                   .add = nullptr,
                   .mean = args.in<float>(3),
                   .inverse = args.in<float>(4),
                   .y = args.out<float>(0),
                   .mask = nullptr},
                  args);
  };
}

}  // namespace symbind::batch_norm
