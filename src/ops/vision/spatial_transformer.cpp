// BilinearSampler, GridGenerator and SpatialTransformer: images sampled at positions that a net
// computes.
//
// A grid (batch, 2, h, w) has x, then y, of every output element, from −1 to 1 over the image.
//   BilinearSampler     y = the four neighbours of the position, weighted by nearness; outside is 0
//   GridGenerator       affine: position = θ (x', y', 1)ᵀ, θ = data as 2×3, x' and y' from −1 to 1;
//                       warp: data is a flow in pixels, added to every element's position
//   SpatialTransformer  BilinearSampler at the affine grid of `loc`
//
// Decided here: SpatialTransformer's gradient is that of the other two, as graph nodes. A target of
// extent 1 reads at −1 (MXNet: NaN).
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct SamplerAttrs {
  std::optional<bool> cudnn_off;
  void describe(AttrVisitor& v) { v.field("cudnn_off", cudnn_off, "Accepted, without effect."); }
};
struct GridAttrs {
  std::string transform_type;
  Tuple target_shape{0, 0};
  void describe(AttrVisitor& v) {
    v.field("transform_type", transform_type, "The meaning of the data.")
        .required()
        .choices({"affine", "warp"});
    v.field("target_shape", target_shape, "The grid's size (h, w); affine only.");
  }
  bool affine() const { return transform_type == "affine"; }
};
struct TransformerAttrs {
  Tuple target_shape{0, 0};
  std::string transform_type, sampler_type;
  std::optional<bool> cudnn_off;
  void describe(AttrVisitor& v) {
    v.field("target_shape", target_shape, "The output's size (h, w).");
    v.field("transform_type", transform_type, "The kind of transform.")
        .required()
        .choices({"affine"});
    v.field("sampler_type", sampler_type, "The kind of sampler.").required().choices({"bilinear"});
    v.field("cudnn_off", cudnn_off, "Accepted, without effect.");
  }
};

void check_target(const Tuple& target) {
  check(target.size() == 2 && target[0] > 0 && target[1] > 0,
        "target_shape {} must be two positive numbers", tuple_text(target));
}

// ---- Inference ----------------------------------------------------------------------------------

void infer_sampler(const SamplerAttrs&, Inference& io) {
  io.all_same_dtype();
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, channels, height, width)");
  io.set_shape(io.in(1), Shape{io.shape(io.in(0))[0], 2, kUnknownDim, kUnknownDim},
               "x and y of every output element");
  const Shape &x = io.shape(io.in(0)), &grid = io.shape(io.in(1));
  io.set_shape(io.out(0), Shape{x[0], x[1], grid[2], grid[3]}, "as large as the grid");
  const Shape y = io.shape(io.out(0));
  io.set_shape(io.in(0), Shape{y[0], y[1], kUnknownDim, kUnknownDim}, "it follows from the output");
  io.set_shape(io.in(1), Shape{y[0], 2, y[2], y[3]}, "as large as the output");
}

void infer_grid(const GridAttrs& a, Inference& io) {
  io.all_same_dtype();
  if (!a.affine()) {
    io.set_shape(io.in(0), Shape{kUnknownDim, 2, kUnknownDim, kUnknownDim}, "a flow in x and y");
    return io.same_shape(io.in(0), io.out(0));
  }
  check_target(a.target_shape);
  io.set_shape(io.in(0), Shape{kUnknownDim, 6}, "a 2×3 matrix for every sample");
  io.set_shape(io.out(0), Shape{io.shape(io.in(0))[0], 2, a.target_shape[0], a.target_shape[1]},
               "x and y of every position");
  io.set_shape(io.in(0), Shape{io.shape(io.out(0))[0], 6}, "it follows from the output");
}

void infer_transformer(const TransformerAttrs& a, Inference& io) {
  io.all_same_dtype();
  check_target(a.target_shape);
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, channels, height, width)");
  io.set_shape(io.in(1), Shape{io.shape(io.in(0))[0], 6}, "a 2×3 matrix for every sample");
  io.set_shape(
      io.out(0),
      Shape{io.shape(io.in(1))[0], io.shape(io.in(0))[1], a.target_shape[0], a.target_shape[1]},
      "(batch, channels, target_shape)");
  const Shape y = io.shape(io.out(0));
  io.set_shape(io.in(0), Shape{y[0], y[1], kUnknownDim, kUnknownDim}, "it follows from the output");
  io.set_shape(io.in(1), Shape{y[0], 6}, "it follows from the output");
}

// Inputs: dy, data, grid. Outputs: their gradients.
void infer_sampler_backward(const SamplerAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
  tie_to_forward(a, io, infer_sampler,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0), io.in(1)}});
}
// Inputs: dy, and the data for its shape.
void infer_grid_backward(const GridAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  tie_to_forward(a, io, infer_grid, {.inputs = 1, .outputs = 1, .from = {io.out(0), io.in(0)}});
}

NodeEntries transformer_gradient(const TransformerAttrs& a, GradientBuilder& g) {
  const AttrDict grid_attrs{{"transform_type", "affine"},
                            {"target_shape", tuple_text(a.target_shape)}};
  const NodeEntry grid = g.call("GridGenerator", {g.input(1)}, grid_attrs);
  const NodeEntry d = g.call("_backward_BilinearSampler", {g.head(0), g.input(0), grid});
  return {d, g.call("_backward_GridGenerator", {NodeEntry{d.node, 1}, g.input(1)}, grid_attrs)};
}

// ---- The grid -----------------------------------------------------------------------------------

/// Position i of n from −1 to 1.
template <class Acc>
Acc unit(std::int64_t i, std::int64_t n) {
  return n > 1 ? Acc(-1) + static_cast<Acc>(i) * (Acc(2) / static_cast<Acc>(n - 1)) : Acc(-1);
}

template <class T>
void affine_grid(std::int64_t batch, std::int64_t h, std::int64_t w, const T* theta, T* grid) {
  using Acc = Accumulator<T>;
  parallel_for(batch * 2 * h, 16, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* m = theta + row / h * 3;
      for (std::int64_t j = 0; j < w; ++j)
        grid[row * w + j] =
            static_cast<T>(static_cast<Acc>(m[0]) * unit<Acc>(j, w) +
                           static_cast<Acc>(m[1]) * unit<Acc>(row % h, h) + static_cast<Acc>(m[2]));
    }
  });
}

Prepared forward_grid(const GridAttrs& a, const KernelRequest& r) {
  const Shape& y = r.out[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [affine = a.affine(), n = y[0], h = y[2], w = y[3]](const Args& args) {
      if (affine) return affine_grid(n, h, w, args.in<T>(0), args.out<T>(0));
      const T* flow = args.in<T>(0);
      T* grid = args.out<T>(0);
      for (std::int64_t i = 0; i < n * 2 * h * w; ++i) {
        const bool x = i / (h * w) % 2 == 0;
        const Acc own = static_cast<Acc>(x ? i % w : i / w % h),
                  half = static_cast<Acc>((x ? w : h) - 1) / 2;
        grid[i] = static_cast<T>((static_cast<Acc>(flow[i]) + own) / half - 1);
      }
    };
  });
}

Prepared backward_grid(const GridAttrs& a, const KernelRequest& r) {
  const Shape& y = r.in[0].shape;
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [affine = a.affine(), n = y[0], h = y[2], w = y[3]](const Args& args) {
      const T* dy = args.in<T>(0);
      T* dx = args.out<T>(0);
      for (std::int64_t row = 0; affine && row < n * 2; ++row) {
        double sums[3] = {};
        for (std::int64_t i = 0; i < h * w; ++i) {
          const double d = static_cast<double>(dy[row * h * w + i]);
          sums[0] += d * unit<double>(i % w, w);
          sums[1] += d * unit<double>(i / w, h);
          sums[2] += d;
        }
        for (int k = 0; k < 3; ++k) dx[row * 3 + k] = static_cast<T>(static_cast<Acc>(sums[k]));
      }
      for (std::int64_t i = 0; !affine && i < n * 2 * h * w; ++i) {
        const Acc half = static_cast<Acc>((i / (h * w) % 2 == 0 ? w : h) - 1) / 2;
        dx[i] = static_cast<T>(static_cast<Acc>(dy[i]) / half);
      }
    };
  });
}

// ---- The sampler --------------------------------------------------------------------------------

struct Sizes {
  std::int64_t batch, channels, height, width, h, w;
  Sizes(const Shape& x, const Shape& y)
      : batch(x[0]), channels(x[1]), height(x[2]), width(x[3]), h(y[2]), w(y[3]) {}
};

/// A position in an image: its upper left neighbour, and the weight of that along both axes.
template <class Acc>
struct Place {
  template <class T>
  Place(const Sizes& z, const T* grid, std::int64_t n, std::int64_t i) {
    const T* at = grid + n * 2 * z.h * z.w + i;
    const Acc x = (static_cast<Acc>(at[0]) + 1) * static_cast<Acc>(z.width - 1) / 2,
              y = (static_cast<Acc>(at[z.h * z.w]) + 1) * static_cast<Acc>(z.height - 1) / 2;
    // Far outside there is no pixel, and the position would overflow an integer.
    const auto floor_of = [](Acc v, std::int64_t extent) {
      const Acc f = std::floor(v);
      return f >= -2 && f <= static_cast<Acc>(extent) ? static_cast<std::int64_t>(f)
                                                      : std::int64_t{-2};
    };
    left = floor_of(x, z.width);
    top = floor_of(y, z.height);
    wx = 1 - (x - std::floor(x));
    wy = 1 - (y - std::floor(y));
  }
  /// Calls f(offset in the plane, weight, dweight/dx, dweight/dy) for each neighbour inside.
  template <class F>
  void each(const Sizes& z, F&& f) const {
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t row = top + k / 2, column = left + k % 2;
      if (row < 0 || row >= z.height || column < 0 || column >= z.width) continue;
      const Acc x = k % 2 == 0 ? wx : 1 - wx, y = k / 2 == 0 ? wy : 1 - wy;
      f(row * z.width + column, x * y, (k % 2 == 0 ? -y : y), (k / 2 == 0 ? -x : x));
    }
  }
  std::int64_t left, top;
  Acc wx, wy;
};

template <class T>
void sample(const Sizes& z, const T* x, const T* grid, T* y) {
  using Acc = Accumulator<T>;
  const std::int64_t out = z.h * z.w, in = z.height * z.width;
  parallel_for(z.batch * out, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t n = p / out, i = p % out;
      const Place<Acc> place(z, grid, n, i);
      for (std::int64_t c = 0; c < z.channels; ++c) {
        const T* plane = x + (n * z.channels + c) * in;
        Acc sum = 0;
        place.each(z, [&](std::int64_t at, Acc weight, Acc, Acc) {
          sum += weight * static_cast<Acc>(plane[at]);
        });
        y[(n * z.channels + c) * out + i] = static_cast<T>(sum);
      }
    }
  });
}

Prepared forward_sampler(const SamplerAttrs&, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [z = Sizes(r.in[0].shape, r.out[0].shape)](const Args& args) {
      sample(z, args.in<T>(0), args.in<T>(1), args.out<T>(0));
    };
  });
}

Offer offer_sampler_backward(const SamplerAttrs&, const KernelRequest& r) {
  const std::size_t element = r.in[0].dtype == DType::kFloat64 ? 8 : 4;
  return accept_plain(r, static_cast<std::size_t>(r.in[1].shape.size()) * element);
}

// One thread handles a sample: positions may share neighbours.
Prepared backward_sampler(const SamplerAttrs&, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [z = Sizes(r.in[1].shape, r.in[0].shape)](const Args& args) {
      const T *dy = args.in<T>(0), *x = args.in<T>(1), *grid = args.in<T>(2);
      const std::int64_t out = z.h * z.w, in = z.height * z.width;
      Acc* sums = static_cast<Acc*>(args.workspace);
      const std::int64_t grain = grain_of(8 * out * z.channels);
      parallel_for(z.batch, grain, [&](std::int64_t begin, std::int64_t end) {
        std::fill(sums + begin * z.channels * in, sums + end * z.channels * in, Acc(0));
        for (std::int64_t p = begin * out; p < end * out; ++p) {
          const std::int64_t n = p / out, i = p % out;
          const Place<Acc> place(z, grid, n, i);
          Acc of_x = 0, of_y = 0;
          for (std::int64_t c = 0; c < z.channels; ++c) {
            const std::int64_t plane = (n * z.channels + c) * in;
            const Acc head = static_cast<Acc>(dy[(n * z.channels + c) * out + i]);
            place.each(z, [&](std::int64_t at, Acc weight, Acc dx, Acc dy_) {
              const Acc v = static_cast<Acc>(x[plane + at]);
              sums[plane + at] += head * weight;
              of_x += head * v * dx;
              of_y += head * v * dy_;
            });
          }
          if (!args.wants(1)) continue;
          T* to = args.out<T>(1) + n * 2 * out + i;
          to[0] = static_cast<T>(of_x * static_cast<Acc>(z.width - 1) / 2);
          to[out] = static_cast<T>(of_y * static_cast<Acc>(z.height - 1) / 2);
        }
        if (args.wants(0))
          for (std::int64_t i = begin * z.channels * in; i < end * z.channels * in; ++i)
            args.out<T>(0)[i] = static_cast<T>(sums[i]);
      });
    };
  });
}

Offer offer_transformer(const TransformerAttrs&, const KernelRequest& r) {
  const Shape& y = r.out[0].shape;
  return accept_plain(r, static_cast<std::size_t>(y[0] * 2 * y[2] * y[3]) * size_of(r.in[0].dtype));
}

Prepared forward_transformer(const TransformerAttrs&, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [z = Sizes(r.in[0].shape, r.out[0].shape)](const Args& args) {
      T* grid = static_cast<T*>(args.workspace);
      affine_grid(z.batch, z.h, z.w, args.in<T>(1), grid);
      sample(z, args.in<T>(0), grid, args.out<T>(0));
    };
  });
}

}  // namespace

void register_spatial_transformer(OpRegistry& r) {
  r.add<SamplerAttrs>("BilinearSampler")
      .doc("Images sampled at the positions of a grid.")
      .inputs({"data", "grid"})
      .infer(infer_sampler)
      .gradient([](const SamplerAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_BilinearSampler",
                                      {g.head(0), g.input(0), g.input(1)});
      })
      .reference(forward_sampler);
  r.add<SamplerAttrs>("_backward_BilinearSampler")
      .backward()
      .inputs({"dy", "data", "grid"})
      .outputs({"data", "grid"})
      .skips_unread()
      .infer(infer_sampler_backward)
      .kernel(DeviceType::kCpu, "reference", offer_sampler_backward, backward_sampler);
  r.add<GridAttrs>("GridGenerator")
      .inputs(std::vector<std::string>{"data"})
      .doc("The positions that an affine transform or a flow reads.")
      .infer(infer_grid)
      .gradient([](const GridAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_GridGenerator", {g.head(0), g.input(0)});
      })
      .reference(forward_grid);
  r.add<GridAttrs>("_backward_GridGenerator")
      .backward()
      .inputs({"dy", "data"})
      .shape_only({1})
      .infer(infer_grid_backward)
      .reference(backward_grid);
  r.add<TransformerAttrs>("SpatialTransformer")
      .doc("Images under an affine transform that a net computes.")
      .inputs({"data", "loc"})
      .infer(infer_transformer)
      .gradient(transformer_gradient)
      .kernel(DeviceType::kCpu, "reference", offer_transformer, forward_transformer);
}

}  // namespace symbind
