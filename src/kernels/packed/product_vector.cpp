// Decided here: a tile of C is kept in registers. With AVX2 it has 6 rows of 2 vectors: 12 of 16
// registers, 8 loads for 12 multiplications. With AVX-512 it has 8 rows of 2 vectors: more
// rows need more address registers than there are. Rows that follow one another need one, so a tile
// has 12: 89 instead of 69 % of the multiply-adds of a Skylake core. B anywhere has up to 4 vectors
// of 6 rows, 86 %. One vector of columns takes 8 rows (12 that follow one another), so
// that enough multiplications are independent of one another. Rows are split into tiles of nearly
// equal height, because a tile of one or two rows waits for its own sums.
#include "kernels/packed/product.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/packed/product_vector.cpp"
#include <hwy/foreach_target.h>
// The other targets are compiled by now.
#include <hwy/highway.h>

#include "kernels/vector/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::packed {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr std::int64_t kLanes = hn::MaxLanes(Floats());

/// Where the values of A and B are.
enum class Mode { kStepOne, kStepLanes, kRowsFollow, kAnywhere };

// Rows of a tile by its vectors, less one.
#if HWY_TARGET == HWY_AVX3
constexpr int kMostRows[] = {8, 8, 8, 6}, kMostFollowing[] = {12, 12};
constexpr std::int64_t kMostAnywhere = 4;
#elif HWY_TARGET == HWY_AVX2
constexpr int kMostRows[] = {8, 6}, kMostFollowing[] = {8, 6};
constexpr std::int64_t kMostAnywhere = 2;
#else
constexpr int kMostRows[] = {8, 4}, kMostFollowing[] = {8, 4};
constexpr std::int64_t kMostAnywhere = 2;
#endif

template <Mode mode>
constexpr std::int64_t kStep = mode == Mode::kStepLanes ? kLanes : 1;

/// Rows of A.
template <int rows, bool follow>
struct Rows {
  const float* first[follow ? 1 : rows];
  Rows(const Product& p, std::int64_t row) {
    if constexpr (follow)
      first[0] = p.a[0] + row * kLanes + p.shift;
    else
      for (int r = 0; r < rows; ++r) first[r] = p.a[row + r] + p.shift;
  }
  HWY_INLINE float at(int r, std::ptrdiff_t k) const {
    if constexpr (follow) return first[0][k + r * kLanes];
    return first[r][k];
  }
};

/// One value of k.
template <int rows, int vectors, bool follow>
HWY_INLINE void add_products(const Rows<rows, follow>& a, std::ptrdiff_t k, const float* b,
                             Vector (&sum)[rows][vectors]) {
  const Floats d;
  Vector column[vectors];
  for (int v = 0; v < vectors; ++v) column[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
    const Vector value = hn::Set(d, a.at(r, k));
    for (int v = 0; v < vectors; ++v) sum[r][v] = hn::MulAdd(value, column[v], sum[r][v]);
  }
}

/// Of vector v, the lanes that belong to columns of C; the others are neither read nor written.
HWY_INLINE std::size_t columns_of(const Product& p, int v) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(p.columns - v * kLanes, 0, kLanes));
}
HWY_INLINE Vector load_part(const Product& p, int v, const float* from) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, columns_of(p, v)), d, from);
#else
  HWY_ALIGN float part[kLanes] = {};
  std::copy_n(from, columns_of(p, v), part);
  return hn::Load(d, part);
#endif
}
HWY_INLINE void store_part(const Product& p, int v, Vector value, float* to) {
  const Floats d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(value, hn::FirstN(d, columns_of(p, v)), d, to);
#else
  HWY_ALIGN float part[kLanes];
  hn::Store(value, d, part);
  std::copy_n(part, columns_of(p, v), to);
#endif
}

/// Part of `ahead`: what one tile fetches, the same number of lines with each block of k.
struct Ahead {
  const char* from;
  std::int64_t lines;
  bool once;
};
constexpr std::int64_t kLine = 64;

template <int rows, int vectors, Mode mode>
void tile(const Product& p, std::int64_t row, Ahead ahead) {
  const Floats d;
  Vector sum[rows][vectors];
  const Rows<rows, mode == Mode::kRowsFollow> a(p, row);
  const bool whole = p.columns == 0;
  for (int v = 0; v < vectors; ++v) {
    const Vector bias = p.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, p.bias + v * kLanes);
    for (int r = 0; r < rows; ++r)
      sum[r][v] = p.row_bias == nullptr ? bias : hn::Add(bias, hn::Set(d, p.row_bias[row + r]));
  }
  if (p.add != nullptr) {
    for (int r = 0; r < rows; ++r) {
      const float* from = p.add + (row + r) * p.c_row;
      for (int v = 0; v < vectors; ++v) {
        const float* at = from + v * p.c_vector;
        __builtin_prefetch(at + rows * p.c_row);  // of the next tile
        sum[r][v] = hn::Add(sum[r][v], whole ? hn::LoadU(d, at) : load_part(p, v, at));
      }
    }
  }
  // The stores at the end then find their lines in the cache: up to a sixth of the time.
  if (!p.stream)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        __builtin_prefetch(p.c + (row + r) * p.c_row + v * p.c_vector, 1);
  const float* b = p.b;
  const std::ptrdiff_t* b_offsets = p.b_offsets;
  const auto row_of_b = [=](std::int64_t k) HWY_ATTR {
    return mode == Mode::kAnywhere ? b + b_offsets[k] : b + k * (vectors * kLanes);
  };
  for (std::int64_t block = 0; block < p.blocks; ++block) {
    const std::ptrdiff_t k = p.offsets[block];
    for (std::int64_t i = 0; i < ahead.lines; ++i, ahead.from += kLine) {
      if (ahead.once)
        __builtin_prefetch(ahead.from, 0, 0);
      else
        __builtin_prefetch(ahead.from, 0, 2);
    }
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kBlock; ++i)
      add_products(a, k + i * kStep<mode>, row_of_b(block * kBlock + i), sum);
  }
  for (std::int64_t i = 0; i < p.rest; ++i)
    add_products(a, p.offsets[p.blocks] + i * kStep<mode>, row_of_b(p.blocks * kBlock + i), sum);
  const Vector low = hn::Set(d, p.low), high = hn::Set(d, p.high);
  for (int r = 0; r < rows; ++r) {
    float* to = p.c + (row + r) * p.c_row;
    for (int v = 0; v < vectors; ++v) {
      // Of a NaN and a limit, these instructions return the second operand.
      const Vector above = p.nan_is_low ? hn::Max(sum[r][v], low) : hn::Max(low, sum[r][v]);
      const Vector limited = hn::Min(high, above);
      if (p.stream)
        hn::Stream(limited, d, to + v * p.c_vector);
      else if (whole)
        hn::StoreU(limited, d, to + v * p.c_vector);
      else
        store_part(p, v, limited, to + v * p.c_vector);
    }
  }
}

template <int vectors, Mode mode, int... rows>
constexpr auto tiles(std::integer_sequence<int, rows...>) {
  using Tile = void (*)(const Product&, std::int64_t, Ahead);
  struct All {
    Tile of_rows[sizeof...(rows)];
  };
  return All{{tile<rows + 1, vectors, mode>...}};
}

template <int vectors, Mode mode>
void run(const Product& p) {
  if (p.rows == 0) return;
  constexpr int most = (mode == Mode::kRowsFollow ? kMostFollowing : kMostRows)[vectors - 1];
  static constexpr auto kTiles = tiles<vectors, mode>(std::make_integer_sequence<int, most>());
  const std::int64_t count = (p.rows + most - 1) / most;
  // Each tile fetches part of one run, the same number of lines with each block of k.
  const std::int64_t lines = p.blocks == 0 ? 0 : p.ahead_size * std::int64_t{sizeof(float)} / kLine,
                     tiles_of_run = (count + p.ahead_runs - 1) / p.ahead_runs,
                     blocks = tiles_of_run * p.blocks,
                     lines_of_block = lines == 0 ? 0 : (lines + blocks - 1) / blocks;
  const bool once = p.ahead_once && prefetches_past_l3();
  std::int64_t row = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t height = (p.rows - row) / (count - t);
    const std::int64_t first = t % tiles_of_run * p.blocks * lines_of_block;
    const auto* ahead =
        reinterpret_cast<const char*>(p.ahead + t / tiles_of_run * p.ahead_step) + first * kLine;
    kTiles.of_rows[height - 1](p, row, {ahead, first < lines ? lines_of_block : 0, once});
    row += height;
  }
}

void pack(const float* b, std::int64_t row_step, std::int64_t column_step, std::int64_t k,
          std::int64_t n, std::int64_t vectors, float* packed) {
  vector::HWY_NAMESPACE::pack_panels(b, row_step, column_step, k, n, vectors * kLanes, packed);
}

template <int vectors>
constexpr Products::Run run_anywhere() {
  if constexpr (vectors <= kMostAnywhere) return run<vectors, Mode::kAnywhere>;
  return nullptr;
}

constexpr Products kProducts = {
    kLanes,
    kMostAnywhere,
    {{run<1, Mode::kStepOne>, run<1, Mode::kStepLanes>, run<1, Mode::kRowsFollow>},
     {run<2, Mode::kStepOne>, run<2, Mode::kStepLanes>, run<2, Mode::kRowsFollow>}},
    {run_anywhere<1>(), run_anywhere<2>(), run_anywhere<3>(), run_anywhere<4>()},
    pack};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::packed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::packed {

const ByIsa<Products>& products() {
  static constexpr ByIsa<Products> kTables = SYMBIND_BY_ISA(kProducts);
  return kTables;
}

}  // namespace symbind::packed
#endif
