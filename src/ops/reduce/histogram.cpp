// How many elements fall into each bin.
//
//   bin i counts b[i] ≤ x < b[i+1], the last also x = b[n]; elements outside and NaN are skipped
//
// Decided here: bounds are given as an input, which must ascend, or as `bin_cnt` equal parts of
// `range`. The counts are int64; the bounds, of the data's type, are the second output. Every
// thread has its own counts, which are then added. No gradient.
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct HistogramAttrs {
  std::optional<int> bin_cnt;
  FloatTuple range;
  void describe(AttrVisitor& v) {
    v.field("bin_cnt", bin_cnt, "Number of equal bins; needs range.").at_least(1);
    v.field("range", range, "The lower and the upper end of the bins; needs bin_cnt.");
  }
  bool has_bins_input() const { return !bin_cnt && range.empty(); }
};

void check_attrs(const HistogramAttrs& a) {
  if (a.has_bins_input()) return;
  check(a.bin_cnt && a.range.size() == 2,
        "bin_cnt and range=(low, high) belong together: give both");
  check(a.range[0] <= a.range[1], "range=({}, {}) must not descend", a.range[0], a.range[1]);
}

void infer(const HistogramAttrs& a, Inference& io) {
  check_attrs(a);
  io.set_dtype(io.out(0), DType::kInt64, "counts are int64");
  io.same_dtype(io.in(0), io.out(1));
  if (!a.has_bins_input()) {
    io.set_shape(io.out(0), Shape{*a.bin_cnt}, "attribute bin_cnt");
    io.set_shape(io.out(1), Shape{std::int64_t{*a.bin_cnt} + 1}, "one bound more than bins");
    return;
  }
  io.same_dtype(io.in(0), io.in(1));
  io.same_dtype(io.in(0), io.out(1));
  io.set_shape(io.in(1), Shape::of_rank(1), "the bounds are a vector");
  io.same_shape(io.in(1), io.out(1));
  const std::int64_t bounds = io.shape(io.in(1))[0];
  check(bounds < 0 || bounds > 1, ErrorKind::kShape, "a bin needs two bounds, {} were given",
        bounds);
  if (bounds > 0) io.set_shape(io.out(0), Shape{bounds - 1}, "one bin between two bounds");
  const std::int64_t bins = io.shape(io.out(0)).rank() == 1 ? io.shape(io.out(0))[0] : kUnknownDim;
  if (bins >= 0) io.set_shape(io.in(1), Shape{bins + 1}, "one bound more than bins");
}

/// Counts of `data` between the bounds b[0] … b[bins], by bisection.
template <class T>
void count(const T* x, std::int64_t begin, std::int64_t end, const T* b, std::int64_t bins,
           std::int64_t* counts) {
  std::fill_n(counts, bins, 0);
  for (std::int64_t i = begin; i < end; ++i) {
    if (!(x[i] >= b[0] && x[i] <= b[bins])) continue;
    const std::int64_t bin = std::upper_bound(b, b + bins + 1, x[i]) - b - 1;
    ++counts[std::clamp<std::int64_t>(bin, 0, bins - 1)];
  }
}

int parts_for(const KernelRequest& q) {
  const std::int64_t useful = q.in[0].shape.size() / 32768;
  return static_cast<int>(std::clamp<std::int64_t>(useful, 1, std::max(1, q.threads)));
}

Offer offer(const HistogramAttrs&, const KernelRequest& q) {
  const auto counts = static_cast<std::size_t>(parts_for(q) * q.out[0].shape.size());
  return accept_plain(q, counts * sizeof(std::int64_t) + q.out[1].bytes());
}

Prepared prepare(const HistogramAttrs& a, const KernelRequest& q, const Offer&) {
  const std::int64_t n = q.in[0].shape.size(), bins = q.out[0].shape.size();
  const int parts = parts_for(q);
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=, given = a.has_bins_input(), range = a.range](const Args& args) {
      auto* counts = static_cast<std::int64_t*>(args.workspace);
      T* bounds = reinterpret_cast<T*>(counts + parts * bins);
      for (std::int64_t i = 0; i <= bins; ++i)
        bounds[i] =
            given ? args.in<T>(1)[i]
                  : convert_element<T>(range[0] + (range[1] - range[0]) * static_cast<double>(i) /
                                                      static_cast<double>(bins));
      if (args.wants(1)) std::copy_n(bounds, bins + 1, args.out<T>(1));
      parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          count(args.in<T>(0), n * p / parts, n * (p + 1) / parts, bounds, bins, counts + p * bins);
      });
      if (!args.wants(0)) return;
      for (std::int64_t i = 0; i < bins; ++i) {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < parts; ++p) sum += counts[p * bins + i];
        args.out<std::int64_t>(0)[i] = sum;
      }
    };
  });
}

}  // namespace

void register_histogram(OpRegistry& r) {
  r.add<HistogramAttrs>("_histogram")
      .doc("How many elements fall into each bin, and the bins' bounds.")
      .inputs([](const HistogramAttrs& a) {
        return a.has_bins_input() ? std::vector<std::string>{"data", "bins"}
                                  : std::vector<std::string>{"data"};
      })
      .outputs({"output0", "output1"})
      .skips_unread()
      .infer(infer)
      .kernel(DeviceType::kCpu, "reference", offer, prepare);
}

}  // namespace symbind
