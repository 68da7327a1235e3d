// The arithmetic of recurrent cells between two matrix products, row by row.
#pragma once

#include <cstdint>

#include "kernels/vector/targets.h"

namespace symbind::rnn {

/// Rows of one step, forward. `gates` holds x·Wᵀ + h·Rᵀ and receives the gates' values; a GRU has
/// h·Rᵀ of its last gate in `hidden_part` instead, which receives it with its bias. `bias` is the
/// sum of both biases; a GRU's last gate has them separately, the h2h one after all others.
template <class T>
struct CellForward {
  std::int64_t rows, hidden;
  T* gates;
  std::int64_t gates_step;
  const T* bias;
  const T* previous;  ///< h of the last step (GRU)
  std::int64_t previous_step;
  const T* cell_before;  ///< LSTM; row stride `hidden`, as for `cell` and `hidden_part`
  T* cell;
  T* hidden_part;
  T* out;
  std::int64_t out_step;
  bool clipped, clip_nan;
  T clip_low, clip_high;
};

/// Rows of one step, backward. `dh` is the gradient of the cell's output and receives the direct
/// part of the previous step's gradient (all but the h2h product); `dc` likewise. `dgates` receives
/// the gradient of the gates' sums, of a GRU's last gate for x·Wᵀ; `dhidden_part` that for h·Rᵀ.
template <class T>
struct CellBackward {
  std::int64_t rows, hidden;
  const T* gates;
  std::int64_t gates_step;
  const T* previous;  ///< GRU
  std::int64_t previous_step;
  const T *cell_before, *cell, *hidden_part;
  const T* out;  ///< relu and tanh
  std::int64_t out_step;
  T *dh, *dc, *dgates, *dhidden_part;
};

template <class T>
struct Cells {
  void (*relu)(const CellForward<T>&);
  void (*tanh)(const CellForward<T>&);
  void (*lstm)(const CellForward<T>&);
  void (*gru)(const CellForward<T>&);
  void (*relu_backward)(const CellBackward<T>&);
  void (*tanh_backward)(const CellBackward<T>&);
  void (*lstm_backward)(const CellBackward<T>&);
  void (*gru_backward)(const CellBackward<T>&);
};

/// C += A · B with the same B at every step: B is packed once.
template <class T>
struct StepProduct {
  std::int64_t rows, n, k;
  const T* a;
  std::int64_t a_step;
  const T* packed;
  T* c;
  std::int64_t c_step;
};
struct Products {
  /// B is k × n; element (p, j) is at p · row_step + j · column_step.
  void (*pack)(const float* w, std::int64_t row_step, std::int64_t column_step, std::int64_t k,
               std::int64_t n, float* packed);
  void (*multiply)(const StepProduct<float>&);
  std::int64_t panel;  ///< packed columns are a multiple of it
};

/// The fastest cells that this processor supports.
template <class T>
const Cells<T>& cells();
const Products& products();

/// The cells in float32 and their products, per instruction set.
struct Instructions {
  Cells<float> cells;
  Products products;
};
const ByIsa<Instructions>& instructions();

}  // namespace symbind::rnn
