// The cells in float32 and the product of every step.
//
// Decided here: sums of products are added in the order of k, so their bits do not depend on the
// width of a vector; only the number of rows and columns that are computed at a time does.
#include "kernels/rnn/cells.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rnn/cells_vector.cpp"
#include <hwy/foreach_target.h>
// Included for each target, after those above.
#include "kernels/vector/loops-inl.h"
#include "kernels/vector/math-inl.h"
#include "kernels/vector/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace symbind::rnn {
namespace HWY_NAMESPACE {
namespace {

using namespace vector::HWY_NAMESPACE;  // NOLINT: the vectors of this instruction set
using Floats = Array<float>;

/// One vector of every array that a row's body reads and writes: whole, or the last elements.
struct Whole {
  std::size_t i;
  HWY_INLINE F load(const float* from) const { return F::load(from + i); }
  HWY_INLINE void store(F v, float* to) const { v.store(to + i); }
};
struct Part {
  std::size_t i, n;
  HWY_INLINE F load(const float* from) const { return load_first(from + i, n); }
  HWY_INLINE void store(F v, float* to) const { store_first(v, to + i, n); }
};
template <class Body>
HWY_INLINE void each(std::int64_t size, const Body& body) {
  const auto n = static_cast<std::size_t>(size);
  std::size_t i = 0;
  for (; i + F::kMost <= n; i += F::kMost) body(Whole{i});
  if (i < n) body(Part{i, n - i});
}

struct AddAndSigmoid {
  HWY_INLINE F operator()(F x, F bias) const { return sigmoid(x + bias); }
};
struct AddAndTanh {
  HWY_INLINE F operator()(F x, F bias) const { return tanh(x + bias); }
};
struct AddAndRelu {
  HWY_INLINE F operator()(F x, F bias) const { return pick(x + bias < F(0.f), F(0.f), x + bias); }
};

/// The cell of an LSTM; `clip` limits it.
struct LstmCell {
  F low, high;
  bool clipped, clip_nan;
  HWY_INLINE F operator()(F in, F forget, F fresh, F before) const {
    F c = fma(forget, before, in * fresh);
    if (!clipped) return c;
    if (clip_nan) c = pick(c != c, low, c);
    return pick(c < low, low, pick(c > high, high, c));
  }
};
struct TimesTanh {
  HWY_INLINE F operator()(F out, F cell) const { return out * tanh(cell); }
};

void lstm(const CellForward<float>& a) {
  const std::int64_t n = a.hidden;
  const LstmCell cell{F(a.clip_low), F(a.clip_high), a.clipped, a.clip_nan};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float *g = a.gates + row * a.gates_step, *c = a.cell + row * n;
    map(AddAndSigmoid{}, g, 2 * n, Floats{g}, Floats{a.bias});
    map(AddAndTanh{}, g + 2 * n, n, Floats{g + 2 * n}, Floats{a.bias + 2 * n});
    map(AddAndSigmoid{}, g + 3 * n, n, Floats{g + 3 * n}, Floats{a.bias + 3 * n});
    map(cell, c, n, Floats{g}, Floats{g + n}, Floats{g + 2 * n}, Floats{a.cell_before + row * n});
    map(TimesTanh{}, a.out + row * a.out_step, n, Floats{g + 3 * n}, Floats{c});
  }
}

struct LstmBackward {
  const float *gates, *before, *cell;
  float *dgates, *dh, *dc;
  std::int64_t n;
  template <class At>
  HWY_INLINE void operator()(const At& at) const {
    const F one(1.f), in = at.load(gates), forget = at.load(gates + n),
                      fresh = at.load(gates + 2 * n), out = at.load(gates + 3 * n),
                      head = at.load(dh), squashed = tanh(at.load(cell));
    const F of_cell = at.load(dc) + head * out * (one - squashed * squashed);
    at.store(of_cell * fresh * in * (one - in), dgates);
    at.store(of_cell * at.load(before) * forget * (one - forget), dgates + n);
    at.store(of_cell * in * (one - fresh * fresh), dgates + 2 * n);
    at.store(head * squashed * out * (one - out), dgates + 3 * n);
    at.store(of_cell * forget, dc);
    at.store(F(0.f), dh);
  }
};

void lstm_backward(const CellBackward<float>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row)
    each(a.hidden, LstmBackward{a.gates + row * a.gates_step, a.cell_before + row * a.hidden,
                                a.cell + row * a.hidden, a.dgates + row * a.gates_step,
                                a.dh + row * a.hidden, a.dc + row * a.hidden, a.hidden});
}

/// h·Rᵀ of the last gate gets its bias and is added to the argument of its tanh.
struct GruRow {
  float* gates;
  const float* bias;
  float* part;
  const float* before;
  float* h;
  std::int64_t n;
  template <class At>
  HWY_INLINE void operator()(const At& at) const {
    const F hidden = at.load(part) + at.load(bias + 3 * n);
    const F fresh =
        tanh(fma(at.load(gates), hidden, at.load(gates + 2 * n)) + at.load(bias + 2 * n));
    at.store(hidden, part);
    at.store(fresh, gates + 2 * n);
    at.store(fma(at.load(gates + n), at.load(before) - fresh, fresh), h);
  }
};

void gru(const CellForward<float>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* g = a.gates + row * a.gates_step;
    map(AddAndSigmoid{}, g, 2 * n, Floats{g}, Floats{a.bias});
    each(n, GruRow{g, a.bias, a.hidden_part + row * n, a.previous + row * a.previous_step,
                   a.out + row * a.out_step, n});
  }
}

struct GruBackward {
  const float *gates, *part, *before;
  float *dgates, *dpart, *dh;
  std::int64_t n;
  template <class At>
  HWY_INLINE void operator()(const At& at) const {
    const F one(1.f), reset = at.load(gates), update = at.load(gates + n),
                      fresh = at.load(gates + 2 * n), head = at.load(dh);
    const F of_fresh = head * (one - update) * (one - fresh * fresh);
    at.store(of_fresh * at.load(part) * reset * (one - reset), dgates);
    at.store(head * (at.load(before) - fresh) * update * (one - update), dgates + n);
    at.store(of_fresh, dgates + 2 * n);
    at.store(of_fresh * reset, dpart);
    at.store(head * update, dh);
  }
};

void gru_backward(const CellBackward<float>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row)
    each(a.hidden, GruBackward{a.gates + row * a.gates_step, a.hidden_part + row * a.hidden,
                               a.previous + row * a.previous_step, a.dgates + row * a.gates_step,
                               a.dhidden_part + row * a.hidden, a.dh + row * a.hidden, a.hidden});
}

template <class Function>
void plain(const CellForward<float>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row)
    map(Function{}, a.out + row * a.out_step, a.hidden, Floats{a.gates + row * a.gates_step},
        Floats{a.bias});
}

struct ReluSlope {
  HWY_INLINE F operator()(F h, F dh) const { return pick(h > F(0.f), dh, F(0.f)); }
};
struct TanhSlope {
  HWY_INLINE F operator()(F h, F dh) const { return dh * (F(1.f) - h * h); }
};
template <class Function>
void plain_backward(const CellBackward<float>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* dh = a.dh + row * a.hidden;
    map(Function{}, a.dgates + row * a.gates_step, a.hidden, Floats{a.out + row * a.out_step},
        Floats{dh});
    std::memset(dh, 0, static_cast<std::size_t>(a.hidden) * sizeof(float));
  }
}

// ---- The product of every step ------------------------------------------------------------------

constexpr std::int64_t kLanes = F::kMost, kPanel = 2 * kLanes;
constexpr int kTileRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 4;
constexpr std::int64_t kDepth = 256;  // a panel of that many rows stays in the L1 cache

/// c[r, :columns] += a[r, :k] · one panel.
template <int rows>
void tile(const float* a, std::int64_t a_step, const float* b, std::int64_t k, float* c,
          std::int64_t c_step, std::int64_t columns) {
  F sum[rows][2];
  for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = F(0.f);
  for (std::int64_t p = 0; p < k; ++p, b += kPanel) {
    const F b0 = F::load(b), b1 = F::load(b + kLanes);
    for (int r = 0; r < rows; ++r) {
      const F value(a[r * a_step + p]);
      sum[r][0] = fma(value, b0, sum[r][0]);
      sum[r][1] = fma(value, b1, sum[r][1]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    float* to = c + r * c_step;
    if (columns == kPanel) {
      (F::load(to) + sum[r][0]).store(to);
      (F::load(to + kLanes) + sum[r][1]).store(to + kLanes);
    } else {
      HWY_ALIGN float all[kPanel];
      sum[r][0].store(all);
      sum[r][1].store(all + kLanes);
      for (std::int64_t i = 0; i < columns; ++i) to[i] += all[i];
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

void pack(const float* w, std::int64_t row_step, std::int64_t column_step, std::int64_t k,
          std::int64_t n, float* packed) {
  pack_panels(w, row_step, column_step, k, n, kPanel, packed);
}

constexpr Instructions kInstructions = {
    {plain<AddAndRelu>, plain<AddAndTanh>, lstm, gru, plain_backward<ReluSlope>,
     plain_backward<TanhSlope>, lstm_backward, gru_backward},
    {pack, multiply, kPanel}};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::rnn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::rnn {

const ByIsa<Instructions>& instructions() {
  static constexpr ByIsa<Instructions> kTables = SYMBIND_BY_ISA(kInstructions);
  return kTables;
}

}  // namespace symbind::rnn
#endif
