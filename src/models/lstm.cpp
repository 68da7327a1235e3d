// A language model over LSTM cells, unrolled: the network of MXNet's bucketing example, with the
// names of its cells (mx.rnn.LSTMCell). The symbols for all lengths share their parameters.

#include <fmt/format.h>

#include "models/layers.h"

namespace symbind::models {
namespace {

// `make_symbol` with MXNet's operator names, from which automatic node names are made.
Symbol call(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
            const AttrDict& attrs = {}) {
  return make_symbol(op, name, inputs, attrs);
}

struct Cell {
  std::string prefix;
  int num_hidden;
  Symbol i2h_weight, i2h_bias, h2h_weight, h2h_bias;
  Symbol hidden, state;  ///< of the previous step

  Cell(int layer, const LstmOptions& o)
      : prefix(fmt::format("lstm_l{}_", layer)), num_hidden(o.num_hidden) {
    i2h_weight = Variable(prefix + "i2h_weight");
    i2h_bias =
        Variable(prefix + "i2h_bias",
                 {.init = fmt::format(R"(["lstmbias", {{"forget_bias": {:#}}}])", o.forget_bias)});
    h2h_weight = Variable(prefix + "h2h_weight");
    h2h_bias = Variable(prefix + "h2h_bias");
    hidden = begin(0);
    state = begin(1);
  }

  // Zeros for a batch of any size.
  Symbol begin(int number) const {
    return call("_zeros", fmt::format("{}begin_state_{}", prefix, number), {},
                {{"shape", fmt::format("(0, {})", num_hidden)},
                 {"dtype", "float32"},
                 {"__layout__", "NC"}});
  }

  /// c' = f * c + i * g, h' = o * tanh(c').
  Symbol step(int t, const Symbol& data) {
    const std::string name = fmt::format("{}t{}_", prefix, t);
    const Symbol i2h =
        FullyConnected(name + "i2h", {data, i2h_weight, i2h_bias}, {.num_hidden = num_hidden * 4});
    const Symbol h2h = FullyConnected(name + "h2h", {hidden, h2h_weight, h2h_bias},
                                      {.num_hidden = num_hidden * 4});
    const Symbol gates = SliceChannel(name + "slice", i2h + h2h, {.num_outputs = 4});
    const Symbol in = Activation(name + "i", gates[0], {.act_type = "sigmoid"});
    const Symbol forget = Activation(name + "f", gates[1], {.act_type = "sigmoid"});
    const Symbol proposed = Activation(name + "c", gates[2], {.act_type = "tanh"});
    const Symbol out = Activation(name + "o", gates[3], {.act_type = "sigmoid"});
    const Symbol kept = forget * state;
    state = call("_plus", name + "state", {kept, in * proposed});
    hidden = call("_mul", name + "out", {out, Activation("", state, {.act_type = "tanh"})});
    return hidden;
  }
};

}  // namespace

void LstmOptions::describe(AttrVisitor& v) {
  v.field("seq_len", seq_len, "Steps to unroll.").at_least(1);
  v.field("vocab_size", vocab_size, "Number of tokens.").at_least(1);
  v.field("num_layers", num_layers, "Layers of LSTM cells.").at_least(1);
  v.field("num_hidden", num_hidden, "Units of a layer.").at_least(1);
  v.field("num_embed", num_embed, "Size of the embedding.").at_least(1);
  v.field("forget_bias", forget_bias, "Initial biases of the forget gates.");
}

Symbol lstm(const LstmOptions& o) {
  validate(o, "lstm");
  const Symbol label = Variable("softmax_label");
  const Symbol embed =
      Embedding("embed", Variable("data"), {.input_dim = o.vocab_size, .output_dim = o.num_embed});
  std::vector<Cell> cells;
  for (int layer = 0; layer < o.num_layers; ++layer) cells.emplace_back(layer, o);
  const Symbol split =
      call("split", "", {embed},
           {{"axis", "1"}, {"num_outputs", std::to_string(o.seq_len)}, {"squeeze_axis", "1"}});
  std::vector<Symbol> steps;
  for (int t = 0; t < o.seq_len; ++t) steps.push_back(split[static_cast<std::size_t>(t)]);
  for (Cell& cell : cells)
    for (int t = 0; t < o.seq_len; ++t) {
      Symbol& x = steps[static_cast<std::size_t>(t)];
      x = cell.step(t, x);
    }
  for (Symbol& x : steps) x = expand_dims("", x, {.axis = 1});
  const Symbol merged = Concat("", steps, {.dim = 1});
  const Symbol rows = Reshape("", merged, {.shape = {-1, o.num_hidden}});
  const Symbol pred = FullyConnected("pred", rows, {.num_hidden = o.vocab_size});
  return SoftmaxOutput("softmax", pred, Reshape("", label, {.shape = {-1}}));
}

}  // namespace symbind::models
