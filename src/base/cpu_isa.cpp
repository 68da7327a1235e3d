// Decided here: ONEDNN_MAX_CPU_ISA limits our own kernels too, so that one variable shows how the
// library behaves on an older CPU. Its names are oneDNN's.

#include "base/cpu_isa.h"

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

}  // namespace

Isa cpu_isa() {
  static const Isa usable = std::min(of_this_cpu(), limit_of_the_setting());
  return usable;
}

}  // namespace symbind
