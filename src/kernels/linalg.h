// Triangles and factors of row-major matrices, through the BLAS and LAPACK that OpenBLAS has.
//
// Decided here: a row-major matrix is its transpose in LAPACK's order, so its lower triangle is
// passed as the upper one, and its LQ factors are LAPACK's QR factors.
#pragma once

#include <cstdint>

namespace symbind {

/// Which triangle of A is read, on which side of B it is, and whether it is transposed.
struct Triangle {
  bool lower = true, transpose = false, right = false;
};

/// B (rows×columns) becomes alpha · op(A) · B, or alpha · B · op(A).
void trmm(Triangle t, std::int64_t rows, std::int64_t columns, float alpha, const float* a,
          float* b);
void trmm(Triangle t, std::int64_t rows, std::int64_t columns, double alpha, const double* a,
          double* b);
/// B becomes alpha · op(A)⁻¹ · B, or alpha · B · op(A)⁻¹.
void trsm(Triangle t, std::int64_t rows, std::int64_t columns, float alpha, const float* a,
          float* b);
void trsm(Triangle t, std::int64_t rows, std::int64_t columns, double alpha, const double* a,
          double* b);

/// The lower triangle of a symmetric matrix becomes that of L, A = L·Lᵀ; the upper one is not
/// touched. 0, or the order of the minor that is not positive.
int potrf(std::int64_t n, float* a);
int potrf(std::int64_t n, double* a);
/// The lower triangle of L becomes that of (L·Lᵀ)⁻¹. 0, or the position of a zero in the diagonal.
int potri(std::int64_t n, float* l);
int potri(std::int64_t n, double* l);

/// A (rows ≤ columns) becomes Q with orthonormal rows, A = L·Q; `l` (rows×rows) is written whole.
/// `work` has lq_work(rows) elements.
void lq(std::int64_t rows, std::int64_t columns, float* a, float* l, float* work);
void lq(std::int64_t rows, std::int64_t columns, double* a, double* l, double* work);
inline std::int64_t lq_work(std::int64_t rows) { return 65 * rows; }

/// A symmetric matrix, of which the lower triangle is read, becomes its eigenvectors, one a row;
/// `values` are the eigenvalues, ascending. False if LAPACK finds none. `work` has eigen_work(n)
/// elements.
bool eigen(std::int64_t n, float* a, float* values, float* work);
bool eigen(std::int64_t n, double* a, double* values, double* work);
inline std::int64_t eigen_work(std::int64_t n) { return 66 * n; }

/// A becomes its LU factors with exchanged rows or columns (pivots count from 1); false when a
/// pivot is 0.
bool eliminate(std::int64_t n, float* a, int* pivots);
bool eliminate(std::int64_t n, double* a, int* pivots);
/// A becomes its inverse; false if it has none (A is then overwritten). `work` has inverse_work(n)
/// elements.
bool invert(std::int64_t n, float* a, float* work, int* pivots);
bool invert(std::int64_t n, double* a, double* work, int* pivots);
inline std::int64_t inverse_work(std::int64_t n) { return 64 * n; }

}  // namespace symbind
