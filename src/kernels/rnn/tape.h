// Offsets of the layers' values: all of them if backward follows, else only those of the layer
// that runs and of the one before. Offsets are in elements.
#pragma once

#include "kernels/rnn/sizes.h"

namespace symbind::rnn {

class Tape {
 public:
  Tape(const Sizes& s, bool kept) : s_(s), kept_(kept) {
    const std::int64_t row = s.steps * s.batch;
    gates_ = padded(row * s.gate_width());
    cell_ = s.mode == Mode::kLstm || s.mode == Mode::kGru ? padded(row * s.hidden) : 0;
    raw_ = s.projection > 0 ? padded(row * s.hidden) : 0;
    out_ = padded(row * s.directions * s.width());
  }
  bool kept() const { return kept_; }
  std::int64_t elements() const { return kept_ ? layer(s_.layers) : layer(1) + 2 * out_; }

  /// (steps, batch, gates): the gates' values.
  std::int64_t gates(std::int64_t l, std::int64_t d) const { return direction(l, d); }
  /// (steps, batch, hidden): an LSTM's cell; of a GRU h·Rᵀ + b for its last gate.
  std::int64_t cell(std::int64_t l, std::int64_t d) const { return direction(l, d) + gates_; }
  /// (steps, batch, hidden): the cell's output before its projection.
  std::int64_t raw(std::int64_t l, std::int64_t d) const {
    return direction(l, d) + gates_ + cell_;
  }
  /// (steps, batch, directions · width): the output of a layer below the last.
  std::int64_t out(std::int64_t l) const {
    return kept_ ? layer(l) + s_.directions * per_direction() : layer(1) + l % 2 * out_;
  }
  /// The same, after dropout; and the dropout factors. Only where kept.
  std::int64_t dropped(std::int64_t l) const { return out(l) + out_; }
  std::int64_t mask(std::int64_t l) const { return out(l) + 2 * out_; }

 private:
  static std::int64_t padded(std::int64_t n) { return (n + 15) / 16 * 16; }
  std::int64_t per_direction() const { return gates_ + cell_ + raw_; }
  std::int64_t layer(std::int64_t l) const {
    const std::int64_t outs = s_.dropout > 0 ? 3 * out_ : out_;
    if (!kept_) return l * s_.directions * per_direction();
    return l * s_.directions * per_direction() + (l < s_.layers ? l : s_.layers - 1) * outs;
  }
  std::int64_t direction(std::int64_t l, std::int64_t d) const {
    return layer(kept_ ? l : 0) + d * per_direction();
  }

  Sizes s_;
  bool kept_;
  std::int64_t gates_ = 0, cell_ = 0, raw_ = 0, out_ = 0;
};

}  // namespace symbind::rnn
