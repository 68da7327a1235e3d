#include "support/nets.h"

#include <string>

namespace symbind::bench {
namespace {

using Inputs = std::vector<Symbol>;

Symbol dense(const std::string& name, const Symbol& x, int hidden) {
  return make_symbol("FullyConnected", name, Inputs{x}, {{"num_hidden", std::to_string(hidden)}});
}

Symbol act(const std::string& name, const Symbol& x, const char* type) {
  return make_symbol("Activation", name, Inputs{x}, {{"act_type", type}});
}

std::string pair(int v) { return "(" + std::to_string(v) + ", " + std::to_string(v) + ")"; }

Symbol conv(const std::string& name, const Symbol& x, int filters, int kernel, int stride, int pad,
            bool bias = false) {
  return make_symbol("Convolution", name, Inputs{x},
                     {{"num_filter", std::to_string(filters)},
                      {"kernel", pair(kernel)},
                      {"stride", pair(stride)},
                      {"pad", pair(pad)},
                      {"no_bias", bias ? "False" : "True"}});
}

Symbol pool(const std::string& name, const Symbol& x, int kernel, int stride, int pad) {
  return make_symbol("Pooling", name, Inputs{x},
                     {{"kernel", pair(kernel)},
                      {"stride", pair(stride)},
                      {"pad", pair(pad)},
                      {"pool_type", "max"}});
}

Symbol norm(const std::string& name, const Symbol& x) {
  return make_symbol("BatchNorm", name, Inputs{x}, {{"fix_gamma", "False"}, {"eps", "2e-5"}});
}

Symbol bottleneck(const std::string& name, const Symbol& x, int filters, int stride, bool project) {
  Symbol y = act(name + "_relu1",
                 norm(name + "_bn1", conv(name + "_conv1", x, filters / 4, 1, 1, 0)), "relu");
  y = act(name + "_relu2", norm(name + "_bn2", conv(name + "_conv2", y, filters / 4, 3, stride, 1)),
          "relu");
  y = norm(name + "_bn3", conv(name + "_conv3", y, filters, 1, 1, 0));
  const Symbol shortcut =
      project ? norm(name + "_sc_bn", conv(name + "_sc", x, filters, 1, stride, 0)) : x;
  return act(name + "_relu3", y + shortcut, "relu");
}

}  // namespace

Symbol mlp() {
  Symbol x = act("relu1", dense("fc1", Variable("data"), 128), "relu");
  x = act("relu2", dense("fc2", x, 64), "relu");
  return make_symbol("SoftmaxOutput", "softmax", Inputs{dense("fc3", x, 10)});
}

Symbol lenet() {
  Symbol x = pool("pool1", act("tanh1", conv("conv1", Variable("data"), 20, 5, 1, 0, true), "tanh"),
                  2, 2, 0);
  x = pool("pool2", act("tanh2", conv("conv2", x, 50, 5, 1, 0, true), "tanh"), 2, 2, 0);
  x = act("tanh3", dense("fc1", make_symbol("Flatten", "flatten", Inputs{x}), 500), "tanh");
  return make_symbol("SoftmaxOutput", "softmax", Inputs{dense("fc2", x, 10)});
}

Symbol resnet50() {
  Symbol x = act("relu0", norm("bn0", conv("conv0", Variable("data"), 64, 7, 2, 3)), "relu");
  x = pool("pool0", x, 3, 2, 1);
  constexpr int kUnits[] = {3, 4, 6, 3};
  int filters = 256;
  for (int stage = 0; stage < 4; ++stage, filters *= 2) {
    for (int unit = 0; unit < kUnits[stage]; ++unit) {
      const std::string name =
          "stage" + std::to_string(stage + 1) + "_unit" + std::to_string(unit + 1);
      x = bottleneck(name, x, filters, unit == 0 && stage > 0 ? 2 : 1, unit == 0);
    }
  }
  x = make_symbol("Pooling", "pool1", Inputs{x},
                  {{"global_pool", "True"}, {"kernel", "(7, 7)"}, {"pool_type", "avg"}});
  return make_symbol("SoftmaxOutput", "softmax",
                     Inputs{dense("fc1", make_symbol("Flatten", "flatten", Inputs{x}), 1000)});
}

Symbol lstm_language_model() {
  Symbol x = make_symbol("Embedding", "embed", Inputs{Variable("data")},
                         {{"input_dim", "10000"}, {"output_dim", "200"}});
  x = make_symbol("SwapAxis", "steps_first", Inputs{x}, {{"dim1", "0"}, {"dim2", "1"}});
  x = make_symbol("RNN", "lstm", Inputs{x},
                  {{"mode", "lstm"}, {"state_size", "200"}, {"num_layers", "2"}});
  x = make_symbol("SequenceLast", "last_step", Inputs{x});
  return make_symbol("SoftmaxOutput", "softmax", Inputs{dense("scores", x, 10000)});
}

Symbol add_chain(int length) {
  Symbol x = Variable("x");
  const Symbol y = Variable("y");
  for (int i = 0; i < length; ++i) x = x + y;
  return x;
}

}  // namespace symbind::bench
