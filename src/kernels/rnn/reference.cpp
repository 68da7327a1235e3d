// What the operator RNN computes, sample by sample, step by step and unit by unit.
//
// A layer runs over the steps of a sample in one or two directions. At every step it reads the
// input x and its own output of the previous step, h (and c, an LSTM's cell). Each gate has
// matrices W and R and biases b and e, and is one number per unit:
//
//   relu, tanh  h' = f(W x + b + R h + e)
//   LSTM        i, f, o = σ(W x + b + R h + e),  g = tanh(W x + b + R h + e)
//               c' = f·c + i·g,  h' = o·tanh c'
//   GRU         r, z = σ(W x + b + R h + e),  n = tanh(W x + b + r·(R h + e))
//               h' = (1 − z)·n + z·h
//
// With a projection the output is P h' instead of h', and so is the h of the next step. The next
// layer reads the outputs of both directions, side by side, after dropout.
//
// Backward is the chain rule over the same loops, last layer and last step first.
#include "kernels/rnn/reference.h"

#include <algorithm>
#include <cmath>

namespace symbind::rnn::reference {

namespace {

template <class T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
T dot(const T* a, const T* b, std::int64_t n) {
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// to += factor · a
template <class T>
void add(T factor, const T* a, std::int64_t n, T* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += factor * a[i];
}

/// The matrices and biases of a layer in one direction, or their gradients. The matrices have a row
/// for every unit of every gate, the projection one for every output.
template <class T>
struct Weights {
  T *i2h = nullptr, *h2h = nullptr, *projection = nullptr, *i2h_bias = nullptr, *h2h_bias = nullptr;
};
template <class T>
Weights<T> weights_of(const Sizes& s, T* parameters, std::int64_t layer, std::int64_t direction) {
  T* biases = parameters + s.bias(layer, direction);
  return {parameters + s.i2h(layer, direction), parameters + s.h2h(layer, direction),
          parameters + s.h2r(layer, direction), biases, biases + s.gate_width()};
}

/// One sample in one direction of one layer, with offsets of its numbers.
struct Sequence {
  const Sizes& s;
  Tape tape;
  std::int64_t layer, direction, sample, length;

  Sequence(const Sizes& sizes, const std::int64_t* lengths, std::int64_t l, std::int64_t d,
           std::int64_t n)
      : s(sizes), tape(s, true), layer(l), direction(d), sample(n), length(s.steps) {
    if (lengths) length = std::clamp<std::int64_t>(lengths[n], 0, s.steps);
  }
  /// The i-th step to run: in the backward direction the sample's last step comes first.
  std::int64_t step(std::int64_t i) const { return direction == 0 ? i : length - 1 - i; }
  /// Row of an array (steps, batch, …).
  std::int64_t row(std::int64_t t) const { return t * s.batch + sample; }
  /// Row of an array (layers · directions, batch, …).
  std::int64_t state() const { return (layer * s.directions + direction) * s.batch + sample; }
  /// Offset in an array (steps, batch, directions · width).
  std::int64_t out(std::int64_t t) const { return (row(t) * s.directions + direction) * s.width(); }
  /// Offsets on the tape.
  std::int64_t gates(std::int64_t t) const {
    return tape.gates(layer, direction) + row(t) * s.gate_width();
  }
  std::int64_t cell(std::int64_t t) const {
    return tape.cell(layer, direction) + row(t) * s.hidden;
  }
  std::int64_t raw(std::int64_t t) const { return tape.raw(layer, direction) + row(t) * s.hidden; }
};

// ---- Forward ------------------------------------------------------------------------------------

template <class T>
T clipped(const Clip& clip, T c) {
  const T low = static_cast<T>(clip.low), high = static_cast<T>(clip.high);
  if (clip.nan && std::isnan(c)) return low;
  return c < low ? low : c > high ? high : c;
}

/// What a step reads, including (h, c) of the previous step, and what it writes.
template <class T>
struct Step {
  const T *x, *h, *c;
  T *gates, *cell, *raw, *out;  ///< raw: the output before a projection, else `out` itself
};

template <class T>
void run_unit(const Sizes& s, std::int64_t inputs, const Weights<const T>& w, const Step<T>& at,
              std::int64_t unit) {
  const auto from_x = [&](std::int64_t gate) {
    const std::int64_t row = gate * s.hidden + unit;
    return dot(w.i2h + row * inputs, at.x, inputs) + w.i2h_bias[row];
  };
  const auto from_h = [&](std::int64_t gate) {
    const std::int64_t row = gate * s.hidden + unit;
    return dot(w.h2h + row * s.width(), at.h, s.width()) + w.h2h_bias[row];
  };
  const auto sum = [&](std::int64_t gate) { return from_x(gate) + from_h(gate); };
  const auto keep = [&](std::int64_t gate, T value) {
    return at.gates[gate * s.hidden + unit] = value;
  };
  switch (s.mode) {
    case Mode::kRelu: at.raw[unit] = std::max(sum(0), T(0)); break;
    case Mode::kTanh: at.raw[unit] = std::tanh(sum(0)); break;
    case Mode::kLstm: {
      const T in = keep(0, sigmoid(sum(0))), forget = keep(1, sigmoid(sum(1)));
      const T fresh = keep(2, std::tanh(sum(2))), out = keep(3, sigmoid(sum(3)));
      T& c = at.cell[unit];
      c = forget * at.c[unit] + in * fresh;
      if (s.clip) c = clipped(*s.clip, c);
      at.raw[unit] = out * std::tanh(c);
      break;
    }
    case Mode::kGru: {
      const T reset = keep(0, sigmoid(sum(0))), update = keep(1, sigmoid(sum(1)));
      const T part = at.cell[unit] = from_h(2);
      const T fresh = keep(2, std::tanh(from_x(2) + reset * part));
      at.raw[unit] = (T(1) - update) * fresh + update * at.h[unit];
      break;
    }
  }
}

/// All steps of one sample; x and out are the arrays of the whole layer.
template <class T>
void run(const Sequence& q, const Forward<T>& io, const T* x, T* out) {
  const Sizes& s = q.s;
  const Weights<const T> w = weights_of(s, io.parameters, q.layer, q.direction);
  const std::int64_t inputs = s.layer_input(q.layer);
  const T* h = io.h0 + q.state() * s.width();
  const T* c = s.has_cell() ? io.c0 + q.state() * s.hidden : nullptr;
  for (std::int64_t i = 0; i < q.length; ++i) {
    const std::int64_t t = q.step(i);
    Step<T> at{.x = x + q.row(t) * inputs,
               .h = h,
               .c = c,
               .gates = io.tape + q.gates(t),
               .cell = io.tape + q.cell(t),
               .raw = out + q.out(t),
               .out = out + q.out(t)};
    if (s.projection > 0) at.raw = io.tape + q.raw(t);
    for (std::int64_t unit = 0; unit < s.hidden; ++unit) run_unit(s, inputs, w, at, unit);
    for (std::int64_t j = 0; j < s.projection; ++j)
      at.out[j] = dot(w.projection + j * s.hidden, at.raw, s.hidden);
    h = at.out;
    c = at.cell;
  }
  for (std::int64_t t = q.length; t < s.steps; ++t) std::fill_n(out + q.out(t), s.width(), T(0));
  if (io.hy) std::copy_n(h, s.width(), io.hy + q.state() * s.width());
  if (io.cy) std::copy_n(c, s.hidden, io.cy + q.state() * s.hidden);
}

// ---- Backward -----------------------------------------------------------------------------------

/// Parts of the scratch memory, in elements. Of one step: the gradients of the gates' sums W x + b
/// and R h + e, of the output, of that before a projection, and of c.
struct Scratch {
  std::int64_t from_x, from_h, dh, dunits, dc, layers, layer, total;
  explicit Scratch(const Sizes& s)
      : from_x(0),
        from_h(from_x + s.gate_width()),
        dh(from_h + s.gate_width()),
        dunits(dh + s.width()),
        dc(dunits + s.hidden),
        layers(dc + s.hidden),
        layer(s.rows() * s.directions * s.width()),
        total(layers + 2 * layer) {}
  /// The gradient of a layer's output. Two layers have one at the same time.
  std::int64_t of_layer(std::int64_t l) const { return layers + l % 2 * layer; }
};

/// What a step backward reads of the forward one, and the gradients: `from_x` and `from_h` of the
/// gates' sums are written. On entry `dh` and `dc` are those of the step's own h and c; they become
/// the direct part of the previous step's gradients.
template <class T>
struct StepBack {
  const T *gates, *cell, *out, *h, *c;
  T *from_x, *from_h, *dh, *dc;
};

template <class T>
void unit_back(const Sizes& s, const StepBack<T>& at, std::int64_t unit) {
  const auto gate = [&](std::int64_t g) { return at.gates[g * s.hidden + unit]; };
  const auto give = [&](std::int64_t g, T of_x, T of_h) {
    at.from_x[g * s.hidden + unit] = of_x;
    at.from_h[g * s.hidden + unit] = of_h;
  };
  const auto sigmoid_slope = [](T y) { return y * (T(1) - y); };
  const auto tanh_slope = [](T y) { return T(1) - y * y; };
  T& dh = at.dh[unit];
  switch (s.mode) {
    case Mode::kRelu:
    case Mode::kTanh: {
      const T y = at.out[unit];
      const T slope = s.mode == Mode::kTanh ? tanh_slope(y) : y > T(0) ? T(1) : T(0);
      give(0, dh * slope, dh * slope);
      dh = 0;
      break;
    }
    case Mode::kLstm: {
      const T in = gate(0), forget = gate(1), fresh = gate(2), out = gate(3);
      const T squashed = std::tanh(at.cell[unit]);
      const T dc = at.dc[unit] + dh * out * tanh_slope(squashed);
      const T of_gate[] = {dc * fresh * sigmoid_slope(in), dc * at.c[unit] * sigmoid_slope(forget),
                           dc * in * tanh_slope(fresh), dh * squashed * sigmoid_slope(out)};
      for (std::int64_t g = 0; g < 4; ++g) give(g, of_gate[g], of_gate[g]);
      at.dc[unit] = dc * forget;
      dh = 0;
      break;
    }
    case Mode::kGru: {
      const T reset = gate(0), update = gate(1), fresh = gate(2), part = at.cell[unit];
      const T of_fresh = dh * (T(1) - update) * tanh_slope(fresh);
      const T of_reset = of_fresh * part * sigmoid_slope(reset);
      const T of_update = dh * (at.h[unit] - fresh) * sigmoid_slope(update);
      give(0, of_reset, of_reset);
      give(1, of_update, of_update);
      give(2, of_fresh, of_fresh * reset);
      dh *= update;
      break;
    }
  }
}

/// All steps of one sample, the last first. x, out and dout are the arrays of the whole layer; dx
/// and the parameters' gradients are added to, if requested.
template <class T>
void run_back(const Sequence& q, const Backward<T>& io, const T* x, const T* out, const T* dout,
              T* dx) {
  const Sizes& s = q.s;
  const Scratch scratch(s);
  const Weights<const T> w = weights_of(s, io.parameters, q.layer, q.direction);
  Weights<T> dw;
  if (io.dparameters) dw = weights_of(s, io.dparameters, q.layer, q.direction);
  const std::int64_t inputs = s.layer_input(q.layer), width = s.width();
  T *dh = io.scratch + scratch.dh, *dc = io.scratch + scratch.dc;
  std::fill_n(dh, width, T(0));
  std::fill_n(dc, s.hidden, T(0));
  if (io.dhy) std::copy_n(io.dhy + q.state() * width, width, dh);
  if (io.dcy) std::copy_n(io.dcy + q.state() * s.hidden, s.hidden, dc);
  for (std::int64_t i = q.length - 1; i >= 0; --i) {
    const std::int64_t t = q.step(i), before = q.step(i - 1);
    StepBack<T> at{.gates = io.tape + q.gates(t),
                   .cell = io.tape + q.cell(t),
                   .out = out + q.out(t),
                   .h = i == 0 ? io.h0 + q.state() * width : out + q.out(before),
                   .c = nullptr,
                   .from_x = io.scratch + scratch.from_x,
                   .from_h = io.scratch + scratch.from_h,
                   .dh = dh,
                   .dc = dc};
    if (s.has_cell()) at.c = i == 0 ? io.c0 + q.state() * s.hidden : io.tape + q.cell(before);
    add(T(1), dout + q.out(t), width, dh);
    if (s.projection > 0) {
      at.dh = io.scratch + scratch.dunits;
      std::fill_n(at.dh, s.hidden, T(0));
      for (std::int64_t j = 0; j < width; ++j) {
        add(dh[j], w.projection + j * s.hidden, s.hidden, at.dh);
        if (io.dparameters) add(dh[j], io.tape + q.raw(t), s.hidden, dw.projection + j * s.hidden);
      }
      std::fill_n(dh, width, T(0));
    }
    for (std::int64_t unit = 0; unit < s.hidden; ++unit) unit_back(s, at, unit);
    for (std::int64_t row = 0; row < s.gate_width(); ++row) {
      add(at.from_h[row], w.h2h + row * width, width, dh);
      if (dx) add(at.from_x[row], w.i2h + row * inputs, inputs, dx + q.row(t) * inputs);
      if (!io.dparameters) continue;
      add(at.from_x[row], x + q.row(t) * inputs, inputs, dw.i2h + row * inputs);
      add(at.from_h[row], at.h, width, dw.h2h + row * width);
      dw.i2h_bias[row] += at.from_x[row];
      dw.h2h_bias[row] += at.from_h[row];
    }
  }
  if (io.dh0) std::copy_n(dh, width, io.dh0 + q.state() * width);
  if (io.dc0) std::copy_n(dc, s.hidden, io.dc0 + q.state() * s.hidden);
}

}  // namespace

template <class T>
void forward(const Sizes& s, const Forward<T>& io) {
  const Tape tape(s, true);
  const T* x = io.x;
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    const bool last = layer + 1 == s.layers;
    T* out = last ? io.y : io.tape + tape.out(layer);
    for (std::int64_t direction = 0; direction < s.directions; ++direction)
      for (std::int64_t sample = 0; sample < s.batch; ++sample)
        run(Sequence(s, io.lengths, layer, direction, sample), io, x, out);
    x = out;
    if (last || s.dropout <= 0) continue;
    T *mask = io.tape + tape.mask(layer), *dropped = io.tape + tape.dropped(layer);
    for (std::int64_t i = 0; i < s.rows() * s.directions * s.width(); ++i) {
      mask[i] = static_cast<T>(dropout_scale(s, io, layer, i));
      dropped[i] = out[i] * mask[i];
    }
    x = dropped;
  }
}

std::int64_t backward_scratch(const Sizes& s) { return Scratch(s).total; }

template <class T>
void backward(const Sizes& s, const Backward<T>& io) {
  const Tape tape(s, true);
  const Scratch scratch(s);
  const std::int64_t outputs = s.rows() * s.directions * s.width();
  if (io.dparameters) std::fill_n(io.dparameters, s.parameters(), T(0));
  const T* dout = io.dy;
  for (std::int64_t layer = s.layers - 1; layer >= 0; --layer) {
    const bool first = layer == 0, last = layer + 1 == s.layers;
    const T* out = last ? io.y : io.tape + tape.out(layer);
    const T* x = first           ? io.x
                 : s.dropout > 0 ? io.tape + tape.dropped(layer - 1)
                                 : io.tape + tape.out(layer - 1);
    T* dx = first ? io.dx : io.scratch + scratch.of_layer(layer - 1);
    if (dx) std::fill_n(dx, first ? s.rows() * s.input : outputs, T(0));
    for (std::int64_t direction = 0; direction < s.directions; ++direction)
      for (std::int64_t sample = 0; sample < s.batch; ++sample)
        run_back(Sequence(s, io.lengths, layer, direction, sample), io, x, out, dout, dx);
    dout = dx;
    if (first || s.dropout <= 0) continue;
    const T* mask = io.tape + tape.mask(layer - 1);
    for (std::int64_t i = 0; i < outputs; ++i) dx[i] *= mask[i];
  }
}

template void forward(const Sizes&, const Forward<float>&);
template void forward(const Sizes&, const Forward<double>&);
template void backward(const Sizes&, const Backward<float>&);
template void backward(const Sizes&, const Backward<double>&);

}  // namespace symbind::rnn::reference
