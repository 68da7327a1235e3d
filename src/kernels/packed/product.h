// A product of float32 matrices, one panel of columns at a time. Convolutions, small matrix
// products and recurrent steps are made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/vector/targets.h"

namespace symbind::packed {

/// Values of k that share one offset.
inline constexpr std::int64_t kBlock = 8;

/// C[r, :] = bias + row_bias[r] + add[r, :] + Σ_k A[r, k] · B[k, :], then limited to [low, high],
/// for one panel of `vectors` · lanes columns.
///
/// Value k of row r is a[r][shift + offsets[k / 8] + k % 8 · step]: so the rows may be pixels of a
/// tensor in any layout, and the values of k the channels under all taps of a filter. `rest` values
/// of the last block count. B is packed: the panel's columns for k = 0, then for k = 1, … Or it is
/// anywhere, with `b_offsets`: vector v of row k is at b + b_offsets[k] + v · lanes.
///
/// `rows_follow`: row r is at a[0] + r · lanes, as neighbouring pixels of a blocked tensor are.
/// Then one register addresses all rows, and with AVX-512 12 rows are computed at once instead
/// of 8.
///
/// Every element is one chain of fused multiply-adds in the order of k. So its bits depend on
/// neither the other rows nor the instruction set (of those with FMA).
struct Product {
  std::int64_t rows = 0;
  const float* const* a = nullptr;
  bool rows_follow = false;
  std::ptrdiff_t shift = 0;
  const std::ptrdiff_t* offsets = nullptr;
  std::int64_t blocks = 0;  ///< whole blocks of k
  std::int64_t rest = 0;    ///< values of k after them, under offsets[blocks]
  const float* b = nullptr;
  const std::ptrdiff_t* b_offsets = nullptr;
  float* c = nullptr;
  std::ptrdiff_t c_row = 0;         ///< from one row of C to the next
  std::ptrdiff_t c_vector = 0;      ///< from one vector of columns to the next
  std::int64_t columns = 0;         ///< fewer than the panel has: only these are written; 0: all
  const float* bias = nullptr;      ///< for each column of the panel, or null
  const float* row_bias = nullptr;  ///< for each row, or null
  const float* add = nullptr;       ///< with the steps of C, may be C; or null
  float low = -std::numeric_limits<float>::infinity();  ///< limits of C; NaN stays NaN
  float high = std::numeric_limits<float>::infinity();
  bool nan_is_low = false;  ///< a NaN becomes `low`
  /// What the next product reads: fetched into the L2 cache while this one multiplies.
  /// It is `ahead_runs` runs of `ahead_size` floats, `ahead_step` floats apart.
  const float* ahead = nullptr;
  std::int64_t ahead_size = 0, ahead_runs = 1, ahead_step = 0;
  /// The thread reads it once. Where the CPU can, it is then fetched so that it never moves on to
  /// the L3 cache, which keeps the activations.
  bool ahead_once = false;
  /// C is written past the caches. Its vectors are aligned, all columns are written, and the caller
  /// flushes the stores (hwy::FlushStream) before another thread reads C.
  bool stream = false;
};

/// The steps of k that products are compiled for.
enum class Step : std::uint8_t { kOne, kLanes };

struct Products {
  using Run = void (*)(const Product&);
  std::int64_t lanes;  ///< of one vector
  /// Vectors of a panel of B anywhere, at most; a packed panel has one or two.
  std::int64_t most_anywhere;
  Run packed[2][3];  ///< by number of vectors, less one; then by step, and for rows that follow
  Run anywhere[4];   ///< by number of vectors, less one; step 1
  /// Packs B (k × n, element (p, j) at p · row_step + j · column_step) into panels of `vectors` ·
  /// lanes columns; the last panel is filled with zeros.
  void (*pack)(const float* b, std::int64_t row_step, std::int64_t column_step, std::int64_t k,
               std::int64_t n, std::int64_t vectors, float* packed);

  void operator()(const Product& p, std::int64_t vectors, Step step = Step::kOne) const {
    if (p.b_offsets != nullptr) return anywhere[vectors - 1](p);
    packed[vectors - 1][p.rows_follow ? 2 : static_cast<std::size_t>(step)](p);
  }
};

const ByIsa<Products>& products();

/// Whether filters of `bytes`, of which each thread reads its part once and `readers` threads the
/// same part, are `ahead_once`. Smaller ones may be part of a network that fits in the L3 cache
/// from run to run; what many threads read comes from memory once if it is kept in L3.
constexpr bool read_once(std::size_t bytes, std::int64_t readers) {
  return bytes >= std::size_t{2} << 20 && readers <= 2;
}

}  // namespace symbind::packed
