// The common structure of ResNet, ResNet v1 and ResNeXt: first layer, stages, classifier.
#pragma once

#include <functional>
#include <string>

#include "models/layers.h"

namespace symbind::models {

/// The parameters of a unit.
struct UnitSpec {
  std::string name;  ///< stage<k>_unit<i>
  int filters;       ///< of the output
  int stride;
  bool same;        ///< input and output have the same shape: the shortcut is an identity
  bool bottleneck;  ///< 1 x 1, 3 x 3, 1 x 1 instead of two 3 x 3
  int workspace;
};
using Unit = std::function<Symbol(const Symbol& data, const UnitSpec& spec)>;

/// How the three differ apart from their units.
struct ResidualFamily {
  const char* name;
  int small_height;      ///< images up to this height use the depths of CIFAR's networks
  bool data_norm;        ///< bn_data in front
  bool small_stem_norm;  ///< bn0 after the first layer for small images too
  bool last_norm;        ///< bn1 and relu1 after the last unit
  Unit unit;
};

Symbol residual_network(const ResidualFamily& family, const ResnetOptions& options);
void describe_residual(AttrVisitor& v, int& num_layers, Tuple& image_shape);

// A unit's layers, with the attributes common to all three.
Symbol unit_norm(const std::string& name, const Symbol& data);
Symbol unit_conv(const std::string& name, const Symbol& data, const UnitSpec& spec, int filters,
                 int kernel, int stride, std::optional<int> groups = {});
struct PostNormUnit {
  int inner;                       ///< filters of a bottleneck's first two convolutions
  bool stride_first;               ///< whether the first of them has the stride, or the 3 x 3 one
  std::optional<int> groups = {};  ///< of the 3 x 3 one
};
/// The layers of a unit that normalises after each convolution, up to the sum with the shortcut.
Symbol post_norm_layers(const Symbol& data, const UnitSpec& spec, const PostNormUnit& how);
/// A convolution of 1 x 1 for a shortcut.
Symbol unit_shortcut(const std::string& name, const Symbol& data, const UnitSpec& spec);

}  // namespace symbind::models
