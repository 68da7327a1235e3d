// ctest: run
// A custom operator: swish, y = x / (1 + exp(-beta x)), with its gradient. It is defined like the
// built-in ones and works wherever they do: in graphs, imperatively, on the tape, in JSON.
// examples/consumer builds the same file against an installed library.

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

// Its parameters. describe() alone drives parsing, defaults, ranges and documentation.
struct SwishAttrs {
  float beta = 1;
  void describe(AttrVisitor& v) { v.field("beta", beta, "How steep it is.").at_least(0); }
};

// Shapes and types: what is known of one tensor holds for all, in either direction.
void infer(const SwishAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

// The gradient is graph nodes: another operator, given the gradient that arrives and the input.
NodeEntries gradient(const SwishAttrs&, GradientBuilder& g) {
  return g.call_with_same_attrs("_backward_my_swish", {g.head(0), g.input(0)});
}

// Kernels are prepared once, when a network is bound, for fixed shapes and types.
template <class T>
Prepared forward_kernel(T beta, std::int64_t size) {
  return [=](const Args& args) {
    const T* x = args.in<T>(0);
    T* y = args.out<T>(0);
    for (std::int64_t i = 0; i < size; ++i) y[i] = x[i] / (1 + std::exp(-beta * x[i]));
  };
}
template <class T>
Prepared backward_kernel(T beta, std::int64_t size) {
  return [=](const Args& args) {
    const T *dy = args.in<T>(0), *x = args.in<T>(1);
    T* dx = args.out<T>(0);
    for (std::int64_t i = 0; i < size; ++i) {
      const T s = 1 / (1 + std::exp(-beta * x[i]));
      dx[i] = dy[i] * s * (1 + beta * x[i] * (1 - s));
    }
  };
}

// A kernel may refuse; the caller gets the message.
Offer offer(const SwishAttrs&, const KernelRequest& r) {
  const DType dtype = r.in[0].dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64)
    return refuse("float32 and float64 only");
  return accept_plain(r);
}
Prepared forward(const SwishAttrs& a, const KernelRequest& r, const Offer&) {
  const std::int64_t size = r.out[0].shape.size();
  return r.in[0].dtype == DType::kFloat64 ? forward_kernel<double>(a.beta, size)
                                          : forward_kernel<float>(a.beta, size);
}
Prepared backward(const SwishAttrs& a, const KernelRequest& r, const Offer&) {
  const std::int64_t size = r.out[0].shape.size();
  return r.in[0].dtype == DType::kFloat64 ? backward_kernel<double>(a.beta, size)
                                          : backward_kernel<float>(a.beta, size);
}

void register_my_swish(OpRegistry& registry) {
  registry.add<SwishAttrs>("my_swish")
      .doc("x times the logistic function of beta x.")
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "plain", offer, forward);
  registry.add<SwishAttrs>("_backward_my_swish")
      .backward()
      .inputs(std::vector<std::string>{"dy", "data"})
      .infer(infer)
      .kernel(DeviceType::kCpu, "plain", offer, backward);
}

int main() {
  register_my_swish(OpRegistry::global());

  // At once:
  const NDArray x = NDArray::from_vector<double>({-2, -0.5, 0, 1, 3}, {5});
  const NDArray y = invoke("my_swish", {x}, {{"beta", "2"}})[0];
  std::printf("swish%s\n", y.str().c_str());
  expect(std::abs(y.to_vector<double>()[3] - 1 / (1 + std::exp(-2.0))) < 1e-15, "invoke runs it");

  // In a graph, after a trip through JSON:
  const Symbol made = make_symbol("my_swish", "act", {Variable("x")}, {{"beta", "2"}});
  const Symbol net = Symbol::load_json(made.tojson());
  const NDArray grad = NDArray::zeros({5}, cpu(), DType::kFloat64);
  Executor executor = net.bind(cpu(), NDArrayMap{{"x", x}}, {.args_grad = NDArrayMap{{"x", grad}}});
  expect(executor.forward(true)[0].to_vector<double>() == y.to_vector<double>(),
         "a graph gives the same");

  // Its gradient against central differences.
  executor.backward({NDArray::ones({5}, cpu(), DType::kFloat64)});
  constexpr double kStep = 1e-5;
  const auto up = invoke("my_swish", {x + kStep}, {{"beta", "2"}})[0].to_vector<double>();
  const auto down = invoke("my_swish", {x - kStep}, {{"beta", "2"}})[0].to_vector<double>();
  const auto exact = grad.to_vector<double>();
  bool agree = true;
  for (std::size_t i = 0; i < 5; ++i)
    agree = agree && std::abs((up[i] - down[i]) / (2 * kStep) - exact[i]) < 1e-9;
  expect(agree, "backward agrees with differences");

  // On the tape:
  NDArray recorded = x.copy();
  recorded.attach_grad();
  NDArray head;
  {
    const autograd::Record record;
    head = invoke("my_swish", {recorded}, {{"beta", "2"}})[0];
  }
  head.backward();
  expect(recorded.grad().to_vector<double>() == exact, "autograd gives the same gradient");

  // A wrong parameter gives the same kind of error as for any operator:
  try {
    invoke("my_swish", {x}, {{"beta", "-1"}});
    expect(false, "a bad parameter is refused");
  } catch (const Error& e) {
    expect(std::string(e.what()).find("beta") != std::string::npos, e.what());
  }
}
