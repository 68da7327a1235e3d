// The cells as loops that compilers vectorise. Included once per instruction set, by files named
// after it; everything here has internal linkage, so no other file can link to this code.
//
// Decided here: float32 has its own exponential, good to 2 ulp, and a tanh made of it (a polynomial
// near 0), because those of the standard library are not vectorised.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/rnn/cells.h"

namespace symbind::rnn {
namespace {

inline float exp_of(float x) {
  x = x < -87.f ? -87.f : x > 88.f ? 88.f : x;
  constexpr float kMagic = 12582912.f;  // 1.5 · 2^23: rounds to whole numbers
  const float shifted = x * 1.44269504f + kMagic, n = shifted - kMagic;
  const float r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.f;
  // The builtin: std::bit_cast would be a function that other files share.
  const std::int32_t power = __builtin_bit_cast(std::int32_t, shifted) - 0x4B400000;
  return p * __builtin_bit_cast(float, (power + 127) << 23);
}
inline double exp_of(double x) { return std::exp(x); }

template <class T>
inline T sigmoid(T x) {
  return T(1) / (T(1) + exp_of(-x));
}

inline float tanh_of(float x) {
  const float far = 1.f - 2.f / (1.f + exp_of(2.f * x)), s = x * x;
  float p = -5.70498872745e-3f;
  p = p * s + 2.06390887954e-2f;
  p = p * s - 5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s - 3.33332819422e-1f;
  const float near = p * s * x + x;
  return s < 0.390625f ? near : far;
}
inline double tanh_of(double x) { return std::tanh(x); }

// One function per loop, and a separate pointer for every gate: with more functions, or one pointer
// with offsets, compilers do not vectorise the loop.
template <class T>
void add_and_sigmoid(std::int64_t n, const T* __restrict b, T* __restrict x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = sigmoid(x[i] + b[i]);
}
template <class T>
void add_and_tanh(std::int64_t n, const T* __restrict b, T* __restrict x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = tanh_of(x[i] + b[i]);
}

template <class T>
void lstm_row(std::int64_t n, const T* __restrict in, const T* __restrict forget,
              const T* __restrict fresh, const T* __restrict before, T* __restrict c) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = forget[i] * before[i] + in[i] * fresh[i];
}

template <class T>
void lstm(const CellForward<T>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    T* g = a.gates + row * a.gates_step;
    const T* __restrict out = g + 3 * n;
    T* __restrict c = a.cell + row * n, * __restrict h = a.out + row * a.out_step;
    add_and_sigmoid(2 * n, a.bias, g);
    add_and_tanh(n, a.bias + 2 * n, g + 2 * n);
    add_and_sigmoid(n, a.bias + 3 * n, g + 3 * n);
    lstm_row(n, g, g + n, g + 2 * n, a.cell_before + row * n, c);
    if (a.clipped)
      for (std::int64_t i = 0; i < n; ++i) {
        if (a.clip_nan && c[i] != c[i]) c[i] = a.clip_low;
        c[i] = c[i] < a.clip_low ? a.clip_low : c[i] > a.clip_high ? a.clip_high : c[i];
      }
    for (std::int64_t i = 0; i < n; ++i) h[i] = out[i] * tanh_of(c[i]);
  }
}

/// On entry dout has tanh of the cell.
template <class T>
void lstm_backward_row(std::int64_t n, const T* __restrict in, const T* __restrict forget,
                       const T* __restrict fresh, const T* __restrict out,
                       const T* __restrict before, T* __restrict din, T* __restrict dforget,
                       T* __restrict dfresh, T* __restrict dout, T* __restrict dh,
                       T* __restrict dc) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T squashed = dout[i];
    const T of_cell = dc[i] + dh[i] * out[i] * (T(1) - squashed * squashed);
    din[i] = of_cell * fresh[i] * in[i] * (T(1) - in[i]);
    dforget[i] = of_cell * before[i] * forget[i] * (T(1) - forget[i]);
    dfresh[i] = of_cell * in[i] * (T(1) - fresh[i] * fresh[i]);
    dout[i] = dh[i] * squashed * out[i] * (T(1) - out[i]);
    dc[i] = of_cell * forget[i];
    dh[i] = T(0);
  }
}

template <class T>
void lstm_backward(const CellBackward<T>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const T* g = a.gates + row * a.gates_step;
    const T* __restrict cell = a.cell + row * n;
    T* d = a.dgates + row * a.gates_step;
    T* __restrict squashed = d + 3 * n;
    for (std::int64_t i = 0; i < n; ++i) squashed[i] = tanh_of(cell[i]);
    lstm_backward_row(n, g, g + n, g + 2 * n, g + 3 * n, a.cell_before + row * n, d, d + n,
                      d + 2 * n, d + 3 * n, a.dh + row * n, a.dc + row * n);
  }
}

/// h·Rᵀ of the last gate gets its bias and is added to the argument of its tanh.
template <class T>
void gru_join(std::int64_t n, const T* __restrict reset, const T* __restrict bias,
              T* __restrict part, T* __restrict fresh) {
  for (std::int64_t i = 0; i < n; ++i) {
    part[i] += bias[i];
    fresh[i] += reset[i] * part[i];
  }
}
template <class T>
void gru_row(std::int64_t n, const T* __restrict update, const T* __restrict fresh,
             const T* __restrict before, T* __restrict h) {
  for (std::int64_t i = 0; i < n; ++i) h[i] = fresh[i] + update[i] * (before[i] - fresh[i]);
}

template <class T>
void gru(const CellForward<T>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    T* g = a.gates + row * a.gates_step;
    add_and_sigmoid(2 * n, a.bias, g);
    gru_join(n, g, a.bias + 3 * n, a.hidden_part + row * n, g + 2 * n);
    add_and_tanh(n, a.bias + 2 * n, g + 2 * n);
    gru_row(n, g + n, g + 2 * n, a.previous + row * a.previous_step, a.out + row * a.out_step);
  }
}

template <class T>
void gru_backward_row(std::int64_t n, const T* __restrict reset, const T* __restrict update,
                      const T* __restrict fresh, const T* __restrict part,
                      const T* __restrict before, T* __restrict dreset, T* __restrict dupdate,
                      T* __restrict dfresh, T* __restrict dpart, T* __restrict dh) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T of_fresh = dh[i] * (T(1) - update[i]) * (T(1) - fresh[i] * fresh[i]);
    dreset[i] = of_fresh * part[i] * reset[i] * (T(1) - reset[i]);
    dupdate[i] = dh[i] * (before[i] - fresh[i]) * update[i] * (T(1) - update[i]);
    dfresh[i] = of_fresh;
    dpart[i] = of_fresh * reset[i];
    dh[i] *= update[i];
  }
}

template <class T>
void gru_backward(const CellBackward<T>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const T* g = a.gates + row * a.gates_step;
    T* d = a.dgates + row * a.gates_step;
    gru_backward_row(n, g, g + n, g + 2 * n, a.hidden_part + row * n,
                     a.previous + row * a.previous_step, d, d + n, d + 2 * n,
                     a.dhidden_part + row * n, a.dh + row * n);
  }
}

template <bool relu, class T>
void plain(const CellForward<T>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const T* __restrict g = a.gates + row * a.gates_step, * __restrict b = a.bias;
    T* __restrict h = a.out + row * a.out_step;
    for (std::int64_t i = 0; i < a.hidden; ++i) {
      const T sum = g[i] + b[i];
      h[i] = relu ? (sum < T(0) ? T(0) : sum) : tanh_of(sum);
    }
  }
}

template <bool relu, class T>
void plain_backward(const CellBackward<T>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const T* __restrict h = a.out + row * a.out_step;
    T* __restrict d = a.dgates + row * a.gates_step, * __restrict dh = a.dh + row * a.hidden;
    for (std::int64_t i = 0; i < a.hidden; ++i) {
      d[i] = relu ? (h[i] > T(0) ? dh[i] : T(0)) : dh[i] * (T(1) - h[i] * h[i]);
      dh[i] = T(0);
    }
  }
}

// ---- The product of every step ------------------------------------------------------------------

#if defined(__AVX512F__)
constexpr std::int64_t kLanes = 16, kTileRows = 8;
#elif defined(__AVX2__)
constexpr std::int64_t kLanes = 8, kTileRows = 6;
#else
constexpr std::int64_t kLanes = 4, kTileRows = 4;
#endif
using Vector [[gnu::vector_size(kLanes * 4), gnu::aligned(4)]] = float;
constexpr std::int64_t kPanel = 2 * kLanes;
constexpr std::int64_t kDepth = 256;  // a panel of that many rows stays in the L1 cache

/// c[r, :columns] += a[r, :k] · one panel.
template <int rows>
void tile(const float* a, std::int64_t a_step, const float* b, std::int64_t k, float* c,
          std::int64_t c_step, std::int64_t columns) {
  Vector sum[rows][2] = {};
  for (std::int64_t p = 0; p < k; ++p, b += kPanel) {
    const Vector b0 = *reinterpret_cast<const Vector*>(b),
                 b1 = *reinterpret_cast<const Vector*>(b + kLanes);
    for (int r = 0; r < rows; ++r) {
      sum[r][0] += a[r * a_step + p] * b0;
      sum[r][1] += a[r * a_step + p] * b1;
    }
  }
  for (int r = 0; r < rows; ++r) {
    float* to = c + r * c_step;
    if (columns == kPanel) {
      *reinterpret_cast<Vector*>(to) += sum[r][0];
      *reinterpret_cast<Vector*>(to + kLanes) += sum[r][1];
    } else {
      for (std::int64_t i = 0; i < columns; ++i) to[i] += sum[r][i / kLanes][i % kLanes];
    }
  }
}

template <int rows>
void tiles_of(std::int64_t count, const float* a, std::int64_t a_step, const float* b,
              std::int64_t k, float* c, std::int64_t c_step, std::int64_t columns) {
  if (count >= rows) {
    tile<rows>(a, a_step, b, k, c, c_step, columns);
    a += rows * a_step;
    c += rows * c_step;
    count -= rows;
  }
  if constexpr (rows > 1) tiles_of<rows - 1>(count, a, a_step, b, k, c, c_step, columns);
}

void multiply(const StepProduct<float>& s) {
  for (std::int64_t p = 0; p < s.k; p += kDepth) {
    const std::int64_t depth = p + kDepth < s.k ? kDepth : s.k - p;
    for (std::int64_t j = 0; j < s.n; j += kPanel) {
      const std::int64_t columns = j + kPanel < s.n ? kPanel : s.n - j;
      const float* b = s.packed + j * s.k + p * kPanel;
      std::int64_t row = 0;
      for (; row + kTileRows <= s.rows; row += kTileRows)
        tile<kTileRows>(s.a + row * s.a_step + p, s.a_step, b, depth, s.c + row * s.c_step + j,
                        s.c_step, columns);
      if (row < s.rows)
        tiles_of<kTileRows - 1>(s.rows - row, s.a + row * s.a_step + p, s.a_step, b, depth,
                                s.c + row * s.c_step + j, s.c_step, columns);
    }
  }
}

/// Panels of columns, their rows one after the other; the last panel is zero-padded.
void pack(const float* w, std::int64_t row_step, std::int64_t column_step, std::int64_t k,
          std::int64_t n, float* packed) {
  for (std::int64_t j = 0; j < n; j += kPanel)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t i = 0; i < kPanel; ++i)
        *packed++ = j + i < n ? w[p * row_step + (j + i) * column_step] : 0.f;
}

template <class T>
constexpr Cells<T> kCells = {plain<true, T>,   plain<false, T>,         lstm<T>,
                             gru<T>,           plain_backward<true, T>, plain_backward<false, T>,
                             lstm_backward<T>, gru_backward<T>};
constexpr Products kProducts = {pack, multiply, kPanel};

}  // namespace
}  // namespace symbind::rnn
