// The extents of a stack of recurrent layers and the offsets of its parameters.
#pragma once

#include <cstdint>
#include <optional>

namespace symbind::rnn {

enum class Mode : std::uint8_t { kRelu, kTanh, kLstm, kGru };

struct Clip {
  double low = 0, high = 0;
  bool nan = false;  ///< NaN becomes `low`
};

/// Data (steps, batch, input), output (steps, batch, directions · width()), states
/// (layers · directions, batch, …). The parameters are one vector: for every layer and direction
/// the i2h gate matrices, the h2h ones and, with a projection, its matrix; then for every layer and
/// direction the i2h biases and the h2h ones.
struct Sizes {
  Mode mode = Mode::kLstm;
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, projection = 0;  ///< projection 0: none
  std::int64_t layers = 1, directions = 1;
  float dropout = 0;
  std::optional<Clip> clip = {};

  std::int64_t gates() const { return mode == Mode::kLstm ? 4 : mode == Mode::kGru ? 3 : 1; }
  std::int64_t gate_width() const { return gates() * hidden; }
  /// Width of a cell's output, which the next step reads.
  std::int64_t width() const { return projection > 0 ? projection : hidden; }
  std::int64_t layer_input(std::int64_t layer) const {
    return layer == 0 ? input : directions * width();
  }
  std::int64_t rows() const { return steps * batch; }
  bool has_cell() const { return mode == Mode::kLstm; }

  std::int64_t weights_of(std::int64_t layer) const {
    return gate_width() * (layer_input(layer) + width()) + projection * hidden;
  }
  std::int64_t i2h(std::int64_t layer, std::int64_t direction) const {
    const std::int64_t before =
        layer == 0 ? 0 : directions * (weights_of(0) + (layer - 1) * weights_of(1));
    return before + direction * weights_of(layer);
  }
  std::int64_t h2h(std::int64_t layer, std::int64_t direction) const {
    return i2h(layer, direction) + gate_width() * layer_input(layer);
  }
  std::int64_t h2r(std::int64_t layer, std::int64_t direction) const {
    return h2h(layer, direction) + gate_width() * width();
  }
  /// The i2h biases; the h2h ones follow.
  std::int64_t bias(std::int64_t layer, std::int64_t direction) const {
    return i2h(layers, 0) + (layer * directions + direction) * 2 * gate_width();
  }
  std::int64_t parameters() const { return bias(layers, 0); }
};

}  // namespace symbind::rnn
