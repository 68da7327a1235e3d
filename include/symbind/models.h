#pragma once
// Well-known networks as symbols.
//
// Names, attributes and shapes are those of MXNet's examples, so that checkpoints trained there
// load here: symbols, arguments and auxiliary states agree one by one. Layers the examples leave
// unnamed get names from the current NameManager, as there. Every network ends in a SoftmaxOutput
// 'softmax' over `data` and `softmax_label`. An invalid option is an error that lists the valid
// values.

#include <string>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/symbol.h>

namespace symbind::models {

struct MlpOptions {
  int num_classes = 10;
  void describe(AttrVisitor& v);
};
/// Two hidden layers of 128 and 64.
Symbol mlp(const MlpOptions& options = {});

struct LenetOptions {
  int num_classes = 10;
  bool add_stn = false;  ///< a spatial transformer in front, for images of 28 x 28
  void describe(AttrVisitor& v);
};
Symbol lenet(const LenetOptions& options = {});

struct AlexnetOptions {
  int num_classes = 1000;
  std::string dtype = "float32";  ///< or float16: computed in it, between casts
  void describe(AttrVisitor& v);
};
Symbol alexnet(const AlexnetOptions& options = {});

struct VggOptions {
  int num_classes = 1000;
  int num_layers = 11;  ///< 11, 13, 16, 19
  bool batch_norm = false;
  std::string dtype = "float32";
  void describe(AttrVisitor& v);
};
Symbol vgg(const VggOptions& options = {});

struct GooglenetOptions {
  int num_classes = 1000;
  void describe(AttrVisitor& v);
};
Symbol googlenet(const GooglenetOptions& options = {});

struct InceptionBnOptions {
  int num_classes = 1000;
  Tuple image_shape = {3, 224, 224};  ///< a height up to 28 selects a smaller network
  void describe(AttrVisitor& v);
};
Symbol inception_bn(const InceptionBnOptions& options = {});

/// For images of about 299 x 299.
struct InceptionOptions {
  int num_classes = 1000;
  std::string dtype = "float32";
  void describe(AttrVisitor& v);
};
Symbol inception_v3(const InceptionOptions& options = {});
Symbol inception_v4(const InceptionOptions& options = {});

struct InceptionResnetOptions {
  int num_classes = 1000;
  void describe(AttrVisitor& v);
};
Symbol inception_resnet_v2(const InceptionResnetOptions& options = {});

struct ResnetOptions {
  int num_classes = 1000;
  /// 18, 34, 50, 101, 152, 200, 269; for images up to a height of 28: 6n + 2 below 164, 9n + 2
  /// above.
  int num_layers = 50;
  Tuple image_shape = {3, 224, 224};  ///< with a height up to 32 the first layer keeps the size
  int conv_workspace = 256;           ///< kept in the symbol, without effect
  std::string dtype = "float32";
  void describe(AttrVisitor& v);
};
/// Activation before convolution (v2), MXNet's `resnet`.
Symbol resnet(const ResnetOptions& options = {});
/// The original, with the stride in the first convolution of a unit.
Symbol resnet_v1(const ResnetOptions& options = {});

struct ResnextOptions {
  int num_classes = 1000;
  int num_layers = 50;  ///< as for ResNet; the small ones for a height up to 32
  Tuple image_shape = {3, 224, 224};
  int num_group = 32;
  int conv_workspace = 256;
  std::string dtype = "float32";
  void describe(AttrVisitor& v);
};
Symbol resnext(const ResnextOptions& options = {});

struct MobilenetOptions {
  int num_classes = 1000;
  double alpha = 1;      ///< multiplies the channels: 0.25, 0.5, 0.75, 1
  int resolution = 224;  ///< of the image, a multiple of 32
  void describe(AttrVisitor& v);
};
Symbol mobilenet(const MobilenetOptions& options = {});

/// For images of 224 x 224.
struct MobilenetV2Options {
  int num_classes = 1000;
  double multiplier = 1;  ///< of the channels
  void describe(AttrVisitor& v);
};
Symbol mobilenet_v2(const MobilenetV2Options& options = {});

/// A language model: `data` and `softmax_label` are (batch, seq_len) of token numbers.
struct LstmOptions {
  int seq_len = 60;
  int vocab_size = 10000;
  int num_layers = 2, num_hidden = 200, num_embed = 200;
  double forget_bias = 1;  ///< initial biases of the forget gates
  void describe(AttrVisitor& v);
};
/// Embedding, LSTM layers unrolled over seq_len steps, a prediction for each.
Symbol lstm(const LstmOptions& options = {});

/// One option of a network, as text.
struct Option {
  std::string name, type, value, doc;  ///< value: the default
};

/// MXNet's names of the networks ("resnet", "inception-bn", …), in alphabetical order.
std::vector<std::string> names();
/// A network's options in order; an unknown name is an error with the nearest ones.
std::vector<Option> options_of(const std::string& network);
/// A network by name: create("resnet", {{"num_layers", "50"}, {"image_shape", "(3, 224, 224)"}}).
Symbol create(const std::string& network, const AttrDict& options = {});

}  // namespace symbind::models
