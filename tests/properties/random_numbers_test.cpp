// The same seed gives the same bits, whatever the number of threads.

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/random.h>

#include "base/parallel.h"
#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

class WithThreads {
 public:
  explicit WithThreads(int n) { set_num_threads(n); }
  ~WithThreads() { set_num_threads(0); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;
};

template <class F>
void expect_same_bits(F draw) {
  HostTensors one;
  for (const int threads : {1, 2, 3}) {
    const WithThreads scope(threads);
    seed(42);
    const HostTensors got = draw();
    if (threads == 1) one = got;
    ASSERT_EQ(got.size(), one.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i].values, one[i].values) << "array " << i << " with " << threads << " threads";
  }
  seed(43);
  EXPECT_NE(draw()[0].values, one[0].values) << "another seed draws others";
}

HostTensors drawn(const char* op, const char* shape, const char* dtype) {
  HostTensors out;
  for (int i = 0; i < 2; ++i)
    out.push_back(HostTensor::from(invoke(op, {}, {{"shape", shape}, {"dtype", dtype}})[0]));
  EXPECT_NE(out[0].values, out[1].values) << "a second draw draws others";
  return out;
}

TEST(ThreadsRandom, samplers) {
  for (const char* op : {"_random_uniform", "_random_normal"}) {
    for (const char* dtype : {"float32", "float64", "float16"}) {
      SCOPED_TRACE(std::string(op) + " " + dtype);
      expect_same_bits([&] { return drawn(op, "(317, 211)", dtype); });
    }
  }
}

TEST(ThreadsRandom, dropout_and_its_gradient) {
  const Symbol x = Variable("x");
  const Symbol first = make_symbol("Dropout", "first", std::vector<Symbol>{x}, {{"p", "0.3"}});
  const Symbol net = make_symbol("Dropout", "second", std::vector<Symbol>{first},
                                 {{"p", "0.5"}, {"axes", "(1,)"}});
  expect_same_bits([&] {
    const NDArray in = HostTensor::formula({400, 300}, 5).array(),
                  grad = NDArray::zeros({400, 300});
    Executor e = net.bind(cpu(), NDArrayMap{{"x", in}}, {.args_grad = NDArrayMap{{"x", grad}}});
    HostTensors out;
    for (int step = 0; step < 2; ++step) {
      out.push_back(HostTensor::from(e.forward(true)[0]));
      e.backward({NDArray::ones({400, 300})});
      out.push_back(HostTensor::from(grad));
    }
    EXPECT_NE(out[0].values, out[2].values) << "every step draws another mask";
    return out;
  });
}

TEST(ThreadsRandom, a_sampler_inside_a_graph) {
  const Symbol noise =
      make_symbol("_random_normal", "noise", std::vector<Symbol>{}, {{"shape", "(500, 400)"}});
  const Symbol net = noise * Variable("x");
  expect_same_bits([&] {
    Executor e = net.bind(cpu(), NDArrayMap{{"x", NDArray::ones({500, 400})}});
    return HostTensors{HostTensor::from(e.forward()[0]), HostTensor::from(e.forward()[0])};
  });
}

}  // namespace
}  // namespace symbind
