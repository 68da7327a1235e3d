// Recurrent layers forward, the native kernel; rnn.h says how.
#include <algorithm>
#include <type_traits>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/rnn/cells.h"
#include "kernels/rnn/rnn.h"
#include "kernels/rnn/step_weights.h"

namespace symbind::rnn {

namespace {

std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }

/// Scratch of a direction: joined biases, rows of h (with lengths), packed h2h weights.
struct Scratch {
  explicit Scratch(const Sizes& s)
      : rows(padded(s.gate_width() + s.hidden)), packed(rows + padded(s.batch * s.width())) {
    // As many columns as any panel could add.
    total = packed + (s.gate_width() + 2 * 64) * s.width();
  }
  std::int64_t rows, packed, total;
};

/// Both biases summed; a GRU's last gate keeps them separate.
template <class T>
void join_biases(const Sizes& s, const T* given, T* joined) {
  const std::int64_t n = s.gate_width(), common = s.mode == Mode::kGru ? 2 * s.hidden : n;
  for (std::int64_t i = 0; i < common; ++i) joined[i] = given[i] + given[n + i];
  for (std::int64_t i = common; i < n; ++i) {
    joined[i] = given[i];
    joined[s.hidden + i] = given[n + i];
  }
}

/// The products of a layer's directions, and where their weights are in the packed form: for every
/// layer and direction i2h, h2h and the separate h2h of a GRU.
template <class T>
struct PackedLayer {
  PackedLayer(const Sizes& s, std::int64_t layer)
      : input(s.layer_input(layer), s.gate_width(), true),
        summed(s.width(), s.gate_width() - (s.mode == Mode::kGru ? s.hidden : 0), true),
        apart(s.width(), s.mode == Mode::kGru ? s.hidden : 0, true) {
    for (std::int64_t l = 0; l < layer; ++l) first += s.directions * PackedLayer(s, l).elements();
  }
  /// Of one direction.
  std::int64_t elements() const { return input.elements() + summed.elements() + apart.elements(); }
  std::int64_t at(std::int64_t direction) const { return first + direction * elements(); }

  StepWeights<T> input, summed, apart;  ///< x·Wᵀ; for the gates' sums; for a GRU's last gate
  std::int64_t first = 0;
};

/// Where the separate h2h weights of a GRU begin.
std::int64_t apart_at(const Sizes& s) { return 2 * s.hidden * s.width(); }

template <class T>
void pack_hidden(const Sizes& s, const PackedLayer<T>& weights, const T* w, T* packed) {
  weights.summed.pack(w, packed);
  if (s.mode == Mode::kGru) weights.apart.pack(w + apart_at(s), packed + weights.summed.elements());
}

template <class T>
class Layer {
 public:
  Layer(const Sizes& s, const Forward<T>& io, const Tape& tape, std::int64_t layer, T* out)
      : s_(s), io_(io), tape_(tape), scratch_(s), layer_(layer), out_(out), weights_(s, layer) {}

  void input_products(const T* x) const {
    const std::int64_t in = s_.layer_input(layer_), width = s_.gate_width();
    for (std::int64_t d = 0; d < s_.directions; ++d) {
      join_biases(s_, io_.parameters + s_.bias(layer_, d), bias(d));
      if constexpr (std::is_same_v<T, float>) {
        if (io_.packed != nullptr) {
          weights_.input.product(s_.rows(), x, io_.packed + weights_.at(d),
                                 io_.tape + tape_.gates(layer_, d));
          continue;
        }
      }
      gemm({.transpose_b = true,
            .m = s_.rows(),
            .n = width,
            .k = in,
            .lda = in,
            .ldb = in,
            .ldc = width},
           T(1), x, io_.parameters + s_.i2h(layer_, d), T(0), io_.tape + tape_.gates(layer_, d));
      pack_hidden(s_, weights_, io_.parameters + s_.h2h(layer_, d), bias(d) + scratch_.packed);
    }
  }

  /// All steps of samples [begin, end) in one direction.
  void run(std::int64_t d, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = 0; i < s_.steps; ++i) {
      const std::int64_t t = d == 0 ? i : s_.steps - 1 - i;
      const Rows<T> before = previous_rows(s_, d, t, begin, end, state(io_.h0, d, s_.width()), out_,
                                           io_.lengths, bias(d) + scratch_.rows);
      hidden_products(d, t, begin, end, before);
      if (!io_.lengths) {
        step(d, t, begin, end, before);
      } else {
        for (std::int64_t n = begin; n < end; ++n) {
          const Rows<T> own{before.data + (n - begin) * before.step, before.step};
          t < io_.lengths[n] ? step(d, t, n, n + 1, own) : skip(d, t, n);
        }
      }
    }
    if (io_.hy || io_.cy) last_states(d, begin, end);
  }

 private:
  T* bias(std::int64_t d) const { return io_.scratch + d * scratch_.total; }
  /// The h2h weights.
  const T* packed(std::int64_t d) const {
    if (io_.packed == nullptr) return bias(d) + scratch_.packed;
    return io_.packed + weights_.at(d) + weights_.input.elements();
  }
  /// This layer's part of all states.
  const T* state(const T* all, std::int64_t d, std::int64_t width) const {
    return all + (layer_ * s_.directions + d) * s_.batch * width;
  }
  T* gates_at(std::int64_t d, std::int64_t t, std::int64_t n) const {
    return io_.tape + tape_.gates(layer_, d) + (t * s_.batch + n) * s_.gate_width();
  }
  T* cell_at(std::int64_t d, std::int64_t t, std::int64_t n) const {
    return io_.tape + tape_.cell(layer_, d) + (t * s_.batch + n) * s_.hidden;
  }
  const T* cell_before(std::int64_t d, std::int64_t t, std::int64_t n) const {
    const std::int64_t before = d == 0 ? t - 1 : t + 1;
    if (before < 0 || before >= s_.steps) return state(io_.c0, d, s_.hidden) + n * s_.hidden;
    return cell_at(d, before, n);
  }
  T* out_at(std::int64_t d, std::int64_t t, std::int64_t n) const {
    return out_ + (t * s_.batch + n) * out_step() + d * s_.width();
  }
  std::int64_t out_step() const { return s_.directions * s_.width(); }

  void hidden_products(std::int64_t d, std::int64_t t, std::int64_t begin, std::int64_t end,
                       const Rows<T>& before) const {
    const T* w = io_.parameters + s_.h2h(layer_, d);
    weights_.summed.add_product(end - begin, before.data, before.step, w, packed(d),
                                gates_at(d, t, begin), s_.gate_width());
    if (s_.mode != Mode::kGru) return;
    T* to = cell_at(d, t, begin);
    std::fill_n(to, (end - begin) * s_.hidden, T(0));
    weights_.apart.add_product(end - begin, before.data, before.step, w + apart_at(s_),
                               packed(d) + weights_.summed.elements(), to, s_.hidden);
  }

  void step(std::int64_t d, std::int64_t t, std::int64_t begin, std::int64_t end,
            const Rows<T>& before) const {
    const bool projected = s_.projection > 0;
    T* raw = io_.tape + tape_.raw(layer_, d) + (t * s_.batch + begin) * s_.hidden;
    CellForward<T> a{};
    a.rows = end - begin;
    a.hidden = s_.hidden;
    a.gates = gates_at(d, t, begin);
    a.gates_step = s_.gate_width();
    a.bias = bias(d);
    a.previous = before.data;
    a.previous_step = before.step;
    a.out = projected ? raw : out_at(d, t, begin);
    a.out_step = projected ? s_.hidden : out_step();
    if (s_.clip) {
      a.clipped = true;
      a.clip_nan = s_.clip->nan;
      a.clip_low = static_cast<T>(s_.clip->low);
      a.clip_high = static_cast<T>(s_.clip->high);
    }
    const Cells<T>& c = cells<T>();
    switch (s_.mode) {
      case Mode::kRelu: c.relu(a); break;
      case Mode::kTanh: c.tanh(a); break;
      case Mode::kLstm:
        a.cell_before = cell_before(d, t, begin);
        a.cell = cell_at(d, t, begin);
        c.lstm(a);
        break;
      case Mode::kGru:
        a.hidden_part = cell_at(d, t, begin);
        c.gru(a);
        break;
    }
    if (!projected) return;
    gemm({.transpose_b = true,
          .m = end - begin,
          .n = s_.projection,
          .k = s_.hidden,
          .lda = s_.hidden,
          .ldb = s_.hidden,
          .ldc = out_step()},
         T(1), raw, io_.parameters + s_.h2r(layer_, d), T(0), out_at(d, t, begin));
  }

  /// A sample that has ended, or not begun.
  void skip(std::int64_t d, std::int64_t t, std::int64_t n) const {
    std::fill_n(out_at(d, t, n), s_.width(), T(0));
    if (s_.projection > 0)  // backward multiplies it with gradients of 0
      std::fill_n(io_.tape + tape_.raw(layer_, d) + (t * s_.batch + n) * s_.hidden, s_.hidden,
                  T(0));
    if (s_.has_cell()) std::copy_n(cell_before(d, t, n), s_.hidden, cell_at(d, t, n));
  }

  void last_states(std::int64_t d, std::int64_t begin, std::int64_t end) const {
    const std::int64_t at = (layer_ * s_.directions + d) * s_.batch;
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t length = io_.lengths ? std::min(io_.lengths[n], s_.steps) : s_.steps;
      const T* h = length > 0 ? out_at(d, d == 0 ? length - 1 : 0, n)
                              : state(io_.h0, d, s_.width()) + n * s_.width();
      if (io_.hy) std::copy_n(h, s_.width(), io_.hy + (at + n) * s_.width());
      if (!io_.cy) continue;
      const T* c = s_.steps > 0 ? cell_at(d, d == 0 ? s_.steps - 1 : 0, n)
                                : state(io_.c0, d, s_.hidden) + n * s_.hidden;
      std::copy_n(c, s_.hidden, io_.cy + (at + n) * s_.hidden);
    }
  }

  const Sizes& s_;
  const Forward<T>& io_;
  const Tape& tape_;
  Scratch scratch_;
  std::int64_t layer_;
  T* out_;
  PackedLayer<T> weights_;
};

/// What the next layer reads. If all values are kept, the output is unchanged, because backward
/// reads it.
template <class T>
const T* drop(const Sizes& s, const Forward<T>& io, const Tape& tape, std::int64_t layer, T* out) {
  if (s.dropout <= 0 || (!tape.kept() && !io.dropping)) return out;
  T* dropped = tape.kept() ? io.tape + tape.dropped(layer) : out;
  T* mask = tape.kept() ? io.tape + tape.mask(layer) : nullptr;
  const std::int64_t n = s.rows() * s.directions * s.width();
  parallel_for(n, kElementGrain / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float scale = dropout_scale(s, io, layer, i);
      if (mask) mask[i] = static_cast<T>(scale);
      dropped[i] = out[i] * static_cast<T>(scale);
    }
  });
  return dropped;
}

}  // namespace

std::int64_t packed_elements(const Sizes& s) { return PackedLayer<float>(s, s.layers).first; }

void pack(const Sizes& s, const float* parameters, float* packed) {
  for (std::int64_t l = 0; l < s.layers; ++l) {
    const PackedLayer<float> weights(s, l);
    for (std::int64_t d = 0; d < s.directions; ++d) {
      float* to = packed + weights.at(d);
      weights.input.pack(parameters + s.i2h(l, d), to);
      pack_hidden(s, weights, parameters + s.h2h(l, d), to + weights.input.elements());
    }
  }
}

std::int64_t forward_scratch(const Sizes& s) { return s.directions * Scratch(s).total; }

template <class T>
void forward(const Sizes& s, const Forward<T>& io) {
  const Tape tape(s, io.kept);
  const T* x = io.x;
  for (std::int64_t l = 0; l < s.layers; ++l) {
    T* out = l + 1 == s.layers ? io.y : io.tape + tape.out(l);
    const Layer<T> layer(s, io, tape, l, out);
    layer.input_products(x);
    parallel_for(s.directions * s.batch, kFewestRows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t d = begin / s.batch; d * s.batch < end; ++d)
        layer.run(d, std::max<std::int64_t>(begin - d * s.batch, 0),
                  std::min(end - d * s.batch, s.batch));
    });
    if (l + 1 < s.layers) x = drop(s, io, tape, l, out);
  }
}

template void forward(const Sizes&, const Forward<float>&);
template void forward(const Sizes&, const Forward<double>&);

}  // namespace symbind::rnn
