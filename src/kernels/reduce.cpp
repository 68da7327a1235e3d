#include "kernels/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/vector/rows.h"

namespace symbind {
namespace {

constexpr int kLanes = 16;
constexpr std::int64_t kBlock = 512;
constexpr std::int64_t kBlockRows = 32;
/// Columns at once: a row of them is a run that memory is read in.
constexpr std::int64_t kTile = 1024;
constexpr std::int64_t kLeastTile = 256;

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

// Integers wrap around, as they do in NumPy and MXNet.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

// A monoid and the function applied to an element before it is combined.
struct Sum {
  template <class T>
  static T identity() {
    return T(0);
  }
  template <class T>
  static T join(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
  template <class T>
  static T map(T x) {
    return x;
  }
};
struct Prod : Sum {
  template <class T>
  static T identity() {
    return T(1);
  }
  template <class T>
  static T join(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Max : Sum {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T join(T a, T b) {
    return (a > b || a != a) ? a : b;
  }
};
struct Min : Sum {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
  template <class T>
  static T join(T a, T b) {
    return (a < b || a != a) ? a : b;
  }
};
struct NanSum : Sum {
  template <class T>
  static T map(T x) {
    return x != x ? T(0) : x;
  }
};
struct NanProd : Prod {
  template <class T>
  static T map(T x) {
    return x != x ? T(1) : x;
  }
};
struct Norm1 : Sum {
  template <class T>
  static T map(T x) {
    return x < T(0) ? static_cast<T>(-static_cast<Wrapping<T>>(x)) : x;
  }
};
struct Norm2 : Sum {
  template <class T>
  static T map(T x) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
  }
};

/// Up to kBlock contiguous elements.
template <class M, class T>
T fold_block(const T* x, std::int64_t n) {
  T lane[kLanes];
  for (T& l : lane) l = M::template identity<T>();
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lane[k] = M::join(lane[k], M::map(x[i + k]));
  for (int k = 0; i < n; ++i, ++k) lane[k] = M::join(lane[k], M::map(x[i]));
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lane[k] = M::join(lane[k], lane[k + half]);
  return lane[0];
}
/// Combines rows[k][j] into into[j].
template <class M, class T>
void fold_rows(T* into, const T* const* rows, std::int64_t count, std::int64_t n) {
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t j = 0; j < n; ++j) into[j] = M::join(into[j], M::map(rows[k][j]));
}
template <class M, class T>
void join_row(Wide<T>* into, const T* x, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) into[j] = M::join(into[j], static_cast<Wide<T>>(x[j]));
}

/// Loops over numbers S as they are stored, or after they are loaded as T.
template <class T, class S = T>
struct Loops {
  T (*block)(const S*, std::int64_t);
  void (*rows)(T*, const S* const*, std::int64_t, std::int64_t);
  void (*join_rows)(Wide<T>*, const T*, std::int64_t);
  Wide<T> (*join)(Wide<T>, Wide<T>);
  Wide<T> wide_identity;
  T identity;
};
/// The loops over vectors, or null functions.
template <class T, class S>
vector::FoldLoops<T, S> vector_loops(Reduction op) {
  const vector::ReduceTable& table = vector::reduce_kernels().best();
  if constexpr (!std::is_same_v<T, S>) {
    return table.squares_of_floats;
  } else if constexpr (std::is_same_v<T, float>) {
    switch (op) {
      case Reduction::kSum:
      case Reduction::kMean: return table.sum;
      case Reduction::kProd: return table.prod;
      case Reduction::kMax: return table.max;
      case Reduction::kMin: return table.min;
      case Reduction::kNanSum: return table.nansum;
      case Reduction::kNanProd: return table.nanprod;
      case Reduction::kNorm1: return table.norm1;
      case Reduction::kNorm2: break;  // in double
    }
  } else if constexpr (std::is_same_v<T, double>) {
    if (op == Reduction::kSum || op == Reduction::kMean) return table.sum64;
    if (op == Reduction::kNorm2) return table.squares64;
  }
  return {};
}

template <class M, class T, class S>
Loops<T, S> loops_of() {
  Loops<T, S> f{nullptr,
                nullptr,
                join_row<M, T>,
                [](Wide<T> a, Wide<T> b) { return M::join(a, b); },
                M::template identity<Wide<T>>(),
                M::template identity<T>()};
  if constexpr (std::is_same_v<T, S>) {
    f.block = fold_block<M, T>;
    f.rows = fold_rows<M, T>;
  }
  return f;
}
template <class T, class S>
Loops<T, S> loops_over_numbers(Reduction op) {
  switch (op) {
    case Reduction::kSum:
    case Reduction::kMean: return loops_of<Sum, T, S>();
    case Reduction::kProd: return loops_of<Prod, T, S>();
    case Reduction::kMax: return loops_of<Max, T, S>();
    case Reduction::kMin: return loops_of<Min, T, S>();
    case Reduction::kNanSum: return loops_of<NanSum, T, S>();
    case Reduction::kNanProd: return loops_of<NanProd, T, S>();
    case Reduction::kNorm1: return loops_of<Norm1, T, S>();
    case Reduction::kNorm2: return loops_of<Norm2, T, S>();
  }
  return {};
}
template <class T, class S>
Loops<T, S> loops(Reduction op) {
  Loops<T, S> f = loops_over_numbers<T, S>(op);
  if constexpr (std::is_floating_point_v<T>) {
    const vector::FoldLoops<T, S> v = vector_loops<T, S>(op);
    if (v.block != nullptr) {
      f.block = v.block;
      f.rows = v.rows;
      f.join_rows = v.join;
    }
  }
  return f;
}

/// Columns of a tile: as many as fit, fewer where a thread would have none.
std::int64_t tile_of(std::int64_t outputs) {
  const std::int64_t share = (outputs + num_threads() - 1) / num_threads();
  return std::clamp((share + 63) / 64 * 64, kLeastTile, kTile);
}

template <class T>
T finish(Reduction op, Wide<T> value, std::int64_t count) {
  if (op == Reduction::kMean) return static_cast<T>(value / static_cast<Wide<T>>(count));
  if (op == Reduction::kNorm2) return static_cast<T>(std::sqrt(static_cast<double>(value)));
  return static_cast<T>(value);
}

/// The offset of position `index` in a list of axes, the last one varying fastest.
template <class Axes>
std::int64_t offset_at(const Axes& axes, std::int64_t index) {
  std::int64_t offset = 0;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    offset += index % axis->extent * axis->stride;
    index /= axis->extent;
  }
  return offset;
}

}  // namespace

ReduceWalk::ReduceWalk(const Shape& in, const std::array<bool, kMaxRank>& reduced) {
  struct Group {
    std::int64_t extent, stride;
    bool folded;
  };
  std::vector<Group> groups;  // innermost first
  std::int64_t stride = 1;
  for (int d = in.rank() - 1; d >= 0; --d) {
    const bool folded = reduced[static_cast<std::size_t>(d)];
    (folded ? reduced_ : outputs_) *= in[d];
    if (in[d] != 1) {
      if (!groups.empty() && groups.back().folded == folded)
        groups.back().extent *= in[d];
      else
        groups.push_back({in[d], stride, folded});
    }
    stride *= in[d];
  }
  if (groups.empty()) return;
  inner_ = {groups[0].extent, 1};
  inner_folded_ = groups[0].folded;
  for (std::size_t g = groups.size() - 1; g >= 1; --g)
    (groups[g].folded ? folded_ : kept_).push_back({groups[g].extent, groups[g].stride});
}

Reducer::Reducer(Reduction op, DType dtype, const Shape& in,
                 const std::array<bool, kMaxRank>& reduced)
    : op_(op), dtype_(dtype), walk_(in, reduced) {
  type_ = element_type(dtype, op == Reduction::kNorm2 || op == Reduction::kMean ? Compute::kDouble
                                                                                : Compute::kInt64);
  if (op == Reduction::kNorm2 && dtype == DType::kFloat32) {  // squares overflow early in float
    type_.compute = Compute::kDouble;
    type_.store = converter_from(Compute::kDouble, DType::kFloat32);
  }
}

void Reducer::operator()(const void* x, void* y) const {
  const auto* xs = static_cast<const char*>(x);
  auto* ys = static_cast<char*>(y);
  switch (type_.compute) {
    case Compute::kFloat: return run<float>(xs, ys);
    case Compute::kDouble:
      return dtype_ == DType::kFloat32 ? run<double, float>(xs, ys) : run<double>(xs, ys);
    case Compute::kInt64: return run<std::int64_t>(xs, ys);
  }
}

template <class T, class S>
void Reducer::run(const char* x, char* y) const {
  const Loops<T, S> f = loops<T, S>(op_);
  const auto size = static_cast<std::int64_t>(type_.size);
  // n elements from `at` on, as the loops read them.
  const auto load = [&](std::int64_t at, std::int64_t n, S* buffer) -> const S* {
    if (type_.load == nullptr) return reinterpret_cast<const S*>(x + at * size);
    type_.load(x + at * size, buffer, n);
    return buffer;
  };
  const auto store = [&](std::int64_t at, const T* values, std::int64_t n) {
    if (type_.store == nullptr)
      std::copy_n(values, n, reinterpret_cast<T*>(y + at * size));
    else
      type_.store(values, y + at * size, n);
  };
  if (walk_.outputs_ == 0) return;
  if (walk_.reduced_ == 0) {
    const T value = finish<T>(op_, f.wide_identity, 0);
    for (std::int64_t o = 0; o < walk_.outputs_; ++o) store(o, &value, 1);
    return;
  }
  const std::int64_t folds = walk_.reduced_ / (walk_.inner_folded_ ? walk_.inner_.extent : 1);
  if (!walk_.inner_folded_) {  // columns: whole rows are combined into a tile of results
    const std::int64_t width = walk_.inner_.extent, tile = tile_of(walk_.outputs_),
                       tiles = (width + tile - 1) / tile;
    const std::int64_t cost = walk_.reduced_ * std::min(width, tile);
    parallel_for(walk_.outputs_ / width * tiles, std::max<std::int64_t>(1, 32768 / cost),
                 [&](std::int64_t begin, std::int64_t end) {
                   alignas(64) S buffer[kTile];
                   alignas(64) T part[kTile];
                   alignas(64) Wide<T> total[kTile];
                   for (std::int64_t u = begin; u < end; ++u) {
                     const std::int64_t outer = u / tiles, first = u % tiles * tile,
                                        n = std::min(tile, width - first);
                     const std::int64_t base = offset_at(walk_.kept_, outer) + first;
                     std::fill_n(total, n, f.wide_identity);
                     for (std::int64_t r = 0; r < folds; r += kBlockRows) {
                       std::fill_n(part, n, f.identity);
                       const S* rows[kBlockRows];
                       const std::int64_t count = std::min(kBlockRows, folds - r);
                       for (std::int64_t k = 0; k < count; ++k) {
                         rows[k] = load(base + offset_at(walk_.folded_, r + k), n, buffer);
                         if (rows[k] == buffer) f.rows(part, rows + k, 1, n);
                       }
                       if (rows[0] != buffer) f.rows(part, rows, count, n);
                       f.join_rows(total, part, n);
                     }
                     for (std::int64_t j = 0; j < n; ++j)
                       part[j] = finish<T>(op_, total[j], walk_.reduced_);
                     store(outer * width + first, part, n);
                   }
                 });
    return;
  }
  // Rows: contiguous runs are folded block by block.
  const std::int64_t length = walk_.inner_.extent;
  const auto fold = [&](std::int64_t base, std::int64_t begin, std::int64_t end) {
    S buffer[kBlock];
    Wide<T> total = f.wide_identity;
    for (std::int64_t i = begin; i < end; i += kBlock) {
      const std::int64_t n = std::min(kBlock, end - i);
      total = f.join(total, static_cast<Wide<T>>(f.block(load(base + i, n, buffer), n)));
    }
    return total;
  };
  if (walk_.outputs_ == 1 && folds == 1 &&
      length > 2 * 65536) {  // one long sum: parts of a fixed length
    constexpr std::int64_t kParts = 256;
    const std::int64_t blocks = (length + kBlock - 1) / kBlock;
    const std::int64_t step =
        std::max<std::int64_t>(65536 / kBlock, (blocks + kParts - 1) / kParts) * kBlock;
    const std::int64_t parts = (length + step - 1) / step;
    Wide<T> part[kParts];
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        part[p] = fold(0, p * step, std::min(length, (p + 1) * step));
    });
    Wide<T> total = f.wide_identity;
    for (std::int64_t p = 0; p < parts; ++p) total = f.join(total, part[p]);
    const T value = finish<T>(op_, total, walk_.reduced_);
    return store(0, &value, 1);
  }
  parallel_for(walk_.outputs_, std::max<std::int64_t>(1, 32768 / walk_.reduced_),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t o = begin; o < end; ++o) {
                   const std::int64_t base = offset_at(walk_.kept_, o);
                   Wide<T> total = f.wide_identity;
                   for (std::int64_t k = 0; k < folds; ++k)
                     total = f.join(total, fold(base + offset_at(walk_.folded_, k), 0, length));
                   const T value = finish<T>(op_, total, walk_.reduced_);
                   store(o, &value, 1);
                 }
               });
}

std::array<bool, kMaxRank> reduced_axes(const std::vector<std::int64_t>& axes, bool exclude,
                                        int rank) {
  std::array<bool, kMaxRank> reduced{};
  for (int d = 0; d < rank; ++d)
    reduced[static_cast<std::size_t>(d)] = axes.empty() ? true : exclude;
  for (const std::int64_t axis : axes)
    reduced[static_cast<std::size_t>(normalize_axis(axis, rank))] = !exclude;
  return reduced;
}

std::array<bool, kMaxRank> broadcast_axes(const Shape& large, const Shape& small) {
  std::array<bool, kMaxRank> reduced{};
  const int ahead = large.rank() - small.rank();
  for (int d = 0; d < large.rank(); ++d)
    reduced[static_cast<std::size_t>(d)] = d < ahead || (small[d - ahead] == 1 && large[d] != 1);
  return reduced;
}

}  // namespace symbind
