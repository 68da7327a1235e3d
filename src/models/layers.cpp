#include "models/layers.h"

#include <algorithm>

#include "base/check.h"

namespace symbind::models {

void describe_dtype(AttrVisitor& v, std::string& dtype) {
  v.field("dtype", dtype, "Compute type of the network, between casts.")
      .choices({"float32", "float16"});
}

void describe_classes(AttrVisitor& v, int& num_classes) {
  v.field("num_classes", num_classes, "Number of classes.").at_least(1);
}

void describe_image(AttrVisitor& v, Tuple& image_shape) {
  v.field("image_shape", image_shape, "Channels, height and width of the images.").at_least(1);
}

void check_image(const Tuple& image_shape, const char* network) {
  check(image_shape.size() == 3, "{}: image_shape={} must be (channels, height, width)", network,
        tuple_text(image_shape));
}

Symbol input(const std::string& dtype, bool with_identity) {
  const Symbol data = Variable("data");
  if (dtype == "float16") return Cast("", data, {.dtype = DType::kFloat16});
  return with_identity ? identity("id", data) : data;
}

Symbol loss(Symbol data, const std::string& dtype) {
  if (dtype == "float16") data = Cast("", data, {.dtype = DType::kFloat32});
  return SoftmaxOutput("softmax", data);
}

Symbol relu_layer(const std::string& name, const Symbol& data) {
  return Activation(name, data, {.act_type = "relu"});
}

Symbol conv2d(const std::string& name, const Symbol& data, int filters, const Window& window,
              std::optional<int> groups) {
  const Symbol conv = Convolution(name + "_conv2d", data,
                                  {.kernel = window.kernel,
                                   .stride = window.stride,
                                   .pad = window.pad,
                                   .num_filter = filters,
                                   .num_group = groups,
                                   .no_bias = true});
  return relu_layer(name + "_relu", BatchNorm(name + "_batchnorm", conv, {.fix_gamma = true}));
}

}  // namespace symbind::models
