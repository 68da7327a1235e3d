// FusedRNN: the one vector of parameters of the operator RNN, part by part.
//
// Decided here, as in MXNet: first all weights (layer, direction, input weights of the gates, then
// the recurrent ones), then all biases in the same order; each part is initialized under its
// unpacked name ("l0_i2h_f_weight"), in this order, so that random draws have the same order.

#include "base/check.h"
#include "base/checked.h"
#include "init/fill.h"

namespace symbind {
namespace {

std::vector<std::string> gates_of(const std::string& mode) {
  if (mode == "lstm") return {"_i", "_f", "_c", "_o"};
  if (mode == "gru") return {"_r", "_z", "_o"};
  check(mode == "rnn_relu" || mode == "rnn_tanh",
        "FusedRNN: there is no mode '{}'; modes: rnn_relu, rnn_tanh, lstm, gru", mode);
  return {""};
}

struct FusedRnnInit : Initializer {
  void describe(AttrVisitor& v) {
    v.field("init", init_text, "JSON of the initializer of the parts, or None.");
    v.field("num_hidden", o.num_hidden, "The size of a state.").required();
    v.field("num_layers", o.num_layers, "How many layers.").required();
    v.field("mode", o.mode, "rnn_relu, rnn_tanh, lstm or gru.").required();
    v.field("bidirectional", o.bidirectional, "Whether the layers run in both directions.");
    v.field("forget_bias", o.forget_bias, "The bias of an LSTM's forget gate.");
  }
  void init_weight(const InitDesc& desc, NDArray& array) const override;
  void init_part(const InitDesc& desc, const std::string& name, NDArray part) const;
  std::string dumps() const override {
    return json_call("fusedrnn", {{"init", o.init ? json_string(o.init->dumps()) : "null"},
                                  {"num_hidden", std::to_string(o.num_hidden)},
                                  {"num_layers", std::to_string(o.num_layers)},
                                  {"mode", json_string(o.mode)},
                                  {"bidirectional", json_bool(o.bidirectional)},
                                  {"forget_bias", json_float(o.forget_bias)}});
  }
  FusedRNNOptions o;
  std::optional<std::string> init_text;
};

void FusedRnnInit::init_part(const InitDesc& desc, const std::string& name, NDArray part) const {
  if (o.mode == "lstm" && name.ends_with("_f_bias")) return part.set(o.forget_bias);
  const Initializer* init = o.init ? o.init.get() : desc.global_init;
  check(init != nullptr, ErrorKind::kState,
        "FusedRNN has no initializer for {}, neither its own nor a global one", desc.name);
  (*init)({.name = name, .attrs = {}, .global_init = desc.global_init}, part);
}

void FusedRnnInit::init_weight(const InitDesc& desc, NDArray& array) const {
  const std::vector<std::string> gates = gates_of(o.mode);
  const std::string directions = o.bidirectional ? "lr" : "l";
  const std::int64_t h = o.num_hidden, b = o.bidirectional ? 2 : 1;
  const auto m = static_cast<std::int64_t>(gates.size());
  check(h > 0 && o.num_layers > 0, "FusedRNN: num_hidden is {} and num_layers {}; both must be > 0",
        h, o.num_layers);
  const std::int64_t later =
      checked_mul(o.num_layers - 1, h + b * h + 2, "FusedRNN: the parameters of later layers");
  const std::int64_t inputs = array.size() / b / h / m - later - h - 2;
  check(
      inputs > 0 && (inputs + h + 2 + later) * b * h * m == array.size(), ErrorKind::kState,
      "Invalid parameters size for FusedRNNCell: {} numbers do not make {} layers of {} in mode {}",
      array.size(), o.num_layers, h, o.mode);
  const NDArray flat = array.reshape(Shape{array.size()});
  std::int64_t at = 0;
  const auto parts = [&](const std::string& place, const std::string& kind, const Shape& shape) {
    for (const std::string& gate : gates) {
      init_part(desc, place + gate + kind, flat.slice(at, at + shape.size()).reshape(shape));
      at += shape.size();
    }
  };
  for (int layer = 0; layer < o.num_layers; ++layer) {
    for (const char direction : directions) {
      const std::string place = direction + std::to_string(layer);
      parts(place + "_i2h", "_weight", Shape{h, layer > 0 ? b * h : inputs});
      parts(place + "_h2h", "_weight", Shape{h, h});
    }
  }
  for (int layer = 0; layer < o.num_layers; ++layer) {
    for (const char direction : directions) {
      const std::string place = direction + std::to_string(layer);
      parts(place + "_i2h", "_bias", Shape{h});
      parts(place + "_h2h", "_bias", Shape{h});
    }
  }
}

}  // namespace

InitializerPtr FusedRNN(const FusedRNNOptions& options) {
  auto made = std::make_shared<FusedRnnInit>();
  made->o = options;
  return made;
}

InitializerPtr make_fused_rnn(const AttrDict& params) {
  auto made = std::make_shared<FusedRnnInit>();
  AttrVisitor visitor;
  made->describe(visitor);
  parse_attrs(visitor.fields(), params, "initializer 'fusedrnn'");
  if (made->init_text) made->o.init = create_initializer(*made->init_text);
  return made;
}

}  // namespace symbind
