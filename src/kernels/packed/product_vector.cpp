// Decided here: a tile of C is kept in registers. With AVX2 it has 6 rows of 2 vectors: 12 of 16
// registers, 8 loads for 12 multiplications. With AVX-512 it has 8 rows of 2 vectors: more
// rows need more address registers than there are. One vector of columns takes 8 rows, so that
// enough multiplications are independent of one another. Rows are split into tiles of nearly equal
// height, because a tile of one or two rows waits for its own sums.
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

#if HWY_TARGET == HWY_AVX3
constexpr int kMostRows[] = {8, 8};
#elif HWY_TARGET == HWY_AVX2
constexpr int kMostRows[] = {8, 6};
#else
constexpr int kMostRows[] = {8, 4};
#endif

template <Step step>
constexpr std::int64_t kStep = step == Step::kOne ? 1 : kLanes;

/// One value of k.
template <int rows, int vectors>
HWY_INLINE void add_products(const float* const (&a)[rows], std::ptrdiff_t k, const float* b,
                             Vector (&sum)[rows][vectors]) {
  const Floats d;
  Vector column[vectors];
  for (int v = 0; v < vectors; ++v) column[v] = hn::LoadU(d, b + v * kLanes);
  for (int r = 0; r < rows; ++r) {
    const Vector value = hn::Set(d, a[r][k]);
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

template <int rows, int vectors, Step step, bool anywhere>
void tile(const Product& p, std::int64_t row) {
  const Floats d;
  Vector sum[rows][vectors];
  const float* a[rows];
  for (int r = 0; r < rows; ++r) a[r] = p.a[row + r] + p.shift;
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
        sum[r][v] = hn::Add(sum[r][v], whole ? hn::LoadU(d, at) : load_part(p, v, at));
      }
    }
  }
  // The stores at the end then find their lines in the cache: up to a sixth of the time.
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      __builtin_prefetch(p.c + (row + r) * p.c_row + v * p.c_vector, 1);
  const float* b = p.b;
  const std::ptrdiff_t* b_offsets = p.b_offsets;
  const auto row_of_b = [=](std::int64_t k) HWY_ATTR {
    return anywhere ? b + b_offsets[k] : b + k * (vectors * kLanes);
  };
  for (std::int64_t block = 0; block < p.blocks; ++block) {
    const std::ptrdiff_t k = p.offsets[block];
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kBlock; ++i)
      add_products(a, k + i * kStep<step>, row_of_b(block * kBlock + i), sum);
  }
  for (std::int64_t i = 0; i < p.rest; ++i)
    add_products(a, p.offsets[p.blocks] + i * kStep<step>, row_of_b(p.blocks * kBlock + i), sum);
  const Vector low = hn::Set(d, p.low), high = hn::Set(d, p.high);
  for (int r = 0; r < rows; ++r) {
    float* to = p.c + (row + r) * p.c_row;
    for (int v = 0; v < vectors; ++v) {
      // Of a NaN and a limit, these instructions return the second operand.
      const Vector above = p.nan_is_low ? hn::Max(sum[r][v], low) : hn::Max(low, sum[r][v]);
      const Vector limited = hn::Min(high, above);
      if (whole) {
        hn::StoreU(limited, d, to + v * p.c_vector);
        continue;
      }
      store_part(p, v, limited, to + v * p.c_vector);
    }
  }
}

template <int vectors, Step step, bool anywhere, int... rows>
constexpr auto tiles(std::integer_sequence<int, rows...>) {
  using Tile = void (*)(const Product&, std::int64_t);
  struct All {
    Tile of_rows[sizeof...(rows)];
  };
  return All{{tile<rows + 1, vectors, step, anywhere>...}};
}

template <int vectors, Step step, bool anywhere = false>
void run(const Product& p) {
  constexpr int most = kMostRows[vectors - 1];
  static constexpr auto kTiles =
      tiles<vectors, step, anywhere>(std::make_integer_sequence<int, most>());
  const std::int64_t count = (p.rows + most - 1) / most;
  std::int64_t row = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t height = (p.rows - row) / (count - t);
    kTiles.of_rows[height - 1](p, row);
    row += height;
  }
}

void pack(const float* b, std::int64_t row_step, std::int64_t column_step, std::int64_t k,
          std::int64_t n, std::int64_t vectors, float* packed) {
  vector::HWY_NAMESPACE::pack_panels(b, row_step, column_step, k, n, vectors * kLanes, packed);
}

constexpr Products kProducts = {
    kLanes,
    {{run<1, Step::kOne>, run<1, Step::kLanes>, run<1, Step::kOne, true>},
     {run<2, Step::kOne>, run<2, Step::kLanes>, run<2, Step::kOne, true>}},
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
