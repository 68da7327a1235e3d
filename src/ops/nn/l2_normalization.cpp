// L2Normalization: rows scaled to the length 1.
//
//   n = sqrt(Σ x² + eps),   y = x / n,   dx = (dy − y Σ dy·y) / n
//
// A row is a sample ("instance"), the channels of one position ("channel") or one channel of one
// sample ("spatial"). Decided here: n is a hidden output; the gradient reads y and n, so x may be
// freed.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/vector/rows.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct L2NormalizationAttrs {
  float eps = 1e-10f;
  std::string mode = "instance";

  void describe(AttrVisitor& v) {
    v.field("eps", eps, "Added to the sum of squares.");
    v.field("mode", mode, "What is scaled to the length 1.")
        .choices({"channel", "instance", "spatial"});
  }
};

Shape norm_shape(const L2NormalizationAttrs& a, const Shape& x) {
  check(x.rank() >= (a.mode == "instance" ? 1 : 3), ErrorKind::kShape,
        "mode {} needs data of rank {} or more, this is {}", a.mode, a.mode == "instance" ? 1 : 3,
        x.str());
  if (a.mode == "instance") return Shape{x[0]};
  if (a.mode == "spatial") return Shape{x[0], x[1]};
  Shape norm = x;
  norm[1] = 1;
  return norm;
}

void infer(const L2NormalizationAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  const Shape& x = io.shape(io.in(0));
  if (x.rank_known()) io.set_shape(io.out(1), norm_shape(a, x), "one length for every row");
}

// Inputs: dy, y, n.
void infer_backward(const L2NormalizationAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(0), io.out(0));
  io.same_shape(io.in(1), io.out(0));
  const Shape& x = io.shape(io.out(0));
  if (x.rank_known()) io.set_shape(io.in(2), norm_shape(a, x), "one length for every row");
}

NodeEntries gradient(const L2NormalizationAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_L2Normalization", {g.head(0), g.output(0), g.output(1)});
}

/// Rows of `extent` elements, `stride` apart.
struct Rows {
  std::int64_t count, extent, stride;
  Rows(const L2NormalizationAttrs& a, const Shape& x) {
    const int first = a.mode == "spatial" ? 2 : 1, last = a.mode == "channel" ? 2 : x.rank();
    extent = x.count(first, last);
    stride = x.count(last);
    count = x.count(0, first) * stride;
  }
  template <class F>
  void each(F&& f) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / 4 / (extent + 1));
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        f(row, extent == 0 ? 0 : row / stride * extent * stride + row % stride);
    });
  }
};

Prepared forward(const L2NormalizationAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [rows = Rows(a, r.in[0].shape), eps = static_cast<double>(a.eps)](const Args& args) {
      rows.each([&](std::int64_t row, std::int64_t at) {
        const T* x = args.in<T>(0) + at;
        T* y = args.out<T>(0) + at;
        if constexpr (std::is_same_v<T, float>) {
          if (rows.stride == 1) {
            const vector::NormTable& f = vector::norm_kernels().best();
            const auto norm = static_cast<float>(std::sqrt(eps + f.squares(x, rows.extent)));
            if (args.wants(1)) args.out<float>(1)[row] = norm;
            return f.divide(x, y, rows.extent, norm);
          }
        }
        double sum = eps;
        for (std::int64_t i = 0; i < rows.extent; ++i) {
          const double v = static_cast<double>(x[i * rows.stride]);
          sum += v * v;
        }
        using Acc = Accumulator<T>;
        const Acc norm = static_cast<Acc>(std::sqrt(sum));
        if (args.wants(1)) args.out<T>(1)[row] = static_cast<T>(norm);
        for (std::int64_t i = 0; i < rows.extent; ++i)
          y[i * rows.stride] = static_cast<T>(static_cast<Acc>(x[i * rows.stride]) / norm);
      });
    };
  });
}

Prepared backward(const L2NormalizationAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    return [rows = Rows(a, r.in[0].shape)](const Args& args) {
      rows.each([&](std::int64_t row, std::int64_t at) {
        const T *dy = args.in<T>(0) + at, *y = args.in<T>(1) + at;
        T* dx = args.out<T>(0) + at;
        if constexpr (std::is_same_v<T, float>) {
          if (rows.stride == 1) {
            const vector::NormTable& f = vector::norm_kernels().best();
            return f.subtract_scaled(dy, y, dx, rows.extent,
                                     static_cast<float>(f.dot(dy, y, rows.extent)),
                                     1 / args.in<float>(2)[row]);
          }
        }
        double sum = 0;
        for (std::int64_t i = 0; i < rows.extent; ++i)
          sum += static_cast<double>(dy[i * rows.stride]) * static_cast<double>(y[i * rows.stride]);
        const Acc inverse = 1 / static_cast<Acc>(args.in<T>(2)[row]), s = static_cast<Acc>(sum);
        for (std::int64_t i = 0; i < rows.extent; ++i)
          dx[i * rows.stride] = static_cast<T>(
              (static_cast<Acc>(dy[i * rows.stride]) - static_cast<Acc>(y[i * rows.stride]) * s) *
              inverse);
      });
    };
  });
}

}  // namespace

void register_l2_normalization(OpRegistry& r) {
  r.add<L2NormalizationAttrs>("L2Normalization")
      .slices(Slices::kFirst)
      .precision(Precision::kAsStored)
      .flops(3, Per::kFirstInput)
      .inputs(std::vector<std::string>{"data"})
      .doc("Scales samples, positions or channels to the length 1.")
      .outputs({"output", "norm"}, 1)
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .inplace(0, 0)
      .reference(forward);
  r.add<L2NormalizationAttrs>("_backward_L2Normalization")
      .precision(Precision::kAsStored)
      .backward()
      .inputs({"dy", "output", "norm"})
      .infer(infer_backward)
      .inplace(0, 0)
      .inplace(1, 0)
      .reference(backward);
}

}  // namespace symbind
