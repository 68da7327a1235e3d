// Products of matrices. OpenBLAS's OpenMP build shares the thread pool with our loops and oneDNN.
//
// Decided here: a long product is computed tile by tile, so that it can be interrupted between
// tiles; a tile is large enough that the overhead is negligible. float goes to oneDNN: OpenBLAS
// runs its SSE kernels on every processor that is newer than itself (0.3.21 on an Emerald Rapids of
// 2023: an eighth of the speed). Small products are our own loops (one thread of a Zen 5, µs, ours
// / OpenBLAS / oneDNN): 1×128×64 with the right matrix transposed 0.26 / 1.73 / 0.63, 10×64×128
// 0.79 / 2.23 / 1.36, 10×64×10 transposed 0.31 / 0.43 / 0.57, 32×32×32 0.33 / 0.69 / 0.84.
//
// A tile is split over threads, by rows or by columns, and each thread calls oneDNN by
// itself. oneDNN's own threads lose much on few rows. Two threads of a Zen 4, GF/s, oneDNN's /
// ours: 32×2048×1000 with the right matrix transposed 39 / 105, 100×784×128 157 / 197, 64×800×500
// 161 / 187; 1120×200×10000 211 / 211. A thread computes its part in pieces: a bias is written to a
// piece before the product is added to it, and the columns of a transposed left matrix are read
// while they are in the cache (10000×1120×200: 180 / 187).
#include "kernels/gemm.h"

#include <algorithm>

#include <cblas.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "kernels/blas/note_call.h"
#include "kernels/onednn/gemm.h"
#include "kernels/vector/small_product.h"

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
// Below this many multiplications our loops take less time than a library's call. Those over whole
// rows of B keep up longer.
constexpr std::int64_t kFewestForLibrary = 16'384, kFewestOfRowsForLibrary = 100'000;
constexpr std::int64_t kFewestColumnsOfRows = 16;
// Waking another thread takes as long as this many multiplications.
constexpr double kFewestForThread = 250'000;
// Of a thread's part, where it is computed in pieces.
constexpr std::int64_t kRowsOfPiece = 512;
constexpr std::int64_t kColumnsOfPiece = 1024;

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

/// A part of C, and the rows of op(A) and the columns of op(B) that it is made of.
template <class T>
struct Part {
  GemmShape shape;
  const T *a, *b;
  T* c;
  std::int64_t column = 0;  ///< of C, where the part begins

  Part rows(std::int64_t begin, std::int64_t count) const {
    Part p = *this;
    p.shape.m = count;
    p.a += begin * (shape.transpose_a ? 1 : shape.lda);
    p.c += begin * shape.ldc;
    return p;
  }
  Part columns(std::int64_t begin, std::int64_t count) const {
    Part p = *this;
    p.shape.n = count;
    p.b += begin * (shape.transpose_b ? shape.ldb : 1);
    p.c += begin;
    p.column += begin;
    return p;
  }
};

/// Calls multiply(part) for each tile of C.
template <class T, class Multiply>
void multiply_tiles(const Part<T>& all, Multiply&& multiply) {
  const GemmShape& s = all.shape;
  const Tile tile = tile_of(s);
  for (std::int64_t i = 0; i < s.m; i += tile.rows) {
    for (std::int64_t j = 0; j < s.n; j += tile.columns) {
      if (i + j > 0) interruption_point();
      multiply(
          all.rows(i, std::min(tile.rows, s.m - i)).columns(j, std::min(tile.columns, s.n - j)));
    }
  }
}

/// C = alpha · op(A) · op(B) + beta · C, or with a bias C = op(A) · op(B) + bias.
template <class T>
struct Factors {
  T alpha, beta;
  const T* bias;
};

/// Products of any size count as small where the time is that of reading a transposed B or of
/// writing C. Decided for the whole product, so that neither tiles nor threads change it.
bool is_small(const GemmShape& s) {
  if (s.m <= 2 && s.transpose_b && !s.transpose_a) return true;
  if (s.k == 1 && !s.transpose_b) return true;
  const bool by_rows = !s.transpose_b && s.n >= kFewestColumnsOfRows;
  const std::int64_t fewest = by_rows ? kFewestOfRowsForLibrary : kFewestForLibrary;
  return s.k == 0 || s.m * s.n < fewest / s.k;
}

void multiply_part(const Part<float>& p, float alpha, float beta, bool small) {
  const GemmShape& s = p.shape;
  if (small) return vector::small_products().best().run(s, alpha, p.a, p.b, beta, p.c);
  if (onednn::gemm(s, alpha, p.a, p.b, beta, p.c)) return;
  blas::note_call();
  cblas_sgemm(CblasRowMajor, op(s.transpose_a), op(s.transpose_b), narrow(s.m), narrow(s.n),
              narrow(s.k), alpha, p.a, narrow(s.lda), p.b, narrow(s.ldb), beta, p.c, narrow(s.ldc));
}

void multiply_part(const Part<double>& p, double alpha, double beta, bool /*small*/) {
  const GemmShape& s = p.shape;
  if (s.k == 0) return gemm_plain(s, alpha, p.a, p.b, beta, p.c);  // OpenBLAS refuses rows of 0
  blas::note_call();
  cblas_dgemm(CblasRowMajor, op(s.transpose_a), op(s.transpose_b), narrow(s.m), narrow(s.n),
              narrow(s.k), alpha, p.a, narrow(s.lda), p.b, narrow(s.ldb), beta, p.c, narrow(s.ldc));
}

/// In multiplications. A number that is read or written once takes as long as some of them.
double work(const GemmShape& s) {
  constexpr double kPerNumber = 8;
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
             k = static_cast<double>(s.k);
  return std::max(m * n * k, kPerNumber * (m * n + m * k + n * k));
}

/// How threads divide a product: by whole groups of rows or columns, which a kernel computes at
/// once.
struct Division {
  static constexpr std::int64_t kGroup = 16;
  bool by_rows;
  std::int64_t extent, grain;

  explicit Division(const GemmShape& s)
      // With few values of k the time is that of writing C: its rows, as later loops divide it.
      : by_rows(2 * s.m >= s.n || (8 * s.k <= s.m && s.m >= kGroup * num_threads())),
        extent(by_rows ? s.m : s.n) {
    const double per_group =
        std::max(1.0, kGroup * work(s) / static_cast<double>(std::max<std::int64_t>(1, extent)));
    grain = static_cast<std::int64_t>(kFewestForThread / per_group) + 1;
  }
  std::int64_t groups() const { return (extent + kGroup - 1) / kGroup; }
};

template <class T>
void multiply_over_threads(const Part<T>& tile, const Factors<T>& f, bool small) {
  const GemmShape& s = tile.shape;
  const Division d(s);
  std::int64_t most = d.extent;
  if (f.bias != nullptr || (d.by_rows && s.transpose_a))
    most = d.by_rows ? kRowsOfPiece : kColumnsOfPiece;
  parallel_for(d.groups(), d.grain, [&](std::int64_t begin, std::int64_t end) {
    const VendorThreads one(1);
    const std::int64_t last = std::min(end * d.kGroup, d.extent);
    for (std::int64_t at = begin * d.kGroup; at < last; at += most) {
      const std::int64_t count = std::min(most, last - at);
      const Part<T> p = d.by_rows ? tile.rows(at, count) : tile.columns(at, count);
      for (std::int64_t r = 0; f.bias != nullptr && r < p.shape.m; ++r)
        std::copy_n(f.bias + p.column, p.shape.n, p.c + r * s.ldc);
      multiply_part(p, f.alpha, f.bias != nullptr ? T(1) : f.beta, small);
    }
  });
}

template <class T>
void multiply(const GemmShape& s, const T* a, const T* b, T* c, const Factors<T>& f) {
  const bool small = is_small(s);
  multiply_tiles(Part<T>{s, a, b, c},
                 [&](const Part<T>& tile) { multiply_over_threads(tile, f, small); });
}

// As kFewestForThread, of products so small that calling them takes most of the time.
constexpr std::int64_t kFewestOfProducts = 32'768;

}  // namespace

std::int64_t grain_of_products(const GemmShape& s, std::int64_t count) {
  const Division d(s);
  if (d.groups() >= 2 * d.grain && num_threads() > 1) return count;
  const double work =
      static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return static_cast<std::int64_t>(kFewestOfProducts / std::max(1.0, work)) + 1;
}

void gemm(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c) {
  multiply(s, a, b, c, Factors<float>{alpha, beta, nullptr});
}
void gemm(const GemmShape& s, double alpha, const double* a, const double* b, double beta,
          double* c) {
  multiply(s, a, b, c, Factors<double>{alpha, beta, nullptr});
}
void gemm_bias(const GemmShape& s, const float* a, const float* b, const float* bias, float* c) {
  multiply(s, a, b, c, Factors<float>{1, 0, bias});
}
void gemm_bias(const GemmShape& s, const double* a, const double* b, const double* bias,
               double* c) {
  multiply(s, a, b, c, Factors<double>{1, 0, bias});
}

}  // namespace symbind
