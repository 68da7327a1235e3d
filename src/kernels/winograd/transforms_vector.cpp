// Decided here: the points of F(4×4, 3×3) are 0, ±5/8, ±3/2 and infinity. Measured against a double
// reference (256 channels, normal data), the largest error is 3.4e-6 of the output's scale; with
// the usual points 0, ±1, ±2 it is 1.1e-5. Those of F(2×2, 3×3) are 0, ±1 and infinity.
//
// With points p, the product of two polynomials is evaluated at the points and interpolated. The
// matrices below follow from that; rows of +p and −p share their even and odd parts.
#include "kernels/winograd/transforms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winograd/transforms_vector.cpp"
#include <hwy/foreach_target.h>
// The other targets are compiled by now.
#include <hwy/highway.h>

#include "kernels/vector/bfloat16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::winograd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr std::int64_t kLanes = hn::MaxLanes(Floats());

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE Vector load(const std::uint16_t* from) {
  return vector::HWY_NAMESPACE::load_bfloat16(from);
}
HWY_INLINE void store(Vector x, float* to) { hn::StoreU(x, Floats(), to); }
HWY_INLINE void store(Vector x, std::uint16_t* to) { vector::HWY_NAMESPACE::store_bfloat16(x, to); }

HWY_INLINE Vector times(float factor, Vector x) { return hn::Mul(hn::Set(Floats(), factor), x); }
/// factor · x + y
HWY_INLINE Vector add_times(float factor, Vector x, Vector y) {
  return hn::MulAdd(hn::Set(Floats(), factor), x, y);
}

// Along one axis; each is applied to the columns, then to the rows of a square.

struct Four {
  static constexpr int kOut = 4, kIn = 6;
  static constexpr float a = 0.625f, b = 1.5f, a2 = a * a, b2 = b * b;
  // The products of the differences to the other points.
  static constexpr float n0 = a2 * b2, na = 2 * a2 * (a2 - b2), nb = 2 * b2 * (b2 - a2);

  static HWY_INLINE void input(const Vector (&d)[6], Vector (&v)[6]) {
    const Vector even_a = add_times(-b2, d[2], d[4]), even_b = add_times(-a2, d[2], d[4]);
    const Vector odd_a = add_times(-b2, d[1], d[3]), odd_b = add_times(-a2, d[1], d[3]);
    v[0] = add_times(n0, d[0], add_times(-(a2 + b2), d[2], d[4]));
    v[1] = add_times(a, odd_a, even_a);
    v[2] = add_times(-a, odd_a, even_a);
    v[3] = add_times(b, odd_b, even_b);
    v[4] = add_times(-b, odd_b, even_b);
    v[5] = add_times(n0, d[1], add_times(-(a2 + b2), d[3], d[5]));
  }
  static HWY_INLINE void weight(const Vector (&g)[3], Vector (&u)[6]) {
    const Vector even_a = add_times(a2, g[2], g[0]), even_b = add_times(b2, g[2], g[0]);
    u[0] = times(1 / n0, g[0]);
    u[1] = times(1 / na, add_times(a, g[1], even_a));
    u[2] = times(1 / na, add_times(-a, g[1], even_a));
    u[3] = times(1 / nb, add_times(b, g[1], even_b));
    u[4] = times(1 / nb, add_times(-b, g[1], even_b));
    u[5] = g[2];
  }
  static HWY_INLINE void output(const Vector (&m)[6], Vector (&y)[4]) {
    const Vector even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
    const Vector even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(m[0], hn::Add(even_a, even_b));
    y[1] = add_times(a, odd_a, times(b, odd_b));
    y[2] = add_times(a2, even_a, times(b2, even_b));
    y[3] = add_times(a2 * a, odd_a, add_times(b2 * b, odd_b, m[5]));
  }
  static HWY_INLINE void output_gradient(const Vector (&e)[4], Vector (&u)[6]) {
    const Vector even_a = add_times(a2, e[2], e[0]), odd_a = add_times(a2, e[3], e[1]);
    const Vector even_b = add_times(b2, e[2], e[0]), odd_b = add_times(b2, e[3], e[1]);
    u[0] = times(1 / n0, e[0]);
    u[1] = times(1 / na, add_times(a, odd_a, even_a));
    u[2] = times(1 / na, add_times(-a, odd_a, even_a));
    u[3] = times(1 / nb, add_times(b, odd_b, even_b));
    u[4] = times(1 / nb, add_times(-b, odd_b, even_b));
    u[5] = e[3];
  }
  static HWY_INLINE void weight_gradient(const Vector (&m)[6], Vector (&g)[3]) {
    const Vector even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
    const Vector even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
    g[0] = hn::Add(m[0], hn::Add(even_a, even_b));
    g[1] = add_times(a, odd_a, times(b, odd_b));
    g[2] = add_times(a2, even_a, add_times(b2, even_b, m[5]));
  }
};

struct Two {
  static constexpr int kOut = 2, kIn = 4;

  static HWY_INLINE void input(const Vector (&d)[4], Vector (&v)[4]) {
    v[0] = hn::Sub(d[0], d[2]);
    v[1] = hn::Add(d[1], d[2]);
    v[2] = hn::Sub(d[2], d[1]);
    v[3] = hn::Sub(d[3], d[1]);
  }
  static HWY_INLINE void weight(const Vector (&g)[3], Vector (&u)[4]) {
    const Vector even = hn::Add(g[0], g[2]);
    u[0] = g[0];
    u[1] = times(0.5f, hn::Add(even, g[1]));
    u[2] = times(0.5f, hn::Sub(even, g[1]));
    u[3] = g[2];
  }
  static HWY_INLINE void output(const Vector (&m)[4], Vector (&y)[2]) {
    y[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    y[1] = hn::Add(m[3], hn::Sub(m[1], m[2]));
  }
  static HWY_INLINE void output_gradient(const Vector (&e)[2], Vector (&u)[4]) {
    u[0] = e[0];
    u[1] = times(0.5f, hn::Add(e[0], e[1]));
    u[2] = times(0.5f, hn::Sub(e[0], e[1]));
    u[3] = e[1];
  }
  static HWY_INLINE void weight_gradient(const Vector (&m)[4], Vector (&g)[3]) {
    const Vector even = hn::Add(m[1], m[2]);
    g[0] = hn::Add(m[0], even);
    g[1] = hn::Sub(m[1], m[2]);
    g[2] = hn::Add(even, m[3]);
  }
};

template <int n, class T>
HWY_INLINE void load_column(const T* x, std::ptrdiff_t row_step, const Window& w,
                            std::int64_t column, bool whole, Vector (&to)[n]) {
  if (whole) {
    for (int i = 0; i < n; ++i) to[i] = load(x + i * row_step + column * kLanes);
    return;
  }
  const bool exists = column >= w.first_column && column < w.first_column + w.columns;
  for (int i = 0; i < n; ++i)
    to[i] = exists && i >= w.first_row && i < w.first_row + w.rows
                ? load(x + i * row_step + column * kLanes)
                : hn::Zero(Floats());
}

/// A square of n×n pixels → N×N values.
template <int n, int N, class T, class F>
HWY_INLINE void expand(const T* x, std::ptrdiff_t row_step, const Window& w, float* to,
                       std::ptrdiff_t position_step, F along) {
  const Floats d;
  const bool whole = w.rows == n && w.columns == n;
  Vector between[n][N];  // by column
  for (int j = 0; j < n; ++j) {
    Vector column[n];
    load_column(x, row_step, w, j, whole, column);
    along(column, between[j]);
  }
  for (int i = 0; i < N; ++i) {
    Vector row[n], result[N];
    for (int j = 0; j < n; ++j) row[j] = between[j][i];
    along(row, result);
    for (int j = 0; j < N; ++j) hn::StoreU(result[j], d, to + (i * N + j) * position_step);
  }
}

/// N×N values → n×n values, by row.
template <int N, int n, class F>
HWY_INLINE void contract(const float* from, std::ptrdiff_t position_step, Vector (&to)[n][n],
                         F along) {
  const Floats d;
  Vector between[N][n];  // by column
  for (int j = 0; j < N; ++j) {
    Vector column[N];
    for (int i = 0; i < N; ++i) column[i] = hn::LoadU(d, from + (i * N + j) * position_step);
    along(column, between[j]);
  }
  for (int i = 0; i < n; ++i) {
    Vector row[N];
    for (int j = 0; j < N; ++j) row[j] = between[j][i];
    along(row, to[i]);
  }
}

template <class M, class T>
void input(const T* x, std::ptrdiff_t row_step, const Window& w, float* v,
           std::ptrdiff_t position_step) {
  expand<M::kIn, M::kIn>(x, row_step, w, v, position_step,
                         [](const auto& d, auto& to) HWY_ATTR { M::input(d, to); });
}

template <class M>
void output_gradient(const float* dy, std::ptrdiff_t row_step, const Window& w, float* u,
                     std::ptrdiff_t position_step) {
  expand<M::kOut, M::kIn>(dy, row_step, w, u, position_step,
                          [](const auto& e, auto& to) HWY_ATTR { M::output_gradient(e, to); });
}

template <class M>
void weight(const float* w, std::ptrdiff_t lane_step, std::int64_t lanes, bool flipped, float* u,
            std::ptrdiff_t position_step) {
  float taps[9 * kLanes] = {};
  for (std::int64_t i = 0; i < lanes; ++i)
    for (int k = 0; k < 9; ++k) taps[k * kLanes + i] = w[i * lane_step + (flipped ? 8 - k : k)];
  expand<3, M::kIn>(taps, 3 * kLanes, {0, 3, 0, 3}, u, position_step,
                    [](const auto& g, auto& to) HWY_ATTR { M::weight(g, to); });
}

template <class M, class T>
void output(const float* products, std::ptrdiff_t position_step, const Finish& finish, T* y,
            std::ptrdiff_t row_step, const Window& w) {
  const Floats d;
  Vector square[M::kOut][M::kOut];
  contract<M::kIn>(products, position_step, square,
                   [](const auto& m, auto& to) HWY_ATTR { M::output(m, to); });
  const Vector low = hn::Set(d, finish.low), high = hn::Set(d, finish.high);
  const Vector bias = finish.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, finish.bias);
  for (std::int64_t i = 0; i < w.rows; ++i) {
    for (std::int64_t j = 0; j < w.columns; ++j) {
      const std::ptrdiff_t at = i * row_step + j * kLanes;
      Vector value = hn::Add(square[i][j], bias);
      if (finish.add != nullptr) value = hn::Add(value, hn::LoadU(d, finish.add + at));
      // Of a NaN and a limit, these instructions return the second operand.
      const Vector above = finish.nan_is_low ? hn::Max(value, low) : hn::Max(low, value);
      store(hn::Min(high, above), y + at);
    }
  }
}

template <class M>
void weight_gradient(const float* products, std::ptrdiff_t position_step, float* dw,
                     std::ptrdiff_t lane_step, std::int64_t lanes) {
  const Floats d;
  Vector square[3][3];
  contract<M::kIn>(products, position_step, square,
                   [](const auto& m, auto& to) HWY_ATTR { M::weight_gradient(m, to); });
  for (int k = 0; k < 9; ++k) {
    float taps[kLanes];
    hn::StoreU(square[k / 3][k % 3], d, taps);
    for (std::int64_t i = 0; i < lanes; ++i) dw[i * lane_step + k] = taps[i];
  }
}

template <class M>
constexpr Transforms kTransforms = {
    kLanes,           input<M, float>,          input<M, std::uint16_t>, weight<M>,
    output<M, float>, output<M, std::uint16_t>, output_gradient<M>,      weight_gradient<M>};
constexpr Transforms kFour = kTransforms<Four>, kTwo = kTransforms<Two>;

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::winograd {

const ByIsa<Transforms>& transforms(int m) {
  static constexpr ByIsa<Transforms> kTablesFour = SYMBIND_BY_ISA(kFour);
  static constexpr ByIsa<Transforms> kTablesTwo = SYMBIND_BY_ISA(kTwo);
  return m == 4 ? kTablesFour : kTablesTwo;
}

}  // namespace symbind::winograd
#endif
