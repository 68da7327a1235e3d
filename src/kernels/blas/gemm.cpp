// OpenBLAS calls. Its OpenMP build shares the thread pool with our loops and oneDNN.
#include "kernels/gemm.h"

#include <cblas.h>

#include "base/check.h"

namespace symbind {

namespace {

blasint narrow(std::int64_t value) {
  check(value <= 0x7fffffff, ErrorKind::kShape,
        "a matrix extent of {} is beyond what BLAS can take", value);
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

}  // namespace

void gemm(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, op(s.transpose_a), op(s.transpose_b), narrow(s.m), narrow(s.n),
              narrow(s.k), alpha, a, narrow(s.lda), b, narrow(s.ldb), beta, c, narrow(s.ldc));
}

void gemm(const GemmShape& s, double alpha, const double* a, const double* b, double beta,
          double* c) {
  cblas_dgemm(CblasRowMajor, op(s.transpose_a), op(s.transpose_b), narrow(s.m), narrow(s.n),
              narrow(s.k), alpha, a, narrow(s.lda), b, narrow(s.ldb), beta, c, narrow(s.ldc));
}

}  // namespace symbind
