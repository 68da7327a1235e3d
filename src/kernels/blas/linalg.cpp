#include "kernels/linalg.h"

#include <cblas.h>

#include <algorithm>

#include "base/check.h"
#include "kernels/blas/note_call.h"

// OpenBLAS contains LAPACK, but Debian's headers for it do not declare it.
extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void spotri_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void sgeqrf_(const int* m, const int* n, float* a, const int* lda, float* tau, float* work,
             const int* lwork, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void sorgqr_(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau,
             float* work, const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
void sgetri_(const int* n, float* a, const int* lda, const int* pivots, float* work,
             const int* lwork, int* info);
void dgetri_(const int* n, double* a, const int* lda, const int* pivots, double* work,
             const int* lwork, int* info);
void ssyev_(const char* jobz, const char* uplo, const int* n, float* a, const int* lda,
            float* values, float* work, const int* lwork, int* info);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda,
            double* values, double* work, const int* lwork, int* info);
}

namespace symbind {
namespace {

int narrow(std::int64_t extent) {
  check(extent <= 0x7fffffff, ErrorKind::kShape, "a matrix side of {} is beyond LAPACK's integers",
        extent);
  return static_cast<int>(extent);
}

/// Calls a triangular routine of CBLAS.
template <class F, class T>
void call_triangular(F f, Triangle t, std::int64_t rows, std::int64_t columns, T alpha, const T* a,
                     T* b) {
  if (rows == 0 || columns == 0) return;
  blas::note_call();
  const int side = narrow(t.right ? columns : rows);
  f(CblasRowMajor, t.right ? CblasRight : CblasLeft, t.lower ? CblasLower : CblasUpper,
    t.transpose ? CblasTrans : CblasNoTrans, CblasNonUnit, narrow(rows), narrow(columns), alpha, a,
    side, b, narrow(columns));
}

template <class F, class T>
int call_symmetric(F f, std::int64_t n, T* a) {
  if (n == 0) return 0;
  blas::note_call();
  const int order = narrow(n);
  int info = 0;
  f("U", &order, a, &order, &info);
  return info;
}

template <class Factor, class Form, class T>
void call_lq(Factor factor, Form form, std::int64_t rows, std::int64_t columns, T* a, T* l,
             T* work) {
  if (rows == 0) return;
  blas::note_call();
  const int m = narrow(columns), n = narrow(rows), length = narrow(64 * rows);
  T* tau = work + 64 * rows;
  int info = 0;
  factor(&m, &n, a, &m, tau, work, &length, &info);
  SYMBIND_ASSERT(info == 0);
  std::fill_n(l, rows * rows, T(0));
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(a + i * columns, i + 1, l + i * rows);
  form(&m, &n, &n, a, &m, tau, work, &length, &info);
  SYMBIND_ASSERT(info == 0);
}

template <class F, class T>
bool call_eliminate(F f, std::int64_t n, T* a, int* pivots) {
  if (n == 0) return true;
  blas::note_call();
  const int order = narrow(n);
  int info = 0;
  f(&order, &order, a, &order, pivots, &info);
  return info == 0;
}
template <class F, class T>
bool call_invert(F f, std::int64_t n, T* a, T* work, int* pivots) {
  if (!eliminate(n, a, pivots)) return false;
  if (n == 0) return true;
  blas::note_call();
  const int order = narrow(n), length = narrow(64 * n);
  int info = 0;
  f(&order, a, &order, pivots, work, &length, &info);
  return info == 0;
}

// LAPACK's columns are our rows: each eigenvector becomes a row.
template <class F, class T>
bool call_eigen(F f, std::int64_t n, T* a, T* values, T* work) {
  if (n == 0) return true;
  blas::note_call();
  const int order = narrow(n), length = narrow(eigen_work(n));
  int info = 0;
  f("V", "U", &order, a, &order, values, work, &length, &info);
  return info == 0;
}

}  // namespace

void trmm(Triangle t, std::int64_t rows, std::int64_t columns, float alpha, const float* a,
          float* b) {
  call_triangular(cblas_strmm, t, rows, columns, alpha, a, b);
}
void trmm(Triangle t, std::int64_t rows, std::int64_t columns, double alpha, const double* a,
          double* b) {
  call_triangular(cblas_dtrmm, t, rows, columns, alpha, a, b);
}
void trsm(Triangle t, std::int64_t rows, std::int64_t columns, float alpha, const float* a,
          float* b) {
  call_triangular(cblas_strsm, t, rows, columns, alpha, a, b);
}
void trsm(Triangle t, std::int64_t rows, std::int64_t columns, double alpha, const double* a,
          double* b) {
  call_triangular(cblas_dtrsm, t, rows, columns, alpha, a, b);
}

int potrf(std::int64_t n, float* a) { return call_symmetric(spotrf_, n, a); }
int potrf(std::int64_t n, double* a) { return call_symmetric(dpotrf_, n, a); }
int potri(std::int64_t n, float* l) { return call_symmetric(spotri_, n, l); }
int potri(std::int64_t n, double* l) { return call_symmetric(dpotri_, n, l); }

void lq(std::int64_t rows, std::int64_t columns, float* a, float* l, float* work) {
  call_lq(sgeqrf_, sorgqr_, rows, columns, a, l, work);
}
void lq(std::int64_t rows, std::int64_t columns, double* a, double* l, double* work) {
  call_lq(dgeqrf_, dorgqr_, rows, columns, a, l, work);
}

bool eigen(std::int64_t n, float* a, float* values, float* work) {
  return call_eigen(ssyev_, n, a, values, work);
}
bool eigen(std::int64_t n, double* a, double* values, double* work) {
  return call_eigen(dsyev_, n, a, values, work);
}

bool eliminate(std::int64_t n, float* a, int* pivots) {
  return call_eliminate(sgetrf_, n, a, pivots);
}
bool eliminate(std::int64_t n, double* a, int* pivots) {
  return call_eliminate(dgetrf_, n, a, pivots);
}
bool invert(std::int64_t n, float* a, float* work, int* pivots) {
  return call_invert(sgetri_, n, a, work, pivots);
}
bool invert(std::int64_t n, double* a, double* work, int* pivots) {
  return call_invert(dgetri_, n, a, work, pivots);
}

}  // namespace symbind
