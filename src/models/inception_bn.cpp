// Inception with batch normalisation (Ioffe and Szegedy, 2015), and a smaller one for images up to
// a height of 28.

#include "models/layers.h"

namespace symbind::models {
namespace {

Symbol convolution(const std::string& name, const Symbol& data, int filters,
                   const Window& window = {}) {
  const Symbol conv = Convolution(
      "conv_" + name, data,
      {.kernel = window.kernel, .stride = window.stride, .pad = window.pad, .num_filter = filters});
  const Symbol norm =
      BatchNorm("bn_" + name, conv, {.eps = 1e-10 + 1e-5, .momentum = 0.9, .fix_gamma = false});
  return relu_layer("relu_" + name, norm);
}

Window window3x3(int stride = 1) {
  return {.kernel = {3, 3}, .stride = {stride, stride}, .pad = {1, 1}};
}

Symbol pooling(const std::string& name, const Symbol& data, const char* kind, int stride) {
  return Pooling(name, data,
                 {.kernel = {3, 3}, .pool_type = kind, .stride = {stride, stride}, .pad = {1, 1}});
}

// One block; without a 1 x 1 branch it halves the size, and the pooling is not projected.
struct Block {
  const char* name;
  int c1x1, c3x3_reduce, c3x3, double_reduce, double_3x3;
  const char* pool;
  int proj;
};
constexpr Block kBlocks[] = {
    {"3a", 64, 64, 64, 64, 96, "avg", 32},       {"3b", 64, 64, 96, 64, 96, "avg", 64},
    {"3c", 0, 128, 160, 64, 96, "max", 0},       {"4a", 224, 64, 96, 96, 128, "avg", 128},
    {"4b", 192, 96, 128, 96, 128, "avg", 128},   {"4c", 160, 128, 160, 128, 160, "avg", 128},
    {"4d", 96, 128, 192, 160, 192, "avg", 128},  {"4e", 0, 128, 192, 192, 256, "max", 0},
    {"5a", 352, 192, 320, 160, 224, "avg", 128}, {"5b", 352, 192, 320, 192, 224, "max", 128},
};

Symbol inception(const Symbol& data, const Block& b) {
  const std::string name = b.name;
  const bool halves = b.c1x1 == 0;
  const int stride = halves ? 2 : 1;
  std::vector<Symbol> branches;
  if (!halves) branches.push_back(convolution(name + "_1x1", data, b.c1x1));
  Symbol x = convolution(name + "_3x3_reduce", data, b.c3x3_reduce);
  branches.push_back(convolution(name + "_3x3", x, b.c3x3, window3x3(stride)));
  x = convolution(name + "_double_3x3_reduce", data, b.double_reduce);
  x = convolution(name + "_double_3x3_0", x, b.double_3x3, window3x3());
  branches.push_back(convolution(name + "_double_3x3_1", x, b.double_3x3, window3x3(stride)));
  x = pooling(std::string(b.pool) + "_pool_" + name + "_pool", data, b.pool, stride);
  branches.push_back(halves ? x : convolution(name + "_proj", x, b.proj));
  return Concat("ch_concat_" + name + "_chconcat", branches);
}

Symbol large_features(const Symbol& data) {
  Symbol x = convolution("1", data, 64, {.kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}});
  x = Pooling("pool_1", x, {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}});
  x = convolution("2", convolution("2_red", x, 64), 192, window3x3());
  x = Pooling("pool_2", x, {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}});
  for (const Block& block : kBlocks) x = inception(x, block);
  return Pooling("global_pool", x, {.kernel = {7, 7}, .pool_type = "avg", .stride = {1, 1}});
}

// A block of the small network: 1 x 1 and 3 x 3 in parallel; without the first it halves the size.
struct SmallBlock {
  const char* name;
  int c1x1, c3x3;
};
constexpr SmallBlock kSmallBlocks[] = {
    {"in3a", 32, 32}, {"in3b", 32, 48}, {"in3c", 0, 80}, {"in4a", 112, 48},  {"in4b", 96, 64},
    {"in4c", 80, 80}, {"in4d", 48, 96}, {"in4e", 0, 96}, {"in5a", 176, 160}, {"in5b", 176, 160},
};

Symbol small_features(const Symbol& data) {
  Symbol x = convolution("1", data, 96, window3x3());
  for (const SmallBlock& b : kSmallBlocks) {
    const std::string name = b.name;
    std::vector<Symbol> branches;
    if (b.c1x1 == 0) {
      branches.push_back(convolution(name + "_conv", x, b.c3x3, window3x3(2)));
      branches.push_back(pooling(name + "_pool", x, "max", 2));
    } else {
      branches.push_back(convolution(name + "_1x1", x, b.c1x1));
      branches.push_back(convolution(name + "_3x3", x, b.c3x3, window3x3()));
    }
    x = Concat(name + "_ch_concat", branches);
  }
  return Pooling("global_pool", x, {.kernel = {7, 7}, .pool_type = "avg"});
}

}  // namespace

void InceptionBnOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  describe_image(v, image_shape);
}

Symbol inception_bn(const InceptionBnOptions& options) {
  validate(options, "inception-bn");
  check_image(options.image_shape, "inception-bn");
  const Symbol data = Variable("data");
  const Symbol x = options.image_shape[1] <= 28 ? small_features(data) : large_features(data);
  return loss(FullyConnected("", Flatten("", x), {.num_hidden = options.num_classes}));
}

}  // namespace symbind::models
