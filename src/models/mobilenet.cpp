// MobileNet (Howard et al., 2017): depthwise and pointwise convolutions in turn. MobileNet v2
// (Sandler et al., 2018): narrow blocks that widen inside, with shortcuts between the narrow ends.

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "models/layers.h"

namespace symbind::models {
namespace {

// Blocks 2 to 14: width in multiples of the first layer's, and the depthwise stride.
struct Block {
  int in, out, stride;
};
constexpr Block kBlocks[] = {{1, 2, 1},   {2, 4, 2},   {4, 4, 1},   {4, 8, 2},   {8, 8, 1},
                             {8, 16, 2},  {16, 16, 1}, {16, 16, 1}, {16, 16, 1}, {16, 16, 1},
                             {16, 16, 1}, {16, 32, 2}, {32, 32, 1}};
constexpr double kAlphas[] = {0.25, 0.5, 0.75, 1};

Window window3x3(int stride) {
  return {.kernel = {3, 3}, .stride = {stride, stride}, .pad = {1, 1}};
}

// The classifier of both.
Symbol classified(const Symbol& x, std::int64_t size, std::optional<bool> global, int classes) {
  const Symbol pool = Pooling(
      "global_pool", x,
      {.kernel = {size, size}, .pool_type = "avg", .global_pool = global, .stride = {1, 1}});
  return loss(FullyConnected("fc", Flatten("flatten", pool), {.num_hidden = classes}));
}

struct Layer {
  int filters, groups;
  Window window = {};
  bool active = true;
};

Symbol layer_v2(const std::string& name, const Symbol& data, const Layer& l) {
  const Symbol conv = Convolution(name + "-conv2d", data,
                                  {.kernel = l.window.kernel,
                                   .stride = l.window.stride,
                                   .pad = l.window.pad,
                                   .num_filter = l.filters,
                                   .num_group = l.groups,
                                   .no_bias = true});
  const Symbol norm = BatchNorm(name + "-batchnorm", conv,
                                {.eps = 1e-5, .fix_gamma = false, .use_global_stats = false});
  return l.active ? clip(name + "-relu6", norm, {.a_min = 0, .a_max = 6}) : norm;
}

// A sequence of blocks: expansion, output filters, number of blocks, first stride.
struct Sequence {
  int widening, filters, count, stride;
};
constexpr Sequence kSequences[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                   {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

Symbol inverted_residual(const std::string& name, const Symbol& data, int wide, int filters,
                         int stride, bool shortcut) {
  Symbol x = layer_v2(name + "-exp", data, {wide, 1});
  x = layer_v2(name + "-depthwise", x, {wide, wide, window3x3(stride)});
  x = layer_v2(name + "-linear", x, {.filters = filters, .groups = 1, .active = false});
  return shortcut ? elemwise_add(name + "-shortcut", data, x) : x;
}

// As Python's round(): halves go to the even neighbour.
int scaled(int filters, double multiplier) {
  return static_cast<int>(std::nearbyint(filters * multiplier));
}

}  // namespace

void MobilenetOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  v.field("alpha", alpha, "Multiplies the channels: 0.25, 0.5, 0.75 or 1.");
  v.field("resolution", resolution, "Height and width of the images, a multiple of 32.")
      .at_least(32);
}

Symbol mobilenet(const MobilenetOptions& options) {
  validate(options, "mobilenet");
  check(std::ranges::find(kAlphas, options.alpha) != std::end(kAlphas),
        "mobilenet: alpha={} is not supported; choose 0.25, 0.5, 0.75 or 1", options.alpha);
  check(options.resolution % 32 == 0, "mobilenet: resolution={} is not a multiple of 32",
        options.resolution);
  const int base = static_cast<int>(32 * options.alpha);
  Symbol x = conv2d("conv_1", Variable("data"), base, window3x3(2), 1);
  int number = 1;
  for (const Block& block : kBlocks) {
    const std::string name = "conv_" + std::to_string(++number);
    const int depth = base * block.in;
    x = conv2d(name + "_dw", x, depth, window3x3(block.stride), depth);
    x = conv2d(name, x, base * block.out, {}, 1);
  }
  return classified(x, options.resolution / 32, {}, options.num_classes);
}

void MobilenetV2Options::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  v.field("multiplier", multiplier, "Multiplies the channels.").at_least(0.05).at_most(10);
}

Symbol mobilenet_v2(const MobilenetV2Options& options) {
  validate(options, "mobilenetv2");
  int channels = scaled(32, options.multiplier);
  Symbol x = layer_v2("first-3x3-conv", Variable("data"), {channels, 1, window3x3(2)});
  int sequence = 0;
  for (const Sequence& s : kSequences) {
    const std::string name = "seq-" + std::to_string(sequence++) + "-block";
    const int filters = scaled(s.filters, options.multiplier);
    for (int block = 0; block < s.count; ++block) {
      const bool first = block == 0;
      x = inverted_residual(name + std::to_string(block), x, channels * s.widening, filters,
                            first ? s.stride : 1, !first);
      channels = filters;
    }
  }
  const int last = options.multiplier > 1 ? static_cast<int>(1280 * options.multiplier) : 1280;
  x = layer_v2("last-1x1-conv", x, {last, 1});
  return classified(x, 7, true, options.num_classes);
}

}  // namespace symbind::models
