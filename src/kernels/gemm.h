// C = alpha · op(A) · op(B) + beta · C, row-major, where op is the identity or the transpose.
//
// Decided here: float goes to oneDNN where the library has it, also if SYMBIND_KERNELS forbids
// oneDNN's kernels, and small products to vector/small_product.h; double goes to OpenBLAS; the
// 16-bit types, which neither supports here, are multiplied by plain loops that sum in float.
// Products are split over threads here: each thread multiplies a part of the rows or columns of C,
// or some of several products.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"

namespace symbind {

struct GemmShape {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

void gemm(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c);
void gemm(const GemmShape& s, double alpha, const double* a, const double* b, double beta,
          double* c);

/// C = op(A) · op(B) + bias, which has one value per column of C.
void gemm_bias(const GemmShape& s, const float* a, const float* b, const float* bias, float* c);
void gemm_bias(const GemmShape& s, const double* a, const double* b, const double* bias, double* c);

/// The product by its definition: every other kernel is tested against it.
template <class T>
void gemm_plain(const GemmShape& s, Accumulator<T> alpha, const T* a, const T* b,
                Accumulator<T> beta, T* c) {
  using Acc = Accumulator<T>;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      Acc sum = 0;
      for (std::int64_t p = 0; p < s.k; ++p) {
        sum += static_cast<Acc>(s.transpose_a ? a[p * s.lda + i] : a[i * s.lda + p]) *
               static_cast<Acc>(s.transpose_b ? b[j * s.ldb + p] : b[p * s.ldb + j]);
      }
      T& to = c[i * s.ldc + j];
      to = static_cast<T>(beta == 0 ? alpha * sum : alpha * sum + beta * static_cast<Acc>(to));
    }
  }
}
inline void gemm(const GemmShape& s, float alpha, const Half* a, const Half* b, float beta,
                 Half* c) {
  gemm_plain(s, alpha, a, b, beta, c);
}
inline void gemm(const GemmShape& s, float alpha, const BFloat16* a, const BFloat16* b, float beta,
                 BFloat16* c) {
  gemm_plain(s, alpha, a, b, beta, c);
}

/// The grain of a loop over `count` products of this size. A loop over products that gemm divides
/// has one chunk.
std::int64_t grain_of_products(const GemmShape& s, std::int64_t count);

/// Calls multiply(i) for each of `count` products of this size.
template <class Multiply>
void each_product(const GemmShape& s, std::int64_t count, Multiply&& multiply) {
  parallel_for(count, grain_of_products(s, count), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) multiply(i);
  });
}

}  // namespace symbind
