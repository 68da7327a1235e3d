// Fully connected layers fc1, fc2, fc3 with ReLU between them.

#include "models/layers.h"

namespace symbind::models {

void MlpOptions::describe(AttrVisitor& v) { describe_classes(v, num_classes); }

Symbol mlp(const MlpOptions& options) {
  validate(options, "mlp");
  Symbol x = Flatten("", Variable("data"));
  int layer = 0;
  for (const int units : {128, 64}) {
    const std::string number = std::to_string(++layer);
    x = relu_layer("relu" + number, FullyConnected("fc" + number, x, {.num_hidden = units}));
  }
  return loss(FullyConnected("fc3", x, {.num_hidden = options.num_classes}));
}

}  // namespace symbind::models
