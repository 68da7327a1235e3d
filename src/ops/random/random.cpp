// Samplers with the parameters as attributes: _random_… makes an array of the given shape,
// _random_…_like one of the shape and type of another. distributions.h defines the distributions.
//
// Decided here: Philox with the device's seed as key; the number of the draw and the index of the
// element form the counter. So the same seed gives the same bits at any thread count. uniform and
// normal take several numbers of each block; normals come in pairs (Box–Muller): r = sqrt(−2 ln u),
// r cos 2πv, r sin 2πv. float64 has 53 random bits in every uniform; 16-bit floats are rounded
// float samples. high is never reached, not even by rounding. The kernel refuses invalid
// parameters: the error is raised when the result is read, as in MXNet.
#include "ops/random/distributions.h"

#include <algorithm>
#include <bit>

#include <symbind/operator.h>

#include "base/parallel.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

// ---- Attributes ---------------------------------------------------------------------------------

template <class D>
struct LikeAttrs {
  float first = D::kParameters[0].standard;
  float second = D::kParameters[kNumParameters<D> - 1].standard;
  int whole = static_cast<int>(D::kParameters[0].standard);  ///< negative_binomial's k
  void describe(AttrVisitor& v) {
    const DistributionParameter& p = D::kParameters[0];
    if constexpr (std::is_same_v<D, NegativeBinomialDistribution>)
      v.field(p.name, whole, p.doc).per_call();
    else
      v.field(p.name, first, p.doc).per_call();
    if constexpr (kNumParameters<D> == 2)
      v.field(D::kParameters[1].name, second, D::kParameters[1].doc).per_call();
  }
};

struct OutputAttrs {
  Tuple shape;
  std::string ctx;
  std::optional<DType> dtype;
  void describe_output(AttrVisitor& v, const char* standard) {
    v.field("shape", shape, "The shape of the output.");
    v.field("ctx", ctx, "The device, like cpu(0); only for imperative calls.");
    v.field("dtype", dtype, std::string("The element type of the output; None is ") + standard);
  }
};

template <class D>
struct RandomAttrs : LikeAttrs<D>, OutputAttrs {
  void describe(AttrVisitor& v) {
    LikeAttrs<D>::describe(v);
    describe_output(v, "float32.");
  }
};

struct RandIntAttrs : OutputAttrs {
  std::int64_t low = 0, high = 0;
  void describe(AttrVisitor& v) {
    v.field("low", low, "Lower bound, included.").required();
    v.field("high", high, "Upper bound, not included.").required();
    describe_output(v, "int32.");
  }
};

void check_float(DType dtype) {
  check(is_float(dtype), ErrorKind::kType, "dtype {} given where a floating point type is needed",
        dtype_name(dtype));
}

template <class D>
void infer_random(const RandomAttrs<D>& a, Inference& io) {
  const DType dtype = a.dtype.value_or(DType::kFloat32);
  check_float(dtype);
  io.set_dtype(io.out(0), dtype, "attribute dtype");
  io.set_shape(io.out(0), from_user(Shape(a.shape)), "attribute shape");
}
template <class D>
void infer_like(const LikeAttrs<D>&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
  if (io.dtype(io.in(0)) != DType::kUnknown) check_float(io.dtype(io.in(0)));
}
void infer_randint(const RandIntAttrs& a, Inference& io) {
  const DType dtype = a.dtype.value_or(DType::kInt32);
  check(dtype == DType::kInt32 || dtype == DType::kInt64, ErrorKind::kType,
        "dtype {} given where int32 or int64 is needed", dtype_name(dtype));
  if (dtype == DType::kInt32) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min(),
                           kMost = std::numeric_limits<std::int32_t>::max();
    check(a.low >= kLeast && a.high <= kMost + 1,
          "low={} and high={} do not fit int32; use dtype int64", a.low, a.high);
  }
  io.set_dtype(io.out(0), dtype, "attribute dtype");
  io.set_shape(io.out(0), from_user(Shape(a.shape)), "attribute shape");
}

// ---- Kernels ------------------------------------------------------------------------------------

/// Numbers from one block of 128 bits: four floats or two doubles.
template <class T>
struct UniformBlock {
  static constexpr int kCount = std::is_same_v<T, double> ? 2 : 4;
  static void fill(const std::array<std::uint32_t, 4>& bits, T* y) {
    if constexpr (std::is_same_v<T, double>) {
      for (int k = 0; k < 2; ++k)
        y[k] = unit_double(bits[static_cast<std::size_t>(2 * k)],
                           bits[static_cast<std::size_t>(2 * k + 1)]);
    } else {
      for (int k = 0; k < 4; ++k) y[k] = unit_float(bits[static_cast<std::size_t>(k)]);
    }
  }
};
template <class T>
struct NormalBlock {
  static constexpr int kCount = UniformBlock<T>::kCount;
  static void fill(const std::array<std::uint32_t, 4>& bits, T* y) {
    constexpr T kTurn = T(2) * std::numbers::pi_v<T>;
    for (int k = 0; k < kCount; k += 2) {
      T u, v;  // u in (0, 1]: its logarithm is finite
      if constexpr (std::is_same_v<T, double>) {
        u = 1.0 - unit_double(bits[0], bits[1]);
        v = unit_double(bits[2], bits[3]);
      } else {
        u = (static_cast<float>(bits[static_cast<std::size_t>(k)]) + 0.5f) * 0x1p-32f;
        v = unit_float(bits[static_cast<std::size_t>(k + 1)]);
      }
      const T radius = std::sqrt(T(-2) * std::log(u));
      y[k] = radius * std::cos(kTurn * v);
      y[k + 1] = radius * std::sin(kTurn * v);
    }
  }
};

/// The largest number of type T below `high`.
template <class T, class C>
T just_below(C high) {
  const T rounded = static_cast<T>(high);
  if (static_cast<C>(rounded) < high) return rounded;
  if constexpr (sizeof(T) == 2) {  // sign and magnitude
    const std::uint16_t bits = rounded.bits;
    if ((bits & 0x7fff) == 0) return T::from_bits(0x8001);
    return T::from_bits(static_cast<std::uint16_t>(bits & 0x8000 ? bits + 1 : bits - 1));
  } else {
    return std::nextafter(rounded, -std::numeric_limits<T>::infinity());
  }
}

/// y[i] = shift + scale · sample i, at most `most`.
template <template <class> class Block, class T>
void fill_blocks(T* y, std::int64_t n, const RunState& run, double shift, double scale, T most) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr std::int64_t kCount = Block<C>::kCount;
  const C a = static_cast<C>(shift), b = static_cast<C>(scale), limit = static_cast<C>(most);
  parallel_for((n + kCount - 1) / kCount, 1024, [&](std::int64_t begin, std::int64_t end) {
    C block[kCount];
    for (std::int64_t i = begin; i < end; ++i) {
      Block<C>::fill(philox(run.random_seed, run.random_draw, static_cast<std::uint64_t>(i)),
                     block);
      const std::int64_t first = i * kCount, m = std::min(kCount, n - first);
      for (std::int64_t k = 0; k < m; ++k) {
        const T drawn = static_cast<T>(a + b * block[k]);
        y[first + k] = static_cast<C>(drawn) > limit ? most : drawn;
      }
    }
  });
}

template <class D, class T>
void fill(T* y, std::int64_t n, const RunState& run, const double* p) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  if constexpr (std::is_same_v<D, UniformDistribution>) {
    const C high = static_cast<C>(p[1]);
    fill_blocks<UniformBlock>(y, n, run, p[0], p[1] - p[0],
                              p[0] < p[1] ? just_below<T>(high) : static_cast<T>(high));
  } else if constexpr (std::is_same_v<D, NormalDistribution>) {
    fill_blocks<NormalBlock>(y, n, run, p[0], p[1],
                             static_cast<T>(std::numeric_limits<C>::infinity()));
  } else {
    parallel_for(n, 256, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        RandomStream stream(run, i);
        y[i] = static_cast<T>(static_cast<C>(D::draw(stream, p)));
      }
    });
  }
}

template <class D, class A>
Prepared prepare(const A&, const KernelRequest& q) {
  return dispatch_float(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      D::check_parameters(a.values);
      fill<D>(a.out<T>(0), n, *a.run, a.values);
    };
  });
}

template <class T>
void fill_whole(T* y, std::int64_t n, const RunState& run, std::int64_t low, std::int64_t high) {
  check(low < high, "randint: there is no number from low={} to below high={}", low, high);
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  parallel_for(n, 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      RandomStream stream(run, i);
      y[i] = static_cast<T>(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + stream.below(count)));
    }
  });
}

Prepared prepare_randint(const RandIntAttrs& attrs, const KernelRequest& q) {
  return [n = q.out[0].shape.size(), wide = q.out[0].dtype == DType::kInt64, low = attrs.low,
          high = attrs.high](const Args& a) {
    if (wide)
      fill_whole(a.out<std::int64_t>(0), n, *a.run, low, high);
    else
      fill_whole(a.out<std::int32_t>(0), n, *a.run, low, high);
  };
}

template <class A>
NodeEntries no_gradient(const A&, GradientBuilder& g) {
  return NodeEntries(static_cast<std::size_t>(g.num_inputs()));
}

template <class D>
void add(OpRegistry& r) {
  const std::string name = D::kName;
  auto random = r.add<RandomAttrs<D>>("_random_" + name)
                    .doc("Samples of the distribution " + name + ".")
                    .alias("random_" + name);
  // Older names.
  if constexpr (std::is_same_v<D, UniformDistribution> || std::is_same_v<D, NormalDistribution>)
    random.alias(name);
  random.inputs(std::vector<std::string>{})
      .infer(infer_random<D>)
      .gradient(no_gradient)
      .random()
      .reference(prepare<D, RandomAttrs<D>>);
  r.add<LikeAttrs<D>>("_random_" + name + "_like")
      .doc("Samples of the distribution " + name + ", as many and of the type that data has.")
      .infer(infer_like<D>)
      .gradient(no_gradient)
      .random()
      .shape_only({0})
      .reference(prepare<D, LikeAttrs<D>>);
}

}  // namespace

void register_random(OpRegistry& r) {
  for_each_distribution([&]<class D>(D) { add<D>(r); });
  r.add<RandIntAttrs>("_random_randint")
      .doc("Uniformly distributed whole numbers from low to below high.")
      .alias("random_randint")
      .inputs(std::vector<std::string>{})
      .infer(infer_randint)
      .gradient(no_gradient)
      .random()
      .reference(prepare_randint);
}

}  // namespace symbind
