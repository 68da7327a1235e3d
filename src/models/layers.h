// Shared by several networks: the input, the classifier's end, and one kind of convolution.
#pragma once

#include <string>

#include <symbind/models.h>
#include <symbind/ops.h>

namespace symbind::models {

/// Checks ranges and choices of the options, given as text or as a struct.
template <class Options>
void validate(Options options, const char* network) {
  AttrVisitor v;
  options.describe(v);
  const AttrDict given = attrs_to_dict(v.fields());
  parse_attrs(v.fields(), given, network);
}

/// "float32" or "float16".
void describe_dtype(AttrVisitor& v, std::string& dtype);
void describe_classes(AttrVisitor& v, int& num_classes);
/// (channels, height, width).
void describe_image(AttrVisitor& v, Tuple& image_shape);
/// Throws unless `image_shape` is such a triple of positive sizes.
void check_image(const Tuple& image_shape, const char* network);

/// The variable `data`; in float16 followed by a cast, in float32 optionally by an identity 'id'.
Symbol input(const std::string& dtype, bool with_identity);
/// `data`, back in float32, into SoftmaxOutput 'softmax'.
Symbol loss(Symbol data, const std::string& dtype = "float32");
Symbol relu_layer(const std::string& name, const Symbol& data);

/// The window of a convolution or pooling.
struct Window {
  TupleOption kernel = {1, 1};
  TupleOption stride = {1, 1};
  TupleOption pad = {0, 0};
};

/// Convolution <name>_conv2d without bias, BatchNorm <name>_batchnorm of fixed gamma, <name>_relu.
Symbol conv2d(const std::string& name, const Symbol& data, int filters, const Window& window = {},
              std::optional<int> groups = {});

}  // namespace symbind::models
