// Inception v3 (Szegedy et al., 2015), for images of about 299 x 299.

#include "models/towers.h"

namespace symbind::models {
namespace {

Symbol joined(const std::string& name, const std::vector<Symbol>& towers) {
  return Concat("ch_concat_" + name + "_chconcat", towers);
}

// The last tower of blocks that keep the size: pooling and a projection.
Symbol projected_pool(const std::string& name, const Symbol& x, const std::string& kind, int proj) {
  const Symbol pool =
      Pooling(kind + "_pool_" + name + "_pool", x,
              {.kernel = {3, 3}, .pool_type = kind, .stride = {1, 1}, .pad = {1, 1}});
  return build_tower(name, pool, {{"_tower_2_conv", proj}});
}

Symbol block_a(const std::string& name, const Symbol& x, int proj) {
  return joined(name,
                {build_tower(name, x, {{"_conv", 64}}),
                 build_tower(name, x, {{"_tower_conv", 48}, {"_tower_conv_1", 64, same(5, 5)}}),
                 build_tower(name, x,
                             {{"_tower_1_conv", 64},
                              {"_tower_1_conv_1", 96, same(3, 3)},
                              {"_tower_1_conv_2", 96, same(3, 3)}}),
                 projected_pool(name, x, "avg", proj)});
}

Symbol block_b(const std::string& name, const Symbol& x) {
  return joined(name,
                {build_tower(name, x, {{"_conv", 384, halving()}}),
                 build_tower(name, x,
                             {{"_tower_conv", 64},
                              {"_tower_conv_1", 96, same(3, 3)},
                              {"_tower_conv_2", 96, halving()}}),
                 Pooling("max_pool_" + name + "_pool", x,
                         {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}, .pad = {0, 0}})});
}

// `narrow` is the width inside the factorised 7 x 7 towers.
Symbol block_c(const std::string& name, const Symbol& x, int narrow) {
  return joined(name, {build_tower(name, x, {{"_conv", 192}}),
                       build_tower(name, x,
                                   {{"_tower_conv", narrow},
                                    {"_tower_conv_1", narrow, same(1, 7)},
                                    {"_tower_conv_2", 192, same(7, 1)}}),
                       build_tower(name, x,
                                   {{"_tower_1_conv", narrow},
                                    {"_tower_1_conv_1", narrow, same(7, 1)},
                                    {"_tower_1_conv_2", narrow, same(1, 7)},
                                    {"_tower_1_conv_3", narrow, same(7, 1)},
                                    {"_tower_1_conv_4", 192, same(1, 7)}}),
                       projected_pool(name, x, "avg", 192)});
}

Symbol block_d(const std::string& name, const Symbol& x) {
  return joined(name,
                {build_tower(name, x, {{"_tower_conv", 192}, {"_tower_conv_1", 320, halving()}}),
                 build_tower(name, x,
                             {{"_tower_1_conv", 192},
                              {"_tower_1_conv_1", 192, same(1, 7)},
                              {"_tower_1_conv_2", 192, same(7, 1)},
                              {"_tower_1_conv_3", 192, halving()}}),
                 Pooling("max_pool_" + name + "_pool", x,
                         {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}})});
}

Symbol block_e(const std::string& name, const Symbol& x, const std::string& pool) {
  const Symbol single = build_tower(name, x, {{"_tower_conv", 384}});
  const Symbol twice =
      build_tower(name, x, {{"_tower_1_conv", 448}, {"_tower_1_conv_1", 384, same(3, 3)}});
  return joined(name, {build_tower(name, x, {{"_conv", 320}}),
                       build_tower(name, single, {{"_tower_mixed_conv", 384, same(1, 3)}}),
                       build_tower(name, single, {{"_tower_mixed_conv_1", 384, same(3, 1)}}),
                       build_tower(name, twice, {{"_tower_1_mixed_conv", 384, same(1, 3)}}),
                       build_tower(name, twice, {{"_tower_1_mixed_conv_1", 384, same(3, 1)}}),
                       projected_pool(name, x, pool, 192)});
}

Symbol stem(Symbol x) {
  const ops::PoolingOptions halve = {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}};
  x = build_tower("conv", x,
                  {{"", 32, halving()}, {"_1", 32, unpadded3x3()}, {"_2", 64, same(3, 3)}});
  x = Pooling("pool", x, halve);
  x = build_tower("conv", x, {{"_3", 80}, {"_4", 192, unpadded3x3()}});
  return Pooling("pool1", x, halve);
}

}  // namespace

void InceptionOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  describe_dtype(v, dtype);
}

Symbol inception_v3(const InceptionOptions& options) {
  validate(options, "inception-v3");
  Symbol x = stem(input(options.dtype, true));
  x = block_a("mixed", x, 32);
  for (const char* name : {"mixed_1", "mixed_2"}) x = block_a(name, x, 64);
  x = block_b("mixed_3", x);
  x = block_c("mixed_4", x, 128);
  for (const char* name : {"mixed_5", "mixed_6"}) x = block_c(name, x, 160);
  x = block_c("mixed_7", x, 192);
  x = block_d("mixed_8", x);
  x = block_e("mixed_9", x, "avg");
  x = block_e("mixed_10", x, "max");
  x = Pooling("global_pool", x, {.kernel = {8, 8}, .pool_type = "avg", .stride = {1, 1}});
  x = FullyConnected("fc1", Flatten("flatten", x), {.num_hidden = options.num_classes});
  return loss(x, options.dtype);
}

}  // namespace symbind::models
