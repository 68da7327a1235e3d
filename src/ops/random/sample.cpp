// Samplers with their parameters in arrays: _sample_… draws `shape` numbers for every element of
// them, so the output's shape is the parameters' followed by `shape`. distributions.h defines the
// distributions.
//
// Decided here: parameters are of one type, whole numbers too; the output is float32 unless dtype
// says otherwise. Element i of the output takes its bits from stream i of the draw. Invalid
// parameters give NaN, because MXNet does not check arrays.
#include <symbind/operator.h>

#include "base/parallel.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/random/distributions.h"

namespace symbind {
namespace {

struct SampleAttrs {
  Tuple shape;
  std::optional<DType> dtype;
  void describe(AttrVisitor& v) {
    v.field("shape", shape, "Shape of the draws for every element of the parameters.").at_least(1);
    v.field("dtype", dtype, "The element type of the output; None is float32.");
  }
};

void infer(const SampleAttrs& a, Inference& io) {
  const DType dtype = a.dtype.value_or(DType::kFloat32);
  check(is_float(dtype), ErrorKind::kType, "dtype {} given where a floating point type is needed",
        dtype_name(dtype));
  io.set_dtype(io.out(0), dtype, "attribute dtype");
  for (int i = 1; i < io.num_inputs(); ++i) {
    io.same_shape(io.in(0), io.in(i));
    io.same_dtype(io.in(0), io.in(i));
  }
  const Shape &given = io.shape(io.in(0)), &made = io.shape(io.out(0));
  const int more = static_cast<int>(a.shape.size());
  if (given.rank_known()) {
    Tuple all(given.begin(), given.end());
    all.insert(all.end(), a.shape.begin(), a.shape.end());
    io.set_shape(io.out(0), Shape(all), "the parameters' shape, then `shape`");
  } else if (made.rank_known() && made.rank() > more) {
    const Shape first(Tuple(made.begin(), made.end() - more));
    for (int i = 0; i < io.num_inputs(); ++i)
      io.set_shape(io.in(i), first, "the output's shape without `shape`");
  }
}

using Reader = double (*)(const void* array, std::int64_t i);

Reader reader_of(DType dtype) {
  return dispatch_dtype(dtype, []<class P>() -> Reader {
    return [](const void* array, std::int64_t i) {
      return static_cast<double>(static_cast<const P*>(array)[i]);
    };
  });
}

template <class D, class T>
void sample(const Args& a, std::int64_t n, std::int64_t each, Reader read) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const void* first = a.inputs[0].data;
  const void* last = a.inputs[kNumParameters<D> - 1].data;
  T* y = a.out<T>(0);
  parallel_for(n, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double p[2] = {read(first, i / each), read(last, i / each)};
      RandomStream stream(*a.run, i);
      y[i] = static_cast<T>(static_cast<C>(D::draw(stream, p)));
    }
  });
}

template <class D>
Prepared prepare(const SampleAttrs&, const KernelRequest& q) {
  const std::int64_t sets = q.in[0].shape.size(),
                     each = sets == 0 ? 1 : q.out[0].shape.size() / sets;
  return dispatch_float(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [n = q.out[0].shape.size(), each, read = reader_of(q.in[0].dtype)](const Args& a) {
      sample<D, T>(a, n, each, read);
    };
  });
}

NodeEntries no_gradient(const SampleAttrs&, GradientBuilder& g) {
  return NodeEntries(static_cast<std::size_t>(g.num_inputs()));
}

}  // namespace

void register_sample(OpRegistry& r) {
  for_each_distribution([&]<class D>(D) {
    const std::string name = D::kName;
    std::vector<std::string> inputs;
    for (const DistributionParameter& p : D::kParameters) inputs.emplace_back(p.array_name);
    r.add<SampleAttrs>("_sample_" + name)
        .doc("Samples of the distribution " + name + " for every element of its parameters.")
        .alias("sample_" + name)
        .inputs(inputs)
        .infer(infer)
        .gradient(no_gradient)
        .random()
        .reference(prepare<D>);
  });
}

}  // namespace symbind
