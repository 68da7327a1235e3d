// Samplers: _random_uniform in [low, high) and _random_normal with mean loc and deviation scale.
//
// Decided here: Philox with the device's seed as key; the number of the draw and the place of the
// element are the counter. So the same seed gives the same bits at any thread count. Normals come
// in pairs (Box–Muller): r = sqrt(−2 ln u), r cos 2πv, r sin 2πv. float64 has 53 random bits in
// every uniform; 16-bit floats are rounded float samples.
#include <cmath>
#include <numbers>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

void describe_output(AttrVisitor& v, Tuple& shape, std::string& ctx, std::optional<DType>& dtype) {
  v.field("shape", shape, "The shape of the output.");
  v.field("ctx", ctx, "The device, like cpu(0); only for imperative calls.");
  v.field("dtype", dtype, "The element type of the output; None is float32.");
}

struct UniformAttrs {
  float low = 0, high = 1;
  Tuple shape;
  std::string ctx;
  std::optional<DType> dtype;
  void describe(AttrVisitor& v) {
    v.field("low", low, "Lower bound, included.").per_call();
    v.field("high", high, "Upper bound, not included.").per_call();
    describe_output(v, shape, ctx, dtype);
  }
};
struct NormalAttrs {
  float loc = 0, scale = 1;
  Tuple shape;
  std::string ctx;
  std::optional<DType> dtype;
  void describe(AttrVisitor& v) {
    v.field("loc", loc, "The mean.").per_call();
    v.field("scale", scale, "The standard deviation.").per_call();
    describe_output(v, shape, ctx, dtype);
  }
};

template <class A>
void infer(const A& a, Inference& io) {
  const DType dtype = a.dtype.value_or(DType::kFloat32);
  check(is_float(dtype), ErrorKind::kType, "dtype {} given where a floating point type is needed",
        dtype_name(dtype));
  io.set_dtype(io.out(0), dtype, "attribute dtype");
  io.set_shape(io.out(0), from_user(Shape(a.shape)), "attribute shape");
}

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

/// y[i] = shift + stretch · sample i.
template <template <class> class Block, class T>
void sample(T* y, std::int64_t n, const RunState& run, double shift, double stretch) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr std::int64_t kCount = Block<C>::kCount;
  const C a = static_cast<C>(shift), b = static_cast<C>(stretch);
  parallel_for((n + kCount - 1) / kCount, 1024, [&](std::int64_t begin, std::int64_t end) {
    C block[kCount];
    for (std::int64_t i = begin; i < end; ++i) {
      Block<C>::fill(philox(run.random_seed, run.random_draw, static_cast<std::uint64_t>(i)),
                     block);
      const std::int64_t first = i * kCount, m = std::min(kCount, n - first);
      for (std::int64_t k = 0; k < m; ++k) y[first + k] = static_cast<T>(a + b * block[k]);
    }
  });
}

Prepared prepare_uniform(const UniformAttrs&, const KernelRequest& q) {
  return dispatch_float(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      sample<UniformBlock>(a.out<T>(0), n, *a.run, a.values[0], a.values[1] - a.values[0]);
    };
  });
}
Prepared prepare_normal(const NormalAttrs&, const KernelRequest& q) {
  return dispatch_float(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size()](const Args& a) {
      sample<NormalBlock>(a.out<T>(0), n, *a.run, a.values[0], a.values[1]);
    };
  });
}

template <class A>
NodeEntries no_gradient(const A&, GradientBuilder&) {
  return {};
}

}  // namespace

void register_random(OpRegistry& r) {
  const std::vector<std::string> none;
  r.add<UniformAttrs>("_random_uniform")
      .doc("Samples of the uniform distribution.")
      .alias("uniform")
      .alias("random_uniform")
      .inputs(none)
      .infer(infer)
      .gradient(no_gradient)
      .random()
      .reference(prepare_uniform);
  r.add<NormalAttrs>("_random_normal")
      .doc("Samples of the normal distribution.")
      .alias("normal")
      .alias("random_normal")
      .inputs(none)
      .infer(infer)
      .gradient(no_gradient)
      .random()
      .reference(prepare_normal);
}

}  // namespace symbind
