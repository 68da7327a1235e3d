// ResNet: v2 normalises and activates before each convolution (He et al., 2016), v1 after it (He et
// al., 2015).

#include "models/residual.h"

namespace symbind::models {
namespace {

// Normalisation, activation, convolution; number `i` of the unit. `active` receives the input of
// the convolution.
Symbol preactivated(const Symbol& x, const UnitSpec& u, const std::string& i, int filters,
                    int kernel, int stride, Symbol* active = nullptr) {
  const Symbol act = relu_layer(u.name + "_relu" + i, unit_norm(u.name + "_bn" + i, x));
  if (active != nullptr) *active = act;
  return unit_conv(u.name + "_conv" + i, act, u, filters, kernel, stride);
}

Symbol unit_v2(const Symbol& data, const UnitSpec& u) {
  Symbol first;
  Symbol x;
  if (u.bottleneck) {
    x = preactivated(data, u, "1", u.filters / 4, 1, 1, &first);
    x = preactivated(x, u, "2", u.filters / 4, 3, u.stride);
    x = preactivated(x, u, "3", u.filters, 1, 1);
  } else {
    x = preactivated(data, u, "1", u.filters, 3, u.stride, &first);
    x = preactivated(x, u, "2", u.filters, 3, 1);
  }
  return x + (u.same ? data : unit_shortcut(u.name + "_sc", first, u));
}

Symbol unit_v1(const Symbol& data, const UnitSpec& u) {
  const Symbol x = post_norm_layers(data, u, {.inner = u.filters / 4, .stride_first = true});
  const Symbol shortcut =
      u.same ? data : unit_norm(u.name + "_sc", unit_shortcut(u.name + "_conv1sc", data, u));
  return relu_layer(u.name + "_relu3", x + shortcut);
}

}  // namespace

void ResnetOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  describe_residual(v, num_layers, image_shape);
  v.field("conv_workspace", conv_workspace, "Kept in the symbol, without effect.").at_least(0);
  describe_dtype(v, dtype);
}

Symbol resnet(const ResnetOptions& options) {
  validate(options, "resnet");
  return residual_network({.name = "resnet",
                           .small_height = 28,
                           .data_norm = true,
                           .small_stem_norm = false,
                           .last_norm = true,
                           .unit = unit_v2},
                          options);
}

Symbol resnet_v1(const ResnetOptions& options) {
  validate(options, "resnet-v1");
  return residual_network({.name = "resnet-v1",
                           .small_height = 28,
                           .data_norm = false,
                           .small_stem_norm = true,
                           .last_norm = false,
                           .unit = unit_v1},
                          options);
}

}  // namespace symbind::models
