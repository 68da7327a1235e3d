// Decided here: the gradient that arrives is masked and summed in the first loop. It is written
// only if something reads it later: the gradient of the added tensor, or, where two gradients
// arrive, the second loop, which finds it where it writes dx.
#include "kernels/batch_norm/batch_norm.h"
#include "kernels/batch_norm/plan.h"

namespace symbind::batch_norm {
namespace {

/// The second loop reads `dz`, with the mask if `masks_dz`.
struct Tensors {
  Heads heads;
  const float *x, *gamma, *mean, *inverse, *dz;
  bool masks_dz;
  float* dx;

  /// Whether a result is in the memory of an input.
  bool is_input(const float* to) const {
    return to == x || to == heads.first || to == heads.second;
  }
};

void sum_heads(const Plan& plan, const Tensors& t, std::int64_t g, std::int64_t p,
               double* partial) {
  const Grid& grid = plan.grid;
  Parameters mean;
  grid.spread(t.mean + g * grid.width(), mean);
  Floats sums, products;
  const std::int64_t offset = grid.offset(g, p);
  const auto moved = [&](auto* from) { return from == nullptr ? nullptr : from + offset; };
  const Heads heads{
      .first = t.heads.first + offset,
      .second = moved(t.heads.second),
      .mask = t.heads.mask == nullptr ? nullptr : t.heads.mask + grid.mask_offset(g, p),
      .total = moved(t.heads.total)};
  grid.loops().head_sums(grid.part(p), heads, t.x + offset, mean, sums.data(), products.data());
  grid.join(sums.data(), partial);
  grid.join(products.data(), partial + grid.width());
}

/// dβ, dγ and the parameters of the second loop.
void finish_sums(const Plan& plan, const Tensors& t, const Args& args, std::int64_t g) {
  const Grid& grid = plan.grid;
  const auto width = static_cast<std::size_t>(grid.width());
  Doubles sum{}, product{};
  for (std::int64_t p = 0; p < grid.parts(); ++p) {
    const double* partial = plan.partial_of(args, g, p);
    for (std::size_t c = 0; c < width; ++c) {
      sum[c] += partial[c];
      product[c] += partial[width + c];
    }
  }
  const auto count = static_cast<double>(grid.count());
  Floats a, b;
  for (std::size_t c = 0; c < width; ++c) {
    const std::int64_t channel = g * grid.width() + static_cast<std::int64_t>(c);
    const auto inverse = static_cast<double>(t.inverse[channel]);
    const double dgamma = product[c] * inverse;
    a[c] = static_cast<float>(sum[c] / count);
    b[c] = static_cast<float>(dgamma * inverse / count);
    if (args.wants(1))
      args.out<float>(1)[channel] = plan.s.fix_gamma ? 0 : static_cast<float>(dgamma);
    if (args.wants(2)) args.out<float>(2)[channel] = static_cast<float>(sum[c]);
  }
  Parameters* to = plan.parameters_of(args, g);
  grid.spread(t.mean + g * grid.width(), to[0]);
  grid.spread(a.data(), to[1]);
  grid.spread(b.data(), to[2]);
  plan.spread_scales(t.gamma, t.inverse, g, to[3]);
}

void write_gradient(const Plan& plan, const Tensors& t, const Args& args, std::int64_t g,
                    std::int64_t p) {
  const Grid& grid = plan.grid;
  const Parameters* parameters = plan.parameters_of(args, g);
  const std::int64_t offset = grid.offset(g, p);
  grid.loops().gradient(grid.part(p),
                        {.mean = parameters[0],
                         .a = parameters[1],
                         .b = parameters[2],
                         .scale = parameters[3],
                         .dz = t.dz + offset,
                         .x = plan.s.global_stats ? nullptr : t.x + offset,
                         .mask = t.masks_dz ? t.heads.mask + grid.mask_offset(g, p) : nullptr,
                         .dx = t.dx + offset,
                         .stream = t.dx != t.dz && !t.is_input(t.dx) && plan.streams(t.dx)});
}

Tensors tensors_of(const Plan& plan, const Args& args) {
  const bool masks = plan.s.relu != NormRelu::kNone;
  Tensors t{.heads = {.first = args.in<float>(0),
                      .second = plan.two_heads ? args.in<float>(masks ? 8 : 7) : nullptr,
                      .mask = masks ? args.in<std::uint8_t>(7) : nullptr,
                      .total = plan.s.sum && args.wants(3) ? args.out<float>(3) : nullptr},
            .x = args.in<float>(1),
            .gamma = plan.s.fix_gamma ? nullptr : args.in<float>(2),
            .mean = args.in<float>(3),
            .inverse = args.in<float>(4),
            .dz = nullptr,
            .masks_dz = false,
            .dx = args.wants(0) ? args.out<float>(0) : nullptr};
  if (t.heads.total == nullptr && plan.two_heads) t.heads.total = t.dx;
  t.dz = t.heads.total != nullptr ? t.heads.total : t.heads.first;
  t.masks_dz = masks && t.heads.total == nullptr;
  return t;
}

void run_backward(const Plan& plan, const Args& args) {
  const Tensors t = tensors_of(plan, args);
  plan.in_two_loops([&](std::int64_t g,
                        std::int64_t p) { sum_heads(plan, t, g, p, plan.partial_of(args, g, p)); },
                    [&](std::int64_t g) { finish_sums(plan, t, args, g); },
                    [&](std::int64_t g, std::int64_t p) {
                      if (t.dx != nullptr) write_gradient(plan, t, args, g, p);
                    });
  if (plan.s.global_stats) return;
  float *moving_mean = args.mutable_in<float>(5), *moving_var = args.mutable_in<float>(6);
  const float keep = plan.s.momentum;
  for (std::int64_t c = 0; c < plan.grid.channels(); ++c) {
    const auto inverse = static_cast<double>(t.inverse[c]);
    const double variance = 1 / (inverse * inverse) - plan.s.eps;
    moving_mean[c] = moving_mean[c] * keep + t.mean[c] * (1 - keep);
    moving_var[c] =
        moving_var[c] * keep + static_cast<float>(variance < 0 ? 0 : variance) * (1 - keep);
  }
}

}  // namespace

Offer offer_backward(const BatchNormSizes& s, bool two_heads, const KernelRequest& r) {
  if (std::string reason = Plan::unfit(r.in[1], r, 1); !reason.empty())
    return refuse(std::move(reason));
  auto plan = std::make_shared<Plan>(s, r.in[1], r);
  plan->two_heads = two_heads;
  Offer offer = plan->offer(r.in[1], r, true);
  // The first loop has read the heads where the second one writes dx; each loop writes a number
  // after it has read those at the same place.
  const int second = static_cast<int>(r.in.size()) - 1;
  offer.inplace->emplace_back(0, 0);
  if (two_heads) offer.inplace->emplace_back(second, 0);
  const bool holds_dz = two_heads && !(s.sum && r.wanted[3]);
  if (!holds_dz) offer.inplace->emplace_back(1, 0);
  if (s.sum) {
    if (two_heads) offer.inplace->emplace_back(second, 3);
    offer.inplace->emplace_back(0, 3);
  }
  offer.plan = std::move(plan);
  return offer;
}

Prepared prepare_backward(const Offer& offer) {
  return [plan = std::static_pointer_cast<const Plan>(offer.plan)](const Args& args) {
    run_backward(*plan, args);
  };
}

}  // namespace symbind::batch_norm
