// GoogLeNet (Szegedy et al., 2014) without its side classifiers.

#include "models/layers.h"

namespace symbind::models {
namespace {

Symbol convolution(const std::string& name, const Symbol& data, int filters,
                   const Window& window = {}) {
  return relu_layer("relu_" + name, Convolution("conv_" + name, data,
                                                {.kernel = window.kernel,
                                                 .stride = window.stride,
                                                 .pad = window.pad,
                                                 .num_filter = filters}));
}

Symbol pooled(const Symbol& data) {
  return Pooling("", data, {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}});
}

struct Block {
  const char* name;
  int c1x1, c3x3_reduce, c3x3, c5x5_reduce, c5x5, proj;
  bool pool_after;
};
constexpr Block kBlocks[] = {
    {"in3a", 64, 96, 128, 16, 32, 32, false},     {"in3b", 128, 128, 192, 32, 96, 64, true},
    {"in4a", 192, 96, 208, 16, 48, 64, false},    {"in4b", 160, 112, 224, 24, 64, 64, false},
    {"in4c", 128, 128, 256, 24, 64, 64, false},   {"in4d", 112, 144, 288, 32, 64, 64, false},
    {"in4e", 256, 160, 320, 32, 128, 128, true},  {"in5a", 256, 160, 320, 32, 128, 128, false},
    {"in5b", 384, 192, 384, 48, 128, 128, false},
};

Symbol inception(const Symbol& data, const Block& b) {
  const std::string name = b.name;
  const Symbol c1x1 = convolution(name + "_1x1", data, b.c1x1);
  const Symbol c3x3 =
      convolution(name + "_3x3", convolution(name + "_3x3_reduce", data, b.c3x3_reduce), b.c3x3,
                  {.kernel = {3, 3}, .pad = {1, 1}});
  const Symbol c5x5 =
      convolution(name + "_5x5", convolution(name + "_5x5_reduce", data, b.c5x5_reduce), b.c5x5,
                  {.kernel = {5, 5}, .pad = {2, 2}});
  const Symbol pool =
      Pooling("max_pool_" + name + "_pool", data,
              {.kernel = {3, 3}, .pool_type = "max", .stride = {1, 1}, .pad = {1, 1}});
  return Concat("ch_concat_" + name + "_chconcat",
                {c1x1, c3x3, c5x5, convolution(name + "_proj", pool, b.proj)});
}

}  // namespace

void GooglenetOptions::describe(AttrVisitor& v) { describe_classes(v, num_classes); }

Symbol googlenet(const GooglenetOptions& options) {
  validate(options, "googlenet");
  Symbol x = convolution("conv1", Variable("data"), 64,
                         {.kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}});
  x = convolution("conv2", pooled(x), 64);
  x = pooled(convolution("conv3", x, 192, {.kernel = {3, 3}, .pad = {1, 1}}));
  for (const Block& block : kBlocks) {
    x = inception(x, block);
    if (block.pool_after) x = pooled(x);
  }
  x = Pooling("", x, {.kernel = {7, 7}, .pool_type = "avg", .global_pool = true, .stride = {1, 1}});
  return loss(FullyConnected("", Flatten("", x), {.num_hidden = options.num_classes}));
}

}  // namespace symbind::models
