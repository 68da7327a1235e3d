// Inception-ResNet v2 (Szegedy et al., 2016). Every name is automatic, so the names depend on the
// order in which layers are made.

#include "models/layers.h"

namespace symbind::models {
namespace {

struct Conv {
  int filters;
  Window window = {};
};

Symbol normed(const Symbol& data, const Conv& c) {
  return BatchNorm("", Convolution("", data,
                                   {.kernel = c.window.kernel,
                                    .stride = c.window.stride,
                                    .pad = c.window.pad,
                                    .num_filter = c.filters}));
}

Symbol tower(Symbol x, const std::vector<Conv>& convolutions) {
  for (const Conv& c : convolutions) x = relu_layer("", normed(x, c));
  return x;
}

using Towers = std::vector<std::vector<Conv>>;

Window padded(int height, int width, int pad_height, int pad_width) {
  return {.kernel = {height, width}, .pad = {pad_height, pad_width}};
}
Window padded3x3() { return padded(3, 3, 1, 1); }
Window halving() { return {.kernel = {3, 3}, .stride = {2, 2}}; }

Symbol halved(const Symbol& x) {
  return Pooling("", x, {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}});
}

std::vector<Symbol> side_by_side(const Symbol& x, const Towers& towers) {
  std::vector<Symbol> built;
  for (const std::vector<Conv>& convolutions : towers) built.push_back(tower(x, convolutions));
  return built;
}

// Towers, projected to the number of input channels, scaled and added.
struct Residual {
  Towers towers;
  int channels;
  const char* scale;  ///< as the symbol stores it
};

Symbol residual(const Symbol& x, const Residual& block, bool with_relu) {
  const Symbol mixed = Concat("", side_by_side(x, block.towers));
  const Symbol joined = normed(mixed, {block.channels});
  const Symbol scaled =
      make_symbol("_MulScalar", "", std::vector<Symbol>{joined}, {{"scalar", block.scale}});
  const Symbol sum = x + scaled;
  return with_relu ? relu_layer("", sum) : sum;
}

// A tower for each list, then max pooling: half the size.
Symbol reduction(const Symbol& x, const Towers& towers) {
  std::vector<Symbol> parts = side_by_side(x, towers);
  parts.push_back(halved(x));
  return Concat("", parts);
}

Symbol stem(Symbol x) {
  x = tower(x, {{32, halving()}, {32, {.kernel = {3, 3}}}, {64, padded3x3()}});
  x = tower(halved(x), {{80}, {192, {.kernel = {3, 3}}}});
  x = halved(x);
  std::vector<Symbol> parts = side_by_side(
      x, {{{96}}, {{48}, {64, padded(5, 5, 2, 2)}}, {{64}, {96, padded3x3()}, {96, padded3x3()}}});
  const Symbol pool =
      Pooling("", x, {.kernel = {3, 3}, .pool_type = "avg", .stride = {1, 1}, .pad = {1, 1}});
  parts.push_back(tower(pool, {{64}}));
  return Concat("", parts);
}

}  // namespace

void InceptionResnetOptions::describe(AttrVisitor& v) { describe_classes(v, num_classes); }

Symbol inception_resnet_v2(const InceptionResnetOptions& options) {
  validate(options, "inception-resnet-v2");
  const Residual block35 = {
      {{{32}}, {{32}, {32, padded3x3()}}, {{32}, {48, padded3x3()}, {64, padded3x3()}}},
      320,
      "0.17"};
  const Residual block17 = {
      {{{192}}, {{129}, {160, padded(1, 7, 1, 2)}, {192, padded(7, 1, 2, 1)}}}, 1088, "0.1"};
  Residual block8 = {
      {{{192}}, {{192}, {224, padded(1, 3, 0, 1)}, {256, padded(3, 1, 1, 0)}}}, 2080, "0.2"};

  Symbol x = stem(Variable("data"));
  for (int i = 0; i < 10; ++i) x = residual(x, block35, true);
  x = reduction(x, {{{384, halving()}}, {{256}, {256, padded3x3()}, {384, halving()}}});
  for (int i = 0; i < 20; ++i) x = residual(x, block17, true);
  x = reduction(x, {{{256}, {384, halving()}},
                    {{256}, {288, halving()}},
                    {{256}, {288, padded3x3()}, {320, halving()}}});
  for (int i = 0; i < 9; ++i) x = residual(x, block8, true);
  block8.scale = "1.0";
  x = tower(residual(x, block8, false), {{1536}});
  x = Pooling("", x, {.kernel = {1, 1}, .pool_type = "avg", .global_pool = true, .stride = {2, 2}});
  x = Dropout("", Flatten("", x), {.p = 0.2});
  return loss(FullyConnected("", x, {.num_hidden = options.num_classes}));
}

}  // namespace symbind::models
