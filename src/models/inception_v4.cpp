// Inception v4 (Szegedy et al., 2016), for images of about 299 x 299. Some convolutions have a
// wrong kernel size in their names; checkpoints use these names.

#include "models/towers.h"

namespace symbind::models {
namespace {

// The average pooling keeps its stride of 1: only kernel and padding are set.
Symbol averaged(const std::string& name, const Symbol& x) {
  return Pooling(name + "_avgpool_1", x, {.kernel = {3, 3}, .pool_type = "avg", .pad = {1, 1}});
}
Symbol halved(const std::string& name, const Symbol& x) {
  return Pooling(name, x, {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}});
}

Symbol stem(const Symbol& data) {
  const std::string n = "in_stem";
  Symbol x = build_tower(n, data,
                         {{"_conv1_3*3", 32, halving()},
                          {"_conv2_3*3", 32, unpadded3x3()},
                          {"_conv3_3*3", 64, same(3, 3)}});
  x = Concat(n + "_concat_1",
             {halved(n + "_maxpool_1", x), build_tower(n, x, {{"_conv4_3*3", 96, halving()}})});
  x = Concat(n + "_concat_2",
             {build_tower(n, x, {{"_conv5_1*1", 64}, {"_conv6_3*3", 96, unpadded3x3()}}),
              build_tower(n, x,
                          {{"_conv7_1*1", 64},
                           {"_conv8_7*1", 64, same(7, 1)},
                           {"_conv9_1*7", 64, same(1, 7)},
                           {"_conv10_3*3", 96, unpadded3x3()}})});
  return Concat(n + "_concat_3", {build_tower(n, x, {{"_conv11_3*3", 192, halving()}}),
                                  halved(n + "_maxpool_2", x)});
}

Symbol block_a(const std::string& n, const Symbol& x) {
  return Concat(
      n + "_concat_1",
      {build_tower(n, averaged(n, x), {{"_conv1_1*1", 96}}),
       build_tower(n, x, {{"_conv2_1*1", 96}}),
       build_tower(n, x, {{"_conv3_1*1", 64}, {"_conv4_3*3", 96, same(3, 3)}}),
       build_tower(
           n, x,
           {{"_conv5_1*1", 64}, {"_conv6_3*3", 96, same(3, 3)}, {"_conv7_3*3", 96, same(3, 3)}})});
}

Symbol reduction_a(const std::string& n, const Symbol& x) {
  return Concat(n + "_concat_1",
                {halved(n + "_maxpool_1", x), build_tower(n, x, {{"_conv1_3*3", 384, halving()}}),
                 build_tower(n, x,
                             {{"_conv2_1*1", 192},
                              {"_conv3_3*3", 224, same(3, 3)},
                              {"_conv4_3*3", 256, halving()}})});
}

Symbol block_b(const std::string& n, const Symbol& x) {
  return Concat(
      n + "_concat_1",
      {build_tower(n, averaged(n, x), {{"_conv1_1*1", 128}}),
       build_tower(n, x, {{"_conv2_1*1", 384}}),
       build_tower(
           n, x,
           {{"_conv3_1*1", 192}, {"_conv4_1*7", 224, same(1, 7)}, {"_conv5_1*7", 256, same(7, 1)}}),
       build_tower(n, x,
                   {{"_conv6_1*1", 192},
                    {"_conv7_1*7", 192, same(1, 7)},
                    {"_conv8_7*1", 224, same(7, 1)},
                    {"_conv9_1*7", 224, same(1, 7)},
                    {"_conv10_7*1", 256, same(7, 1)}})});
}

Symbol reduction_b(const std::string& n, const Symbol& x) {
  return Concat(n + "_concat_1",
                {halved(n + "_maxpool_1", x),
                 build_tower(n, x, {{"_conv1_1*1", 192}, {"_conv2_3*3", 192, halving()}}),
                 build_tower(n, x,
                             {{"_conv3_1*1", 256},
                              {"_conv4_1*7", 256, same(1, 7)},
                              {"_conv5_7*1", 320, same(7, 1)},
                              {"_conv6_3*3", 320, halving()}})});
}

Symbol block_c(const std::string& n, const Symbol& x) {
  const Symbol first = build_tower(n, averaged(n, x), {{"_conv1_1*1", 256}});
  const Symbol second = build_tower(n, x, {{"_conv2_1*1", 256}});
  const Symbol third = build_tower(n, x, {{"_conv3_1*1", 384}});
  const Symbol fourth = build_tower(
      n, x,
      {{"_conv6_1*1", 384}, {"_conv7_1*3", 448, same(1, 3)}, {"_conv8_3*1", 512, same(3, 1)}});
  return Concat(n + "_concat",
                {first, second, build_tower(n, third, {{"_conv4_3*1", 256, same(1, 3)}}),
                 build_tower(n, third, {{"_conv5_1*3", 256, same(3, 1)}}),
                 build_tower(n, fourth, {{"_conv9_1*3", 256, same(3, 1)}}),
                 build_tower(n, fourth, {{"_conv10_3*1", 256, same(1, 3)}})});
}

using Block = Symbol (*)(const std::string&, const Symbol&);
struct Stage {
  Block block;
  int count;
  const char *before, *after;  ///< the number
};
constexpr Stage kStages[] = {{block_a, 4, "in", "A"},
                             {reduction_a, 1, "re", "A"},
                             {block_b, 7, "in", "B"},
                             {reduction_b, 1, "re", "B"},
                             {block_c, 3, "in", "C"}};

}  // namespace

Symbol inception_v4(const InceptionOptions& options) {
  validate(options, "inception-v4");
  Symbol x = stem(input(options.dtype, true));
  for (const Stage& stage : kStages)
    for (int i = 1; i <= stage.count; ++i)
      x = stage.block(stage.before + std::to_string(i) + stage.after, x);
  x = Pooling("global_avgpool", x, {.kernel = {8, 8}, .pool_type = "avg", .pad = {1, 1}});
  x = Flatten("flatten", Dropout("", x, {.p = 0.2}));
  x = FullyConnected("fc1", x, {.num_hidden = options.num_classes});
  return loss(x, options.dtype);
}

}  // namespace symbind::models
