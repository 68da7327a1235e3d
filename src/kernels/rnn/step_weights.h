// The h2h product of every step: its weights are packed once, because they are the same at every
// step.
//
// Decided here: float32 has its own kernel, because OpenBLAS packs the weights again at every call,
// an eighth of the time at 32 rows. float64 goes to OpenBLAS. Measured (two LSTM layers, 35 steps,
// batch 32, 200 inputs and states, one thread, ms of CPU time): forward 14.5, forward and backward
// 45; MXNet 1.9.1 with oneDNN 17.5 and 48.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/parallel.h"
#include "kernels/gemm.h"
#include "kernels/rnn/cells.h"

namespace symbind::rnn {

/// B (k × n) of C += A · B; `transposed`: it is stored as n × k.
template <class T>
class StepWeights {
 public:
  StepWeights(std::int64_t k, std::int64_t n, bool transposed)
      : k_(k), n_(n), transposed_(transposed) {}

  /// Memory it takes to pack, in elements.
  std::int64_t elements() const {
    if constexpr (std::is_same_v<T, float>) {
      const std::int64_t panel = products().panel;
      return (n_ + panel - 1) / panel * panel * k_;
    } else {
      return 0;
    }
  }
  void pack(const T* w, [[maybe_unused]] T* into) const {
    if constexpr (std::is_same_v<T, float>)
      products().pack(w, transposed_ ? 1 : n_, transposed_ ? k_ : 1, k_, n_, into);
  }
  /// C = A · B by packed weights, over threads: rows where there are many, else columns.
  void product(std::int64_t rows, const T* a, const T* packed,
               T* c) const requires std::is_same_v<T, float> {
    constexpr std::int64_t kManyRows = 128, kGrain = 64;
    const std::int64_t panel = products().panel, panels = (n_ + panel - 1) / panel;
    const auto part = [&](std::int64_t row, std::int64_t end, std::int64_t first,
                          std::int64_t last) {
      const std::int64_t column = first * panel, width = std::min(n_, last * panel) - column;
      for (std::int64_t r = row; r < end; ++r) std::fill_n(c + r * n_ + column, width, 0.f);
      products().multiply({end - row, width, k_, a + row * k_, k_, packed + column * k_,
                           c + row * n_ + column, n_});
    };
    const std::int64_t per_panel = std::max<std::int64_t>(1, rows * k_ * panel);
    if (rows >= kManyRows)
      parallel_for(rows, kGrain,
                   [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, panels); });
    else
      parallel_for(panels, std::max<std::int64_t>(1, 1'000'000 / per_panel),
                   [&](std::int64_t begin, std::int64_t end) { part(0, rows, begin, end); });
  }
  /// `w` are the original weights, `packed` the output of pack.
  void add_product(std::int64_t rows, const T* a, std::int64_t a_step, const T* w,
                   [[maybe_unused]] const T* packed, T* c, std::int64_t c_step) const {
    if constexpr (std::is_same_v<T, float>) {
      // Of few rows, reading the weights takes the time: threads share them.
      const std::int64_t panel = products().panel, panels = (n_ + panel - 1) / panel;
      const std::int64_t grain = rows > kFewRows ? panels : kFewestWeights / (k_ * panel) + 1;
      parallel_for(panels, grain, [&](std::int64_t first, std::int64_t last) {
        const std::int64_t column = first * panel;
        products().multiply({rows, std::min(n_, last * panel) - column, k_, a, a_step,
                             packed + column * k_, c + column, c_step});
      });
    } else {
      gemm({.transpose_b = transposed_,
            .m = rows,
            .n = n_,
            .k = k_,
            .lda = a_step,
            .ldb = transposed_ ? k_ : n_,
            .ldc = c_step},
           T(1), a, w, T(1), c);
    }
  }

 private:
  static constexpr std::int64_t kFewRows = 4, kFewestWeights = 50'000;
  std::int64_t k_, n_;
  bool transposed_;
};

}  // namespace symbind::rnn
