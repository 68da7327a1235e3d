// ResNeXt (Xie et al., 2016): the 3 x 3 convolution of a bottleneck works in groups.

#include "base/check.h"
#include "models/residual.h"

namespace symbind::models {
namespace {

Symbol unit(const Symbol& data, const UnitSpec& u, int groups) {
  const Symbol x =
      post_norm_layers(data, u, {.inner = u.filters / 2, .stride_first = false, .groups = groups});
  const Symbol shortcut =
      u.same ? data : unit_norm(u.name + "_sc_bn", unit_shortcut(u.name + "_sc", data, u));
  return relu_layer(u.name + "_relu", x + shortcut);
}

}  // namespace

void ResnextOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  describe_residual(v, num_layers, image_shape);
  v.field("num_group", num_group, "Groups of the 3 x 3 convolutions.").at_least(1);
  v.field("conv_workspace", conv_workspace, "Kept in the symbol, without effect.").at_least(0);
  describe_dtype(v, dtype);
}

Symbol resnext(const ResnextOptions& o) {
  validate(o, "resnext");
  const auto grouped = [groups = o.num_group](const Symbol& data, const UnitSpec& spec) {
    const int width = spec.filters / 2;
    check(!spec.bottleneck || width % groups == 0,
          "resnext: num_group={} must divide the {} filters of {}", groups, width, spec.name);
    return unit(data, spec, groups);
  };
  return residual_network({.name = "resnext",
                           .small_height = 32,
                           .data_norm = true,
                           .small_stem_norm = false,
                           .last_norm = false,
                           .unit = grouped},
                          {.num_classes = o.num_classes,
                           .num_layers = o.num_layers,
                           .image_shape = o.image_shape,
                           .conv_workspace = o.conv_workspace,
                           .dtype = o.dtype});
}

}  // namespace symbind::models
