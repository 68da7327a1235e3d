// _sample_multinomial: class numbers, drawn with the probabilities along the last axis of data.
//
//   data (…, K), `shape` draws for each row: output (…) + shape; with get_prob also ln p of what
//   was drawn, whose gradient is d data[k] = sum of head / p[k] over the draws of k
//
// Decided here: a draw is u · (sum of the row), found in the row's running sums, so rows that do
// not sum exactly to 1 favour no class and a class of probability 0 is never drawn. ln p is of the
// number as given. A type that cannot represent all K classes is refused. One distribution and no
// shape give an array of one, as MXNet's do.
#include <algorithm>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "kernels/gather.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/random/stream.h"

namespace symbind {
namespace {

struct MultinomialAttrs {
  Tuple shape;
  bool get_prob = false;
  DType dtype = DType::kInt32;
  void describe(AttrVisitor& v) {
    v.field("shape", shape, "Shape of the draws from every distribution.").at_least(1);
    v.field("get_prob", get_prob, "Whether to return the logarithms of the probabilities as well.");
    v.field("dtype", dtype, "The element type of the class numbers.");
  }
};

/// The most classes whose numbers the type represents exactly.
std::int64_t most_classes(DType dtype) {
  switch (dtype) {
    case DType::kUint8: return 1 << 8;
    case DType::kInt32: return std::int64_t{1} << 31;
    case DType::kFloat16: return (1 << 11) + 1;
    case DType::kFloat32: return (1 << 24) + 1;
    case DType::kFloat64: return (std::int64_t{1} << 53) + 1;
    default:
      fail(ErrorKind::kType, "dtype {} cannot hold classes; use uint8, int32 or a float",
           dtype_name(dtype));
  }
}

Shape drawn_shape(const MultinomialAttrs& a, const Shape& data) {
  Tuple all(data.begin(), data.end() - 1);
  all.insert(all.end(), a.shape.begin(), a.shape.end());
  return all.empty() ? scalar_shape() : Shape(all);
}

void infer(const MultinomialAttrs& a, Inference& io) {
  const Shape data = io.shape(io.in(0));
  const std::int64_t most = most_classes(a.dtype);
  io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  if (io.dtype(io.in(0)) != DType::kUnknown)
    check(is_float(io.dtype(io.in(0))), ErrorKind::kType, "probabilities of type {}",
          dtype_name(io.dtype(io.in(0))));
  if (a.get_prob) io.same_dtype(io.in(0), io.out(1));
  if (!data.rank_known()) return;
  check(data.rank() > 0, ErrorKind::kShape, "probabilities need an axis of classes");
  const std::int64_t classes = data[data.rank() - 1];
  check(classes <= most, "{} classes, but dtype {} can represent only {}", classes,
        dtype_name(a.dtype), most);
  for (int o = 0; o < io.num_outputs(); ++o)
    io.set_shape(io.out(o), drawn_shape(a, data), "one class for every draw");
}

void infer_backward(const MultinomialAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  io.same_dtype(io.in(0), io.in(1));
  io.same_shape(io.in(0), io.in(2));
  tie_to_forward(a, io, infer,
                 {.inputs = 1, .outputs = 2, .from = {io.out(1), io.in(0), io.out(0)}});
}

NodeEntries gradient(const MultinomialAttrs& a, GradientBuilder& g) {
  if (!a.get_prob) return NodeEntries(1);
  return g.call_with_same_attrs("_backward_sample_multinomial",
                                {g.head(1), g.input(0), g.output(0)});
}

// ---- Kernels ------------------------------------------------------------------------------------

struct Sizes {
  std::int64_t rows, classes, draws;
  Sizes(const TensorDesc& data, const TensorDesc& drawn)
      : classes(data.shape[data.shape.rank() - 1]) {
    check(classes > 0, ErrorKind::kShape, "there is no class to draw: probabilities have shape {}",
          data.shape.str());
    rows = data.shape.size() / classes;
    draws = rows == 0 ? 0 : drawn.shape.size() / rows;
  }
};

/// The first class whose running sum is above `level`; sums do not rise where p is 0.
std::int64_t find_class(const double* sums, std::int64_t classes, double level) {
  const double* above = std::upper_bound(sums, sums + classes, level);
  if (above == sums + classes) above = std::lower_bound(sums, sums + classes, sums[classes - 1]);
  return std::min<std::int64_t>(above - sums, classes - 1);
}

using Writer = void (*)(void* array, std::int64_t i, std::int64_t drawn);
using Reader = std::int64_t (*)(const void* array, std::int64_t i);

template <class I>
using Whole =
    std::conditional_t<std::is_integral_v<I>, I, std::conditional_t<sizeof(I) == 8, double, float>>;

Writer writer_of(DType dtype) {
  return dispatch_dtype(dtype, []<class I>() -> Writer {
    return [](void* array, std::int64_t i, std::int64_t drawn) {
      static_cast<I*>(array)[i] = static_cast<I>(static_cast<Whole<I>>(drawn));
    };
  });
}
Reader reader_of(DType dtype) {
  return dispatch_dtype(dtype, []<class I>() -> Reader {
    return [](const void* array, std::int64_t i) {
      return whole_index(static_cast<const I*>(array)[i]);
    };
  });
}

template <class P>
void draw(const Sizes& s, const Args& a, bool get_prob, Writer write) {
  using C = std::conditional_t<std::is_same_v<P, double>, double, float>;
  const P* p = a.in<P>(0);
  P* logs = get_prob && a.wants(1) ? a.out<P>(1) : nullptr;
  auto* sums = static_cast<double*>(a.workspace);
  for (std::int64_t row = 0; row < s.rows; ++row) {
    double sum = 0;
    for (std::int64_t k = 0; k < s.classes; ++k)
      sums[k] = sum += static_cast<double>(p[row * s.classes + k]);
    parallel_for(s.draws, 1024, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = row * s.draws + begin; i < row * s.draws + end; ++i) {
        RandomStream stream(*a.run, i);
        const std::int64_t k = find_class(sums, s.classes, stream.unit() * sum);
        if (a.wants(0)) write(a.outputs[0].data, i, k);
        if (logs) logs[i] = static_cast<P>(std::log(static_cast<C>(p[row * s.classes + k])));
      }
    });
  }
}

Offer offer(const MultinomialAttrs&, const KernelRequest& q) {
  const Sizes s(q.in[0], q.out[0]);
  return accept_plain(q, static_cast<std::size_t>(s.classes) * sizeof(double));
}

Prepared prepare(const MultinomialAttrs& attrs, const KernelRequest& q, const Offer&) {
  return dispatch_float(q.in[0].dtype, [&]<class P>() -> Prepared {
    return [s = Sizes(q.in[0], q.out[0]), get_prob = attrs.get_prob,
            write = writer_of(q.out[0].dtype)](const Args& a) { draw<P>(s, a, get_prob, write); };
  });
}

Prepared prepare_backward(const MultinomialAttrs&, const KernelRequest& q) {
  return dispatch_float(q.in[1].dtype, [&]<class P>() -> Prepared {
    using C = std::conditional_t<std::is_same_v<P, double>, double, float>;
    return [s = Sizes(q.in[1], q.in[2]), read = reader_of(q.in[2].dtype)](const Args& a) {
      const P *head = a.in<P>(0), *p = a.in<P>(1);
      P* dp = a.out<P>(0);
      std::fill_n(dp, s.rows * s.classes, static_cast<P>(0.f));
      const std::int64_t grain = grain_of(s.draws);
      parallel_for(s.rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin * s.draws; i < end * s.draws; ++i) {
          const std::int64_t at =
              i / s.draws * s.classes + checked_index(read(a.inputs[2].data, i), s.classes);
          dp[at] = static_cast<P>(static_cast<C>(dp[at]) +
                                  static_cast<C>(head[i]) / static_cast<C>(p[at]));
        }
      });
    };
  });
}

}  // namespace

void register_multinomial(OpRegistry& r) {
  using Names = std::vector<std::string>;
  r.add<MultinomialAttrs>("_sample_multinomial")
      .doc("Class numbers drawn with the probabilities along the last axis.")
      .alias("sample_multinomial")
      .outputs(
          [](const MultinomialAttrs& a) {
            return a.get_prob ? Names{"output0", "output1"} : Names{"output"};
          },
          [](const MultinomialAttrs& a) { return a.get_prob ? 2 : 1; })
      .skips_unread()
      .infer(infer)
      .gradient(gradient)
      .random()
      .kernel(DeviceType::kCpu, "reference", offer, prepare);
  r.add<MultinomialAttrs>("_backward_sample_multinomial")
      .backward()
      .inputs(Names{"head", "data", "drawn"})
      .infer(infer_backward)
      .reference(prepare_backward);
}

}  // namespace symbind
