// Products of matrices. OpenBLAS's OpenMP build shares the thread pool with our loops and oneDNN.
//
// Decided here: a long product is computed tile by tile, so that it can be interrupted between
// tiles; a tile is large enough that the overhead is negligible. float goes to oneDNN where the
// product is not tiny: OpenBLAS runs its SSE kernels on every processor that is newer than itself
// (0.3.21 on an Emerald Rapids of 2023: an eighth of the speed).
#include "kernels/gemm.h"

#include <algorithm>

#include <cblas.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "kernels/blas/note_call.h"
#include "kernels/onednn/gemm.h"

namespace symbind {

namespace {

blasint narrow(std::int64_t value) {
  check(value <= 0x7fffffff, ErrorKind::kShape, "a matrix extent of {} is beyond BLAS's integers",
        value);
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

// A tenth of a second on a free core, a few tenths on a shared one.
constexpr double kTileFlops = 5e9;
constexpr std::int64_t kSmallestTile = 256;
// Below this many multiplications a call of oneDNN takes longer than the product.
constexpr std::int64_t kFewestForOneDnn = 16'384;

struct Tile {
  std::int64_t rows, columns;
};

Tile tile_of(const GemmShape& s) {
  const double limit = kTileFlops * num_threads();
  Tile t{s.m, s.n};
  while (2.0 * static_cast<double>(t.rows) * static_cast<double>(t.columns) *
                 static_cast<double>(s.k) >
             limit &&
         std::max(t.rows, t.columns) > kSmallestTile) {
    std::int64_t& longer = t.rows > t.columns ? t.rows : t.columns;
    longer = (longer + 1) / 2;
  }
  return t;
}

/// Calls multiply(m, n, a, b, c) for each tile of c.
template <class T, class Multiply>
void multiply_tiles(const GemmShape& s, const T* a, const T* b, T* c, Multiply&& multiply) {
  const Tile tile = tile_of(s);
  for (std::int64_t i = 0; i < s.m; i += tile.rows) {
    for (std::int64_t j = 0; j < s.n; j += tile.columns) {
      if (i + j > 0) interruption_point();
      multiply(narrow(std::min(tile.rows, s.m - i)), narrow(std::min(tile.columns, s.n - j)),
               a + i * (s.transpose_a ? 1 : s.lda), b + j * (s.transpose_b ? s.ldb : 1),
               c + i * s.ldc + j);
    }
  }
}

}  // namespace

void gemm(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c) {
  multiply_tiles(s, a, b, c, [&](blasint m, blasint n, const float* x, const float* y, float* z) {
    GemmShape tile = s;
    tile.m = m;
    tile.n = n;
    if (s.k > 0 && std::int64_t{m} * n >= kFewestForOneDnn / s.k &&
        onednn::gemm(tile, alpha, x, y, beta, z))
      return;
    blas::note_call();
    cblas_sgemm(CblasRowMajor, op(s.transpose_a), op(s.transpose_b), m, n, narrow(s.k), alpha, x,
                narrow(s.lda), y, narrow(s.ldb), beta, z, narrow(s.ldc));
  });
}

void gemm(const GemmShape& s, double alpha, const double* a, const double* b, double beta,
          double* c) {
  multiply_tiles(
      s, a, b, c, [&](blasint m, blasint n, const double* x, const double* y, double* z) {
        blas::note_call();
        cblas_dgemm(CblasRowMajor, op(s.transpose_a), op(s.transpose_b), m, n, narrow(s.k), alpha,
                    x, narrow(s.lda), y, narrow(s.ldb), beta, z, narrow(s.ldc));
      });
}

}  // namespace symbind
