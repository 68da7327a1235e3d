// Decided here: ONEDNN_MAX_CPU_ISA limits our own kernels too, so that one variable shows how the
// library behaves on an older CPU. Its names are oneDNN's.
//
// bfloat16 counts where it multiplies faster than float32: with AMX, and on AMD's CPUs, whose
// AVX512_BF16 has twice the rate of float32. Intel's has the same rate, and the conversions come on
// top: ResNet-50 takes 55 ms against 33 (batch 1, two Sapphire Rapids cores without usable AMX).
// ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 uses it there, too.

#include "base/cpu_isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "base/settings.h"

namespace symbind {
namespace {

Isa of_this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Isa::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return Isa::kAvx2;
#endif
  return Isa::kSse41;
}

Isa limit_of_the_setting() {
  const std::string name = settings::text("ONEDNN_MAX_CPU_ISA");
  const std::string_view word = name;
  if (word == "SSE41" || word == "AVX") return Isa::kSse41;
  if (word.starts_with("AVX2")) return Isa::kAvx2;
  return Isa::kAvx512;
}

bool bfloat16_of_this_cpu() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

bool is_amd() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

/// AMX with its tiles, which the system lets programs use.
bool amx_of_this_cpu() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kOsSavesState = 1u << 27, kTiles = 1u << 24, kBFloat16 = 1u << 22;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsSavesState) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTiles) == 0 || (d & kBFloat16) == 0)
    return false;
  unsigned saved = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = 3u << 17;
  return (saved & kTileState) == kTileState && !amx_has_no_tiles();
#else
  return false;
#endif
}

}  // namespace

bool amx_has_no_tiles() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kTiles = 1u << 24, kFeatures = 7, kTileShapes = 0x1d;
  if (__get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) == 0 || (d & kTiles) == 0) return false;
  return __get_cpuid_count(kTileShapes, 0, &a, &b, &c, &d) == 0 || a == 0;
#else
  return false;
#endif
}

bool cpu_has_amx() {
  static const bool usable = [] {
    const std::string limit = settings::text("ONEDNN_MAX_CPU_ISA");
    const bool is_allowed = limit.empty() || limit == "ALL" || limit == "DEFAULT" ||
                            limit.find("AMX") != std::string::npos;
    return is_allowed && amx_of_this_cpu();
  }();
  return usable;
}

bool cpu_has_bfloat16() {
  static const bool usable = [] {
    if (cpu_isa() != Isa::kAvx512 || !bfloat16_of_this_cpu()) return false;
    const std::string limit = settings::text("ONEDNN_MAX_CPU_ISA");
    if (limit == "AVX512_CORE_BF16") return true;
    if (limit == "AVX512_CORE" || limit == "AVX512_CORE_VNNI" || limit.starts_with("AVX512_MIC"))
      return false;
    return is_amd() || cpu_has_amx();
  }();
  return usable;
}

Isa cpu_isa() {
  static const Isa usable = std::min(of_this_cpu(), limit_of_the_setting());
  return usable;
}

bool prefetches_past_l3() {
  static const bool value = is_amd();
  return value;
}

}  // namespace symbind
