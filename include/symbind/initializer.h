#pragma once
// Initializers: the initial values of parameters.
//
// An initializer is an immutable object held by a shared pointer, so that options hold one by
// value: `.initializer = Xavier({.magnitude = 2})`. Random numbers come from the random operators,
// hence from the stream that symbind::seed starts.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/ndarray.h>

namespace symbind {

class Initializer;
using InitializerPtr = std::shared_ptr<const Initializer>;

/// What is to be initialized.
struct InitDesc {
  std::string name;
  AttrDict attrs = {};                       ///< the variable's attributes; __init__ decides
  const Initializer* global_init = nullptr;  ///< fallback for __init__
};

class Initializer {
 public:
  virtual ~Initializer();

  /// Fills `array`: by the initializer in the attribute __init__ if there is one, else by how the
  /// name ends (weight, bias, gamma, beta, min, max); other names throw.
  virtual void operator()(const InitDesc& desc, NDArray& array) const;
  /// The same by name alone, with MXNet's older table (moving_mean, upsampling…, stn_loc…).
  virtual void legacy(const std::string& name, NDArray& array) const;
  /// Fills a weight; the other roles have the values given here unless overridden.
  virtual void init_weight(const InitDesc& desc, NDArray& array) const = 0;
  virtual void init_bias(const InitDesc& desc, NDArray& array) const;   ///< 0
  virtual void init_gamma(const InitDesc& desc, NDArray& array) const;  ///< 1
  virtual void init_beta(const InitDesc& desc, NDArray& array) const;   ///< 0
  virtual void init_zero(const InitDesc& desc, NDArray& array) const;   ///< 0: min, moving_mean
  virtual void init_one(const InitDesc& desc, NDArray& array) const;    ///< 1: max, moving_var
  virtual void init_bilinear(const InitDesc& desc, NDArray& array) const;
  virtual void init_loc_bias(const InitDesc& desc, NDArray& array) const;  ///< identity transform
  virtual void init_quantized_weight(const InitDesc& desc, NDArray& array) const;
  virtual void init_quantized_bias(const InitDesc& desc, NDArray& array) const;
  virtual void init_default(const InitDesc& desc, NDArray& array) const;  ///< throws
  /// Fills by the initializer that `init` (a name or JSON) describes.
  virtual void init_by_attribute(const InitDesc& desc, const std::string& init,
                                 NDArray& array) const;
  /// Called after the dispatch filled an array, with the array's role.
  virtual void report(const InitDesc& desc, const std::string& role, const NDArray& array) const;

  /// MXNet's JSON: `["xavier", {"rnd_type": "uniform", …}]`.
  virtual std::string dumps() const = 0;
};

struct XavierOptions {
  std::string rnd_type = "uniform";  ///< or "gaussian"
  std::string factor_type = "avg";   ///< or "in", "out"
  double magnitude = 3;
};
struct OrthogonalOptions {
  double scale = 1.414;
  std::string rand_type = "uniform";  ///< or "normal"
};
struct MSRAPreluOptions {
  std::string factor_type = "avg";
  double slope = 0.25;
};
struct FusedRNNOptions {
  InitializerPtr init = {};  ///< for the unpacked weights; the global one unless given
  int num_hidden = 0;
  int num_layers = 1;
  std::string mode = "lstm";
  bool bidirectional = false;
  double forget_bias = 1;
};

/// 0 everywhere.
InitializerPtr Zero();
/// 1 everywhere.
InitializerPtr One();
/// One number everywhere.
InitializerPtr Constant(double value);
/// The numbers of an array, which must fit.
InitializerPtr Constant(const NDArray& value);
/// Uniform in [-scale, scale].
InitializerPtr Uniform(double scale = 0.07);
/// Normal with mean 0.
InitializerPtr Normal(double sigma = 0.01);
/// A scaled matrix with orthonormal rows or columns (arXiv:1312.6120).
InitializerPtr Orthogonal(const OrthogonalOptions& options = {});
/// Scaled by the fan: sqrt(magnitude / factor) is the bound or the deviation.
InitializerPtr Xavier(const XavierOptions& options = {});
/// Xavier for layers followed by (P)ReLU (arXiv:1502.01852).
InitializerPtr MSRAPrelu(const MSRAPreluOptions& options = {});
/// The kernel of bilinear upsampling.
InitializerPtr Bilinear();
/// 0, but `forget_bias` for the second quarter: the forget gate.
InitializerPtr LSTMBias(double forget_bias = 1);
/// The packed parameters of the operator RNN, each part as a separate array.
InitializerPtr FusedRNN(const FusedRNNOptions& options);
/// Arrays by name ("arg:" and "aux:" are dropped); `otherwise` for the rest.
InitializerPtr Load(const NDArrayMap& arrays, InitializerPtr otherwise = {}, bool verbose = false);
InitializerPtr Load(const std::string& path, InitializerPtr otherwise = {}, bool verbose = false);
/// The first initializer whose regular expression matches the name's beginning.
InitializerPtr Mixed(const std::vector<std::pair<std::string, InitializerPtr>>& patterns);
/// `init`, writing a log line about every array it fills: its norm over the root of its size.
InitializerPtr Verbose(InitializerPtr init);

/// By name ("xavier") with parameters as text, or by JSON (`["xavier", {"magnitude": 2}]`).
InitializerPtr create_initializer(const std::string& text, const AttrDict& params = {});
/// Registers an initializer under a name (lower case); it gets the parameters as text.
void register_initializer(const std::string& name,
                          std::function<InitializerPtr(const AttrDict&)> make);
/// The names create_initializer knows.
std::vector<std::string> list_initializers();

}  // namespace symbind
