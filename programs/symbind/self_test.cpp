// The self test of `symbind doctor`: results that are known exactly, for long enough to measure.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include <symbind/executor.h>

#include "doctor.h"

namespace symbind::program {
namespace {

/// Runs `work` until the time is up; the best rate of a run, which other load disturbs least.
double best_gflops(double seconds, double flops, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  work();  // kernels are prepared, caches filled
  double best = 0, total = 0;
  do {
    const auto start = Clock::now();
    work();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, flops / took / 1e9);
    total += took;
  } while (total < seconds);
  return best;
}

double largest_difference(const NDArray& array, const std::function<double(std::int64_t)>& known) {
  const std::vector<float> numbers = array.to_vector<float>();
  double most = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double difference =
        std::abs(static_cast<double>(numbers[i]) - known(static_cast<std::int64_t>(i)));
    most = std::max(most, std::isfinite(difference) ? difference : 1e30);
  }
  return most;
}

/// a[i,k] = i mod 7 and b[k,j] = j mod 5 give n (i mod 7) (j mod 5), exact in float32.
void test_gemm(double seconds, SelfTest& result) {
  constexpr std::int64_t n = 768;
  std::vector<float> a, b;
  for (std::int64_t i = 0; i < n * n; ++i) {
    a.push_back(static_cast<float>(i / n % 7));
    b.push_back(static_cast<float>(i % n % 5));
  }
  const NDArray x = NDArray::from_vector(a, {n, n}, cpu());
  const NDArray y = NDArray::from_vector(b, {n, n}, cpu());
  const NDArray out = NDArray::zeros({n, n}, cpu());
  result.gemm_gflops = best_gflops(seconds, 2.0 * n * n * n, [&] {
    invoke("dot", {x, y}, {}, {out});
    out.wait_to_read();
  });
  result.gemm_error = largest_difference(
      out, [](std::int64_t i) { return static_cast<double>(n * (i / n % 7) * (i % n % 5)); });
}

/// Ones convolved 3 x 3 with ones count the neighbours inside the image, times the channels.
void test_convolution(double seconds, SelfTest& result) {
  constexpr std::int64_t kBatch = 2, kChannels = 64, kFilters = 64, kSide = 56;
  const Symbol data = Symbol::variable("data");
  const Symbol net = make_symbol("Convolution", "conv", {data},
                                 {{"kernel", "(3, 3)"},
                                  {"pad", "(1, 1)"},
                                  {"num_filter", std::to_string(kFilters)},
                                  {"no_bias", "True"}});
  Executor executor =
      net.simple_bind(cpu(), {{"data", {kBatch, kChannels, kSide, kSide}}}, {.grad_req = "null"});
  for (const NDArray& array : executor.arg_arrays()) NDArray(array).set(1.0);
  const double flops = 2.0 * kBatch * kFilters * kSide * kSide * kChannels * 9;
  result.convolution_gflops = best_gflops(seconds, flops, [&] {
    executor.forward();
    executor.outputs().front().wait_to_read();
  });
  result.convolution_error = largest_difference(executor.outputs().front(), [](std::int64_t i) {
    const auto inside = [](std::int64_t at) { return at == 0 || at == kSide - 1 ? 2 : 3; };
    return static_cast<double>(kChannels * inside(i % kSide) * inside(i / kSide % kSide));
  });
}

}  // namespace

SelfTest run_self_test(double seconds) {
  SelfTest result;
  test_gemm(seconds / 2, result);
  test_convolution(seconds / 2, result);
  return result;
}

}  // namespace symbind::program
