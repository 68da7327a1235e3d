#include "models/residual.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"

namespace symbind::models {
namespace {

constexpr double kEps = 2e-5;
constexpr double kMomentum = 0.9;
constexpr int kStemHeight = 32;  // up to here the first layer keeps the image's size

struct Depth {
  int num_layers;
  std::array<int, 4> units;
};
constexpr Depth kDepths[] = {{18, {2, 2, 2, 2}},   {34, {3, 4, 6, 3}},   {50, {3, 4, 6, 3}},
                             {101, {3, 4, 23, 3}}, {152, {3, 8, 36, 3}}, {200, {3, 24, 36, 3}},
                             {269, {3, 30, 48, 8}}};
constexpr int kFirstBottleneck = 50, kFirstSmallBottleneck = 164;

struct Stages {
  std::vector<int> units, filters;  ///< filters: the first layer's, then each stage's
  bool bottleneck;
};

Stages small_stages(const char* network, int num_layers) {
  const bool bottleneck = num_layers >= kFirstSmallBottleneck;
  const int per_unit = bottleneck ? 9 : 6;
  check(
      num_layers > 2 && (num_layers - 2) % per_unit == 0,
      "{}: num_layers={} is not a depth for small images; choose 6n + 2 below 164 (8, 14, 20, 32, "
      "44, 56, 110, ...) or 9n + 2 from 164 on (164, 245, 1001, ...)",
      network, num_layers);
  std::vector<int> filters = {16, 16, 32, 64};
  if (bottleneck) filters = {16, 64, 128, 256};
  return {std::vector<int>(3, (num_layers - 2) / per_unit), filters, bottleneck};
}

Stages large_stages(const char* network, int num_layers) {
  const auto* depth = std::ranges::find(kDepths, num_layers, &Depth::num_layers);
  if (depth == std::end(kDepths)) {
    std::vector<int> known;
    for (const Depth& d : kDepths) known.push_back(d.num_layers);
    fail(ErrorKind::kValue, "{}: num_layers={} is not a depth; choose from {}", network, num_layers,
         fmt::join(known, ", "));
  }
  const bool bottleneck = num_layers >= kFirstBottleneck;
  std::vector<int> filters = {64, 64, 128, 256, 512};
  if (bottleneck) filters = {64, 256, 512, 1024, 2048};
  return {{depth->units.begin(), depth->units.end()}, filters, bottleneck};
}

Symbol first_layers(const Symbol& data, const ResidualFamily& family, int filters,
                    const ResnetOptions& o) {
  const bool keeps_size = o.image_shape[1] <= kStemHeight;
  const Window window =
      keeps_size ? Window{{3, 3}, {1, 1}, {1, 1}} : Window{{7, 7}, {2, 2}, {3, 3}};
  Symbol x = Convolution("conv0", data,
                         {.kernel = window.kernel,
                          .stride = window.stride,
                          .pad = window.pad,
                          .num_filter = filters,
                          .workspace = o.conv_workspace,
                          .no_bias = true});
  if (!keeps_size || family.small_stem_norm) x = unit_norm("bn0", x);
  if (keeps_size) return x;
  return Pooling("", relu_layer("relu0", x),
                 {.kernel = {3, 3}, .pool_type = "max", .stride = {2, 2}, .pad = {1, 1}});
}

}  // namespace

void describe_residual(AttrVisitor& v, int& num_layers, Tuple& image_shape) {
  v.field("num_layers", num_layers,
          "Depth: 18, 34, 50, 101, 152, 200 or 269; for small images 6n + 2 or 9n + 2.");
  describe_image(v, image_shape);
}

Symbol unit_norm(const std::string& name, const Symbol& data) {
  return BatchNorm(name, data, {.eps = kEps, .momentum = kMomentum, .fix_gamma = false});
}

Symbol unit_conv(const std::string& name, const Symbol& data, const UnitSpec& spec, int filters,
                 int kernel, int stride, std::optional<int> groups) {
  return Convolution(name, data,
                     {.kernel = {kernel, kernel},
                      .stride = {stride, stride},
                      .pad = {kernel / 2, kernel / 2},
                      .num_filter = filters,
                      .num_group = groups,
                      .workspace = spec.workspace,
                      .no_bias = true});
}

Symbol post_norm_layers(const Symbol& data, const UnitSpec& u, const PostNormUnit& how) {
  const auto layer = [&](const Symbol& x, const std::string& i, int filters, int kernel, int stride,
                         std::optional<int> groups = {}) {
    return unit_norm(u.name + "_bn" + i,
                     unit_conv(u.name + "_conv" + i, x, u, filters, kernel, stride, groups));
  };
  const auto relu = [&](const std::string& i, const Symbol& x) {
    return relu_layer(u.name + "_relu" + i, x);
  };
  if (!u.bottleneck) {
    const Symbol x = relu("1", layer(data, "1", u.filters, 3, u.stride));
    return layer(x, "2", u.filters, 3, 1);
  }
  Symbol x = relu("1", layer(data, "1", how.inner, 1, how.stride_first ? u.stride : 1));
  x = relu("2", layer(x, "2", how.inner, 3, how.stride_first ? 1 : u.stride, how.groups));
  return layer(x, "3", u.filters, 1, 1);
}

Symbol unit_shortcut(const std::string& name, const Symbol& data, const UnitSpec& spec) {
  return Convolution(name, data,
                     {.kernel = {1, 1},
                      .stride = {spec.stride, spec.stride},
                      .num_filter = spec.filters,
                      .workspace = spec.workspace,
                      .no_bias = true});
}

Symbol residual_network(const ResidualFamily& family, const ResnetOptions& o) {
  check_image(o.image_shape, family.name);
  const Stages stages = o.image_shape[1] <= family.small_height
                            ? small_stages(family.name, o.num_layers)
                            : large_stages(family.name, o.num_layers);
  Symbol x = input(o.dtype, true);
  if (family.data_norm)
    x = BatchNorm("bn_data", x, {.eps = kEps, .momentum = kMomentum, .fix_gamma = true});
  x = first_layers(x, family, stages.filters[0], o);
  for (std::size_t stage = 0; stage < stages.units.size(); ++stage) {
    for (int unit = 0; unit < stages.units[stage]; ++unit) {
      const bool first = unit == 0;
      x = family.unit(x, {.name = fmt::format("stage{}_unit{}", stage + 1, unit + 1),
                          .filters = stages.filters[stage + 1],
                          .stride = first && stage > 0 ? 2 : 1,
                          .same = !first,
                          .bottleneck = stages.bottleneck,
                          .workspace = o.conv_workspace});
    }
  }
  if (family.last_norm) x = relu_layer("relu1", unit_norm("bn1", x));
  x = Pooling("pool1", x, {.kernel = {7, 7}, .pool_type = "avg", .global_pool = true});
  x = FullyConnected("fc1", Flatten("", x), {.num_hidden = o.num_classes});
  return loss(x, o.dtype);
}

}  // namespace symbind::models
