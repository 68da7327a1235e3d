// Decided here: arithmetic is measured by fused multiply-adds on registers alone, in the widest
// form the CPU has, because no library reaches what the hardware can (OpenBLAS two thirds of it);
// memory by copying arrays far larger than the caches. An operator whose arrays fit a cache may
// therefore show more than 100 % of the memory's speed.

#include "kernels/peak.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/cpu_isa.h"
#include "base/parallel.h"

namespace symbind {
namespace {

constexpr int kChains = 12;  // enough to hide the latency of a multiply-add
constexpr int kRounds = 20'000;

/// Runs chains of multiply-adds and returns how many operations they were. `sink` keeps the
/// compiler from removing them.
using FmaLoop = double (*)(float* sink);

double plain_loop(float* sink) {
  std::array<float, 4 * kChains> sums{};
  for (int round = 0; round < kRounds; ++round)
    for (float& s : sums) s = s * 0.5f + 0.25f;
  for (const float s : sums) *sink += s;
  return 2.0 * kRounds * static_cast<double>(sums.size());
}

#if defined(__x86_64__)
// Unrolled by hand: chains must stay in registers. They start with different values, else the
// compiler computes one of them.
#define SYMBIND_FMA_LOOP(name, isa, vector, width, set1, fmadd, store)                          \
  __attribute__((target(isa))) double name(float* sink) {                                       \
    const vector half = set1(0.5f), quarter = set1(0.25f);                                      \
    vector c0 = set1(0.0f), c1 = set1(0.1f), c2 = set1(0.2f), c3 = set1(0.3f), c4 = set1(0.4f), \
           c5 = set1(0.6f), c6 = set1(0.7f), c7 = set1(0.8f), c8 = set1(0.9f), c9 = set1(1.0f), \
           c10 = set1(1.1f), c11 = set1(1.2f);                                                  \
    for (int round = 0; round < kRounds; ++round) {                                             \
      c0 = fmadd(c0, half, quarter), c1 = fmadd(c1, half, quarter);                             \
      c2 = fmadd(c2, half, quarter), c3 = fmadd(c3, half, quarter);                             \
      c4 = fmadd(c4, half, quarter), c5 = fmadd(c5, half, quarter);                             \
      c6 = fmadd(c6, half, quarter), c7 = fmadd(c7, half, quarter);                             \
      c8 = fmadd(c8, half, quarter), c9 = fmadd(c9, half, quarter);                             \
      c10 = fmadd(c10, half, quarter), c11 = fmadd(c11, half, quarter);                         \
    }                                                                                           \
    alignas(64) float out[width];                                                               \
    for (const vector& c : {c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11}) {                \
      store(out, c);                                                                            \
      *sink += out[0];                                                                          \
    }                                                                                           \
    return 2.0 * kRounds * kChains * (width);                                                   \
  }
SYMBIND_FMA_LOOP(avx512_loop, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps,
                 _mm512_store_ps)
SYMBIND_FMA_LOOP(avx2_loop, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_store_ps)
#undef SYMBIND_FMA_LOOP
#endif

FmaLoop widest_loop() {
#if defined(__x86_64__)
  if (cpu_isa() == Isa::kAvx512) return avx512_loop;
  if (cpu_isa() == Isa::kAvx2) return avx2_loop;
#endif
  return plain_loop;
}

/// The best number of units of `work` per second; `work` returns how many it did, over all threads.
/// It takes 60 ms or longer: two new threads may share a core until the system moves one of them.
template <class F>
double best_rate(F&& work) {
  using Seconds = std::chrono::duration<double>;
  double best = 0;
  Seconds all{0};
  while (all < Seconds(0.06)) {
    const auto start = std::chrono::steady_clock::now();
    const double units = work();
    const Seconds took = std::chrono::steady_clock::now() - start;
    best = std::max(best, units / std::max(took.count(), 1e-9));
    all += std::max(took, Seconds(1e-6));
  }
  return best;
}

double arithmetic(int threads) {
  const FmaLoop loop = widest_loop();
  std::vector<float> sinks(static_cast<std::size_t>(threads) * 16);
  std::vector<double> done(static_cast<std::size_t>(threads));
  return best_rate([&] {
    parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t)
        done[static_cast<std::size_t>(t)] = loop(&sinks[static_cast<std::size_t>(t) * 16]);
    });
    double all = 0;
    for (const double d : done) all += d;
    return all;
  });
}

double memory() {
  constexpr std::int64_t kBytes = std::int64_t{48} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  return best_rate([&] {
    parallel_for(kBytes, std::int64_t{1} << 20, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
    return 2.0 * kBytes;
  });
}

}  // namespace

Peak cpu_peak() {
  static std::mutex guard;
  static auto& measured = *new std::map<int, Peak>;
  const int threads = num_threads();
  const std::lock_guard lock(guard);
  const auto it = measured.find(threads);
  if (it != measured.end()) return it->second;
  return measured[threads] = {.flops = arithmetic(threads), .bytes = memory()};
}

}  // namespace symbind
