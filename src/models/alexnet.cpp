// AlexNet (Krizhevsky et al., 2012), in one piece: no layer is split over two devices.

#include "models/layers.h"

namespace symbind::models {
namespace {

struct Layer {
  int filters, kernel, stride, pad;
  bool norm, pool;
};
constexpr Layer kLayers[] = {{96, 11, 4, 0, true, true},
                             {256, 5, 1, 2, true, true},
                             {384, 3, 1, 1, false, false},
                             {384, 3, 1, 1, false, false},
                             {256, 3, 1, 1, false, true}};

Symbol convolution(const std::string& name, const Symbol& data, const Layer& layer) {
  ops::ConvolutionOptions o{.kernel = {layer.kernel, layer.kernel}, .num_filter = layer.filters};
  if (layer.stride > 1) o.stride = {layer.stride, layer.stride};
  if (layer.pad > 0) o.pad = {layer.pad, layer.pad};
  return Convolution(name, data, o);
}

}  // namespace

void AlexnetOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  describe_dtype(v, dtype);
}

Symbol alexnet(const AlexnetOptions& options) {
  validate(options, "alexnet");
  Symbol x = input(options.dtype, false);
  int number = 0;
  for (const Layer& layer : kLayers) {
    x = relu_layer("", convolution("conv" + std::to_string(++number), x, layer));
    if (layer.norm) x = LRN("", x, {.alpha = 0.0001, .beta = 0.75, .knorm = 2, .nsize = 5});
    if (layer.pool) x = Pooling("", x, {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}});
  }
  x = Flatten("", x);
  for (const char* name : {"fc1", "fc2"})
    x = Dropout("", relu_layer("", FullyConnected(name, x, {.num_hidden = 4096})), {.p = 0.5});
  return loss(FullyConnected("fc3", x, {.num_hidden = options.num_classes}), options.dtype);
}

}  // namespace symbind::models
