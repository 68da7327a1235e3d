// Recurrent layers backward, the native kernel; rnn.h says how.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/rnn/cells.h"
#include "kernels/rnn/rnn.h"
#include "kernels/rnn/step_weights.h"

namespace symbind::rnn {

namespace {

/// Parts of the scratch memory, in elements; those per direction exist once for each.
struct Scratch {
  explicit Scratch(const Sizes& s) {
    const std::int64_t all = s.rows();
    dgates = take(s.directions, all * s.gate_width());
    dpart = take(s.directions, s.mode == Mode::kGru ? all * s.hidden : 0);
    dout = take(s.directions, s.projection > 0 ? all * s.width() : 0);
    dh = take(s.directions, s.batch * s.width());
    draw = take(s.directions, s.projection > 0 ? s.batch * s.hidden : 0);
    dc = take(s.directions, s.has_cell() ? s.batch * s.hidden : 0);
    before = take(s.directions, s.batch * s.width());
    packed = take(s.directions, (s.width() + 64) * s.gate_width());  // 64: more than any panel
    layer = take(1, all * s.directions * s.width());
  }
  struct Part {
    std::int64_t at, size;
    std::int64_t operator()(std::int64_t d) const { return at + d * size; }
  };
  Part take(std::int64_t count, std::int64_t n) {
    const Part part{total, (n + 15) / 16 * 16};
    total += count * part.size;
    return part;
  }
  std::int64_t total = 0;
  Part dgates, dpart, dout, dh, draw, dc, before, packed, layer;
};

/// sums[j] = Σ rows of column j.
template <class T>
void column_sums(const T* x, std::int64_t rows, std::int64_t columns, std::int64_t step, T* sums) {
  constexpr std::int64_t kBlock = 64;
  const std::int64_t grain = grain_of(kBlock * rows);
  parallel_for((columns + kBlock - 1) / kBlock, grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t left = b * kBlock, n = std::min(kBlock, columns - left);
      double total[kBlock] = {};
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < n; ++i)
          total[i] += static_cast<double>(x[r * step + left + i]);
      for (std::int64_t i = 0; i < n; ++i) sums[left + i] = static_cast<T>(total[i]);
    }
  });
}

template <class T>
class Layer {
 public:
  Layer(const Sizes& s, const Backward<T>& io, const Scratch& scratch, const Tape& tape,
        std::int64_t layer)
      : s_(s),
        io_(io),
        at_(scratch),
        tape_(tape),
        layer_(layer),
        summed_(s.gate_width() - (s.mode == Mode::kGru ? s.hidden : 0), s.width(), false),
        apart_(s.hidden, s.width(), false) {
    out_ = layer + 1 == s.layers ? io.y : io.tape + tape.out(layer);
    dy_ = layer + 1 == s.layers ? io.dy : io.scratch + at_.layer(0);
    x_ = layer == 0      ? io.x
         : s.dropout > 0 ? io.tape + tape.dropped(layer - 1)
                         : io.tape + tape.out(layer - 1);
  }

  void pack() const {
    for (std::int64_t d = 0; d < s_.directions; ++d) {
      const T* w = io_.parameters + s_.h2h(layer_, d);
      T* to = io_.scratch + at_.packed(d);
      summed_.pack(w, to);
      if (s_.mode == Mode::kGru) apart_.pack(w + apart_at(), to + summed_.elements());
    }
  }

  /// All steps of samples [begin, end) in one direction, the last first.
  void run(std::int64_t d, std::int64_t begin, std::int64_t end) const {
    start(d, begin, end);
    for (std::int64_t i = s_.steps - 1; i >= 0; --i) {
      const std::int64_t t = d == 0 ? i : s_.steps - 1 - i;
      const Rows<T> before = previous(d, t, begin, end);
      if (!io_.lengths) {
        step(d, t, begin, end, before);
      } else {
        for (std::int64_t n = begin; n < end; ++n) {
          const Rows<T> own{before.data + (n - begin) * before.step, before.step};
          t < io_.lengths[n] ? step(d, t, n, n + 1, own) : skip(d, t, n);
        }
      }
      hidden_products(d, t, begin, end);
    }
    finish(d, begin, end);
  }

  /// The gradients that are products over all steps. `dx` may be null.
  void products(std::int64_t d, T* dx) const {
    const std::int64_t in = s_.layer_input(layer_), width = s_.gate_width();
    const T* dgates = io_.scratch + at_.dgates(d);
    if (dx)
      gemm({.m = s_.rows(), .n = in, .k = width, .lda = width, .ldb = in, .ldc = in}, T(1), dgates,
           io_.parameters + s_.i2h(layer_, d), d == 0 ? T(0) : T(1), dx);
    if (!io_.dparameters) return;
    gemm({.transpose_a = true,
          .m = width,
          .n = in,
          .k = s_.rows(),
          .lda = width,
          .ldb = in,
          .ldc = in},
         T(1), dgates, x_, T(0), io_.dparameters + s_.i2h(layer_, d));
    hidden_weights(d);
    if (s_.projection > 0)
      gemm({.transpose_a = true,
            .m = s_.projection,
            .n = s_.hidden,
            .k = s_.rows(),
            .lda = s_.projection,
            .ldb = s_.hidden,
            .ldc = s_.hidden},
           T(1), io_.scratch + at_.dout(d), io_.tape + tape_.raw(layer_, d), T(0),
           io_.dparameters + s_.h2r(layer_, d));
    T* bias = io_.dparameters + s_.bias(layer_, d);
    column_sums(dgates, s_.rows(), width, width, bias);
    std::copy_n(bias, width, bias + width);
    if (s_.mode == Mode::kGru)
      column_sums(io_.scratch + at_.dpart(d), s_.rows(), s_.hidden, s_.hidden,
                  bias + width + 2 * s_.hidden);
  }

 private:
  std::int64_t state_at(std::int64_t d, std::int64_t n, std::int64_t width) const {
    return ((layer_ * s_.directions + d) * s_.batch + n) * width;
  }
  Rows<T> previous(std::int64_t d, std::int64_t t, std::int64_t begin, std::int64_t end) const {
    return previous_rows(s_, d, t, begin, end, io_.h0 + state_at(d, 0, s_.width()), out_,
                         io_.lengths, io_.scratch + at_.before(d));
  }
  T* dh(std::int64_t d, std::int64_t n) const { return io_.scratch + at_.dh(d) + n * s_.width(); }
  T* dc(std::int64_t d, std::int64_t n) const { return io_.scratch + at_.dc(d) + n * s_.hidden; }
  T* dgates(std::int64_t d, std::int64_t t, std::int64_t n) const {
    return io_.scratch + at_.dgates(d) + (t * s_.batch + n) * s_.gate_width();
  }
  T* dpart(std::int64_t d, std::int64_t t, std::int64_t n) const {
    return io_.scratch + at_.dpart(d) + (t * s_.batch + n) * s_.hidden;
  }

  void start(std::int64_t d, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n = end - begin;
    if (io_.dhy)
      std::copy_n(io_.dhy + state_at(d, begin, s_.width()), n * s_.width(), dh(d, begin));
    else
      std::fill_n(dh(d, begin), n * s_.width(), T(0));
    if (!s_.has_cell()) return;
    if (io_.dcy)
      std::copy_n(io_.dcy + state_at(d, begin, s_.hidden), n * s_.hidden, dc(d, begin));
    else
      std::fill_n(dc(d, begin), n * s_.hidden, T(0));
  }

  void finish(std::int64_t d, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n = end - begin;
    if (io_.dh0)
      std::copy_n(dh(d, begin), n * s_.width(), io_.dh0 + state_at(d, begin, s_.width()));
    if (io_.dc0) std::copy_n(dc(d, begin), n * s_.hidden, io_.dc0 + state_at(d, begin, s_.hidden));
  }

  void step(std::int64_t d, std::int64_t t, std::int64_t begin, std::int64_t end,
            const Rows<T>& before) const {
    const std::int64_t out_step = s_.directions * s_.width();
    for (std::int64_t n = begin; n < end; ++n) {
      const T* head = dy_ + (t * s_.batch + n) * out_step + d * s_.width();
      T* sum = dh(d, n);
      for (std::int64_t i = 0; i < s_.width(); ++i) sum[i] += head[i];
    }
    CellBackward<T> a{};
    a.dh = dh(d, begin);
    if (s_.projection > 0) a.dh = through_projection(d, t, begin, end);
    const std::int64_t row = t * s_.batch + begin, first = d == 0 ? 0 : s_.steps - 1;
    const T* cell = io_.tape + tape_.cell(layer_, d) + row * s_.hidden;
    a.rows = end - begin;
    a.hidden = s_.hidden;
    a.gates = io_.tape + tape_.gates(layer_, d) + row * s_.gate_width();
    a.gates_step = s_.gate_width();
    a.previous = before.data;
    a.previous_step = before.step;
    a.out = out_ + row * out_step + d * s_.width();
    a.out_step = out_step;
    a.dgates = dgates(d, t, begin);
    const Cells<T>& c = cells<T>();
    switch (s_.mode) {
      case Mode::kRelu: c.relu_backward(a); break;
      case Mode::kTanh: c.tanh_backward(a); break;
      case Mode::kLstm:
        a.cell = cell;
        a.cell_before = t == first ? io_.c0 + state_at(d, begin, s_.hidden)
                                   : cell + (d == 0 ? -1 : 1) * s_.batch * s_.hidden;
        a.dc = dc(d, begin);
        c.lstm_backward(a);
        break;
      case Mode::kGru:
        a.hidden_part = cell;
        a.dhidden_part = dpart(d, t, begin);
        c.gru_backward(a);
        break;
    }
  }

  /// Stores the gradient of the projected output and computes that of the cell's output.
  T* through_projection(std::int64_t d, std::int64_t t, std::int64_t begin,
                        std::int64_t end) const {
    T *raw = io_.scratch + at_.draw(d) + begin * s_.hidden, *own = dh(d, begin);
    const std::int64_t n = (end - begin) * s_.width();
    std::copy_n(own, n, io_.scratch + at_.dout(d) + (t * s_.batch + begin) * s_.width());
    gemm({.m = end - begin,
          .n = s_.hidden,
          .k = s_.width(),
          .lda = s_.width(),
          .ldb = s_.hidden,
          .ldc = s_.hidden},
         T(1), own, io_.parameters + s_.h2r(layer_, d), T(0), raw);
    std::fill_n(own, n, T(0));
    return raw;
  }

  /// A sample that had ended, or not begun: the states' gradients pass through unchanged.
  void skip(std::int64_t d, std::int64_t t, std::int64_t n) const {
    std::fill_n(dgates(d, t, n), s_.gate_width(), T(0));
    if (s_.mode == Mode::kGru) std::fill_n(dpart(d, t, n), s_.hidden, T(0));
    if (s_.projection > 0)
      std::fill_n(io_.scratch + at_.dout(d) + (t * s_.batch + n) * s_.width(), s_.width(), T(0));
  }

  /// dh += dgates · R.
  void hidden_products(std::int64_t d, std::int64_t t, std::int64_t begin, std::int64_t end) const {
    const T *w = io_.parameters + s_.h2h(layer_, d), *packed = io_.scratch + at_.packed(d);
    summed_.add_product(end - begin, dgates(d, t, begin), s_.gate_width(), w, packed, dh(d, begin),
                        s_.width());
    if (s_.mode == Mode::kGru)
      apart_.add_product(end - begin, dpart(d, t, begin), s_.hidden, w + apart_at(),
                         packed + summed_.elements(), dh(d, begin), s_.width());
  }
  std::int64_t apart_at() const { return 2 * s_.hidden * s_.width(); }

  /// dR = Σ dgatesᵀ · h of the step before, over all steps at once where they are in order.
  void hidden_weights(std::int64_t d) const {
    const std::int64_t first = d == 0 ? 0 : s_.steps - 1, rest = d == 0 ? 1 : 0,
                       before = d == 0 ? 0 : 1, step = s_.directions * s_.width();
    if (s_.steps == 0) {
      std::fill_n(io_.dparameters + s_.h2h(layer_, d), s_.gate_width() * s_.width(), T(0));
      return;
    }
    if (io_.lengths) {
      for (std::int64_t t = 0; t < s_.steps; ++t) {
        const Rows<T> h = previous(d, t, 0, s_.batch);
        add_outer(d, t, s_.batch, h.data, h.step, t == 0 ? T(0) : T(1));
      }
      return;
    }
    add_outer(d, first, s_.batch, io_.h0 + state_at(d, 0, s_.width()), s_.width(), T(0));
    if (s_.steps > 1)
      add_outer(d, rest, (s_.steps - 1) * s_.batch,
                out_ + before * s_.batch * step + d * s_.width(), step, T(1));
  }

  void add_outer(std::int64_t d, std::int64_t t, std::int64_t rows, const T* h, std::int64_t h_step,
                 T beta) const {
    const std::int64_t apart = s_.mode == Mode::kGru ? s_.hidden : 0;
    T* to = io_.dparameters + s_.h2h(layer_, d);
    GemmShape g{.transpose_a = true, .m = s_.gate_width() - apart, .n = s_.width(), .k = rows};
    g.lda = s_.gate_width();
    g.ldb = h_step;
    g.ldc = s_.width();
    gemm(g, T(1), dgates(d, t, 0), h, beta, to);
    if (apart == 0) return;
    g.m = g.lda = apart;
    gemm(g, T(1), dpart(d, t, 0), h, beta, to + 2 * s_.hidden * s_.width());
  }

  const Sizes& s_;
  const Backward<T>& io_;
  const Scratch& at_;
  const Tape& tape_;
  std::int64_t layer_;
  const T *out_, *dy_, *x_;
  StepWeights<T> summed_, apart_;  ///< of the gates' sums; of a GRU's last gate
};

}  // namespace

std::int64_t backward_scratch(const Sizes& s) { return Scratch(s).total; }

template <class T>
void backward(const Sizes& s, const Backward<T>& io) {
  const Scratch scratch(s);
  const Tape tape(s, true);
  for (std::int64_t l = s.layers - 1; l >= 0; --l) {
    const Layer<T> layer(s, io, scratch, tape, l);
    layer.pack();
    parallel_for(s.directions * s.batch, kFewestRows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t d = begin / s.batch; d * s.batch < end; ++d)
        layer.run(d, std::max<std::int64_t>(begin - d * s.batch, 0),
                  std::min(end - d * s.batch, s.batch));
    });
    T* dx = l == 0 ? io.dx : io.scratch + scratch.layer(0);
    for (std::int64_t d = 0; d < s.directions; ++d) layer.products(d, dx);
    if (l == 0 || s.dropout <= 0) continue;
    const T* mask = io.tape + tape.mask(l - 1);
    parallel_for(s.rows() * s.directions * s.width(), kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) dx[i] *= mask[i];
                 });
  }
}

template void backward(const Sizes&, const Backward<float>&);
template void backward(const Sizes&, const Backward<double>&);

}  // namespace symbind::rnn
