// LeNet (LeCun et al., 1998) with tanh; every layer's name is automatic. Optionally with a spatial
// transformer first, whose small network learns at a hundredth of the rate.

#include "models/layers.h"

namespace symbind::models {
namespace {

Symbol pooled(const Symbol& data) {
  return Pooling("", data, {.kernel = {2, 2}, .pool_type = "max", .stride = {2, 2}});
}

Symbol transform(const Symbol& data) {
  Symbol x = Convolution("", data, {.kernel = {5, 5}, .stride = {2, 2}, .num_filter = 30});
  x = pooled(relu_layer("", x));
  x = Convolution("", x, {.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}, .num_filter = 60});
  x = Pooling("", relu_layer("", x), {.kernel = {2, 2}, .pool_type = "avg", .global_pool = true});
  x = Flatten("", x);
  return FullyConnected("stn_loc", x, {.num_hidden = 6, .attr = {{"lr_mult", "0.01"}}});
}

}  // namespace

void LenetOptions::describe(AttrVisitor& v) {
  describe_classes(v, num_classes);
  v.field("add_stn", add_stn, "Whether a spatial transformer comes first.");
}

Symbol lenet(const LenetOptions& options) {
  validate(options, "lenet");
  Symbol x = Variable("data");
  if (options.add_stn) {
    x = SpatialTransformer(
        "", x, transform(x),
        {.target_shape = {28, 28}, .transform_type = "affine", .sampler_type = "bilinear"});
  }
  for (const int filters : {20, 50}) {
    x = Convolution("", x, {.kernel = {5, 5}, .num_filter = filters});
    x = pooled(Activation("", x, {.act_type = "tanh"}));
  }
  x = FullyConnected("", Flatten("", x), {.num_hidden = 500});
  x = Activation("", x, {.act_type = "tanh"});
  return loss(FullyConnected("", x, {.num_hidden = options.num_classes}));
}

}  // namespace symbind::models
