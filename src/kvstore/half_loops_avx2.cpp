// The loops for processors with AVX2, which convert eight values at a time. Functions of half.h are
// not used here: the linker could give this file's versions of them to other processors.
#include <immintrin.h>

#include "kvstore/half_loops.h"

namespace symbind {
namespace {

constexpr std::int64_t kLanes = 8;
constexpr int kNearestEven = _MM_FROUND_TO_NEAREST_INT;

void encode(const float* from, std::uint16_t* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), kNearestEven));
  for (; i < n; ++i) to[i] = _cvtss_sh(from[i], kNearestEven);
}

__m256 eight(const std::uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

void decode(const std::uint16_t* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm256_storeu_ps(to + i, eight(from + i));
  for (; i < n; ++i) to[i] = _cvtsh_ss(from[i]);
}

void add(const std::uint16_t* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm256_storeu_ps(to + i, _mm256_add_ps(_mm256_loadu_ps(to + i), eight(from + i)));
  for (; i < n; ++i) to[i] += _cvtsh_ss(from[i]);
}

}  // namespace

HalfLoops half_loops_avx2() { return {encode, decode, add}; }

}  // namespace symbind
