// The table of mx.runtime.Features: MXNet's names, so that scripts can query them.

#include <symbind/runtime.h>

namespace symbind {

std::string version() { return SYMBIND_VERSION; }

std::vector<std::pair<std::string, bool>> features() {
  constexpr bool cuda = SYMBIND_HAVE_CUDA != 0, onednn = SYMBIND_HAVE_ONEDNN != 0;
#if defined(__x86_64__)
  const bool sse = __builtin_cpu_supports("sse") != 0;
  const bool sse2 = __builtin_cpu_supports("sse2") != 0;
  const bool sse3 = __builtin_cpu_supports("sse3") != 0;
  const bool sse41 = __builtin_cpu_supports("sse4.1") != 0;
  const bool sse42 = __builtin_cpu_supports("sse4.2") != 0;
  const bool avx = __builtin_cpu_supports("avx") != 0;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
#else
  constexpr bool sse = false, sse2 = false, sse3 = false, sse41 = false, sse42 = false, avx = false,
                 avx2 = false;
#endif
  return {
      {"CUDA", cuda},
      {"CUDNN", false},
      {"NCCL", false},
      {"CUDA_RTC", false},
      {"TENSORRT", false},
      {"CPU_SSE", sse},
      {"CPU_SSE2", sse2},
      {"CPU_SSE3", sse3},
      {"CPU_SSE4_1", sse41},
      {"CPU_SSE4_2", sse42},
      {"CPU_SSE4A", false},
      {"CPU_AVX", avx},
      {"CPU_AVX2", avx2},
      {"OPENMP", true},
      {"SSE", sse},
      {"F16C", true},
      {"JEMALLOC", false},
      {"BLAS_OPEN", true},
      {"BLAS_ATLAS", false},
      {"BLAS_MKL", false},
      {"BLAS_APPLE", false},
      {"LAPACK", true},
      {"MKLDNN", onednn},
      {"OPENCV", false},
      {"CAFFE", false},
      {"PROFILER", false},
      {"DIST_KVSTORE", false},
      {"CXX14", true},
      {"INT64_TENSOR_SIZE", true},
      {"SIGNAL_HANDLER", false},
      {"DEBUG", false},
      {"TVM_OP", false},
  };
}

}  // namespace symbind
