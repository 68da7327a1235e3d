// Prints the rate of the elementwise, row and update operators beside the two limits that they
// have, and the share of the lower one:
//
//   the stream      a probe of the same threads, measured in turn with the operator: a copy (one
//                   array read, one written), a triad (two read, one written) or a read
//   the arithmetic  the same operator over arrays in the caches: the time that more elements take,
//                   times the threads; without the time of a call
//
//   bench_vector [--only TEXT] [--megabytes 32] [--rounds 9]
//
// For one and for two threads. ONEDNN_MAX_CPU_ISA=AVX2 or SSE41 shows older instruction sets. A
// figure counts every array that is read and every one that is written once, as the probes do.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <symbind/executor.h>
#include <symbind/libraries.h>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "support/report.h"

namespace symbind::bench {
namespace {

// ---- Probes: loops that compilers vectorise, by instruction set ---------------------------------

using Loop = void (*)(const float* a, const float* b, float* y, std::int64_t n);

#define PROBES(suffix, isa)                                                                        \
  __attribute__((target(isa), optimize("O3"))) void copy_##suffix(                                 \
      const float* __restrict a, const float*, float* __restrict y, std::int64_t n) {              \
    for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] + 1.f;                                        \
  }                                                                                                \
  __attribute__((target(isa), optimize("O3"))) void triad_##suffix(                                \
      const float* __restrict a, const float* __restrict b, float* __restrict y, std::int64_t n) { \
    for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] + 3.f * b[i];                                 \
  }                                                                                                \
  __attribute__((target(isa), optimize("O3"))) void read_##suffix(                                 \
      const float* __restrict a, const float*, float* __restrict y, std::int64_t n) {              \
    std::int32_t sums[64] = {};                                                                    \
    for (std::int64_t i = 0; i + 64 <= n; i += 64)                                                 \
      for (std::int64_t k = 0; k < 64; ++k) {                                                      \
        std::int32_t bits;                                                                         \
        std::memcpy(&bits, a + i + k, 4);                                                          \
        sums[k] |= bits;                                                                           \
      }                                                                                            \
    std::memcpy(y, sums, sizeof sums);                                                             \
  }
PROBES(avx512, "avx512f,prefer-vector-width=512")
PROBES(avx2, "avx2")
PROBES(sse, "sse4.2")
#undef PROBES

struct Probe {
  Loop copy, triad, read;
};
Probe probe() {
  switch (cpu_isa()) {
    case Isa::kAvx512: return {copy_avx512, triad_avx512, read_avx512};
    case Isa::kAvx2: return {copy_avx2, triad_avx2, read_avx2};
    case Isa::kSse41: break;
  }
  return {copy_sse, triad_sse, read_sse};
}

// ---- Operators ----------------------------------------------------------------------------------

struct Work {
  std::string name;
  std::string op;
  AttrDict attrs;
  std::vector<NDArray> in;
  NDArray out;
  double read, written;  ///< arrays of the full size
};

class Bench {
 public:
  Bench(std::int64_t floats, int rounds, std::string only)
      : n_(floats), rounds_(rounds), only_(std::move(only)) {
    std::vector<float> numbers(static_cast<std::size_t>(n_));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0.01f + 0.001f * static_cast<float>(i * 2654435761u % 4001);
    a_ = NDArray::from_vector(numbers, Shape{n_});
    b_ = NDArray::from_vector(numbers, Shape{n_});
    y_ = NDArray::zeros({n_});
  }

  void run(int threads) {
    set_num_threads(threads);
    fmt::print("\n{}, {} thread{}, arrays of {} MB{:19} GB/s    stream  arithmetic      limit\n",
               cpu_instructions(), threads, threads > 1 ? "s" : "", n_ * 4 / 1000000, "");
    elementwise();
    rows();
    updates();
    set_num_threads(0);
  }

 private:
  void elementwise() {
    for (const char* op : {"relu", "sigmoid", "tanh", "exp", "log", "log1p", "expm1", "sqrt",
                           "rsqrt", "erf", "square", "abs", "negative", "floor"})
      show({op, op, {}, {a_}, y_, 1, 1});
    for (const char* op : {"elemwise_add", "elemwise_mul", "elemwise_div", "_maximum", "_greater"})
      show({op, op, {}, {a_, b_}, y_, 2, 1});
    for (const char* op : {"_plus_scalar", "_mul_scalar", "_div_scalar", "_maximum_scalar"})
      show({op, op, {{"scalar", "1.5"}}, {a_}, y_, 1, 1});
    for (const char* act : {"relu", "sigmoid", "tanh", "softrelu", "softsign"})
      show({std::string("Activation ") + act, "Activation", {{"act_type", act}}, {a_}, y_, 1, 1});
    for (const char* act : {"leaky", "elu", "gelu", "selu"})
      show({std::string("LeakyReLU ") + act, "LeakyReLU", {{"act_type", act}}, {a_}, y_, 1, 1});
    show({"clip", "clip", {{"a_min", "0.1"}, {"a_max", "2"}}, {a_}, y_, 1, 1});
    const Shape image{8, 64, n_ / 512 / 16, 16};
    const NDArray x = a_.reshape(image), y = y_.reshape(image);
    const NDArray channels = NDArray::full({64}, 0.25), wide = NDArray::full({1, 64, 1, 1}, 0.25);
    show({"LeakyReLU prelu", "LeakyReLU", {{"act_type", "prelu"}}, {x, channels}, y, 1, 1});
    show({"broadcast_mul (1,C,1,1)", "broadcast_mul", {}, {x, wide}, y, 1, 1});
    const NDArray row = NDArray::full({1024}, 0.25);
    const Shape matrix{n_ / 1024, 1024};
    show({"broadcast_add (1,C)",
          "broadcast_add",
          {},
          {a_.reshape(matrix), row.reshape({1, 1024})},
          y_.reshape(matrix),
          1,
          1});
    const NDArray half = NDArray::zeros({2 * n_}, cpu(), DType::kFloat16),
                  half_out = NDArray::zeros({2 * n_}, cpu(), DType::kFloat16),
                  brain = NDArray::zeros({2 * n_}, cpu(), DType::kBFloat16),
                  brain_out = NDArray::zeros({2 * n_}, cpu(), DType::kBFloat16);
    show({"elemwise_add float16", "elemwise_add", {}, {half, half}, half_out, 2, 1});
    show({"tanh float16", "tanh", {}, {half}, half_out, 1, 1});
    show({"elemwise_add bfloat16", "elemwise_add", {}, {brain, brain}, brain_out, 2, 1});
  }

  void rows() {
    const Shape matrix{n_ / 1024, 1024};
    const NDArray x = a_.reshape(matrix), dy = b_.reshape(matrix), y = y_.reshape(matrix);
    const NDArray ones = NDArray::full({1024}, 1), labels = NDArray::zeros({n_ / 1024});
    show({"softmax", "softmax", {}, {x}, y, 1, 1});
    show({"log_softmax", "log_softmax", {}, {x}, y, 1, 1});
    show({"softmax axis 0", "softmax", {{"axis", "0"}}, {x}, y, 1, 1});
    const Shape planes{n_ / 2048, 16, 128};
    show({"softmax axis 1 of (N,16,128)",
          "softmax",
          {{"axis", "1"}},
          {a_.reshape(planes)},
          y_.reshape(planes),
          1,
          1});
    show({"SoftmaxOutput", "SoftmaxOutput", {}, {x, labels}, y, 1, 1});
    const std::int64_t classes = 10000, long_rows = n_ / classes;
    const Shape words{long_rows, classes};
    const auto many = [&](const NDArray& all) { return all.slice(0, words.size()).reshape(words); };
    const NDArray word_labels = NDArray::zeros({long_rows});
    show({"SoftmaxOutput of 10000", "SoftmaxOutput", {}, {many(a_), word_labels}, many(y_), 1, 1});
    show({"LayerNorm", "LayerNorm", {}, {x, ones, ones}, y, 1, 1});
    const Shape image{8, 64, n_ / 512 / 16, 16};
    const NDArray channels = NDArray::full({64}, 0.25);
    show({"InstanceNorm",
          "InstanceNorm",
          {},
          {a_.reshape(image), channels, channels},
          y_.reshape(image),
          1,
          1});
    show({"L2Normalization", "L2Normalization", {}, {x}, y, 1, 1});
    const NDArray one = NDArray::zeros({1}), row = NDArray::zeros({1024}),
                  column = NDArray::zeros({n_ / 1024});
    for (const char* op : {"sum", "mean", "max", "min", "norm"}) {
      show({std::string(op) + " of all", op, {}, {x}, one, 1, 0});
      show({std::string(op) + " last axis", op, {{"axis", "1"}}, {x}, column, 1, 0});
      show({std::string(op) + " first axis", op, {{"axis", "0"}}, {x}, row, 1, 0});
    }
    show({"Dropout without a mask", "Dropout", {{"mode", "always"}}, {x}, y, 1, 1});
  }

  void updates() {
    const NDArray m = NDArray::full({n_}, 0.1), v = NDArray::full({n_}, 0.1);
    const AttrDict lr = {{"lr", "0.0001"}};
    show({"sgd_update", "sgd_update", lr, {a_, b_}, a_, 2, 1});
    show({"sgd_mom_update", "sgd_mom_update", lr, {a_, b_, m}, a_, 3, 2});
    show({"nag_mom_update", "nag_mom_update", lr, {a_, b_, m}, a_, 3, 2});
    show({"rmsprop_update", "rmsprop_update", lr, {a_, b_, v}, a_, 3, 2});
    show({"adam_update", "adam_update", lr, {a_, b_, m, v}, a_, 4, 3});
    const NDArray half = NDArray::zeros({n_}, cpu(), DType::kFloat16);
    show({"Cast to float16", "Cast", {{"dtype", "float16"}}, {a_}, half, 1, 0.5});
    show({"Cast from float16", "Cast", {{"dtype", "float32"}}, {half}, y_, 0.5, 1});
  }

  void all(Loop loop) {
    auto* a = static_cast<const float*>(a_.data());
    auto* b = static_cast<const float*>(b_.data());
    auto* y = static_cast<float*>(const_cast<void*>(y_.data()));
    parallel_for(n_, n_ / num_threads(), [&](std::int64_t begin, std::int64_t end) {
      loop(a + begin, b + begin, y + begin, end - begin);
    });
  }

  static void run(const Work& w) {
    invoke(w.op, w.in, w.attrs, {w.out});
    w.out.wait_to_read();
  }

  /// The same operator over the first `rows` of its arrays.
  static Work part(const Work& w, std::int64_t rows) {
    const std::int64_t whole = w.in[0].shape()[0];
    Work some = w;
    for (NDArray& x : some.in)
      if (x.shape()[0] == whole) x = x.slice(0, rows);
    if (w.out.shape()[0] == whole) some.out = w.out.slice(0, rows);
    return some;
  }
  double seconds_of_part(const Work& w, std::int64_t rows) const {
    constexpr int kCalls = 200;
    const Work some = part(w, rows);
    double best = 1e30;
    for (int i = 0; i < rounds_; ++i)
      best = std::min(best, time_once([&] {
                        for (int k = 0; k < kCalls; ++k) run(some);
                      }));
    return best / kCalls;
  }
  /// Seconds that the arithmetic of all elements takes; 0 if few rows exceed the caches.
  double arithmetic(const Work& w) const {
    const Shape& shape = w.in[0].shape();
    const std::int64_t row = shape.size() / shape[0];
    const std::int64_t rows = std::max<std::int64_t>(4096 / std::max<std::int64_t>(row, 1), 4);
    if (rows * row > 65536) return 0;
    const int threads = num_threads();
    set_num_threads(1);
    const double more = seconds_of_part(w, rows) - seconds_of_part(w, rows / 2);
    set_num_threads(threads);
    return std::max(more, 0.0) / static_cast<double>(rows - rows / 2) *
           static_cast<double>(shape[0]) / threads;
  }

  void show(const Work& w) {
    if (!only_.empty() && w.name.find(only_) == std::string::npos) return;
    const Probe p = probe();
    const bool reads = w.written == 0, triad = !reads && w.read > w.written + 0.5;
    const Loop loop = reads ? p.read : triad ? p.triad : p.copy;
    const double arrays = reads ? 1 : triad ? 3 : 2, bytes = static_cast<double>(n_) * 4;
    double seconds = 1e30, stream = 1e30;
    for (int i = 0; i < rounds_; ++i) {
      seconds = std::min(seconds, time_once([&] { run(w); }));
      stream = std::min(stream, time_once([&] { all(loop); }));
    }
    const double traffic = bytes * (w.read + w.written);
    stream *= traffic / (bytes * arrays);
    const double compute = arithmetic(w), limit = std::max(stream, compute);
    fmt::print("  {:32} {:7.1f} {:5.1f} {:5} {:>7}   {:3.0f} % of the {}\n", w.name,
               traffic * 1e-9 / seconds, traffic * 1e-9 / stream,
               reads   ? "read"
               : triad ? "triad"
                       : "copy",
               compute > 0 ? fmt::format("{:.1f}", traffic * 1e-9 / compute) : "-",
               100 * limit / seconds, compute > stream ? "arithmetic" : "stream");
  }

  std::int64_t n_;
  int rounds_;
  std::string only_;
  NDArray a_, b_, y_;
};

}  // namespace
}  // namespace symbind::bench

int main(int argc, char** argv) {
  using namespace symbind::bench;
  std::string only;
  std::int64_t megabytes = 32;
  int rounds = 9;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--only") only = argv[i + 1];
    if (std::string_view(argv[i]) == "--megabytes") megabytes = std::stoll(argv[i + 1]);
    if (std::string_view(argv[i]) == "--rounds") rounds = std::stoi(argv[i + 1]);
  }
  Bench bench(megabytes * 250000 / 16384 * 16384, rounds, only);
  for (const int threads : {1, 2}) bench.run(threads);
  return 0;
}
