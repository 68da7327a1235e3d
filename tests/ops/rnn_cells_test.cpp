// The recurrent cells of every instruction set this processor has, against those in float64.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/rnn/cells.h"
#include "tests/kernels/targets.h"
#include "tests/support/host_tensor.h"

namespace symbind::rnn {
namespace {

std::vector<Instructions> available() {
  std::vector<Instructions> all;
  for (const Isa isa : available_isas()) all.push_back(instructions()[isa]);
  return all;
}

constexpr std::int64_t kRows = 3, kHidden = 21;

template <class T>
std::vector<T> numbers(std::int64_t n, std::uint64_t seed, double scale = 4) {
  std::vector<T> v;
  for (const double x : HostTensor::formula({n}, seed, -scale, scale).values)
    v.push_back(static_cast<T>(x));
  return v;
}

/// Everything a cell reads and writes; the same numbers in every type.
template <class T>
struct Buffers {
  std::vector<T> gates = numbers<T>(kRows * 4 * kHidden, 1), bias = numbers<T>(5 * kHidden, 2, 1),
                 before = numbers<T>(kRows * kHidden, 3), cell = numbers<T>(kRows * kHidden, 4),
                 part = numbers<T>(kRows * kHidden, 5), out = numbers<T>(kRows * kHidden, 6),
                 dh = numbers<T>(kRows * kHidden, 7), dc = numbers<T>(kRows * kHidden, 8),
                 dgates = numbers<T>(kRows * 4 * kHidden, 9),
                 dpart = numbers<T>(kRows * kHidden, 10);

  void run(const Cells<T>& c, int which) {
    CellForward<T> f{};
    f.rows = kRows;
    f.hidden = kHidden;
    f.gates = gates.data();
    f.gates_step = 4 * kHidden;
    f.bias = bias.data();
    f.previous = f.cell_before = before.data();
    f.previous_step = f.out_step = kHidden;
    f.cell = cell.data();
    f.hidden_part = part.data();
    f.out = out.data();
    CellBackward<T> b{};
    b.rows = kRows;
    b.hidden = kHidden;
    b.gates = gates.data();
    b.gates_step = 4 * kHidden;
    b.previous = b.cell_before = before.data();
    b.previous_step = b.out_step = kHidden;
    b.cell = cell.data();
    b.hidden_part = part.data();
    b.out = out.data();
    b.dh = dh.data();
    b.dc = dc.data();
    b.dgates = dgates.data();
    b.dhidden_part = dpart.data();
    constexpr decltype(&Cells<T>::relu) kForward[] = {&Cells<T>::relu, &Cells<T>::tanh,
                                                      &Cells<T>::lstm, &Cells<T>::gru};
    constexpr decltype(&Cells<T>::relu_backward) kBackward[] = {
        &Cells<T>::relu_backward, &Cells<T>::tanh_backward, &Cells<T>::lstm_backward,
        &Cells<T>::gru_backward};
    (c.*kForward[which])(f);
    (c.*kBackward[which])(b);
  }
  std::vector<const std::vector<T>*> all() const {
    return {&gates, &cell, &part, &out, &dh, &dc, &dgates, &dpart};
  }
};

TEST(RnnCells, agree_with_float64_in_every_instruction_set) {
  for (const Instructions& set : available())
    for (int which = 0; which < 4; ++which) {
      Buffers<float> got;
      Buffers<double> want;
      got.run(set.cells, which);
      want.run(cells<double>(), which);
      for (std::size_t k = 0; k < got.all().size(); ++k)
        for (std::size_t i = 0; i < got.all()[k]->size(); ++i)
          ASSERT_NEAR((*got.all()[k])[i], (*want.all()[k])[i], 2e-6)
              << "cell " << which << ", buffer " << k << ", element " << i;
    }
}

TEST(RnnCells, avx2_and_avx512_give_equal_bits) {
  const std::vector<Isa> sets = isas_with_fma();
  for (std::size_t k = 1; k < sets.size(); ++k)
    for (int which = 0; which < 4; ++which) {
      Buffers<float> first, other;
      first.run(instructions()[sets[0]].cells, which);
      other.run(instructions()[sets[k]].cells, which);
      for (std::size_t b = 0; b < first.all().size(); ++b)
        EXPECT_EQ(*first.all()[b], *other.all()[b]) << "cell " << which << ", buffer " << b;
    }
}

TEST(RnnCells, saturate_and_stay_finite) {
  for (const Instructions& set : available()) {
    Buffers<float> b;
    for (std::size_t i = 0; i < b.gates.size(); ++i) b.gates[i] = i % 2 == 0 ? 1e4f : -1e4f;
    b.run(set.cells, 2);
    for (std::size_t i = 0; i < b.gates.size(); ++i) {
      const bool tanh = i % (4 * kHidden) / kHidden == 2;
      ASSERT_NEAR(b.gates[i], i % 2 == 0 ? 1 : tanh ? -1 : 0, 1e-6) << i;
    }
  }
}

TEST(RnnCells, products_of_all_sizes) {
  for (const Instructions& set : available())
    for (const std::int64_t rows : {1, 5, 8, 13})
      for (const std::int64_t n : {1, 16, 33, 70})
        for (const std::int64_t k : {1, 7, 300}) {
          const std::vector<float> a = numbers<float>(rows * (k + 2), 1, 1),
                                   w = numbers<float>(n * k, 2, 1);
          std::vector<float> c = numbers<float>(rows * (n + 1), 3, 1), before = c;
          const std::int64_t panel = set.products.panel;
          std::vector<float> packed(static_cast<std::size_t>((n + panel - 1) / panel * panel * k));
          set.products.pack(w.data(), 1, k, k, n, packed.data());  // w is transposed
          set.products.multiply({rows, n, k, a.data(), k + 2, packed.data(), c.data(), n + 1});
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j <= n; ++j) {
              const auto at = static_cast<std::size_t>(r * (n + 1) + j);
              double sum = before[at];
              for (std::int64_t p = 0; j < n && p < k; ++p)
                sum += double{a[static_cast<std::size_t>(r * (k + 2) + p)]} *
                       double{w[static_cast<std::size_t>(j * k + p)]};
              ASSERT_NEAR(c[at], sum, 2e-5) << rows << " " << n << " " << k << " at " << at;
            }
        }
}

}  // namespace
}  // namespace symbind::rnn
