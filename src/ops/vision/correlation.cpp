// Correlation: patches of one image compared with displaced patches of another.
//
//   y[n, d, i, j] = mean over a patch and all channels of  a·b, or |a − b| unless is_multiply
//
// with a of data1 at (i, j)·stride1 + max_displacement and b of data2 displaced from there by
// stride2·(d % w − r, d / w − r), r = max_displacement / stride2, w = 2r + 1; both images are
// padded with pad_size zeros. Decided here: equal elements count as a > b in the gradient of |a −
// b|, as in MXNet.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct CorrelationAttrs {
  int kernel_size = 1, max_displacement = 1, stride1 = 1, stride2 = 1, pad_size = 0;
  bool is_multiply = true;

  void describe(AttrVisitor& v) {
    v.field("kernel_size", kernel_size, "Size of a patch; odd.").at_least(1);
    v.field("max_displacement", max_displacement, "The farthest displacement.").at_least(0);
    v.field("stride1", stride1, "Distance between the patches of data1.").at_least(1);
    v.field("stride2", stride2, "Distance between the displacements.").at_least(1);
    v.field("pad_size", pad_size, "Zeros around both images.").at_least(0);
    v.field("is_multiply", is_multiply,
            "Whether to multiply; else the absolute difference is used.");
  }
};

struct Sizes {
  std::int64_t channels = 0, height = 0, width = 0, displacements = 0, h = 0, w = 0;
  std::int64_t reach = 0, grid = 1;  ///< displacements along an axis: grid = 2·reach + 1
  std::int64_t patch = 1;            ///< elements of a patch
  Sizes(const CorrelationAttrs& a, const Shape& x) : reach(a.max_displacement / a.stride2) {
    const std::int64_t border = std::int64_t{a.max_displacement} + (a.kernel_size - 1) / 2;
    const auto positions = [&](std::int64_t extent) {
      return (extent + 2 * std::int64_t{a.pad_size} - 2 * border + a.stride1 - 1) / a.stride1;
    };
    channels = x[1], height = x[2], width = x[3];
    grid = 2 * reach + 1;
    displacements = checked_mul(grid, grid, "the number of displacements");
    patch = std::int64_t{a.kernel_size} * a.kernel_size;
    h = positions(height), w = positions(width);
  }
};

void infer(const CorrelationAttrs& a, Inference& io) {
  io.all_same_dtype();
  check(a.kernel_size % 2 == 1, "kernel_size {} must be odd", a.kernel_size);
  io.same_shape(io.in(0), io.in(1));
  io.set_shape(io.in(0), Shape::of_rank(4), "(batch, channels, height, width)");
  const Shape& x = io.shape(io.in(0));
  Shape out = Shape::of_rank(4);
  out[0] = x[0];
  out[1] = Sizes(a, Shape{1, 1, 1, 1}).displacements;
  if (x.known()) {
    const Sizes z(a, x);
    check(z.h >= 1 && z.w >= 1, ErrorKind::kShape,
          "max_displacement {} and kernel_size {} leave nothing of {}; pad more",
          a.max_displacement, a.kernel_size, x.str());
    out[2] = z.h;
    out[3] = z.w;
  }
  io.set_shape(io.out(0), out, "(batch, displacements, positions)");
  io.set_shape(io.in(0), Shape{io.shape(io.out(0))[0], kUnknownDim, kUnknownDim, kUnknownDim},
               "it follows from the output");
}

// Inputs: dy, data1, data2. Outputs: their gradients.
void infer_backward(const CorrelationAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.in(2));
  io.same_shape(io.in(1), io.out(0));
  io.same_shape(io.in(2), io.out(1));
  tie_to_forward(a, io, infer,
                 {.inputs = 2, .outputs = 1, .from = {io.out(0), io.in(0), io.in(1)}});
}

/// Calls f(output within its image, offset in data1, offset in data2) for all compared pairs;
/// offsets are within a plane, -1 in the padding.
template <class F>
void each_pair(const CorrelationAttrs& a, const Sizes& z, std::int64_t displacement, F&& f) {
  const std::int64_t dx = (displacement % z.grid - z.reach) * a.stride2,
                     dy = (displacement / z.grid - z.reach) * a.stride2;
  const auto place = [&](std::int64_t row, std::int64_t column) {
    const bool inside = row >= 0 && row < z.height && column >= 0 && column < z.width;
    return inside ? row * z.width + column : -1;
  };
  for (std::int64_t i = 0; i < z.h; ++i)
    for (std::int64_t j = 0; j < z.w; ++j)
      for (std::int64_t k = 0; k < z.patch; ++k) {
        const std::int64_t row =
            i * a.stride1 + a.max_displacement + k / a.kernel_size - a.pad_size;
        const std::int64_t column =
            j * a.stride1 + a.max_displacement + k % a.kernel_size - a.pad_size;
        f((displacement * z.h + i) * z.w + j, place(row, column), place(row + dy, column + dx));
      }
}

Prepared forward(const CorrelationAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, z = Sizes(a, r.in[0].shape), batch = r.in[0].shape[0]](const Args& args) {
      const std::int64_t plane = z.height * z.width, out = z.displacements * z.h * z.w;
      const double count = static_cast<double>(z.patch) * static_cast<double>(z.channels);
      const std::int64_t grain = grain_of(z.h * z.w);
      parallel_for(batch * z.displacements, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          const std::int64_t n = p / z.displacements;
          const T *x1 = args.in<T>(0) + n * z.channels * plane,
                  *x2 = args.in<T>(1) + n * z.channels * plane;
          T* y = args.out<T>(0) + n * out;
          std::int64_t at = -1;
          double sum = 0;
          each_pair(a, z, p % z.displacements, [&](std::int64_t o, std::int64_t i, std::int64_t j) {
            if (o != at) sum = 0, at = o;
            for (std::int64_t c = 0; c < z.channels; ++c) {
              const double u = i < 0 ? 0 : static_cast<double>(x1[c * plane + i]),
                           v = j < 0 ? 0 : static_cast<double>(x2[c * plane + j]);
              sum += a.is_multiply ? u * v : std::abs(u - v);
            }
            y[o] = static_cast<T>(static_cast<Accumulator<T>>(sum / count));
          });
        }
      });
    };
  });
}

Offer offer_backward(const CorrelationAttrs&, const KernelRequest& r) {
  return accept_plain(r, static_cast<std::size_t>(r.in[1].shape.size()) * 16);
}

// One thread handles a channel of an image; sums are in double.
Prepared backward(const CorrelationAttrs& a, const KernelRequest& r, const Offer&) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [a, z = Sizes(a, r.in[1].shape), size = r.in[1].shape.size(),
            batch = r.in[1].shape[0]](const Args& args) {
      const std::int64_t plane = z.height * z.width, out = z.displacements * z.h * z.w;
      const double count = static_cast<double>(z.patch) * static_cast<double>(z.channels);
      double *sum1 = static_cast<double*>(args.workspace), *sum2 = sum1 + size;
      const std::int64_t grain = grain_of(out);
      parallel_for(batch * z.channels, grain, [&](std::int64_t begin, std::int64_t end) {
        std::fill(sum1 + begin * plane, sum1 + end * plane, 0.0);
        std::fill(sum2 + begin * plane, sum2 + end * plane, 0.0);
        for (std::int64_t p = begin; p < end; ++p) {
          const T *dy = args.in<T>(0) + p / z.channels * out, *x1 = args.in<T>(1) + p * plane,
                  *x2 = args.in<T>(2) + p * plane;
          for (std::int64_t d = 0; d < z.displacements; ++d)
            each_pair(a, z, d, [&](std::int64_t o, std::int64_t i, std::int64_t j) {
              const double head = static_cast<double>(dy[o]) / count;
              const double u = i < 0 ? 0 : static_cast<double>(x1[i]),
                           v = j < 0 ? 0 : static_cast<double>(x2[j]);
              const double sign = u >= v ? 1 : -1;
              if (i >= 0) sum1[p * plane + i] += head * (a.is_multiply ? v : sign);
              if (j >= 0) sum2[p * plane + j] += head * (a.is_multiply ? u : -sign);
            });
        }
        for (int o = 0; o < 2; ++o)
          for (std::int64_t i = begin * plane; args.wants(o) && i < end * plane; ++i)
            args.out<T>(o)[i] =
                static_cast<T>(static_cast<Accumulator<T>>(o == 0 ? sum1[i] : sum2[i]));
      });
    };
  });
}

}  // namespace

void register_correlation(OpRegistry& r) {
  using A = CorrelationAttrs;
  r.add<A>("Correlation")
      .doc("Compares patches of one image with displaced patches of another.")
      .inputs({"data1", "data2"})
      .infer(infer)
      .gradient([](const A&, GradientBuilder& g) {
        return g.call_with_same_attrs("_backward_Correlation", {g.head(0), g.input(0), g.input(1)});
      })
      .reference(forward);
  r.add<A>("_backward_Correlation")
      .backward()
      .inputs({"dy", "data1", "data2"})
      .outputs({"data1", "data2"})
      .skips_unread()
      .infer(infer_backward)
      .kernel(DeviceType::kCpu, "reference", offer_backward, backward);
}

}  // namespace symbind
