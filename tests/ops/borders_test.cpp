// Borders that no case of an operator grows to: parts of long sums, of rows to sort and of values
// to count, blocks of samplers, tiles of large products. Numbers are whole, so sums are exact in
// any order.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include <symbind/autograd.h>
#include <symbind/executor.h>
#include <symbind/ops.h>
#include <symbind/random.h>

#include "kernels/gemm.h"
#include "kernels/reorder.h"
#include "tests/support/host_tensor.h"
#include "tests/support/shares.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;

/// Calls f() whole, and in two and three shares.
template <class F>
void in_shares(F f) {
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " shares");
    std::optional<Shares> shares;
    if (threads > 1) shares.emplace(threads);
    f();
  }
}

/// Whole numbers from 0 to 96 in no order.
Floats mixed(std::size_t n) {
  Floats x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7919 % 97);
  return x;
}

NDArray row(const Floats& x) {
  return NDArray::from_vector(x, {static_cast<std::int64_t>(x.size())});
}

TEST(OpBorders, one_long_sum) {
  for (const std::size_t n : {131'071u, 131'072u, 131'073u, 196'609u, 262'145u}) {
    SCOPED_TRACE(n);
    Floats x = mixed(n);
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    in_shares([&] {
      EXPECT_EQ(invoke("sum", {row(x)})[0].scalar(), static_cast<double>(static_cast<float>(sum)));
      for (const std::size_t at :
           {std::size_t{0}, std::size_t{65'535}, std::size_t{65'536}, n - 1}) {
        Floats y = x;
        y[at] = 1000;
        EXPECT_EQ(invoke("max", {row(y)})[0].scalar(), 1000) << at;
      }
    });
  }
}

TEST(OpBorders, rows_to_sort_are_shared) {
  constexpr std::int64_t kRows = 7, kExtent = 4096;
  Floats x;
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t i = 0; i < kExtent; ++i)
      x.push_back(static_cast<float>((i * 1237 + r * 11) % kExtent));
  const NDArray data = NDArray::from_vector(x, {kRows, kExtent});
  Floats rising(static_cast<std::size_t>(kExtent));
  std::iota(rising.begin(), rising.end(), 0.f);
  in_shares([&] {
    const Floats sorted = invoke("sort", {data})[0].to_vector<float>();
    const Floats most =
        invoke("topk", {data}, {{"k", "2"}, {"ret_typ", "value"}})[0].to_vector<float>();
    for (std::int64_t r = 0; r < kRows; ++r) {
      const auto from = sorted.begin() + r * kExtent;
      EXPECT_TRUE(std::equal(rising.begin(), rising.end(), from)) << "row " << r;
      EXPECT_EQ(most[static_cast<std::size_t>(2 * r)], kExtent - 1) << "row " << r;
      EXPECT_EQ(most[static_cast<std::size_t>(2 * r + 1)], kExtent - 2) << "row " << r;
    }
  });
}

TEST(OpBorders, values_to_count_are_shared) {
  const Floats x = mixed(3 * 32'768 + 1);
  std::vector<std::int64_t> want(97);
  for (const float v : x) ++want[static_cast<std::size_t>(v)];
  in_shares([&] {
    const AttrDict attrs = {{"bin_cnt", "97"}, {"range", "(0, 97)"}};
    EXPECT_EQ(invoke("_histogram", {row(x)}, attrs)[0].to_vector<std::int64_t>(), want);
  });
}

TEST(OpBorders, squares_of_parts) {
  for (const std::size_t n : {1023u, 1024u, 1025u, 3073u, 65'535u, 65'536u, 65'537u, 196'609u}) {
    SCOPED_TRACE(n);
    Floats x = mixed(n);
    for (float& v : x) v = static_cast<float>(static_cast<int>(v) % 3);
    double sum = 0;
    for (const float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
    in_shares([&] {
      EXPECT_EQ(invoke("multi_sum_sq", {row(x)}, {{"num_arrays", "1"}})[0].scalar(), sum);
    });
  }
}

TEST(OpBorders, one_number_that_is_not_finite) {
  in_shares([&] {
    EXPECT_EQ(invoke("all_finite", {row(mixed(11))})[0].scalar(), 1);
    for (std::size_t at = 0; at < 11; ++at) {
      Floats x = mixed(11);
      x[at] = std::numeric_limits<float>::infinity();
      EXPECT_EQ(invoke("all_finite", {row(x)})[0].scalar(), 0) << at;
    }
  });
}

/// The first `n` numbers a sampler draws, into an array that holds something else.
std::vector<double> drawn(const char* op, std::int64_t n, const char* dtype, AttrDict attrs) {
  attrs["shape"] = "(" + std::to_string(n) + ",)";
  attrs["dtype"] = dtype;
  NDArray out = NDArray::full({n}, -7, cpu(), dtype_from_name(dtype));
  seed(42);
  invoke(op, {}, attrs, {out});
  return HostTensor::from(out).values;
}

TEST(OpBorders, samplers_draw_number_by_number) {
  struct Sampler {
    const char *op, *dtype;
    AttrDict attrs = {};
  };
  const std::vector<Sampler> samplers = {
      {"_random_uniform", "float32"},
      {"_random_uniform", "float64"},
      {"_random_normal", "float32"},
      {"_random_normal", "float64"},
      {"_random_normal", "float16"},
      {"_random_gamma", "float32"},
      {"_random_exponential", "float32"},
      {"_random_poisson", "float32"},
      {"_random_randint", "int32", {{"low", "0"}, {"high", "1000"}}},
      {"_random_randint", "int64", {{"low", "0"}, {"high", "1000"}}}};
  for (const Sampler& s : samplers) {
    SCOPED_TRACE(std::string(s.op) + " " + s.dtype);
    const std::vector<double> most = drawn(s.op, 1030, s.dtype, s.attrs);
    for (const double v : most) ASSERT_NE(v, -7);
    in_shares([&] {
      for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 1030})
        EXPECT_EQ(drawn(s.op, n, s.dtype, s.attrs),
                  std::vector<double>(most.begin(), most.begin() + n))
            << n;
    });
  }
}

/// The index of element (n, c, p) of a shape (images, channels, positions).
std::int64_t place(Layout layout, const Shape& s, std::int64_t n, std::int64_t c, std::int64_t p) {
  const std::int64_t inner = layout == Layout::kBlocked8       ? 8
                             : layout == Layout::kBlocked16    ? 16
                             : layout == Layout::kChannelsLast ? s[1]
                                                               : 1;
  return ((n * (s[1] / inner) + c / inner) * s[2] + p) * inner + c % inner;
}

TEST(OpBorders, layouts_in_tiles_of_16) {
  const std::vector<Layout> layouts = {Layout::kPlain, Layout::kBlocked8, Layout::kBlocked16,
                                       Layout::kChannelsLast};
  for (const std::int64_t positions : {5, 15, 16, 17, 49}) {
    const Shape shape = {3, 48, positions};
    for (const Layout from : layouts) {
      for (const Layout to : layouts) {
        if (from == to) continue;
        SCOPED_TRACE(std::string(layout_name(from)) + " to " + layout_name(to));
        Floats x(static_cast<std::size_t>(shape.size())), want = x;
        for (std::int64_t n = 0; n < shape[0]; ++n)
          for (std::int64_t c = 0; c < shape[1]; ++c)
            for (std::int64_t p = 0; p < positions; ++p) {
              const auto value = static_cast<float>((n * shape[1] + c) * positions + p);
              x[static_cast<std::size_t>(place(from, shape, n, c, p))] = value;
              want[static_cast<std::size_t>(place(to, shape, n, c, p))] = value;
            }
        const Prepared reorder =
            prepare_reorder({.shape = shape, .layout = from}, {.shape = shape, .layout = to});
        in_shares([&] {
          Floats y(x.size(), -1);
          const TensorArg in{.data = x.data()}, out{.data = y.data()};
          reorder(Args{.inputs = &in, .outputs = &out});
          EXPECT_EQ(y, want) << positions << " positions";
        });
      }
    }
  }
}

// The gradient is the softmax less the label, which is ½ everywhere here.
TEST(OpBorders, labels_that_are_probabilities) {
  const Symbol net = make_symbol("SoftmaxOutput", "softmax", std::vector{Variable("data")});
  in_shares([&] {
    Executor exe = net.simple_bind(cpu(), {{"data", {5, 2}}, {"softmax_label", {5, 2}}});
    row(mixed(10)).reshape({5, 2}).copy_to(exe.arg_dict()["softmax_label"]);
    exe.grad_dict()["data"].set(-100.0);
    exe.forward(true);
    exe.backward();
    Floats want = mixed(10);
    for (float& v : want) v = 0.5f - v;
    EXPECT_EQ(exe.grad_dict()["data"].to_vector<float>(), want);
  });
}

// Two layers with dropout between them: the same numbers with any number of shares.
TEST(OpBorders, dropout_between_the_layers_of_an_rnn) {
  const Symbol net =
      make_symbol("RNN", "rnn", std::vector{Variable("data")},
                  {{"mode", "rnn_tanh"}, {"state_size", "5"}, {"num_layers", "2"}, {"p", "0.5"}});
  Floats outputs, gradients;
  in_shares([&] {
    Executor exe = net.simple_bind(cpu(), {{"data", {3, 2, 4}}});
    for (auto& [name, array] : exe.arg_dict())
      HostTensor::formula(array.shape(), 3).array().copy_to(array);
    Floats y, d;
    // What a share leaves out has the numbers of the draw before.
    for (std::uint64_t draw = 0; draw < 8; ++draw) {
      seed(draw);
      const Floats now = exe.forward(true).at(0).to_vector<float>();
      exe.backward({NDArray::full({3, 2, 5}, 1)});
      const Floats slopes = exe.grad_dict()["data"].to_vector<float>();
      y.insert(y.end(), now.begin(), now.end());
      d.insert(d.end(), slopes.begin(), slopes.end());
    }
    if (outputs.empty()) outputs = y, gradients = d;
    EXPECT_EQ(y, outputs);
    for (std::size_t i = 0; i < d.size(); ++i) EXPECT_NEAR(d[i], gradients[i], 1e-6) << i;
  });
}

// Products of more than 5e9 operations are cut into tiles, so that they can be interrupted.
TEST(OpBorders, tiles_of_a_large_product) {
  constexpr std::int64_t kRows = 258, kColumns = 261, kDepth = 38'000;
  const std::vector<float> ones(static_cast<std::size_t>(kColumns * kDepth), 1.f);
  std::vector<float> a(static_cast<std::size_t>(kRows * kDepth));
  for (std::int64_t i = 0; i < kRows; ++i)
    std::fill_n(a.begin() + i * kDepth, kDepth, static_cast<float>(i % 7));
  for (const bool wide : {true, false}) {  // the longer side is the one that is cut
    const std::int64_t m = wide ? kRows : kColumns, n = wide ? kColumns : kRows;
    std::vector<float> c(static_cast<std::size_t>(m * n), -1.f);
    const float* left = wide ? a.data() : ones.data();
    const float* right = wide ? ones.data() : a.data();
    gemm({.transpose_b = true, .m = m, .n = n, .k = kDepth, .lda = kDepth, .ldb = kDepth, .ldc = n},
         1.f, left, right, 0.f, c.data());
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)],
                  static_cast<float>((wide ? i : j) % 7 * kDepth))
            << i << ", " << j;
  }
}

// Columns side by side are taken in tiles.
TEST(OpBorders, softmax_over_an_axis_before_a_long_one) {
  constexpr std::int64_t kOuter = 2, kExtent = 5, kInner = 2 * 1024 + 65;
  const HostTensor x = HostTensor::formula({kOuter, kExtent, kInner}, 3);
  const HostTensor dy = HostTensor::formula({kOuter, kExtent, kInner}, 4);
  NDArray data = x.array();
  data.attach_grad();
  NDArray y;
  {
    const autograd::Record record;
    y = softmax(data, {.axis = 1});
  }
  y.backward(dy.array());
  const HostTensor got = HostTensor::from(y), slope = HostTensor::from(data.grad());
  for (std::int64_t n = 0; n < kOuter; ++n)
    for (std::int64_t i = 0; i < kInner; ++i) {
      double sum = 0, dot = 0;
      for (std::int64_t k = 0; k < kExtent; ++k) sum += std::exp(x.at({n, k, i}));
      for (std::int64_t k = 0; k < kExtent; ++k)
        dot += dy.at({n, k, i}) * std::exp(x.at({n, k, i})) / sum;
      for (std::int64_t k = 0; k < kExtent; ++k) {
        const double p = std::exp(x.at({n, k, i})) / sum;
        ASSERT_NEAR(got.at({n, k, i}), p, 1e-6) << n << " " << k << " " << i;
        ASSERT_NEAR(slope.at({n, k, i}), p * (dy.at({n, k, i}) - dot), 1e-6) << n << " " << k;
      }
    }
}

// The product of a step goes over the state in depths of 256.
TEST(OpBorders, an_rnn_with_a_long_state) {
  constexpr std::int64_t kInputs = 3, kHidden = 256 + 3, kBatch = 2;
  constexpr double kScale = 0.02;  // keeps tanh away from its ends
  const std::int64_t count = kHidden * (kInputs + kHidden + 2);
  const HostTensor x = HostTensor::formula({1, kBatch, kInputs}, 5);
  const HostTensor w = HostTensor::formula({count}, 6);
  const HostTensor h = HostTensor::formula({1, kBatch, kHidden}, 7);
  const HostTensor y =
      HostTensor::from(RNN(x.array(), w.array() * kScale, h.array(),
                           {.state_size = kHidden, .num_layers = 1, .mode = "rnn_tanh"})
                           .front());
  const auto weight = [&](std::int64_t i) { return kScale * w[static_cast<std::size_t>(i)]; };
  const std::int64_t recurrent = kHidden * kInputs, biases = recurrent + kHidden * kHidden;
  for (std::int64_t n = 0; n < kBatch; ++n)
    for (std::int64_t o = 0; o < kHidden; ++o) {
      double sum = weight(biases + o) + weight(biases + kHidden + o);
      for (std::int64_t i = 0; i < kInputs; ++i) sum += weight(o * kInputs + i) * x.at({0, n, i});
      for (std::int64_t i = 0; i < kHidden; ++i)
        sum += weight(recurrent + o * kHidden + i) * h.at({0, n, i});
      ASSERT_NEAR(y.at({0, n, o}), std::tanh(sum), 1e-5) << n << " " << o;
    }
}

}  // namespace
}  // namespace symbind
