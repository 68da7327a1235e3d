// The cells in float64, and the choice of those in float32.
#include "kernels/rnn/cells.h"

#include <cmath>

namespace symbind::rnn {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

void add_and_sigmoid(std::int64_t n, const double* b, double* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = sigmoid(x[i] + b[i]);
}
void add_and_tanh(std::int64_t n, const double* b, double* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::tanh(x[i] + b[i]);
}

void lstm_row(std::int64_t n, const double* in, const double* forget, const double* fresh,
              const double* before, double* c) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = forget[i] * before[i] + in[i] * fresh[i];
}

void lstm(const CellForward<double>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double* g = a.gates + row * a.gates_step;
    const double* out = g + 3 * n;
    double *c = a.cell + row * n, *h = a.out + row * a.out_step;
    add_and_sigmoid(2 * n, a.bias, g);
    add_and_tanh(n, a.bias + 2 * n, g + 2 * n);
    add_and_sigmoid(n, a.bias + 3 * n, g + 3 * n);
    lstm_row(n, g, g + n, g + 2 * n, a.cell_before + row * n, c);
    if (a.clipped)
      for (std::int64_t i = 0; i < n; ++i) {
        if (a.clip_nan && c[i] != c[i]) c[i] = a.clip_low;
        c[i] = c[i] < a.clip_low ? a.clip_low : c[i] > a.clip_high ? a.clip_high : c[i];
      }
    for (std::int64_t i = 0; i < n; ++i) h[i] = out[i] * std::tanh(c[i]);
  }
}

/// On entry dout has tanh of the cell.
void lstm_backward_row(std::int64_t n, const double* in, const double* forget, const double* fresh,
                       const double* out, const double* before, double* din, double* dforget,
                       double* dfresh, double* dout, double* dh, double* dc) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double squashed = dout[i];
    const double of_cell = dc[i] + dh[i] * out[i] * (1.0 - squashed * squashed);
    din[i] = of_cell * fresh[i] * in[i] * (1.0 - in[i]);
    dforget[i] = of_cell * before[i] * forget[i] * (1.0 - forget[i]);
    dfresh[i] = of_cell * in[i] * (1.0 - fresh[i] * fresh[i]);
    dout[i] = dh[i] * squashed * out[i] * (1.0 - out[i]);
    dc[i] = of_cell * forget[i];
    dh[i] = 0.0;
  }
}

void lstm_backward(const CellBackward<double>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const double* g = a.gates + row * a.gates_step;
    const double* cell = a.cell + row * n;
    double* d = a.dgates + row * a.gates_step;
    double* squashed = d + 3 * n;
    for (std::int64_t i = 0; i < n; ++i) squashed[i] = std::tanh(cell[i]);
    lstm_backward_row(n, g, g + n, g + 2 * n, g + 3 * n, a.cell_before + row * n, d, d + n,
                      d + 2 * n, d + 3 * n, a.dh + row * n, a.dc + row * n);
  }
}

/// h·Rᵀ of the last gate gets its bias and is added to the argument of its tanh.
void gru_join(std::int64_t n, const double* reset, const double* bias, double* part,
              double* fresh) {
  for (std::int64_t i = 0; i < n; ++i) {
    part[i] += bias[i];
    fresh[i] += reset[i] * part[i];
  }
}
void gru_row(std::int64_t n, const double* update, const double* fresh, const double* before,
             double* h) {
  for (std::int64_t i = 0; i < n; ++i) h[i] = fresh[i] + update[i] * (before[i] - fresh[i]);
}

void gru(const CellForward<double>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double* g = a.gates + row * a.gates_step;
    add_and_sigmoid(2 * n, a.bias, g);
    gru_join(n, g, a.bias + 3 * n, a.hidden_part + row * n, g + 2 * n);
    add_and_tanh(n, a.bias + 2 * n, g + 2 * n);
    gru_row(n, g + n, g + 2 * n, a.previous + row * a.previous_step, a.out + row * a.out_step);
  }
}

void gru_backward_row(std::int64_t n, const double* reset, const double* update,
                      const double* fresh, const double* part, const double* before, double* dreset,
                      double* dupdate, double* dfresh, double* dpart, double* dh) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double of_fresh = dh[i] * (1.0 - update[i]) * (1.0 - fresh[i] * fresh[i]);
    dreset[i] = of_fresh * part[i] * reset[i] * (1.0 - reset[i]);
    dupdate[i] = dh[i] * (before[i] - fresh[i]) * update[i] * (1.0 - update[i]);
    dfresh[i] = of_fresh;
    dpart[i] = of_fresh * reset[i];
    dh[i] *= update[i];
  }
}

void gru_backward(const CellBackward<double>& a) {
  const std::int64_t n = a.hidden;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const double* g = a.gates + row * a.gates_step;
    double* d = a.dgates + row * a.gates_step;
    gru_backward_row(n, g, g + n, g + 2 * n, a.hidden_part + row * n,
                     a.previous + row * a.previous_step, d, d + n, d + 2 * n,
                     a.dhidden_part + row * n, a.dh + row * n);
  }
}

template <bool relu>
void plain(const CellForward<double>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const double *g = a.gates + row * a.gates_step, *b = a.bias;
    double* h = a.out + row * a.out_step;
    for (std::int64_t i = 0; i < a.hidden; ++i) {
      const double sum = g[i] + b[i];
      h[i] = relu ? (sum < 0.0 ? 0.0 : sum) : std::tanh(sum);
    }
  }
}

template <bool relu>
void plain_backward(const CellBackward<double>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const double* h = a.out + row * a.out_step;
    double *d = a.dgates + row * a.gates_step, *dh = a.dh + row * a.hidden;
    for (std::int64_t i = 0; i < a.hidden; ++i) {
      d[i] = relu ? (h[i] > 0.0 ? dh[i] : 0.0) : dh[i] * (1.0 - h[i] * h[i]);
      dh[i] = 0.0;
    }
  }
}

constexpr Cells<double> kCells = {plain<true>,   plain<false>,         lstm,
                                  gru,           plain_backward<true>, plain_backward<false>,
                                  lstm_backward, gru_backward};

}  // namespace

template <>
const Cells<double>& cells() {
  return kCells;
}
template <>
const Cells<float>& cells() {
  return instructions().best().cells;
}
const Products& products() { return instructions().best().products; }

}  // namespace symbind::rnn
