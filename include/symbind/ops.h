#pragma once
// Written by tools/opgen from the registry; do not edit. docs/ops.md is the manual.
//
//   FullyConnected("fc1", data, {.num_hidden = 128})
//   FullyConnected("fc2", {.data = act1, .weight = shared}, {.num_hidden = 10})
//   Concat("c", {a, b}, {.dim = 1})
//
// Inputs that are not given become variables `<name>_<input>`; an empty name is made up. Options
// that are not given keep their defaults and are not stored. Operators whose names begin with an
// underscore are called through make_symbol and invoke. The structs have their own namespace; calls
// never need to name them.
//
// Without a name an operator runs on arrays at once:
//
//   NDArray y = FullyConnected(x, weight, bias, {.num_hidden = 128})
//   NDArray y = FullyConnected(x, weight, {.num_hidden = 128, .no_bias = true})
//   relu(x, {}, y)          writes y
//   std::vector<NDArray> parts = SliceChannel(x, {.num_outputs = 2})
//
// Both kinds are templates so that a program compiles those it calls and no others.

#include <symbind/detail/op_call.h>

namespace symbind {

namespace ops {
struct ActivationOptions {
  /// Activation function to be applied. ({'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'},
  /// required)
  std::optional<std::string> act_type = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("act_type", act_type);
  }
};
}  // namespace ops
/// Applies an activation function to every element.
template <class = void>
Symbol Activation(const std::string& name, const Symbol& data, const ops::ActivationOptions& options = {}) {
  return call_op("Activation", name, {data}, dict_of(options));
}
template <class = void>
NDArray Activation(const NDArray& data, const ops::ActivationOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Activation");
  return op.one({data}, options, out);
}

namespace ops {
struct BatchNormOptions {
  /// Added to the variance. (double, optional, default=0.0010000000474974513)
  std::optional<double> eps = {};
  /// How much of the moving statistics an update keeps. (float, optional, default=0.9)
  std::optional<double> momentum = {};
  /// Whether gamma is fixed at 1. (boolean, optional, default=True)
  std::optional<bool> fix_gamma = {};
  /// Whether training uses the moving statistics too. (boolean, optional, default=False)
  std::optional<bool> use_global_stats = {};
  /// Whether mean and inverse std are visible outputs. (boolean, optional, default=False)
  std::optional<bool> output_mean_var = {};
  /// The channels' axis. (int, optional, default=1)
  std::optional<int> axis = {};
  /// Accepted, without effect. (boolean, optional, default=False)
  std::optional<bool> cudnn_off = {};
  /// Accepted, without effect. (float or None, optional, default=None)
  std::optional<double> min_calib_range = {};
  /// Accepted, without effect. (float or None, optional, default=None)
  std::optional<double> max_calib_range = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("eps", eps);
    f("momentum", momentum);
    f("fix_gamma", fix_gamma);
    f("use_global_stats", use_global_stats);
    f("output_mean_var", output_mean_var);
    f("axis", axis);
    f("cudnn_off", cudnn_off);
    f("min_calib_range", min_calib_range);
    f("max_calib_range", max_calib_range);
  }
};
struct BatchNormInputs {
  Symbol data = {};
  Symbol gamma = {};
  Symbol beta = {};
  Symbol moving_mean = {};
  Symbol moving_var = {};
};
}  // namespace ops
/// Normalises every channel over the batch.
template <class = void>
Symbol BatchNorm(const std::string& name, const Symbol& data, const ops::BatchNormOptions& options = {}) {
  return call_op("BatchNorm", name, {data}, dict_of(options));
}
template <class = void>
Symbol BatchNorm(const std::string& name, const ops::BatchNormInputs& inputs, const ops::BatchNormOptions& options = {}) {
  return call_op_named("BatchNorm", name, {{"data", inputs.data}, {"gamma", inputs.gamma}, {"beta", inputs.beta}, {"moving_mean", inputs.moving_mean}, {"moving_var", inputs.moving_var}}, dict_of(options));
}
template <class = void>
std::vector<NDArray> BatchNorm(const NDArray& data, const NDArray& gamma, const NDArray& beta, const NDArray& moving_mean, const NDArray& moving_var, const ops::BatchNormOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("BatchNorm");
  return op.all({data, gamma, beta, moving_mean, moving_var}, options, out);
}

namespace ops {
struct BilinearSamplerOptions {
  /// Accepted, without effect. (boolean or None, optional, default=None)
  std::optional<bool> cudnn_off = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("cudnn_off", cudnn_off);
  }
};
struct BilinearSamplerInputs {
  Symbol data = {};
  Symbol grid = {};
};
}  // namespace ops
/// Images sampled at the positions of a grid.
template <class = void>
Symbol BilinearSampler(const std::string& name, const Symbol& data, const ops::BilinearSamplerOptions& options = {}) {
  return call_op("BilinearSampler", name, {data}, dict_of(options));
}
template <class = void>
Symbol BilinearSampler(const std::string& name, const Symbol& data, const Symbol& grid, const ops::BilinearSamplerOptions& options = {}) {
  return call_op("BilinearSampler", name, {data, grid}, dict_of(options));
}
template <class = void>
Symbol BilinearSampler(const std::string& name, const ops::BilinearSamplerInputs& inputs, const ops::BilinearSamplerOptions& options = {}) {
  return call_op_named("BilinearSampler", name, {{"data", inputs.data}, {"grid", inputs.grid}}, dict_of(options));
}
template <class = void>
NDArray BilinearSampler(const NDArray& data, const NDArray& grid, const ops::BilinearSamplerOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("BilinearSampler");
  return op.one({data, grid}, options, out);
}

/// The input, through which no gradient flows.
template <class = void>
Symbol BlockGrad(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("BlockGrad", name, {data}, dict_of(options));
}
template <class = void>
NDArray BlockGrad(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("BlockGrad");
  return op.one({data}, options, out);
}

namespace ops {
struct CTCLossOptions {
  /// Whether an input gives the number of steps of every sample. (boolean, optional, default=False)
  std::optional<bool> use_data_lengths = {};
  /// Whether an input gives the length of every label. (boolean, optional, default=False)
  std::optional<bool> use_label_lengths = {};
  /// Which class is the blank. ({'first', 'last'}, optional, default=first)
  std::optional<std::string> blank_label = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("use_data_lengths", use_data_lengths);
    f("use_label_lengths", use_label_lengths);
    f("blank_label", blank_label);
  }
};
struct CTCLossInputs {
  Symbol data = {};
  Symbol label = {};
  Symbol data_lengths = {};
  Symbol label_lengths = {};
};
}  // namespace ops
/// The connectionist temporal classification loss of every sample.
template <class = void>
Symbol CTCLoss(const std::string& name, const Symbol& data, const ops::CTCLossOptions& options = {}) {
  return call_op("CTCLoss", name, {data}, dict_of(options));
}
template <class = void>
Symbol CTCLoss(const std::string& name, const ops::CTCLossInputs& inputs, const ops::CTCLossOptions& options = {}) {
  return call_op_named("CTCLoss", name, {{"data", inputs.data}, {"label", inputs.label}, {"data_lengths", inputs.data_lengths}, {"label_lengths", inputs.label_lengths}}, dict_of(options));
}
template <class = void>
NDArray CTCLoss(const NDArray& data, const NDArray& label, const ops::CTCLossOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("CTCLoss");
  return op.one({data, label}, options, out);
}
template <class = void>
NDArray CTCLoss(const NDArray& data, const NDArray& label, const NDArray& data_lengths, const ops::CTCLossOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("CTCLoss");
  return op.one({data, label, data_lengths}, options, out);
}
template <class = void>
NDArray CTCLoss(const NDArray& data, const NDArray& label, const NDArray& data_lengths, const NDArray& label_lengths, const ops::CTCLossOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("CTCLoss");
  return op.one({data, label, data_lengths, label_lengths}, options, out);
}

namespace ops {
struct CastOptions {
  /// The element type of the output. (dtype, required)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("dtype", dtype);
  }
};
}  // namespace ops
/// The input in another element type.
template <class = void>
Symbol Cast(const std::string& name, const Symbol& data, const ops::CastOptions& options = {}) {
  return call_op("Cast", name, {data}, dict_of(options));
}
template <class = void>
NDArray Cast(const NDArray& data, const ops::CastOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Cast");
  return op.one({data}, options, out);
}

namespace ops {
struct ConcatOptions {
  /// The axis along which inputs are joined; negative counts from the end. (int, optional,
  /// default=1)
  std::optional<int> dim = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("dim", dim);
  }
};
}  // namespace ops
/// Joins the inputs along an axis.
template <class = void>
Symbol Concat(const std::string& name, const std::vector<Symbol>& inputs, const ops::ConcatOptions& options = {}) {
  return call_op("Concat", name, inputs, dict_of(options));
}
template <class = void>
NDArray Concat(const std::vector<NDArray>& inputs, const ops::ConcatOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Concat");
  return op.one(inputs, options, out);
}

namespace ops {
struct ConvolutionOptions {
  /// Kernel size: (w,), (h, w) or (d, h, w). (Shape(tuple), required)
  TupleOption kernel = {};
  /// Stride of each spatial axis; 1 by default. (Shape(tuple), optional, default=())
  TupleOption stride = {};
  /// Distance between the kernel's taps; 1 by default. (Shape(tuple), optional, default=())
  TupleOption dilate = {};
  /// Zero padding on both sides of each spatial axis; 0 by default. (Shape(tuple), optional,
  /// default=())
  TupleOption pad = {};
  /// Number of filters, the output's channels. (int, required)
  std::optional<int> num_filter = {};
  /// Number of groups the channels are split into. (int, optional, default=1)
  std::optional<int> num_group = {};
  /// Accepted, without effect. (long, optional, default=1024)
  std::optional<std::int64_t> workspace = {};
  /// Whether to disable the bias. (boolean, optional, default=False)
  std::optional<bool> no_bias = {};
  /// Accepted, without effect. ({None, 'fastest', 'limited_workspace', 'off'}, optional,
  /// default=None)
  std::optional<std::string> cudnn_tune = {};
  /// Accepted, without effect. (boolean, optional, default=False)
  std::optional<bool> cudnn_off = {};
  /// Layout of the data; channels come second. ({None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'},
  /// optional, default=None)
  std::optional<std::string> layout = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("kernel", kernel);
    f("stride", stride);
    f("dilate", dilate);
    f("pad", pad);
    f("num_filter", num_filter);
    f("num_group", num_group);
    f("workspace", workspace);
    f("no_bias", no_bias);
    f("cudnn_tune", cudnn_tune);
    f("cudnn_off", cudnn_off);
    f("layout", layout);
  }
};
struct ConvolutionInputs {
  Symbol data = {};
  Symbol weight = {};
  Symbol bias = {};
};
}  // namespace ops
/// Convolution over one, two or three spatial axes.
template <class = void>
Symbol Convolution(const std::string& name, const Symbol& data, const ops::ConvolutionOptions& options = {}) {
  return call_op("Convolution", name, {data}, dict_of(options));
}
template <class = void>
Symbol Convolution(const std::string& name, const ops::ConvolutionInputs& inputs, const ops::ConvolutionOptions& options = {}) {
  return call_op_named("Convolution", name, {{"data", inputs.data}, {"weight", inputs.weight}, {"bias", inputs.bias}}, dict_of(options));
}
template <class = void>
NDArray Convolution(const NDArray& data, const NDArray& weight, const ops::ConvolutionOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Convolution");
  return op.one({data, weight}, options, out);
}
template <class = void>
NDArray Convolution(const NDArray& data, const NDArray& weight, const NDArray& bias, const ops::ConvolutionOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Convolution");
  return op.one({data, weight, bias}, options, out);
}

namespace ops {
struct CorrelationOptions {
  /// Size of a patch; odd. (int, optional, default=1)
  std::optional<int> kernel_size = {};
  /// The farthest displacement. (int, optional, default=1)
  std::optional<int> max_displacement = {};
  /// Distance between the patches of data1. (int, optional, default=1)
  std::optional<int> stride1 = {};
  /// Distance between the displacements. (int, optional, default=1)
  std::optional<int> stride2 = {};
  /// Zeros around both images. (int, optional, default=0)
  std::optional<int> pad_size = {};
  /// Whether to multiply; else the absolute difference is used. (boolean, optional, default=True)
  std::optional<bool> is_multiply = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("kernel_size", kernel_size);
    f("max_displacement", max_displacement);
    f("stride1", stride1);
    f("stride2", stride2);
    f("pad_size", pad_size);
    f("is_multiply", is_multiply);
  }
};
struct CorrelationInputs {
  Symbol data1 = {};
  Symbol data2 = {};
};
}  // namespace ops
/// Compares patches of one image with displaced patches of another.
template <class = void>
Symbol Correlation(const std::string& name, const Symbol& data1, const ops::CorrelationOptions& options = {}) {
  return call_op("Correlation", name, {data1}, dict_of(options));
}
template <class = void>
Symbol Correlation(const std::string& name, const Symbol& data1, const Symbol& data2, const ops::CorrelationOptions& options = {}) {
  return call_op("Correlation", name, {data1, data2}, dict_of(options));
}
template <class = void>
Symbol Correlation(const std::string& name, const ops::CorrelationInputs& inputs, const ops::CorrelationOptions& options = {}) {
  return call_op_named("Correlation", name, {{"data1", inputs.data1}, {"data2", inputs.data2}}, dict_of(options));
}
template <class = void>
NDArray Correlation(const NDArray& data1, const NDArray& data2, const ops::CorrelationOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Correlation");
  return op.one({data1, data2}, options, out);
}

namespace ops {
struct CropOptions {
  /// Where the window begins: (y, x). (Shape(tuple), optional, default=(0, 0))
  TupleOption offset = {};
  /// The window's size, unless a second input gives it. (Shape(tuple), optional, default=(0, 0))
  TupleOption h_w = {};
  /// Whether the window is in the middle. (boolean, optional, default=False)
  std::optional<bool> center_crop = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("offset", offset);
    f("h_w", h_w);
    f("center_crop", center_crop);
  }
};
}  // namespace ops
/// A window out of images.
template <class = void>
Symbol Crop(const std::string& name, const std::vector<Symbol>& inputs, const ops::CropOptions& options = {}) {
  return call_op("Crop", name, inputs, dict_of(options));
}
template <class = void>
NDArray Crop(const std::vector<NDArray>& inputs, const ops::CropOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Crop");
  return op.one(inputs, options, out);
}

namespace ops {
struct CustomOptions {
  /// Name the operator was registered by. (string, required)
  std::optional<std::string> op_type = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("op_type", op_type);
  }
};
}  // namespace ops
/// A user-defined, registered operator; it defines its inputs and further parameters.
template <class = void>
Symbol Custom(const std::string& name, const std::vector<Symbol>& inputs, const ops::CustomOptions& options = {}) {
  return call_op("Custom", name, inputs, dict_of(options));
}
template <class = void>
NDArray Custom(const std::vector<NDArray>& inputs, const ops::CustomOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Custom");
  return op.one(inputs, options, out);
}

namespace ops {
struct DeconvolutionOptions {
  /// Kernel size: (w,), (h, w) or (d, h, w). (Shape(tuple), required)
  TupleOption kernel = {};
  /// Stride of the convolution this undoes; 1 by default. (Shape(tuple), optional, default=())
  TupleOption stride = {};
  /// Distance between the kernel's taps; 1 by default. (Shape(tuple), optional, default=())
  TupleOption dilate = {};
  /// Padding of the convolution this undoes, removed here; 0 by default. (Shape(tuple), optional,
  /// default=())
  TupleOption pad = {};
  /// Added to the output's extents; below the stride. (Shape(tuple), optional, default=())
  TupleOption adj = {};
  /// The output's extents; determines pad and adj. (Shape(tuple), optional, default=())
  TupleOption target_shape = {};
  /// Number of the output's channels. (int, required)
  std::optional<int> num_filter = {};
  /// Number of groups the channels are split into. (int, optional, default=1)
  std::optional<int> num_group = {};
  /// Accepted, without effect. (long, optional, default=512)
  std::optional<std::int64_t> workspace = {};
  /// Whether to disable the bias. (boolean, optional, default=True)
  std::optional<bool> no_bias = {};
  /// Accepted, without effect. ({None, 'fastest', 'limited_workspace', 'off'}, optional,
  /// default=None)
  std::optional<std::string> cudnn_tune = {};
  /// Accepted, without effect. (boolean, optional, default=False)
  std::optional<bool> cudnn_off = {};
  /// Layout of the data; channels come second. ({None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'},
  /// optional, default=None)
  std::optional<std::string> layout = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("kernel", kernel);
    f("stride", stride);
    f("dilate", dilate);
    f("pad", pad);
    f("adj", adj);
    f("target_shape", target_shape);
    f("num_filter", num_filter);
    f("num_group", num_group);
    f("workspace", workspace);
    f("no_bias", no_bias);
    f("cudnn_tune", cudnn_tune);
    f("cudnn_off", cudnn_off);
    f("layout", layout);
  }
};
struct DeconvolutionInputs {
  Symbol data = {};
  Symbol weight = {};
  Symbol bias = {};
};
}  // namespace ops
/// The transpose of a convolution over one, two or three spatial axes.
template <class = void>
Symbol Deconvolution(const std::string& name, const Symbol& data, const ops::DeconvolutionOptions& options = {}) {
  return call_op("Deconvolution", name, {data}, dict_of(options));
}
template <class = void>
Symbol Deconvolution(const std::string& name, const ops::DeconvolutionInputs& inputs, const ops::DeconvolutionOptions& options = {}) {
  return call_op_named("Deconvolution", name, {{"data", inputs.data}, {"weight", inputs.weight}, {"bias", inputs.bias}}, dict_of(options));
}
template <class = void>
NDArray Deconvolution(const NDArray& data, const NDArray& weight, const ops::DeconvolutionOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Deconvolution");
  return op.one({data, weight}, options, out);
}
template <class = void>
NDArray Deconvolution(const NDArray& data, const NDArray& weight, const NDArray& bias, const ops::DeconvolutionOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Deconvolution");
  return op.one({data, weight, bias}, options, out);
}

namespace ops {
struct DropoutOptions {
  /// Fraction of the elements that become 0. (float, optional, default=0.5)
  std::optional<double> p = {};
  /// Whether to drop in training only, or always. ({'always', 'training'}, optional,
  /// default=training)
  std::optional<std::string> mode = {};
  /// Axes along which one mask is shared. (Shape(tuple), optional, default=())
  TupleOption axes = {};
  /// Accepted, without effect. (boolean or None, optional, default=False)
  std::optional<bool> cudnn_off = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("p", p);
    f("mode", mode);
    f("axes", axes);
    f("cudnn_off", cudnn_off);
  }
};
}  // namespace ops
/// Zeroes elements at random while training and scales the rest.
template <class = void>
Symbol Dropout(const std::string& name, const Symbol& data, const ops::DropoutOptions& options = {}) {
  return call_op("Dropout", name, {data}, dict_of(options));
}
template <class = void>
NDArray Dropout(const NDArray& data, const ops::DropoutOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Dropout");
  return op.one({data}, options, out);
}

namespace ops {
struct EmbeddingOptions {
  /// Number of rows of the weight. (int, required)
  std::optional<int> input_dim = {};
  /// Length of a row. (int, required)
  std::optional<int> output_dim = {};
  /// The weight's element type. (dtype, optional, default=float32)
  std::optional<DType> dtype = {};
  /// Without effect: gradients are dense. (boolean, optional, default=False)
  std::optional<bool> sparse_grad = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("input_dim", input_dim);
    f("output_dim", output_dim);
    f("dtype", dtype);
    f("sparse_grad", sparse_grad);
  }
};
struct EmbeddingInputs {
  Symbol data = {};
  Symbol weight = {};
};
}  // namespace ops
/// Rows of the weight, by index.
template <class = void>
Symbol Embedding(const std::string& name, const Symbol& data, const ops::EmbeddingOptions& options = {}) {
  return call_op("Embedding", name, {data}, dict_of(options));
}
template <class = void>
Symbol Embedding(const std::string& name, const Symbol& data, const Symbol& weight, const ops::EmbeddingOptions& options = {}) {
  return call_op("Embedding", name, {data, weight}, dict_of(options));
}
template <class = void>
Symbol Embedding(const std::string& name, const ops::EmbeddingInputs& inputs, const ops::EmbeddingOptions& options = {}) {
  return call_op_named("Embedding", name, {{"data", inputs.data}, {"weight", inputs.weight}}, dict_of(options));
}
template <class = void>
NDArray Embedding(const NDArray& data, const NDArray& weight, const ops::EmbeddingOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Embedding");
  return op.one({data, weight}, options, out);
}

/// Joins all axes but the first.
template <class = void>
Symbol Flatten(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("Flatten", name, {data}, dict_of(options));
}
template <class = void>
NDArray Flatten(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Flatten");
  return op.one({data}, options, out);
}

namespace ops {
struct FullyConnectedOptions {
  /// Number of hidden nodes of the output. (int, required)
  std::optional<int> num_hidden = {};
  /// Whether to disable the bias. (boolean, optional, default=False)
  std::optional<bool> no_bias = {};
  /// Whether to collapse all but the first axis of the input. (boolean, optional, default=True)
  std::optional<bool> flatten = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("num_hidden", num_hidden);
    f("no_bias", no_bias);
    f("flatten", flatten);
  }
};
struct FullyConnectedInputs {
  Symbol data = {};
  Symbol weight = {};
  Symbol bias = {};
};
}  // namespace ops
/// Applies y = x·Wᵀ + b to every row of the data.
template <class = void>
Symbol FullyConnected(const std::string& name, const Symbol& data, const ops::FullyConnectedOptions& options = {}) {
  return call_op("FullyConnected", name, {data}, dict_of(options));
}
template <class = void>
Symbol FullyConnected(const std::string& name, const ops::FullyConnectedInputs& inputs, const ops::FullyConnectedOptions& options = {}) {
  return call_op_named("FullyConnected", name, {{"data", inputs.data}, {"weight", inputs.weight}, {"bias", inputs.bias}}, dict_of(options));
}
template <class = void>
NDArray FullyConnected(const NDArray& data, const NDArray& weight, const ops::FullyConnectedOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("FullyConnected");
  return op.one({data, weight}, options, out);
}
template <class = void>
NDArray FullyConnected(const NDArray& data, const NDArray& weight, const NDArray& bias, const ops::FullyConnectedOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("FullyConnected");
  return op.one({data, weight, bias}, options, out);
}

namespace ops {
struct GridGeneratorOptions {
  /// The meaning of the data. ({'affine', 'warp'}, required)
  std::optional<std::string> transform_type = {};
  /// The grid's size (h, w); affine only. (Shape(tuple), optional, default=(0, 0))
  TupleOption target_shape = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transform_type", transform_type);
    f("target_shape", target_shape);
  }
};
}  // namespace ops
/// The positions that an affine transform or a flow reads.
template <class = void>
Symbol GridGenerator(const std::string& name, const Symbol& data, const ops::GridGeneratorOptions& options = {}) {
  return call_op("GridGenerator", name, {data}, dict_of(options));
}
template <class = void>
NDArray GridGenerator(const NDArray& data, const ops::GridGeneratorOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("GridGenerator");
  return op.one({data}, options, out);
}

namespace ops {
struct GroupNormOptions {
  /// Number of groups the channels are split into. (int, optional, default=1)
  std::optional<int> num_groups = {};
  /// Added to the variance. (float, optional, default=1e-05)
  std::optional<double> eps = {};
  /// Whether mean and deviation are visible outputs. (boolean, optional, default=False)
  std::optional<bool> output_mean_var = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("num_groups", num_groups);
    f("eps", eps);
    f("output_mean_var", output_mean_var);
  }
};
struct GroupNormInputs {
  Symbol data = {};
  Symbol gamma = {};
  Symbol beta = {};
};
}  // namespace ops
/// Normalises groups of channels of every sample.
template <class = void>
Symbol GroupNorm(const std::string& name, const Symbol& data, const ops::GroupNormOptions& options = {}) {
  return call_op("GroupNorm", name, {data}, dict_of(options));
}
template <class = void>
Symbol GroupNorm(const std::string& name, const ops::GroupNormInputs& inputs, const ops::GroupNormOptions& options = {}) {
  return call_op_named("GroupNorm", name, {{"data", inputs.data}, {"gamma", inputs.gamma}, {"beta", inputs.beta}}, dict_of(options));
}
template <class = void>
std::vector<NDArray> GroupNorm(const NDArray& data, const NDArray& gamma, const NDArray& beta, const ops::GroupNormOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("GroupNorm");
  return op.all({data, gamma, beta}, options, out);
}

namespace ops {
struct IdentityAttachKLSparseRegOptions {
  /// The target mean activation. (float, optional, default=0.1)
  std::optional<double> sparseness_target = {};
  /// Scales what is added to the gradient. (float, optional, default=0.001)
  std::optional<double> penalty = {};
  /// How much of the running mean an update keeps. (float, optional, default=0.9)
  std::optional<double> momentum = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("sparseness_target", sparseness_target);
    f("penalty", penalty);
    f("momentum", momentum);
  }
};
struct IdentityAttachKLSparseRegInputs {
  Symbol data = {};
  Symbol moving_avg = {};
};
}  // namespace ops
/// The identity; its gradient pulls the mean activation towards a target.
template <class = void>
Symbol IdentityAttachKLSparseReg(const std::string& name, const Symbol& data, const ops::IdentityAttachKLSparseRegOptions& options = {}) {
  return call_op("IdentityAttachKLSparseReg", name, {data}, dict_of(options));
}
template <class = void>
Symbol IdentityAttachKLSparseReg(const std::string& name, const Symbol& data, const Symbol& moving_avg, const ops::IdentityAttachKLSparseRegOptions& options = {}) {
  return call_op("IdentityAttachKLSparseReg", name, {data, moving_avg}, dict_of(options));
}
template <class = void>
Symbol IdentityAttachKLSparseReg(const std::string& name, const ops::IdentityAttachKLSparseRegInputs& inputs, const ops::IdentityAttachKLSparseRegOptions& options = {}) {
  return call_op_named("IdentityAttachKLSparseReg", name, {{"data", inputs.data}, {"moving_avg", inputs.moving_avg}}, dict_of(options));
}
template <class = void>
NDArray IdentityAttachKLSparseReg(const NDArray& data, const NDArray& moving_avg, const ops::IdentityAttachKLSparseRegOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("IdentityAttachKLSparseReg");
  return op.one({data, moving_avg}, options, out);
}

namespace ops {
struct InstanceNormOptions {
  /// Added to the variance. (float, optional, default=0.001)
  std::optional<double> eps = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("eps", eps);
  }
};
struct InstanceNormInputs {
  Symbol data = {};
  Symbol gamma = {};
  Symbol beta = {};
};
}  // namespace ops
/// Normalises every channel of every sample.
template <class = void>
Symbol InstanceNorm(const std::string& name, const Symbol& data, const ops::InstanceNormOptions& options = {}) {
  return call_op("InstanceNorm", name, {data}, dict_of(options));
}
template <class = void>
Symbol InstanceNorm(const std::string& name, const ops::InstanceNormInputs& inputs, const ops::InstanceNormOptions& options = {}) {
  return call_op_named("InstanceNorm", name, {{"data", inputs.data}, {"gamma", inputs.gamma}, {"beta", inputs.beta}}, dict_of(options));
}
template <class = void>
NDArray InstanceNorm(const NDArray& data, const NDArray& gamma, const NDArray& beta, const ops::InstanceNormOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("InstanceNorm");
  return op.one({data, gamma, beta}, options, out);
}

namespace ops {
struct L2NormalizationOptions {
  /// Added to the sum of squares. (float, optional, default=1e-10)
  std::optional<double> eps = {};
  /// What is scaled to the length 1. ({'channel', 'instance', 'spatial'}, optional,
  /// default=instance)
  std::optional<std::string> mode = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("eps", eps);
    f("mode", mode);
  }
};
}  // namespace ops
/// Scales samples, positions or channels to the length 1.
template <class = void>
Symbol L2Normalization(const std::string& name, const Symbol& data, const ops::L2NormalizationOptions& options = {}) {
  return call_op("L2Normalization", name, {data}, dict_of(options));
}
template <class = void>
NDArray L2Normalization(const NDArray& data, const ops::L2NormalizationOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("L2Normalization");
  return op.one({data}, options, out);
}

namespace ops {
struct LRNOptions {
  /// Factor of the squares. (float, optional, default=0.0001)
  std::optional<double> alpha = {};
  /// The power. (float, optional, default=0.75)
  std::optional<double> beta = {};
  /// Added to the sum of squares. (float, optional, default=2)
  std::optional<double> knorm = {};
  /// Number of channels that are summed; odd. (int, required)
  std::optional<int> nsize = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("alpha", alpha);
    f("beta", beta);
    f("knorm", knorm);
    f("nsize", nsize);
  }
};
}  // namespace ops
/// Divides every element by the magnitude of its neighbours along the channels.
template <class = void>
Symbol LRN(const std::string& name, const Symbol& data, const ops::LRNOptions& options = {}) {
  return call_op("LRN", name, {data}, dict_of(options));
}
template <class = void>
NDArray LRN(const NDArray& data, const ops::LRNOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("LRN");
  return op.one({data}, options, out);
}

namespace ops {
struct LayerNormOptions {
  /// The axis to normalise along. (int, optional, default=-1)
  std::optional<int> axis = {};
  /// Added to the variance. (float, optional, default=1e-05)
  std::optional<double> eps = {};
  /// Whether mean and deviation are visible outputs. (boolean, optional, default=False)
  std::optional<bool> output_mean_var = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("eps", eps);
    f("output_mean_var", output_mean_var);
  }
};
struct LayerNormInputs {
  Symbol data = {};
  Symbol gamma = {};
  Symbol beta = {};
};
}  // namespace ops
/// Normalises along one axis.
template <class = void>
Symbol LayerNorm(const std::string& name, const Symbol& data, const ops::LayerNormOptions& options = {}) {
  return call_op("LayerNorm", name, {data}, dict_of(options));
}
template <class = void>
Symbol LayerNorm(const std::string& name, const ops::LayerNormInputs& inputs, const ops::LayerNormOptions& options = {}) {
  return call_op_named("LayerNorm", name, {{"data", inputs.data}, {"gamma", inputs.gamma}, {"beta", inputs.beta}}, dict_of(options));
}
template <class = void>
std::vector<NDArray> LayerNorm(const NDArray& data, const NDArray& gamma, const NDArray& beta, const ops::LayerNormOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("LayerNorm");
  return op.all({data, gamma, beta}, options, out);
}

namespace ops {
struct LeakyReLUOptions {
  /// Activation function to be applied. ({'elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'},
  /// optional, default=leaky)
  std::optional<std::string> act_type = {};
  /// Factor of negative numbers (leaky and elu). (float, optional, default=0.25)
  std::optional<double> slope = {};
  /// Lower bound of random slopes (rrelu). (float, optional, default=0.125)
  std::optional<double> lower_bound = {};
  /// Upper bound of random slopes (rrelu). (float, optional, default=0.334)
  std::optional<double> upper_bound = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("act_type", act_type);
    f("slope", slope);
    f("lower_bound", lower_bound);
    f("upper_bound", upper_bound);
  }
};
struct LeakyReLUInputs {
  Symbol data = {};
  Symbol gamma = {};
};
}  // namespace ops
/// Variants of relu that are not constant below 0.
template <class = void>
Symbol LeakyReLU(const std::string& name, const Symbol& data, const ops::LeakyReLUOptions& options = {}) {
  return call_op("LeakyReLU", name, {data}, dict_of(options));
}
template <class = void>
Symbol LeakyReLU(const std::string& name, const Symbol& data, const Symbol& gamma, const ops::LeakyReLUOptions& options = {}) {
  return call_op("LeakyReLU", name, {data, gamma}, dict_of(options));
}
template <class = void>
Symbol LeakyReLU(const std::string& name, const ops::LeakyReLUInputs& inputs, const ops::LeakyReLUOptions& options = {}) {
  return call_op_named("LeakyReLU", name, {{"data", inputs.data}, {"gamma", inputs.gamma}}, dict_of(options));
}
template <class = void>
NDArray LeakyReLU(const NDArray& data, const ops::LeakyReLUOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("LeakyReLU");
  return op.one({data}, options, out);
}
template <class = void>
NDArray LeakyReLU(const NDArray& data, const NDArray& gamma, const ops::LeakyReLUOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("LeakyReLU");
  return op.one({data, gamma}, options, out);
}

namespace ops {
struct LinearRegressionOutputOptions {
  /// Scales the gradient. (float, optional, default=1)
  std::optional<double> grad_scale = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("grad_scale", grad_scale);
  }
};
struct LinearRegressionOutputInputs {
  Symbol data = {};
  Symbol label = {};
};
}  // namespace ops
/// The data; its gradient is that of half the squared distance to the label.
template <class = void>
Symbol LinearRegressionOutput(const std::string& name, const Symbol& data, const ops::LinearRegressionOutputOptions& options = {}) {
  return call_op("LinearRegressionOutput", name, {data}, dict_of(options));
}
template <class = void>
Symbol LinearRegressionOutput(const std::string& name, const Symbol& data, const Symbol& label, const ops::LinearRegressionOutputOptions& options = {}) {
  return call_op("LinearRegressionOutput", name, {data, label}, dict_of(options));
}
template <class = void>
Symbol LinearRegressionOutput(const std::string& name, const ops::LinearRegressionOutputInputs& inputs, const ops::LinearRegressionOutputOptions& options = {}) {
  return call_op_named("LinearRegressionOutput", name, {{"data", inputs.data}, {"label", inputs.label}}, dict_of(options));
}
template <class = void>
NDArray LinearRegressionOutput(const NDArray& data, const NDArray& label, const ops::LinearRegressionOutputOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("LinearRegressionOutput");
  return op.one({data, label}, options, out);
}

namespace ops {
struct LogisticRegressionOutputOptions {
  /// Scales the gradient. (float, optional, default=1)
  std::optional<double> grad_scale = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("grad_scale", grad_scale);
  }
};
struct LogisticRegressionOutputInputs {
  Symbol data = {};
  Symbol label = {};
};
}  // namespace ops
/// Sigmoid; its gradient is that of the cross entropy with the label.
template <class = void>
Symbol LogisticRegressionOutput(const std::string& name, const Symbol& data, const ops::LogisticRegressionOutputOptions& options = {}) {
  return call_op("LogisticRegressionOutput", name, {data}, dict_of(options));
}
template <class = void>
Symbol LogisticRegressionOutput(const std::string& name, const Symbol& data, const Symbol& label, const ops::LogisticRegressionOutputOptions& options = {}) {
  return call_op("LogisticRegressionOutput", name, {data, label}, dict_of(options));
}
template <class = void>
Symbol LogisticRegressionOutput(const std::string& name, const ops::LogisticRegressionOutputInputs& inputs, const ops::LogisticRegressionOutputOptions& options = {}) {
  return call_op_named("LogisticRegressionOutput", name, {{"data", inputs.data}, {"label", inputs.label}}, dict_of(options));
}
template <class = void>
NDArray LogisticRegressionOutput(const NDArray& data, const NDArray& label, const ops::LogisticRegressionOutputOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("LogisticRegressionOutput");
  return op.one({data, label}, options, out);
}

namespace ops {
struct MAERegressionOutputOptions {
  /// Scales the gradient. (float, optional, default=1)
  std::optional<double> grad_scale = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("grad_scale", grad_scale);
  }
};
struct MAERegressionOutputInputs {
  Symbol data = {};
  Symbol label = {};
};
}  // namespace ops
/// The data; its gradient is that of the absolute distance to the label.
template <class = void>
Symbol MAERegressionOutput(const std::string& name, const Symbol& data, const ops::MAERegressionOutputOptions& options = {}) {
  return call_op("MAERegressionOutput", name, {data}, dict_of(options));
}
template <class = void>
Symbol MAERegressionOutput(const std::string& name, const Symbol& data, const Symbol& label, const ops::MAERegressionOutputOptions& options = {}) {
  return call_op("MAERegressionOutput", name, {data, label}, dict_of(options));
}
template <class = void>
Symbol MAERegressionOutput(const std::string& name, const ops::MAERegressionOutputInputs& inputs, const ops::MAERegressionOutputOptions& options = {}) {
  return call_op_named("MAERegressionOutput", name, {{"data", inputs.data}, {"label", inputs.label}}, dict_of(options));
}
template <class = void>
NDArray MAERegressionOutput(const NDArray& data, const NDArray& label, const ops::MAERegressionOutputOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("MAERegressionOutput");
  return op.one({data, label}, options, out);
}

namespace ops {
struct MakeLossOptions {
  /// The gradient, before it is divided. (float, optional, default=1)
  std::optional<double> grad_scale = {};
  /// With normalization valid, only elements above count. (float, optional, default=0)
  std::optional<double> valid_thresh = {};
  /// Divides the gradient by 1, the number of rows (all axes but the last) or the number of valid
  /// elements. ({'batch', 'null', 'valid'}, optional, default=null)
  std::optional<std::string> normalization = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("grad_scale", grad_scale);
    f("valid_thresh", valid_thresh);
    f("normalization", normalization);
  }
};
}  // namespace ops
/// The input as a loss: backward starts here with a constant.
template <class = void>
Symbol MakeLoss(const std::string& name, const Symbol& data, const ops::MakeLossOptions& options = {}) {
  return call_op("MakeLoss", name, {data}, dict_of(options));
}
template <class = void>
NDArray MakeLoss(const NDArray& data, const ops::MakeLossOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("MakeLoss");
  return op.one({data}, options, out);
}

namespace ops {
struct PadOptions {
  /// How the border is filled. ({'constant', 'edge', 'reflect'}, required)
  std::optional<std::string> mode = {};
  /// Before and after, for each axis: (before0, after0, before1, …). (Shape(tuple), required)
  TupleOption pad_width = {};
  /// The border's value with mode constant. (double, optional, default=0)
  std::optional<double> constant_value = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("mode", mode);
    f("pad_width", pad_width);
    f("constant_value", constant_value);
  }
};
}  // namespace ops
/// The input with a border.
template <class = void>
Symbol Pad(const std::string& name, const Symbol& data, const ops::PadOptions& options = {}) {
  return call_op("Pad", name, {data}, dict_of(options));
}
template <class = void>
NDArray Pad(const NDArray& data, const ops::PadOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Pad");
  return op.one({data}, options, out);
}

namespace ops {
struct PoolingOptions {
  /// Window size: (w,), (h, w) or (d, h, w). (Shape(tuple), optional, default=())
  TupleOption kernel = {};
  /// The function of a window. ({'avg', 'lp', 'max', 'sum'}, optional, default=max)
  std::optional<std::string> pool_type = {};
  /// Whether the window is the whole image. (boolean, optional, default=False)
  std::optional<bool> global_pool = {};
  /// Accepted, without effect. (boolean, optional, default=False)
  std::optional<bool> cudnn_off = {};
  /// How the number of windows is rounded. ({'full', 'same', 'valid'}, optional, default=valid)
  std::optional<std::string> pooling_convention = {};
  /// Stride of the window; 1 by default. (Shape(tuple), optional, default=())
  TupleOption stride = {};
  /// Padding on both sides; 0 by default. (Shape(tuple), optional, default=())
  TupleOption pad = {};
  /// The p of lp pooling. (int or None, optional, default=None)
  std::optional<int> p_value = {};
  /// Whether averages count padding; true by default. (boolean or None, optional, default=None)
  std::optional<bool> count_include_pad = {};
  /// Layout of the data. ({None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'}, optional,
  /// default=None)
  std::optional<std::string> layout = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("kernel", kernel);
    f("pool_type", pool_type);
    f("global_pool", global_pool);
    f("cudnn_off", cudnn_off);
    f("pooling_convention", pooling_convention);
    f("stride", stride);
    f("pad", pad);
    f("p_value", p_value);
    f("count_include_pad", count_include_pad);
    f("layout", layout);
  }
};
}  // namespace ops
/// Maximum, average, sum or p-norm of a sliding window.
template <class = void>
Symbol Pooling(const std::string& name, const Symbol& data, const ops::PoolingOptions& options = {}) {
  return call_op("Pooling", name, {data}, dict_of(options));
}
template <class = void>
NDArray Pooling(const NDArray& data, const ops::PoolingOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Pooling");
  return op.one({data}, options, out);
}

namespace ops {
struct RNNOptions {
  /// Size of each layer's state. (int, required)
  std::optional<int> state_size = {};
  /// Number of layers. (int, required)
  std::optional<int> num_layers = {};
  /// Whether every layer also runs backwards in time. (boolean, optional, default=False)
  std::optional<bool> bidirectional = {};
  /// The kind of cell. ({'gru', 'lstm', 'rnn_relu', 'rnn_tanh'}, required)
  std::optional<std::string> mode = {};
  /// Fraction of each layer's outputs, but the last's, dropped in training. (float, optional,
  /// default=0)
  std::optional<double> p = {};
  /// Whether the last states are outputs. (boolean, optional, default=False)
  std::optional<bool> state_outputs = {};
  /// Size an LSTM's outputs are projected to. (int or None, optional, default=None)
  std::optional<int> projection_size = {};
  /// Lower bound of an LSTM's cell. (double or None, optional, default=None)
  std::optional<double> lstm_state_clip_min = {};
  /// Upper bound of an LSTM's cell. (double or None, optional, default=None)
  std::optional<double> lstm_state_clip_max = {};
  /// Whether clipping also replaces NaN. (boolean, optional, default=False)
  std::optional<bool> lstm_state_clip_nan = {};
  /// Whether an input gives the number of steps of each sample. (boolean, optional, default=False)
  std::optional<bool> use_sequence_length = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("state_size", state_size);
    f("num_layers", num_layers);
    f("bidirectional", bidirectional);
    f("mode", mode);
    f("p", p);
    f("state_outputs", state_outputs);
    f("projection_size", projection_size);
    f("lstm_state_clip_min", lstm_state_clip_min);
    f("lstm_state_clip_max", lstm_state_clip_max);
    f("lstm_state_clip_nan", lstm_state_clip_nan);
    f("use_sequence_length", use_sequence_length);
  }
};
struct RNNInputs {
  Symbol data = {};
  Symbol parameters = {};
  Symbol state = {};
  Symbol state_cell = {};
  Symbol sequence_length = {};
};
}  // namespace ops
/// A stack of recurrent layers over all steps.
template <class = void>
Symbol RNN(const std::string& name, const Symbol& data, const ops::RNNOptions& options = {}) {
  return call_op("RNN", name, {data}, dict_of(options));
}
template <class = void>
Symbol RNN(const std::string& name, const ops::RNNInputs& inputs, const ops::RNNOptions& options = {}) {
  return call_op_named("RNN", name, {{"data", inputs.data}, {"parameters", inputs.parameters}, {"state", inputs.state}, {"state_cell", inputs.state_cell}, {"sequence_length", inputs.sequence_length}}, dict_of(options));
}
template <class = void>
std::vector<NDArray> RNN(const NDArray& data, const NDArray& parameters, const NDArray& state, const ops::RNNOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("RNN");
  return op.all({data, parameters, state}, options, out);
}
template <class = void>
std::vector<NDArray> RNN(const NDArray& data, const NDArray& parameters, const NDArray& state, const NDArray& state_cell, const ops::RNNOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("RNN");
  return op.all({data, parameters, state, state_cell}, options, out);
}
template <class = void>
std::vector<NDArray> RNN(const NDArray& data, const NDArray& parameters, const NDArray& state, const NDArray& state_cell, const NDArray& sequence_length, const ops::RNNOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("RNN");
  return op.all({data, parameters, state, state_cell, sequence_length}, options, out);
}

namespace ops {
struct ROIPoolingOptions {
  /// The size of every output: (h, w). (Shape(tuple), required)
  TupleOption pooled_size = {};
  /// Scale from the regions' coordinates to the data's. (float, required)
  std::optional<double> spatial_scale = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("pooled_size", pooled_size);
    f("spatial_scale", spatial_scale);
  }
};
struct ROIPoolingInputs {
  Symbol data = {};
  Symbol rois = {};
};
}  // namespace ops
/// Max pooling of regions of images, each to one size.
template <class = void>
Symbol ROIPooling(const std::string& name, const Symbol& data, const ops::ROIPoolingOptions& options = {}) {
  return call_op("ROIPooling", name, {data}, dict_of(options));
}
template <class = void>
Symbol ROIPooling(const std::string& name, const Symbol& data, const Symbol& rois, const ops::ROIPoolingOptions& options = {}) {
  return call_op("ROIPooling", name, {data, rois}, dict_of(options));
}
template <class = void>
Symbol ROIPooling(const std::string& name, const ops::ROIPoolingInputs& inputs, const ops::ROIPoolingOptions& options = {}) {
  return call_op_named("ROIPooling", name, {{"data", inputs.data}, {"rois", inputs.rois}}, dict_of(options));
}
template <class = void>
NDArray ROIPooling(const NDArray& data, const NDArray& rois, const ops::ROIPoolingOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("ROIPooling");
  return op.one({data, rois}, options, out);
}

namespace ops {
struct ReshapeOptions {
  /// The new shape; 0 copies, -1 is inferred, -2 copies the rest, -3 merges two, -4 splits one.
  /// (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// Reads the codes from the right. (boolean, optional, default=False)
  std::optional<bool> reverse = {};
  /// Older form of shape; 0 is inferred. (Shape(tuple), optional, default=())
  TupleOption target_shape = {};
  /// With target_shape: the first extent is the input's. (boolean, optional, default=False)
  std::optional<bool> keep_highest = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("reverse", reverse);
    f("target_shape", target_shape);
    f("keep_highest", keep_highest);
  }
};
}  // namespace ops
/// The same elements under another shape.
template <class = void>
Symbol Reshape(const std::string& name, const Symbol& data, const ops::ReshapeOptions& options = {}) {
  return call_op("Reshape", name, {data}, dict_of(options));
}
template <class = void>
NDArray Reshape(const NDArray& data, const ops::ReshapeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("Reshape");
  return op.one({data}, options, out);
}

namespace ops {
struct SVMOutputOptions {
  /// Scores beyond it have no loss. (float, optional, default=1)
  std::optional<double> margin = {};
  /// Scales the gradient. (float, optional, default=1)
  std::optional<double> regularization_coefficient = {};
  /// Whether the loss is linear (L1) instead of squared (L2). (boolean, optional, default=False)
  std::optional<bool> use_linear = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("margin", margin);
    f("regularization_coefficient", regularization_coefficient);
    f("use_linear", use_linear);
  }
};
struct SVMOutputInputs {
  Symbol data = {};
  Symbol label = {};
};
}  // namespace ops
/// The data; its gradient is that of hinge losses with the label.
template <class = void>
Symbol SVMOutput(const std::string& name, const Symbol& data, const ops::SVMOutputOptions& options = {}) {
  return call_op("SVMOutput", name, {data}, dict_of(options));
}
template <class = void>
Symbol SVMOutput(const std::string& name, const Symbol& data, const Symbol& label, const ops::SVMOutputOptions& options = {}) {
  return call_op("SVMOutput", name, {data, label}, dict_of(options));
}
template <class = void>
Symbol SVMOutput(const std::string& name, const ops::SVMOutputInputs& inputs, const ops::SVMOutputOptions& options = {}) {
  return call_op_named("SVMOutput", name, {{"data", inputs.data}, {"label", inputs.label}}, dict_of(options));
}
template <class = void>
NDArray SVMOutput(const NDArray& data, const NDArray& label, const ops::SVMOutputOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SVMOutput");
  return op.one({data, label}, options, out);
}

namespace ops {
struct SequenceLastOptions {
  /// Whether lengths are given as an input. (boolean, optional, default=False)
  std::optional<bool> use_sequence_length = {};
  /// The axis of time, 0 or 1. (int, optional, default=0)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("use_sequence_length", use_sequence_length);
    f("axis", axis);
  }
};
struct SequenceLastInputs {
  Symbol data = {};
  Symbol sequence_length = {};
};
}  // namespace ops
/// The last step of each sequence.
template <class = void>
Symbol SequenceLast(const std::string& name, const Symbol& data, const ops::SequenceLastOptions& options = {}) {
  return call_op("SequenceLast", name, {data}, dict_of(options));
}
template <class = void>
Symbol SequenceLast(const std::string& name, const Symbol& data, const Symbol& sequence_length, const ops::SequenceLastOptions& options = {}) {
  return call_op("SequenceLast", name, {data, sequence_length}, dict_of(options));
}
template <class = void>
Symbol SequenceLast(const std::string& name, const ops::SequenceLastInputs& inputs, const ops::SequenceLastOptions& options = {}) {
  return call_op_named("SequenceLast", name, {{"data", inputs.data}, {"sequence_length", inputs.sequence_length}}, dict_of(options));
}
template <class = void>
NDArray SequenceLast(const NDArray& data, const ops::SequenceLastOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SequenceLast");
  return op.one({data}, options, out);
}
template <class = void>
NDArray SequenceLast(const NDArray& data, const NDArray& sequence_length, const ops::SequenceLastOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SequenceLast");
  return op.one({data, sequence_length}, options, out);
}

namespace ops {
struct SequenceMaskOptions {
  /// Whether lengths are given as an input. (boolean, optional, default=False)
  std::optional<bool> use_sequence_length = {};
  /// The value after the end of a sequence. (float, optional, default=0)
  std::optional<double> value = {};
  /// The axis of time, 0 or 1. (int, optional, default=0)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("use_sequence_length", use_sequence_length);
    f("value", value);
    f("axis", axis);
  }
};
struct SequenceMaskInputs {
  Symbol data = {};
  Symbol sequence_length = {};
};
}  // namespace ops
/// Sets everything after the end of each sequence to a value.
template <class = void>
Symbol SequenceMask(const std::string& name, const Symbol& data, const ops::SequenceMaskOptions& options = {}) {
  return call_op("SequenceMask", name, {data}, dict_of(options));
}
template <class = void>
Symbol SequenceMask(const std::string& name, const Symbol& data, const Symbol& sequence_length, const ops::SequenceMaskOptions& options = {}) {
  return call_op("SequenceMask", name, {data, sequence_length}, dict_of(options));
}
template <class = void>
Symbol SequenceMask(const std::string& name, const ops::SequenceMaskInputs& inputs, const ops::SequenceMaskOptions& options = {}) {
  return call_op_named("SequenceMask", name, {{"data", inputs.data}, {"sequence_length", inputs.sequence_length}}, dict_of(options));
}
template <class = void>
NDArray SequenceMask(const NDArray& data, const ops::SequenceMaskOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SequenceMask");
  return op.one({data}, options, out);
}
template <class = void>
NDArray SequenceMask(const NDArray& data, const NDArray& sequence_length, const ops::SequenceMaskOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SequenceMask");
  return op.one({data, sequence_length}, options, out);
}

namespace ops {
struct SequenceReverseOptions {
  /// Whether lengths are given as an input. (boolean, optional, default=False)
  std::optional<bool> use_sequence_length = {};
  /// The axis of time, 0 or 1. (int, optional, default=0)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("use_sequence_length", use_sequence_length);
    f("axis", axis);
  }
};
struct SequenceReverseInputs {
  Symbol data = {};
  Symbol sequence_length = {};
};
}  // namespace ops
/// Each sequence in reverse order; elements after its end are unchanged.
template <class = void>
Symbol SequenceReverse(const std::string& name, const Symbol& data, const ops::SequenceReverseOptions& options = {}) {
  return call_op("SequenceReverse", name, {data}, dict_of(options));
}
template <class = void>
Symbol SequenceReverse(const std::string& name, const Symbol& data, const Symbol& sequence_length, const ops::SequenceReverseOptions& options = {}) {
  return call_op("SequenceReverse", name, {data, sequence_length}, dict_of(options));
}
template <class = void>
Symbol SequenceReverse(const std::string& name, const ops::SequenceReverseInputs& inputs, const ops::SequenceReverseOptions& options = {}) {
  return call_op_named("SequenceReverse", name, {{"data", inputs.data}, {"sequence_length", inputs.sequence_length}}, dict_of(options));
}
template <class = void>
NDArray SequenceReverse(const NDArray& data, const ops::SequenceReverseOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SequenceReverse");
  return op.one({data}, options, out);
}
template <class = void>
NDArray SequenceReverse(const NDArray& data, const NDArray& sequence_length, const ops::SequenceReverseOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SequenceReverse");
  return op.one({data, sequence_length}, options, out);
}

namespace ops {
struct SliceChannelOptions {
  /// Number of parts; the axis must divide by it. (int, required)
  std::optional<int> num_outputs = {};
  /// The axis to split. (int, optional, default=1)
  std::optional<int> axis = {};
  /// Drops the axis; parts must have extent 1. (boolean, optional, default=False)
  std::optional<bool> squeeze_axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("num_outputs", num_outputs);
    f("axis", axis);
    f("squeeze_axis", squeeze_axis);
  }
};
}  // namespace ops
/// Splits the input into equal parts along an axis.
template <class = void>
Symbol SliceChannel(const std::string& name, const Symbol& data, const ops::SliceChannelOptions& options = {}) {
  return call_op("SliceChannel", name, {data}, dict_of(options));
}
template <class = void>
std::vector<NDArray> SliceChannel(const NDArray& data, const ops::SliceChannelOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("SliceChannel");
  return op.all({data}, options, out);
}

namespace ops {
struct SoftmaxActivationOptions {
  /// Whether to normalise along the last axis, or along the channels (axis 1). ({'channel',
  /// 'instance'}, optional, default=instance)
  std::optional<std::string> mode = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("mode", mode);
  }
};
}  // namespace ops
/// Softmax along the last axis, or over the channels of each position.
template <class = void>
Symbol SoftmaxActivation(const std::string& name, const Symbol& data, const ops::SoftmaxActivationOptions& options = {}) {
  return call_op("SoftmaxActivation", name, {data}, dict_of(options));
}
template <class = void>
NDArray SoftmaxActivation(const NDArray& data, const ops::SoftmaxActivationOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SoftmaxActivation");
  return op.one({data}, options, out);
}

namespace ops {
struct SoftmaxOutputOptions {
  /// Scales the gradient. (float, optional, default=1)
  std::optional<double> grad_scale = {};
  /// With use_ignore, rows of this label have no gradient. (float, optional, default=-1)
  std::optional<double> ignore_label = {};
  /// Whether the classes are along axis 1. (boolean, optional, default=False)
  std::optional<bool> multi_output = {};
  /// Whether ignore_label is used. (boolean, optional, default=False)
  std::optional<bool> use_ignore = {};
  /// Whether the classes are along the last axis. (boolean, optional, default=False)
  std::optional<bool> preserve_shape = {};
  /// Divides the gradient by 1, the batch size or the number of labels not ignored. ({'batch',
  /// 'null', 'valid'}, optional, default=null)
  std::optional<std::string> normalization = {};
  /// Multiplies the gradient with the output. (boolean, optional, default=False)
  std::optional<bool> out_grad = {};
  /// Moved from the label's class to all others. (float, optional, default=0)
  std::optional<double> smooth_alpha = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("grad_scale", grad_scale);
    f("ignore_label", ignore_label);
    f("multi_output", multi_output);
    f("use_ignore", use_ignore);
    f("preserve_shape", preserve_shape);
    f("normalization", normalization);
    f("out_grad", out_grad);
    f("smooth_alpha", smooth_alpha);
  }
};
struct SoftmaxOutputInputs {
  Symbol data = {};
  Symbol label = {};
};
}  // namespace ops
/// Softmax; its gradient is that of the cross entropy with the label.
template <class = void>
Symbol SoftmaxOutput(const std::string& name, const Symbol& data, const ops::SoftmaxOutputOptions& options = {}) {
  return call_op("SoftmaxOutput", name, {data}, dict_of(options));
}
template <class = void>
Symbol SoftmaxOutput(const std::string& name, const Symbol& data, const Symbol& label, const ops::SoftmaxOutputOptions& options = {}) {
  return call_op("SoftmaxOutput", name, {data, label}, dict_of(options));
}
template <class = void>
Symbol SoftmaxOutput(const std::string& name, const ops::SoftmaxOutputInputs& inputs, const ops::SoftmaxOutputOptions& options = {}) {
  return call_op_named("SoftmaxOutput", name, {{"data", inputs.data}, {"label", inputs.label}}, dict_of(options));
}
template <class = void>
NDArray SoftmaxOutput(const NDArray& data, const NDArray& label, const ops::SoftmaxOutputOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SoftmaxOutput");
  return op.one({data, label}, options, out);
}

namespace ops {
struct SpatialTransformerOptions {
  /// The output's size (h, w). (Shape(tuple), optional, default=(0, 0))
  TupleOption target_shape = {};
  /// The kind of transform. ({'affine'}, required)
  std::optional<std::string> transform_type = {};
  /// The kind of sampler. ({'bilinear'}, required)
  std::optional<std::string> sampler_type = {};
  /// Accepted, without effect. (boolean or None, optional, default=None)
  std::optional<bool> cudnn_off = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("target_shape", target_shape);
    f("transform_type", transform_type);
    f("sampler_type", sampler_type);
    f("cudnn_off", cudnn_off);
  }
};
struct SpatialTransformerInputs {
  Symbol data = {};
  Symbol loc = {};
};
}  // namespace ops
/// Images under an affine transform that a net computes.
template <class = void>
Symbol SpatialTransformer(const std::string& name, const Symbol& data, const ops::SpatialTransformerOptions& options = {}) {
  return call_op("SpatialTransformer", name, {data}, dict_of(options));
}
template <class = void>
Symbol SpatialTransformer(const std::string& name, const Symbol& data, const Symbol& loc, const ops::SpatialTransformerOptions& options = {}) {
  return call_op("SpatialTransformer", name, {data, loc}, dict_of(options));
}
template <class = void>
Symbol SpatialTransformer(const std::string& name, const ops::SpatialTransformerInputs& inputs, const ops::SpatialTransformerOptions& options = {}) {
  return call_op_named("SpatialTransformer", name, {{"data", inputs.data}, {"loc", inputs.loc}}, dict_of(options));
}
template <class = void>
NDArray SpatialTransformer(const NDArray& data, const NDArray& loc, const ops::SpatialTransformerOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SpatialTransformer");
  return op.one({data, loc}, options, out);
}

namespace ops {
struct SwapAxisOptions {
  /// The first axis. (int, optional, default=0)
  std::optional<int> dim1 = {};
  /// The axis it is swapped with. (int, optional, default=0)
  std::optional<int> dim2 = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("dim1", dim1);
    f("dim2", dim2);
  }
};
}  // namespace ops
/// Swaps two axes.
template <class = void>
Symbol SwapAxis(const std::string& name, const Symbol& data, const ops::SwapAxisOptions& options = {}) {
  return call_op("SwapAxis", name, {data}, dict_of(options));
}
template <class = void>
NDArray SwapAxis(const NDArray& data, const ops::SwapAxisOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("SwapAxis");
  return op.one({data}, options, out);
}

namespace ops {
struct UpSamplingOptions {
  /// The factor. (int, required)
  std::optional<int> scale = {};
  /// The number of channels; bilinear only. (int, optional, default=0)
  std::optional<int> num_filter = {};
  /// How to interpolate. ({'bilinear', 'nearest'}, required)
  std::optional<std::string> sample_type = {};
  /// What to do with several inputs. ({'concat', 'sum'}, optional, default=concat)
  std::optional<std::string> multi_input_mode = {};
  /// Accepted, without effect. (long, optional, default=512)
  std::optional<std::int64_t> workspace = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("scale", scale);
    f("num_filter", num_filter);
    f("sample_type", sample_type);
    f("multi_input_mode", multi_input_mode);
    f("workspace", workspace);
  }
};
}  // namespace ops
/// Makes images larger by a whole factor.
template <class = void>
Symbol UpSampling(const std::string& name, const std::vector<Symbol>& inputs, const ops::UpSamplingOptions& options = {}) {
  return call_op("UpSampling", name, inputs, dict_of(options));
}
template <class = void>
NDArray UpSampling(const std::vector<NDArray>& inputs, const ops::UpSamplingOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("UpSampling");
  return op.one(inputs, options, out);
}

/// Elementwise abs.
template <class = void>
Symbol abs(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("abs", name, {data}, dict_of(options));
}
template <class = void>
NDArray abs(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("abs");
  return op.one({data}, options, out);
}

namespace ops {
struct AdamUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the mean that is kept. (float, optional, default=0.9)
  std::optional<double> beta1 = {};
  /// The share of the mean square that is kept. (float, optional, default=0.999)
  std::optional<double> beta2 = {};
  /// Keeps the division finite. (float, optional, default=1e-08)
  std::optional<double> epsilon = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  /// For sparse gradients; without effect. (boolean, optional, default=True)
  std::optional<bool> lazy_update = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("lazy_update", lazy_update);
  }
};
struct AdamUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mean = {};
  Symbol var = {};
};
}  // namespace ops
/// One step of Adam; writes mean and var; give the weight as out.
template <class = void>
Symbol adam_update(const std::string& name, const Symbol& weight, const ops::AdamUpdateOptions& options = {}) {
  return call_op("adam_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol adam_update(const std::string& name, const ops::AdamUpdateInputs& inputs, const ops::AdamUpdateOptions& options = {}) {
  return call_op_named("adam_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mean", inputs.mean}, {"var", inputs.var}}, dict_of(options));
}
template <class = void>
NDArray adam_update(const NDArray& weight, const NDArray& grad, const NDArray& mean, const NDArray& var, const ops::AdamUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("adam_update");
  return op.one({weight, grad, mean, var}, options, out);
}

/// The sum of its inputs.
template <class = void>
Symbol add_n(const std::string& name, const std::vector<Symbol>& inputs, const NoOptions& options = {}) {
  return call_op("add_n", name, inputs, dict_of(options));
}
template <class = void>
NDArray add_n(const std::vector<NDArray>& inputs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("add_n");
  return op.one(inputs, options, out);
}

namespace ops {
struct AllFiniteOptions {
  /// Whether the output starts as 1. (boolean, optional, default=True)
  std::optional<bool> init_output = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("init_output", init_output);
  }
};
}  // namespace ops
/// 1 if every number is finite, else 0.
template <class = void>
Symbol all_finite(const std::string& name, const Symbol& data, const ops::AllFiniteOptions& options = {}) {
  return call_op("all_finite", name, {data}, dict_of(options));
}
template <class = void>
NDArray all_finite(const NDArray& data, const ops::AllFiniteOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("all_finite");
  return op.one({data}, options, out);
}

namespace ops {
struct AmpCastOptions {
  /// The element type of the output. (dtype, required)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("dtype", dtype);
  }
};
}  // namespace ops
/// A float32 or 16-bit array in another element type; others are unchanged.
template <class = void>
Symbol amp_cast(const std::string& name, const Symbol& data, const ops::AmpCastOptions& options = {}) {
  return call_op("amp_cast", name, {data}, dict_of(options));
}
template <class = void>
NDArray amp_cast(const NDArray& data, const ops::AmpCastOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("amp_cast");
  return op.one({data}, options, out);
}

namespace ops {
struct AmpMulticastOptions {
  /// Whether to use the narrowest type instead of the widest. (boolean, optional, default=False)
  std::optional<bool> cast_narrow = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("cast_narrow", cast_narrow);
  }
};
}  // namespace ops
/// float32 and 16-bit arrays in one type; others are unchanged.
template <class = void>
Symbol amp_multicast(const std::string& name, const std::vector<Symbol>& inputs, const ops::AmpMulticastOptions& options = {}) {
  return call_op("amp_multicast", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> amp_multicast(const std::vector<NDArray>& inputs, const ops::AmpMulticastOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("amp_multicast");
  return op.all(inputs, options, out);
}

/// Elementwise arccos.
template <class = void>
Symbol arccos(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("arccos", name, {data}, dict_of(options));
}
template <class = void>
NDArray arccos(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("arccos");
  return op.one({data}, options, out);
}

/// Elementwise arccosh.
template <class = void>
Symbol arccosh(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("arccosh", name, {data}, dict_of(options));
}
template <class = void>
NDArray arccosh(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("arccosh");
  return op.one({data}, options, out);
}

/// Elementwise arcsin.
template <class = void>
Symbol arcsin(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("arcsin", name, {data}, dict_of(options));
}
template <class = void>
NDArray arcsin(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("arcsin");
  return op.one({data}, options, out);
}

/// Elementwise arcsinh.
template <class = void>
Symbol arcsinh(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("arcsinh", name, {data}, dict_of(options));
}
template <class = void>
NDArray arcsinh(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("arcsinh");
  return op.one({data}, options, out);
}

/// Elementwise arctan.
template <class = void>
Symbol arctan(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("arctan", name, {data}, dict_of(options));
}
template <class = void>
NDArray arctan(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("arctan");
  return op.one({data}, options, out);
}

/// Elementwise arctanh.
template <class = void>
Symbol arctanh(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("arctanh", name, {data}, dict_of(options));
}
template <class = void>
NDArray arctanh(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("arctanh");
  return op.one({data}, options, out);
}

namespace ops {
struct ArgmaxOptions {
  /// The axis to search; None searches everything. (int or None, optional, default=None)
  std::optional<int> axis = {};
  /// Keeps the axis with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
  }
};
}  // namespace ops
/// The index of the largest element along an axis.
template <class = void>
Symbol argmax(const std::string& name, const Symbol& data, const ops::ArgmaxOptions& options = {}) {
  return call_op("argmax", name, {data}, dict_of(options));
}
template <class = void>
NDArray argmax(const NDArray& data, const ops::ArgmaxOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("argmax");
  return op.one({data}, options, out);
}

/// The index of the largest element along axis 1.
template <class = void>
Symbol argmax_channel(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("argmax_channel", name, {data}, dict_of(options));
}
template <class = void>
NDArray argmax_channel(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("argmax_channel");
  return op.one({data}, options, out);
}

namespace ops {
struct ArgminOptions {
  /// The axis to search; None searches everything. (int or None, optional, default=None)
  std::optional<int> axis = {};
  /// Keeps the axis with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
  }
};
}  // namespace ops
/// The index of the smallest element along an axis.
template <class = void>
Symbol argmin(const std::string& name, const Symbol& data, const ops::ArgminOptions& options = {}) {
  return call_op("argmin", name, {data}, dict_of(options));
}
template <class = void>
NDArray argmin(const NDArray& data, const ops::ArgminOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("argmin");
  return op.one({data}, options, out);
}

namespace ops {
struct ArgsortOptions {
  /// The axis along which to sort; None takes the array as one row. (int or None, optional,
  /// default=-1)
  std::optional<int> axis = {};
  /// Whether values ascend. (boolean, optional, default=True)
  std::optional<bool> is_ascend = {};
  /// The element type of the indices. (dtype, optional, default=float32)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("is_ascend", is_ascend);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// The indices of the elements in order along an axis.
template <class = void>
Symbol argsort(const std::string& name, const Symbol& data, const ops::ArgsortOptions& options = {}) {
  return call_op("argsort", name, {data}, dict_of(options));
}
template <class = void>
NDArray argsort(const NDArray& data, const ops::ArgsortOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("argsort");
  return op.one({data}, options, out);
}

namespace ops {
struct BatchDotOptions {
  /// Whether the left operand is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_a = {};
  /// Whether the right operand is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_b = {};
  /// Accepted, without effect: arrays are dense. ({None, 'csr', 'default', 'row_sparse'}, optional,
  /// default=None)
  std::optional<std::string> forward_stype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose_a", transpose_a);
    f("transpose_b", transpose_b);
    f("forward_stype", forward_stype);
  }
};
struct BatchDotInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Products of matrices, one for each index of the shared leading axes.
template <class = void>
Symbol batch_dot(const std::string& name, const Symbol& lhs, const ops::BatchDotOptions& options = {}) {
  return call_op("batch_dot", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol batch_dot(const std::string& name, const Symbol& lhs, const Symbol& rhs, const ops::BatchDotOptions& options = {}) {
  return call_op("batch_dot", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol batch_dot(const std::string& name, const ops::BatchDotInputs& inputs, const ops::BatchDotOptions& options = {}) {
  return call_op_named("batch_dot", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray batch_dot(const NDArray& lhs, const NDArray& rhs, const ops::BatchDotOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("batch_dot");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BatchTakeInputs {
  Symbol a = {};
  Symbol indices = {};
};
}  // namespace ops
/// One element of every row of the last axis, by index.
template <class = void>
Symbol batch_take(const std::string& name, const Symbol& a, const NoOptions& options = {}) {
  return call_op("batch_take", name, {a}, dict_of(options));
}
template <class = void>
Symbol batch_take(const std::string& name, const Symbol& a, const Symbol& indices, const NoOptions& options = {}) {
  return call_op("batch_take", name, {a, indices}, dict_of(options));
}
template <class = void>
Symbol batch_take(const std::string& name, const ops::BatchTakeInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("batch_take", name, {{"a", inputs.a}, {"indices", inputs.indices}}, dict_of(options));
}
template <class = void>
NDArray batch_take(const NDArray& a, const NDArray& indices, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("batch_take");
  return op.one({a, indices}, options, out);
}

namespace ops {
struct BroadcastAddInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise add of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_add(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_add", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_add(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_add", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_add(const std::string& name, const ops::BroadcastAddInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_add", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_add(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_add");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastAxisOptions {
  /// The axes to broadcast. (Shape(tuple), optional, default=())
  TupleOption axis = {};
  /// Their new extents. (Shape(tuple), optional, default=())
  TupleOption size = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("size", size);
  }
};
}  // namespace ops
/// The input broadcast along axes.
template <class = void>
Symbol broadcast_axis(const std::string& name, const Symbol& data, const ops::BroadcastAxisOptions& options = {}) {
  return call_op("broadcast_axis", name, {data}, dict_of(options));
}
template <class = void>
NDArray broadcast_axis(const NDArray& data, const ops::BroadcastAxisOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_axis");
  return op.one({data}, options, out);
}

namespace ops {
struct BroadcastDivInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise div of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_div(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_div", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_div(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_div", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_div(const std::string& name, const ops::BroadcastDivInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_div", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_div(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_div");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastEqualInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise equal of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_equal(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_equal", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_equal(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_equal", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_equal(const std::string& name, const ops::BroadcastEqualInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_equal", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_equal(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_equal");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastGreaterInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise greater of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_greater(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_greater", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_greater(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_greater", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_greater(const std::string& name, const ops::BroadcastGreaterInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_greater", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_greater(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_greater");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastGreaterEqualInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise greater_equal of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_greater_equal(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_greater_equal", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_greater_equal(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_greater_equal", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_greater_equal(const std::string& name, const ops::BroadcastGreaterEqualInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_greater_equal", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_greater_equal(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_greater_equal");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastHypotInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise hypot of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_hypot(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_hypot", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_hypot(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_hypot", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_hypot(const std::string& name, const ops::BroadcastHypotInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_hypot", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_hypot(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_hypot");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastLesserInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise lesser of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_lesser(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_lesser", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_lesser(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_lesser", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_lesser(const std::string& name, const ops::BroadcastLesserInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_lesser", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_lesser(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_lesser");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastLesserEqualInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise lesser_equal of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_lesser_equal(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_lesser_equal", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_lesser_equal(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_lesser_equal", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_lesser_equal(const std::string& name, const ops::BroadcastLesserEqualInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_lesser_equal", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_lesser_equal(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_lesser_equal");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastLikeOptions {
  /// Axes of lhs to broadcast; None means all. (Shape or None, optional, default=None)
  TupleOption lhs_axes = {};
  /// Axes of rhs that give the extents. (Shape or None, optional, default=None)
  TupleOption rhs_axes = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lhs_axes", lhs_axes);
    f("rhs_axes", rhs_axes);
  }
};
struct BroadcastLikeInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// lhs broadcast to the shape of rhs.
template <class = void>
Symbol broadcast_like(const std::string& name, const Symbol& lhs, const ops::BroadcastLikeOptions& options = {}) {
  return call_op("broadcast_like", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_like(const std::string& name, const Symbol& lhs, const Symbol& rhs, const ops::BroadcastLikeOptions& options = {}) {
  return call_op("broadcast_like", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_like(const std::string& name, const ops::BroadcastLikeInputs& inputs, const ops::BroadcastLikeOptions& options = {}) {
  return call_op_named("broadcast_like", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_like(const NDArray& lhs, const NDArray& rhs, const ops::BroadcastLikeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_like");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastLogicalAndInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise logical_and of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_logical_and(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_logical_and", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_logical_and(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_logical_and", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_logical_and(const std::string& name, const ops::BroadcastLogicalAndInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_logical_and", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_logical_and(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_logical_and");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastLogicalOrInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise logical_or of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_logical_or(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_logical_or", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_logical_or(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_logical_or", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_logical_or(const std::string& name, const ops::BroadcastLogicalOrInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_logical_or", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_logical_or(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_logical_or");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastLogicalXorInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise logical_xor of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_logical_xor(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_logical_xor", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_logical_xor(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_logical_xor", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_logical_xor(const std::string& name, const ops::BroadcastLogicalXorInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_logical_xor", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_logical_xor(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_logical_xor");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastMaximumInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise maximum of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_maximum(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_maximum", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_maximum(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_maximum", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_maximum(const std::string& name, const ops::BroadcastMaximumInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_maximum", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_maximum(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_maximum");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastMinimumInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise minimum of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_minimum(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_minimum", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_minimum(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_minimum", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_minimum(const std::string& name, const ops::BroadcastMinimumInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_minimum", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_minimum(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_minimum");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastModInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise mod of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_mod(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_mod", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_mod(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_mod", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_mod(const std::string& name, const ops::BroadcastModInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_mod", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_mod(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_mod");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastMulInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise mul of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_mul(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_mul", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_mul(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_mul", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_mul(const std::string& name, const ops::BroadcastMulInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_mul", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_mul(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_mul");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastNotEqualInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise not_equal of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_not_equal(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_not_equal", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_not_equal(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_not_equal", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_not_equal(const std::string& name, const ops::BroadcastNotEqualInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_not_equal", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_not_equal(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_not_equal");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastPowerInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise power of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_power(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_power", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_power(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_power", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_power(const std::string& name, const ops::BroadcastPowerInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_power", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_power(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_power");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastSubInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise sub of two arrays, broadcast to one shape.
template <class = void>
Symbol broadcast_sub(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("broadcast_sub", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_sub(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("broadcast_sub", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol broadcast_sub(const std::string& name, const ops::BroadcastSubInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("broadcast_sub", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray broadcast_sub(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_sub");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct BroadcastToOptions {
  /// The shape to broadcast to; 0 keeps the input's extent. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
  }
};
}  // namespace ops
/// The input broadcast to a shape.
template <class = void>
Symbol broadcast_to(const std::string& name, const Symbol& data, const ops::BroadcastToOptions& options = {}) {
  return call_op("broadcast_to", name, {data}, dict_of(options));
}
template <class = void>
NDArray broadcast_to(const NDArray& data, const ops::BroadcastToOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("broadcast_to");
  return op.one({data}, options, out);
}

/// Elementwise cbrt.
template <class = void>
Symbol cbrt(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("cbrt", name, {data}, dict_of(options));
}
template <class = void>
NDArray cbrt(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("cbrt");
  return op.one({data}, options, out);
}

/// Elementwise ceil.
template <class = void>
Symbol ceil(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("ceil", name, {data}, dict_of(options));
}
template <class = void>
NDArray ceil(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("ceil");
  return op.one({data}, options, out);
}

namespace ops {
struct ClipOptions {
  /// The lower bound. (float, required)
  std::optional<double> a_min = {};
  /// The upper bound. (float, required)
  std::optional<double> a_max = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("a_min", a_min);
    f("a_max", a_max);
  }
};
}  // namespace ops
/// The input clipped to a range.
template <class = void>
Symbol clip(const std::string& name, const Symbol& data, const ops::ClipOptions& options = {}) {
  return call_op("clip", name, {data}, dict_of(options));
}
template <class = void>
NDArray clip(const NDArray& data, const ops::ClipOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("clip");
  return op.one({data}, options, out);
}

namespace ops {
struct Col2imOptions {
  /// Size of the image. (Shape(tuple), required)
  TupleOption output_size = {};
  /// Size of the window: (w,), (h, w) or (d, h, w). (Shape(tuple), required)
  TupleOption kernel = {};
  /// Step of the window along each axis; 1 by default. (Shape(tuple), optional, default=())
  TupleOption stride = {};
  /// Distance between the window's taps; 1 by default. (Shape(tuple), optional, default=())
  TupleOption dilate = {};
  /// Zeros on both sides of each axis; 0 by default. (Shape(tuple), optional, default=())
  TupleOption pad = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("output_size", output_size);
    f("kernel", kernel);
    f("stride", stride);
    f("dilate", dilate);
    f("pad", pad);
  }
};
}  // namespace ops
/// Images as sums of patches: the reverse of im2col.
template <class = void>
Symbol col2im(const std::string& name, const Symbol& data, const ops::Col2imOptions& options = {}) {
  return call_op("col2im", name, {data}, dict_of(options));
}
template <class = void>
NDArray col2im(const NDArray& data, const ops::Col2imOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("col2im");
  return op.one({data}, options, out);
}

/// Elementwise cos.
template <class = void>
Symbol cos(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("cos", name, {data}, dict_of(options));
}
template <class = void>
NDArray cos(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("cos");
  return op.one({data}, options, out);
}

/// Elementwise cosh.
template <class = void>
Symbol cosh(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("cosh", name, {data}, dict_of(options));
}
template <class = void>
NDArray cosh(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("cosh");
  return op.one({data}, options, out);
}

namespace ops {
struct CumsumOptions {
  /// The axis along which to sum; None takes the array as one row. (int or None, optional,
  /// default=None)
  std::optional<int> axis = {};
  /// The element type of the output; None is the input's. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Running sums along an axis.
template <class = void>
Symbol cumsum(const std::string& name, const Symbol& a, const ops::CumsumOptions& options = {}) {
  return call_op("cumsum", name, {a}, dict_of(options));
}
template <class = void>
NDArray cumsum(const NDArray& a, const ops::CumsumOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("cumsum");
  return op.one({a}, options, out);
}

/// Elementwise degrees.
template <class = void>
Symbol degrees(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("degrees", name, {data}, dict_of(options));
}
template <class = void>
NDArray degrees(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("degrees");
  return op.one({data}, options, out);
}

namespace ops {
struct DepthToSpaceOptions {
  /// The side of a block of pixels. (int, required)
  std::optional<int> block_size = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("block_size", block_size);
  }
};
}  // namespace ops
/// Moves channels into blocks of pixels.
template <class = void>
Symbol depth_to_space(const std::string& name, const Symbol& data, const ops::DepthToSpaceOptions& options = {}) {
  return call_op("depth_to_space", name, {data}, dict_of(options));
}
template <class = void>
NDArray depth_to_space(const NDArray& data, const ops::DepthToSpaceOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("depth_to_space");
  return op.one({data}, options, out);
}

namespace ops {
struct DiagOptions {
  /// Which diagonal: above the main one when positive, below when negative. (int, optional,
  /// default=0)
  std::optional<int> k = {};
  /// The axis that counts rows. (int, optional, default=0)
  std::optional<int> axis1 = {};
  /// The axis that counts columns. (int, optional, default=1)
  std::optional<int> axis2 = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("k", k);
    f("axis1", axis1);
    f("axis2", axis2);
  }
};
}  // namespace ops
/// The diagonal of two axes; of a vector, the matrix that has it as diagonal.
template <class = void>
Symbol diag(const std::string& name, const Symbol& data, const ops::DiagOptions& options = {}) {
  return call_op("diag", name, {data}, dict_of(options));
}
template <class = void>
NDArray diag(const NDArray& data, const ops::DiagOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("diag");
  return op.one({data}, options, out);
}

namespace ops {
struct DotOptions {
  /// Whether the left operand is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_a = {};
  /// Whether the right operand is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_b = {};
  /// Accepted, without effect: arrays are dense. ({None, 'csr', 'default', 'row_sparse'}, optional,
  /// default=None)
  std::optional<std::string> forward_stype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose_a", transpose_a);
    f("transpose_b", transpose_b);
    f("forward_stype", forward_stype);
  }
};
struct DotInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// The product of two arrays: the last axis of lhs with the first of rhs.
template <class = void>
Symbol dot(const std::string& name, const Symbol& lhs, const ops::DotOptions& options = {}) {
  return call_op("dot", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol dot(const std::string& name, const Symbol& lhs, const Symbol& rhs, const ops::DotOptions& options = {}) {
  return call_op("dot", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol dot(const std::string& name, const ops::DotInputs& inputs, const ops::DotOptions& options = {}) {
  return call_op_named("dot", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray dot(const NDArray& lhs, const NDArray& rhs, const ops::DotOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("dot");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct ElemwiseAddInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise add of two arrays of equal shape.
template <class = void>
Symbol elemwise_add(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("elemwise_add", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_add(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("elemwise_add", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_add(const std::string& name, const ops::ElemwiseAddInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("elemwise_add", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray elemwise_add(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("elemwise_add");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct ElemwiseDivInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise div of two arrays of equal shape.
template <class = void>
Symbol elemwise_div(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("elemwise_div", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_div(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("elemwise_div", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_div(const std::string& name, const ops::ElemwiseDivInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("elemwise_div", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray elemwise_div(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("elemwise_div");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct ElemwiseMulInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise mul of two arrays of equal shape.
template <class = void>
Symbol elemwise_mul(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("elemwise_mul", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_mul(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("elemwise_mul", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_mul(const std::string& name, const ops::ElemwiseMulInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("elemwise_mul", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray elemwise_mul(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("elemwise_mul");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct ElemwiseSubInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// Elementwise sub of two arrays of equal shape.
template <class = void>
Symbol elemwise_sub(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("elemwise_sub", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_sub(const std::string& name, const Symbol& lhs, const Symbol& rhs, const NoOptions& options = {}) {
  return call_op("elemwise_sub", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol elemwise_sub(const std::string& name, const ops::ElemwiseSubInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("elemwise_sub", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray elemwise_sub(const NDArray& lhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("elemwise_sub");
  return op.one({lhs, rhs}, options, out);
}

/// Elementwise erf.
template <class = void>
Symbol erf(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("erf", name, {data}, dict_of(options));
}
template <class = void>
NDArray erf(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("erf");
  return op.one({data}, options, out);
}

/// Elementwise erfinv.
template <class = void>
Symbol erfinv(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("erfinv", name, {data}, dict_of(options));
}
template <class = void>
NDArray erfinv(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("erfinv");
  return op.one({data}, options, out);
}

/// Elementwise exp.
template <class = void>
Symbol exp(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("exp", name, {data}, dict_of(options));
}
template <class = void>
NDArray exp(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("exp");
  return op.one({data}, options, out);
}

namespace ops {
struct ExpandDimsOptions {
  /// Position of the new axis of extent 1. (int, required)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
  }
};
}  // namespace ops
/// Inserts an axis of extent 1.
template <class = void>
Symbol expand_dims(const std::string& name, const Symbol& data, const ops::ExpandDimsOptions& options = {}) {
  return call_op("expand_dims", name, {data}, dict_of(options));
}
template <class = void>
NDArray expand_dims(const NDArray& data, const ops::ExpandDimsOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("expand_dims");
  return op.one({data}, options, out);
}

/// Elementwise expm1.
template <class = void>
Symbol expm1(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("expm1", name, {data}, dict_of(options));
}
template <class = void>
NDArray expm1(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("expm1");
  return op.one({data}, options, out);
}

namespace ops {
struct FillElement0indexInputs {
  Symbol lhs = {};
  Symbol mhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// A copy of lhs with one element of every row replaced: lhs[i, rhs[i]] = mhs[i].
template <class = void>
Symbol fill_element_0index(const std::string& name, const Symbol& lhs, const NoOptions& options = {}) {
  return call_op("fill_element_0index", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol fill_element_0index(const std::string& name, const ops::FillElement0indexInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("fill_element_0index", name, {{"lhs", inputs.lhs}, {"mhs", inputs.mhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray fill_element_0index(const NDArray& lhs, const NDArray& mhs, const NDArray& rhs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("fill_element_0index");
  return op.one({lhs, mhs, rhs}, options, out);
}

/// Elementwise fix.
template <class = void>
Symbol fix(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("fix", name, {data}, dict_of(options));
}
template <class = void>
NDArray fix(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("fix");
  return op.one({data}, options, out);
}

/// Elementwise floor.
template <class = void>
Symbol floor(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("floor", name, {data}, dict_of(options));
}
template <class = void>
NDArray floor(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("floor");
  return op.one({data}, options, out);
}

namespace ops {
struct FtmlUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of z that is kept. (float, optional, default=0.6)
  std::optional<double> beta1 = {};
  /// The share of the mean square that is kept. (float, optional, default=0.999)
  std::optional<double> beta2 = {};
  /// Keeps the division finite. (double, optional, default=9.99999993922529e-09)
  std::optional<double> epsilon = {};
  /// The number of this update, from 1. (int, required)
  std::optional<int> t = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_grad = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("t", t);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_grad", clip_grad);
  }
};
struct FtmlUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol d = {};
  Symbol v = {};
  Symbol z = {};
};
}  // namespace ops
/// One step of FTML; writes d, v and z.
template <class = void>
Symbol ftml_update(const std::string& name, const Symbol& weight, const ops::FtmlUpdateOptions& options = {}) {
  return call_op("ftml_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol ftml_update(const std::string& name, const ops::FtmlUpdateInputs& inputs, const ops::FtmlUpdateOptions& options = {}) {
  return call_op_named("ftml_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"d", inputs.d}, {"v", inputs.v}, {"z", inputs.z}}, dict_of(options));
}
template <class = void>
NDArray ftml_update(const NDArray& weight, const NDArray& grad, const NDArray& d, const NDArray& v, const NDArray& z, const ops::FtmlUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("ftml_update");
  return op.one({weight, grad, d, v, z}, options, out);
}

namespace ops {
struct FtrlUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// Weights whose z is smaller become 0. (float, optional, default=0.01)
  std::optional<double> lamda1 = {};
  /// Makes the first steps smaller. (float, optional, default=1)
  std::optional<double> beta = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("lamda1", lamda1);
    f("beta", beta);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
struct FtrlUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol z = {};
  Symbol n = {};
};
}  // namespace ops
/// One step of FTRL-proximal; writes z and n.
template <class = void>
Symbol ftrl_update(const std::string& name, const Symbol& weight, const ops::FtrlUpdateOptions& options = {}) {
  return call_op("ftrl_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol ftrl_update(const std::string& name, const ops::FtrlUpdateInputs& inputs, const ops::FtrlUpdateOptions& options = {}) {
  return call_op_named("ftrl_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"z", inputs.z}, {"n", inputs.n}}, dict_of(options));
}
template <class = void>
NDArray ftrl_update(const NDArray& weight, const NDArray& grad, const NDArray& z, const NDArray& n, const ops::FtrlUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("ftrl_update");
  return op.one({weight, grad, z, n}, options, out);
}

/// Elementwise gamma.
template <class = void>
Symbol gamma(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("gamma", name, {data}, dict_of(options));
}
template <class = void>
NDArray gamma(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("gamma");
  return op.one({data}, options, out);
}

/// Elementwise gammaln.
template <class = void>
Symbol gammaln(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("gammaln", name, {data}, dict_of(options));
}
template <class = void>
NDArray gammaln(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("gammaln");
  return op.one({data}, options, out);
}

namespace ops {
struct GatherNdInputs {
  Symbol data = {};
  Symbol indices = {};
};
}  // namespace ops
/// Elements by tuples of indices; the indices have the axes first.
template <class = void>
Symbol gather_nd(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("gather_nd", name, {data}, dict_of(options));
}
template <class = void>
Symbol gather_nd(const std::string& name, const Symbol& data, const Symbol& indices, const NoOptions& options = {}) {
  return call_op("gather_nd", name, {data, indices}, dict_of(options));
}
template <class = void>
Symbol gather_nd(const std::string& name, const ops::GatherNdInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("gather_nd", name, {{"data", inputs.data}, {"indices", inputs.indices}}, dict_of(options));
}
template <class = void>
NDArray gather_nd(const NDArray& data, const NDArray& indices, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("gather_nd");
  return op.one({data, indices}, options, out);
}

namespace ops {
struct HardSigmoidOptions {
  /// The slope. (float, optional, default=0.2)
  std::optional<double> alpha = {};
  /// The value at 0. (float, optional, default=0.5)
  std::optional<double> beta = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("alpha", alpha);
    f("beta", beta);
  }
};
}  // namespace ops
/// A line clipped to [0, 1].
template <class = void>
Symbol hard_sigmoid(const std::string& name, const Symbol& data, const ops::HardSigmoidOptions& options = {}) {
  return call_op("hard_sigmoid", name, {data}, dict_of(options));
}
template <class = void>
NDArray hard_sigmoid(const NDArray& data, const ops::HardSigmoidOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("hard_sigmoid");
  return op.one({data}, options, out);
}

/// A copy of the input.
template <class = void>
Symbol identity(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("identity", name, {data}, dict_of(options));
}
template <class = void>
NDArray identity(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("identity");
  return op.one({data}, options, out);
}

namespace ops {
struct Im2colOptions {
  /// Size of the window: (w,), (h, w) or (d, h, w). (Shape(tuple), required)
  TupleOption kernel = {};
  /// Step of the window along each axis; 1 by default. (Shape(tuple), optional, default=())
  TupleOption stride = {};
  /// Distance between the window's taps; 1 by default. (Shape(tuple), optional, default=())
  TupleOption dilate = {};
  /// Zeros on both sides of each axis; 0 by default. (Shape(tuple), optional, default=())
  TupleOption pad = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("kernel", kernel);
    f("stride", stride);
    f("dilate", dilate);
    f("pad", pad);
  }
};
}  // namespace ops
/// The patches of images under a window, as columns.
template <class = void>
Symbol im2col(const std::string& name, const Symbol& data, const ops::Im2colOptions& options = {}) {
  return call_op("im2col", name, {data}, dict_of(options));
}
template <class = void>
NDArray im2col(const NDArray& data, const ops::Im2colOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("im2col");
  return op.one({data}, options, out);
}

namespace ops {
struct LambUpdatePhase1Options {
  /// The share of the mean that is kept. (float, optional, default=0.9)
  std::optional<double> beta1 = {};
  /// The share of the mean square that is kept. (float, optional, default=0.999)
  std::optional<double> beta2 = {};
  /// Keeps the division finite. (float, optional, default=1e-06)
  std::optional<double> epsilon = {};
  /// The number of this update, from 1. (int, required)
  std::optional<int> t = {};
  /// Whether to correct for the states' start at 0. (boolean, optional, default=True)
  std::optional<bool> bias_correction = {};
  /// Weight decay. (float, required)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("t", t);
    f("bias_correction", bias_correction);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
struct LambUpdatePhase1Inputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mean = {};
  Symbol var = {};
};
}  // namespace ops
/// The direction of a step of LAMB; writes mean and var.
template <class = void>
Symbol lamb_update_phase1(const std::string& name, const Symbol& weight, const ops::LambUpdatePhase1Options& options = {}) {
  return call_op("lamb_update_phase1", name, {weight}, dict_of(options));
}
template <class = void>
Symbol lamb_update_phase1(const std::string& name, const ops::LambUpdatePhase1Inputs& inputs, const ops::LambUpdatePhase1Options& options = {}) {
  return call_op_named("lamb_update_phase1", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mean", inputs.mean}, {"var", inputs.var}}, dict_of(options));
}
template <class = void>
NDArray lamb_update_phase1(const NDArray& weight, const NDArray& grad, const NDArray& mean, const NDArray& var, const ops::LambUpdatePhase1Options& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("lamb_update_phase1");
  return op.one({weight, grad, mean, var}, options, out);
}

namespace ops {
struct LambUpdatePhase2Options {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The least norm of the weight; negative: none. (float, optional, default=-1)
  std::optional<double> lower_bound = {};
  /// The greatest norm of the weight; negative: none. (float, optional, default=-1)
  std::optional<double> upper_bound = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("lower_bound", lower_bound);
    f("upper_bound", upper_bound);
  }
};
struct LambUpdatePhase2Inputs {
  Symbol weight = {};
  Symbol g = {};
  Symbol r1 = {};
  Symbol r2 = {};
};
}  // namespace ops
/// The step of LAMB along direction g; r1 and r2 are the norms of weight and g.
template <class = void>
Symbol lamb_update_phase2(const std::string& name, const Symbol& weight, const ops::LambUpdatePhase2Options& options = {}) {
  return call_op("lamb_update_phase2", name, {weight}, dict_of(options));
}
template <class = void>
Symbol lamb_update_phase2(const std::string& name, const ops::LambUpdatePhase2Inputs& inputs, const ops::LambUpdatePhase2Options& options = {}) {
  return call_op_named("lamb_update_phase2", name, {{"weight", inputs.weight}, {"g", inputs.g}, {"r1", inputs.r1}, {"r2", inputs.r2}}, dict_of(options));
}
template <class = void>
NDArray lamb_update_phase2(const NDArray& weight, const NDArray& g, const NDArray& r1, const NDArray& r2, const ops::LambUpdatePhase2Options& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("lamb_update_phase2");
  return op.one({weight, g, r1, r2}, options, out);
}

/// The determinant of square matrices.
template <class = void>
Symbol linalg_det(const std::string& name, const Symbol& A, const NoOptions& options = {}) {
  return call_op("linalg_det", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_det(const NDArray& A, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_det");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgExtractdiagOptions {
  /// Which diagonal: above the main one when positive. (int, optional, default=0)
  std::optional<int> offset = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("offset", offset);
  }
};
}  // namespace ops
/// A diagonal of square matrices.
template <class = void>
Symbol linalg_extractdiag(const std::string& name, const Symbol& A, const ops::LinalgExtractdiagOptions& options = {}) {
  return call_op("linalg_extractdiag", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_extractdiag(const NDArray& A, const ops::LinalgExtractdiagOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_extractdiag");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgExtracttrianOptions {
  /// The diagonal at which the triangle begins. (int, optional, default=0)
  std::optional<int> offset = {};
  /// Which triangle, if offset is 0. (boolean, optional, default=True)
  std::optional<bool> lower = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("offset", offset);
    f("lower", lower);
  }
};
}  // namespace ops
/// A triangle of square matrices, packed.
template <class = void>
Symbol linalg_extracttrian(const std::string& name, const Symbol& A, const ops::LinalgExtracttrianOptions& options = {}) {
  return call_op("linalg_extracttrian", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_extracttrian(const NDArray& A, const ops::LinalgExtracttrianOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_extracttrian");
  return op.one({A}, options, out);
}

/// The factors of A = L · Q, the rows of Q orthonormal: Q, then L.
template <class = void>
Symbol linalg_gelqf(const std::string& name, const Symbol& A, const NoOptions& options = {}) {
  return call_op("linalg_gelqf", name, {A}, dict_of(options));
}
template <class = void>
std::vector<NDArray> linalg_gelqf(const NDArray& A, const NoOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("linalg_gelqf");
  return op.all({A}, options, out);
}

namespace ops {
struct LinalgGemmOptions {
  /// Whether A is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_a = {};
  /// Whether B is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_b = {};
  /// Scales the product. (double, optional, default=1)
  std::optional<double> alpha = {};
  /// Scales C. (double, optional, default=1)
  std::optional<double> beta = {};
  /// The axis of the rows. (int, optional, default=-2)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose_a", transpose_a);
    f("transpose_b", transpose_b);
    f("alpha", alpha);
    f("beta", beta);
    f("axis", axis);
  }
};
struct LinalgGemmInputs {
  Symbol A = {};
  Symbol B = {};
  Symbol C = {};
};
}  // namespace ops
/// The product of matrices and a sum, alpha · op(A) · op(B) + beta · C.
template <class = void>
Symbol linalg_gemm(const std::string& name, const Symbol& A, const ops::LinalgGemmOptions& options = {}) {
  return call_op("linalg_gemm", name, {A}, dict_of(options));
}
template <class = void>
Symbol linalg_gemm(const std::string& name, const ops::LinalgGemmInputs& inputs, const ops::LinalgGemmOptions& options = {}) {
  return call_op_named("linalg_gemm", name, {{"A", inputs.A}, {"B", inputs.B}, {"C", inputs.C}}, dict_of(options));
}
template <class = void>
NDArray linalg_gemm(const NDArray& A, const NDArray& B, const NDArray& C, const ops::LinalgGemmOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_gemm");
  return op.one({A, B, C}, options, out);
}

namespace ops {
struct LinalgGemm2Options {
  /// Whether A is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_a = {};
  /// Whether B is stored transposed. (boolean, optional, default=False)
  std::optional<bool> transpose_b = {};
  /// Scales the product. (double, optional, default=1)
  std::optional<double> alpha = {};
  /// The axis of the rows. (int, optional, default=-2)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose_a", transpose_a);
    f("transpose_b", transpose_b);
    f("alpha", alpha);
    f("axis", axis);
  }
};
struct LinalgGemm2Inputs {
  Symbol A = {};
  Symbol B = {};
};
}  // namespace ops
/// The product of matrices, alpha · op(A) · op(B).
template <class = void>
Symbol linalg_gemm2(const std::string& name, const Symbol& A, const ops::LinalgGemm2Options& options = {}) {
  return call_op("linalg_gemm2", name, {A}, dict_of(options));
}
template <class = void>
Symbol linalg_gemm2(const std::string& name, const Symbol& A, const Symbol& B, const ops::LinalgGemm2Options& options = {}) {
  return call_op("linalg_gemm2", name, {A, B}, dict_of(options));
}
template <class = void>
Symbol linalg_gemm2(const std::string& name, const ops::LinalgGemm2Inputs& inputs, const ops::LinalgGemm2Options& options = {}) {
  return call_op_named("linalg_gemm2", name, {{"A", inputs.A}, {"B", inputs.B}}, dict_of(options));
}
template <class = void>
NDArray linalg_gemm2(const NDArray& A, const NDArray& B, const ops::LinalgGemm2Options& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_gemm2");
  return op.one({A, B}, options, out);
}

/// The inverse of square matrices.
template <class = void>
Symbol linalg_inverse(const std::string& name, const Symbol& A, const NoOptions& options = {}) {
  return call_op("linalg_inverse", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_inverse(const NDArray& A, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_inverse");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgMakediagOptions {
  /// Which diagonal: above the main one when positive. (int, optional, default=0)
  std::optional<int> offset = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("offset", offset);
  }
};
}  // namespace ops
/// Matrices with a given diagonal.
template <class = void>
Symbol linalg_makediag(const std::string& name, const Symbol& A, const ops::LinalgMakediagOptions& options = {}) {
  return call_op("linalg_makediag", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_makediag(const NDArray& A, const ops::LinalgMakediagOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_makediag");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgMaketrianOptions {
  /// The diagonal at which the triangle begins. (int, optional, default=0)
  std::optional<int> offset = {};
  /// Which triangle, if offset is 0. (boolean, optional, default=True)
  std::optional<bool> lower = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("offset", offset);
    f("lower", lower);
  }
};
}  // namespace ops
/// Matrices with a given packed triangle.
template <class = void>
Symbol linalg_maketrian(const std::string& name, const Symbol& A, const ops::LinalgMaketrianOptions& options = {}) {
  return call_op("linalg_maketrian", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_maketrian(const NDArray& A, const ops::LinalgMaketrianOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_maketrian");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgPotrfOptions {
  /// Whether the factor is the lower triangle; else the upper one. (boolean, optional,
  /// default=True)
  std::optional<bool> lower = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lower", lower);
  }
};
}  // namespace ops
/// The Cholesky factor L of symmetric positive definite matrices, A = L · Lᵀ.
template <class = void>
Symbol linalg_potrf(const std::string& name, const Symbol& A, const ops::LinalgPotrfOptions& options = {}) {
  return call_op("linalg_potrf", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_potrf(const NDArray& A, const ops::LinalgPotrfOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_potrf");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgPotriOptions {
  /// Whether the factor is the lower triangle; else the upper one. (boolean, optional,
  /// default=True)
  std::optional<bool> lower = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lower", lower);
  }
};
}  // namespace ops
/// The inverse of matrices from their Cholesky factor, (L · Lᵀ)⁻¹.
template <class = void>
Symbol linalg_potri(const std::string& name, const Symbol& A, const ops::LinalgPotriOptions& options = {}) {
  return call_op("linalg_potri", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_potri(const NDArray& A, const ops::LinalgPotriOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_potri");
  return op.one({A}, options, out);
}

/// Sign and logarithm of the magnitude of the determinant of square matrices.
template <class = void>
Symbol linalg_slogdet(const std::string& name, const Symbol& A, const NoOptions& options = {}) {
  return call_op("linalg_slogdet", name, {A}, dict_of(options));
}
template <class = void>
std::vector<NDArray> linalg_slogdet(const NDArray& A, const NoOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("linalg_slogdet");
  return op.all({A}, options, out);
}

/// The sum of the logarithms of the diagonal.
template <class = void>
Symbol linalg_sumlogdiag(const std::string& name, const Symbol& A, const NoOptions& options = {}) {
  return call_op("linalg_sumlogdiag", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_sumlogdiag(const NDArray& A, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_sumlogdiag");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgSyrkOptions {
  /// Whether the transpose is the left factor. (boolean, optional, default=False)
  std::optional<bool> transpose = {};
  /// Scales the product. (double, optional, default=1)
  std::optional<double> alpha = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose", transpose);
    f("alpha", alpha);
  }
};
}  // namespace ops
/// The product of a matrix with its own transpose.
template <class = void>
Symbol linalg_syrk(const std::string& name, const Symbol& A, const ops::LinalgSyrkOptions& options = {}) {
  return call_op("linalg_syrk", name, {A}, dict_of(options));
}
template <class = void>
NDArray linalg_syrk(const NDArray& A, const ops::LinalgSyrkOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_syrk");
  return op.one({A}, options, out);
}

namespace ops {
struct LinalgTrmmOptions {
  /// Whether A is used transposed. (boolean, optional, default=False)
  std::optional<bool> transpose = {};
  /// Whether A is on the right of B. (boolean, optional, default=False)
  std::optional<bool> rightside = {};
  /// Which triangle of A is read. (boolean, optional, default=True)
  std::optional<bool> lower = {};
  /// Scales the result. (double, optional, default=1)
  std::optional<double> alpha = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose", transpose);
    f("rightside", rightside);
    f("lower", lower);
    f("alpha", alpha);
  }
};
struct LinalgTrmmInputs {
  Symbol A = {};
  Symbol B = {};
};
}  // namespace ops
/// The product of a triangular matrix and a matrix.
template <class = void>
Symbol linalg_trmm(const std::string& name, const Symbol& A, const ops::LinalgTrmmOptions& options = {}) {
  return call_op("linalg_trmm", name, {A}, dict_of(options));
}
template <class = void>
Symbol linalg_trmm(const std::string& name, const Symbol& A, const Symbol& B, const ops::LinalgTrmmOptions& options = {}) {
  return call_op("linalg_trmm", name, {A, B}, dict_of(options));
}
template <class = void>
Symbol linalg_trmm(const std::string& name, const ops::LinalgTrmmInputs& inputs, const ops::LinalgTrmmOptions& options = {}) {
  return call_op_named("linalg_trmm", name, {{"A", inputs.A}, {"B", inputs.B}}, dict_of(options));
}
template <class = void>
NDArray linalg_trmm(const NDArray& A, const NDArray& B, const ops::LinalgTrmmOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_trmm");
  return op.one({A, B}, options, out);
}

namespace ops {
struct LinalgTrsmOptions {
  /// Whether A is used transposed. (boolean, optional, default=False)
  std::optional<bool> transpose = {};
  /// Whether A is on the right of B. (boolean, optional, default=False)
  std::optional<bool> rightside = {};
  /// Which triangle of A is read. (boolean, optional, default=True)
  std::optional<bool> lower = {};
  /// Scales the result. (double, optional, default=1)
  std::optional<double> alpha = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("transpose", transpose);
    f("rightside", rightside);
    f("lower", lower);
    f("alpha", alpha);
  }
};
struct LinalgTrsmInputs {
  Symbol A = {};
  Symbol B = {};
};
}  // namespace ops
/// Solves a system of equations with a triangular matrix.
template <class = void>
Symbol linalg_trsm(const std::string& name, const Symbol& A, const ops::LinalgTrsmOptions& options = {}) {
  return call_op("linalg_trsm", name, {A}, dict_of(options));
}
template <class = void>
Symbol linalg_trsm(const std::string& name, const Symbol& A, const Symbol& B, const ops::LinalgTrsmOptions& options = {}) {
  return call_op("linalg_trsm", name, {A, B}, dict_of(options));
}
template <class = void>
Symbol linalg_trsm(const std::string& name, const ops::LinalgTrsmInputs& inputs, const ops::LinalgTrsmOptions& options = {}) {
  return call_op_named("linalg_trsm", name, {{"A", inputs.A}, {"B", inputs.B}}, dict_of(options));
}
template <class = void>
NDArray linalg_trsm(const NDArray& A, const NDArray& B, const ops::LinalgTrsmOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("linalg_trsm");
  return op.one({A, B}, options, out);
}

/// Elementwise log.
template <class = void>
Symbol log(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("log", name, {data}, dict_of(options));
}
template <class = void>
NDArray log(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("log");
  return op.one({data}, options, out);
}

/// Elementwise log10.
template <class = void>
Symbol log10(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("log10", name, {data}, dict_of(options));
}
template <class = void>
NDArray log10(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("log10");
  return op.one({data}, options, out);
}

/// Elementwise log1p.
template <class = void>
Symbol log1p(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("log1p", name, {data}, dict_of(options));
}
template <class = void>
NDArray log1p(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("log1p");
  return op.one({data}, options, out);
}

/// Elementwise log2.
template <class = void>
Symbol log2(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("log2", name, {data}, dict_of(options));
}
template <class = void>
NDArray log2(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("log2");
  return op.one({data}, options, out);
}

namespace ops {
struct LogSoftmaxOptions {
  /// The axis along which to normalise. (int, optional, default=-1)
  std::optional<int> axis = {};
  /// Divides the input; None is 1. (double or None, optional, default=None)
  std::optional<double> temperature = {};
  /// The output's type; None is the input's. ({None, 'float16', 'float32', 'float64'}, optional,
  /// default=None)
  std::optional<std::string> dtype = {};
  /// Only softmax supports lengths: mask the input, or take the logarithm of softmax. (boolean or
  /// None, optional, default=False)
  std::optional<bool> use_length = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("temperature", temperature);
    f("dtype", dtype);
    f("use_length", use_length);
  }
};
}  // namespace ops
/// The logarithm of softmax.
template <class = void>
Symbol log_softmax(const std::string& name, const Symbol& data, const ops::LogSoftmaxOptions& options = {}) {
  return call_op("log_softmax", name, {data}, dict_of(options));
}
template <class = void>
NDArray log_softmax(const NDArray& data, const ops::LogSoftmaxOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("log_softmax");
  return op.one({data}, options, out);
}

/// Elementwise logical_not.
template <class = void>
Symbol logical_not(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("logical_not", name, {data}, dict_of(options));
}
template <class = void>
NDArray logical_not(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("logical_not");
  return op.one({data}, options, out);
}

/// The input as a loss: backward starts here with ones.
template <class = void>
Symbol make_loss(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("make_loss", name, {data}, dict_of(options));
}
template <class = void>
NDArray make_loss(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("make_loss");
  return op.one({data}, options, out);
}

namespace ops {
struct MaxOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by max along axes.
template <class = void>
Symbol max(const std::string& name, const Symbol& data, const ops::MaxOptions& options = {}) {
  return call_op("max", name, {data}, dict_of(options));
}
template <class = void>
NDArray max(const NDArray& data, const ops::MaxOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("max");
  return op.one({data}, options, out);
}

namespace ops {
struct MeanOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by mean along axes.
template <class = void>
Symbol mean(const std::string& name, const Symbol& data, const ops::MeanOptions& options = {}) {
  return call_op("mean", name, {data}, dict_of(options));
}
template <class = void>
NDArray mean(const NDArray& data, const ops::MeanOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("mean");
  return op.one({data}, options, out);
}

namespace ops {
struct MinOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by min along axes.
template <class = void>
Symbol min(const std::string& name, const Symbol& data, const ops::MinOptions& options = {}) {
  return call_op("min", name, {data}, dict_of(options));
}
template <class = void>
NDArray min(const NDArray& data, const ops::MinOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("min");
  return op.one({data}, options, out);
}

namespace ops {
struct MomentsOptions {
  /// The axes over which mean and variance are taken. (Shape or None, optional, default=None)
  TupleOption axes = {};
  /// Keeps those axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axes", axes);
    f("keepdims", keepdims);
  }
};
}  // namespace ops
/// Mean and variance along axes.
template <class = void>
Symbol moments(const std::string& name, const Symbol& data, const ops::MomentsOptions& options = {}) {
  return call_op("moments", name, {data}, dict_of(options));
}
template <class = void>
std::vector<NDArray> moments(const NDArray& data, const ops::MomentsOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("moments");
  return op.all({data}, options, out);
}

namespace ops {
struct MpLambUpdatePhase1Options {
  /// The share of the mean that is kept. (float, optional, default=0.9)
  std::optional<double> beta1 = {};
  /// The share of the mean square that is kept. (float, optional, default=0.999)
  std::optional<double> beta2 = {};
  /// Keeps the division finite. (float, optional, default=1e-06)
  std::optional<double> epsilon = {};
  /// The number of this update, from 1. (int, required)
  std::optional<int> t = {};
  /// Whether to correct for the states' start at 0. (boolean, optional, default=True)
  std::optional<bool> bias_correction = {};
  /// Weight decay. (float, required)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("beta1", beta1);
    f("beta2", beta2);
    f("epsilon", epsilon);
    f("t", t);
    f("bias_correction", bias_correction);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
struct MpLambUpdatePhase1Inputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mean = {};
  Symbol var = {};
  Symbol weight32 = {};
};
}  // namespace ops
/// lamb_update_phase1 on a float master copy; the direction is in float32.
template <class = void>
Symbol mp_lamb_update_phase1(const std::string& name, const Symbol& weight, const ops::MpLambUpdatePhase1Options& options = {}) {
  return call_op("mp_lamb_update_phase1", name, {weight}, dict_of(options));
}
template <class = void>
Symbol mp_lamb_update_phase1(const std::string& name, const ops::MpLambUpdatePhase1Inputs& inputs, const ops::MpLambUpdatePhase1Options& options = {}) {
  return call_op_named("mp_lamb_update_phase1", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mean", inputs.mean}, {"var", inputs.var}, {"weight32", inputs.weight32}}, dict_of(options));
}
template <class = void>
NDArray mp_lamb_update_phase1(const NDArray& weight, const NDArray& grad, const NDArray& mean, const NDArray& var, const NDArray& weight32, const ops::MpLambUpdatePhase1Options& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("mp_lamb_update_phase1");
  return op.one({weight, grad, mean, var, weight32}, options, out);
}

namespace ops {
struct MpLambUpdatePhase2Options {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The least norm of the weight; negative: none. (float, optional, default=-1)
  std::optional<double> lower_bound = {};
  /// The greatest norm of the weight; negative: none. (float, optional, default=-1)
  std::optional<double> upper_bound = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("lower_bound", lower_bound);
    f("upper_bound", upper_bound);
  }
};
struct MpLambUpdatePhase2Inputs {
  Symbol weight = {};
  Symbol g = {};
  Symbol r1 = {};
  Symbol r2 = {};
  Symbol weight32 = {};
};
}  // namespace ops
/// lamb_update_phase2 on a float master copy; writes weight32.
template <class = void>
Symbol mp_lamb_update_phase2(const std::string& name, const Symbol& weight, const ops::MpLambUpdatePhase2Options& options = {}) {
  return call_op("mp_lamb_update_phase2", name, {weight}, dict_of(options));
}
template <class = void>
Symbol mp_lamb_update_phase2(const std::string& name, const ops::MpLambUpdatePhase2Inputs& inputs, const ops::MpLambUpdatePhase2Options& options = {}) {
  return call_op_named("mp_lamb_update_phase2", name, {{"weight", inputs.weight}, {"g", inputs.g}, {"r1", inputs.r1}, {"r2", inputs.r2}, {"weight32", inputs.weight32}}, dict_of(options));
}
template <class = void>
NDArray mp_lamb_update_phase2(const NDArray& weight, const NDArray& g, const NDArray& r1, const NDArray& r2, const NDArray& weight32, const ops::MpLambUpdatePhase2Options& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("mp_lamb_update_phase2");
  return op.one({weight, g, r1, r2, weight32}, options, out);
}

namespace ops {
struct MpNagMomUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("momentum", momentum);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
struct MpNagMomUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mom = {};
  Symbol weight32 = {};
};
}  // namespace ops
/// nag_mom_update on a float master copy; writes mom and weight32.
template <class = void>
Symbol mp_nag_mom_update(const std::string& name, const Symbol& weight, const ops::MpNagMomUpdateOptions& options = {}) {
  return call_op("mp_nag_mom_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol mp_nag_mom_update(const std::string& name, const ops::MpNagMomUpdateInputs& inputs, const ops::MpNagMomUpdateOptions& options = {}) {
  return call_op_named("mp_nag_mom_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mom", inputs.mom}, {"weight32", inputs.weight32}}, dict_of(options));
}
template <class = void>
NDArray mp_nag_mom_update(const NDArray& weight, const NDArray& grad, const NDArray& mom, const NDArray& weight32, const ops::MpNagMomUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("mp_nag_mom_update");
  return op.one({weight, grad, mom, weight32}, options, out);
}

namespace ops {
struct MpSgdMomUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// Weight decay: lr·wd of the weight is subtracted. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  /// For sparse gradients; without effect. (boolean, optional, default=True)
  std::optional<bool> lazy_update = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("momentum", momentum);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("lazy_update", lazy_update);
  }
};
struct MpSgdMomUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mom = {};
  Symbol weight32 = {};
};
}  // namespace ops
/// sgd_mom_update on a float master copy; writes mom and weight32.
template <class = void>
Symbol mp_sgd_mom_update(const std::string& name, const Symbol& weight, const ops::MpSgdMomUpdateOptions& options = {}) {
  return call_op("mp_sgd_mom_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol mp_sgd_mom_update(const std::string& name, const ops::MpSgdMomUpdateInputs& inputs, const ops::MpSgdMomUpdateOptions& options = {}) {
  return call_op_named("mp_sgd_mom_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mom", inputs.mom}, {"weight32", inputs.weight32}}, dict_of(options));
}
template <class = void>
NDArray mp_sgd_mom_update(const NDArray& weight, const NDArray& grad, const NDArray& mom, const NDArray& weight32, const ops::MpSgdMomUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("mp_sgd_mom_update");
  return op.one({weight, grad, mom, weight32}, options, out);
}

namespace ops {
struct MpSgdUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// Weight decay: lr·wd of the weight is subtracted. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  /// For sparse gradients; without effect. (boolean, optional, default=True)
  std::optional<bool> lazy_update = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("lazy_update", lazy_update);
  }
};
struct MpSgdUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol weight32 = {};
};
}  // namespace ops
/// sgd_update on a float master copy; writes weight32.
template <class = void>
Symbol mp_sgd_update(const std::string& name, const Symbol& weight, const ops::MpSgdUpdateOptions& options = {}) {
  return call_op("mp_sgd_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol mp_sgd_update(const std::string& name, const ops::MpSgdUpdateInputs& inputs, const ops::MpSgdUpdateOptions& options = {}) {
  return call_op_named("mp_sgd_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"weight32", inputs.weight32}}, dict_of(options));
}
template <class = void>
NDArray mp_sgd_update(const NDArray& weight, const NDArray& grad, const NDArray& weight32, const ops::MpSgdUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("mp_sgd_update");
  return op.one({weight, grad, weight32}, options, out);
}

namespace ops {
struct MultiAllFiniteOptions {
  /// Whether the output starts as 1. (boolean, optional, default=True)
  std::optional<bool> init_output = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("init_output", init_output);
  }
};
}  // namespace ops
/// 1 if every number of every array is finite, else 0.
template <class = void>
Symbol multi_all_finite(const std::string& name, const std::vector<Symbol>& inputs, const ops::MultiAllFiniteOptions& options = {}) {
  return call_op("multi_all_finite", name, inputs, dict_of(options));
}
template <class = void>
NDArray multi_all_finite(const std::vector<NDArray>& inputs, const ops::MultiAllFiniteOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("multi_all_finite");
  return op.one(inputs, options, out);
}

namespace ops {
struct MultiLarsOptions {
  /// The coefficient of the learning rates. (float, required)
  std::optional<double> eta = {};
  /// Keeps the division finite. (float, required)
  std::optional<double> eps = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("eta", eta);
    f("eps", eps);
    f("rescale_grad", rescale_grad);
  }
};
struct MultiLarsInputs {
  Symbol lrs = {};
  Symbol weights_sum_sq = {};
  Symbol grads_sum_sq = {};
  Symbol wds = {};
};
}  // namespace ops
/// The learning rates of LARS from those given and the sums of squares.
template <class = void>
Symbol multi_lars(const std::string& name, const Symbol& lrs, const ops::MultiLarsOptions& options = {}) {
  return call_op("multi_lars", name, {lrs}, dict_of(options));
}
template <class = void>
Symbol multi_lars(const std::string& name, const ops::MultiLarsInputs& inputs, const ops::MultiLarsOptions& options = {}) {
  return call_op_named("multi_lars", name, {{"lrs", inputs.lrs}, {"weights_sum_sq", inputs.weights_sum_sq}, {"grads_sum_sq", inputs.grads_sum_sq}, {"wds", inputs.wds}}, dict_of(options));
}
template <class = void>
NDArray multi_lars(const NDArray& lrs, const NDArray& weights_sum_sq, const NDArray& grads_sum_sq, const NDArray& wds, const ops::MultiLarsOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("multi_lars");
  return op.one({lrs, weights_sum_sq, grads_sum_sq, wds}, options, out);
}

namespace ops {
struct MultiMpSgdMomUpdateOptions {
  /// Learning rates. (tuple of <float>, required)
  FloatTupleOption lrs = {};
  /// Weight decays. (tuple of <float>, required)
  FloatTupleOption wds = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lrs", lrs);
    f("wds", wds);
    f("momentum", momentum);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// mp_sgd_mom_update on several weights; writes every mom and weight32.
template <class = void>
Symbol multi_mp_sgd_mom_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::MultiMpSgdMomUpdateOptions& options = {}) {
  return call_op("multi_mp_sgd_mom_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> multi_mp_sgd_mom_update(const std::vector<NDArray>& inputs, const ops::MultiMpSgdMomUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("multi_mp_sgd_mom_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct MultiMpSgdUpdateOptions {
  /// Learning rates. (tuple of <float>, required)
  FloatTupleOption lrs = {};
  /// Weight decays. (tuple of <float>, required)
  FloatTupleOption wds = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lrs", lrs);
    f("wds", wds);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// mp_sgd_update on several weights; writes every weight32.
template <class = void>
Symbol multi_mp_sgd_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::MultiMpSgdUpdateOptions& options = {}) {
  return call_op("multi_mp_sgd_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> multi_mp_sgd_update(const std::vector<NDArray>& inputs, const ops::MultiMpSgdUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("multi_mp_sgd_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct MultiSgdMomUpdateOptions {
  /// Learning rates. (tuple of <float>, required)
  FloatTupleOption lrs = {};
  /// Weight decays. (tuple of <float>, required)
  FloatTupleOption wds = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lrs", lrs);
    f("wds", wds);
    f("momentum", momentum);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// sgd_mom_update on several weights; writes every mom.
template <class = void>
Symbol multi_sgd_mom_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::MultiSgdMomUpdateOptions& options = {}) {
  return call_op("multi_sgd_mom_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> multi_sgd_mom_update(const std::vector<NDArray>& inputs, const ops::MultiSgdMomUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("multi_sgd_mom_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct MultiSgdUpdateOptions {
  /// Learning rates. (tuple of <float>, required)
  FloatTupleOption lrs = {};
  /// Weight decays. (tuple of <float>, required)
  FloatTupleOption wds = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lrs", lrs);
    f("wds", wds);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// sgd_update on several weights.
template <class = void>
Symbol multi_sgd_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::MultiSgdUpdateOptions& options = {}) {
  return call_op("multi_sgd_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> multi_sgd_update(const std::vector<NDArray>& inputs, const ops::MultiSgdUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("multi_sgd_update");
  return op.all(inputs, options, out);
}

/// The sum of the squares of each array.
template <class = void>
Symbol multi_sum_sq(const std::string& name, const std::vector<Symbol>& inputs, const NoOptions& options = {}) {
  return call_op("multi_sum_sq", name, inputs, dict_of(options));
}
template <class = void>
NDArray multi_sum_sq(const std::vector<NDArray>& inputs, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("multi_sum_sq");
  return op.one(inputs, options, out);
}

namespace ops {
struct NagMomUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("momentum", momentum);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
struct NagMomUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mom = {};
};
}  // namespace ops
/// One step of Nesterov's accelerated gradient; writes mom.
template <class = void>
Symbol nag_mom_update(const std::string& name, const Symbol& weight, const ops::NagMomUpdateOptions& options = {}) {
  return call_op("nag_mom_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol nag_mom_update(const std::string& name, const ops::NagMomUpdateInputs& inputs, const ops::NagMomUpdateOptions& options = {}) {
  return call_op_named("nag_mom_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mom", inputs.mom}}, dict_of(options));
}
template <class = void>
NDArray nag_mom_update(const NDArray& weight, const NDArray& grad, const NDArray& mom, const ops::NagMomUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("nag_mom_update");
  return op.one({weight, grad, mom}, options, out);
}

namespace ops {
struct NanprodOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by nanprod along axes.
template <class = void>
Symbol nanprod(const std::string& name, const Symbol& data, const ops::NanprodOptions& options = {}) {
  return call_op("nanprod", name, {data}, dict_of(options));
}
template <class = void>
NDArray nanprod(const NDArray& data, const ops::NanprodOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("nanprod");
  return op.one({data}, options, out);
}

namespace ops {
struct NansumOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by nansum along axes.
template <class = void>
Symbol nansum(const std::string& name, const Symbol& data, const ops::NansumOptions& options = {}) {
  return call_op("nansum", name, {data}, dict_of(options));
}
template <class = void>
NDArray nansum(const NDArray& data, const ops::NansumOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("nansum");
  return op.one({data}, options, out);
}

/// Elementwise negative.
template <class = void>
Symbol negative(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("negative", name, {data}, dict_of(options));
}
template <class = void>
NDArray negative(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("negative");
  return op.one({data}, options, out);
}

namespace ops {
struct NormOptions {
  /// 1 or 2. (int, optional, default=2)
  std::optional<int> ord = {};
  /// The axes to reduce; None means all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// The element type of the output; None is the input's. (dtype or None, optional, default=None)
  std::optional<DType> out_dtype = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("ord", ord);
    f("axis", axis);
    f("out_dtype", out_dtype);
    f("keepdims", keepdims);
  }
};
}  // namespace ops
/// The norm along axes.
template <class = void>
Symbol norm(const std::string& name, const Symbol& data, const ops::NormOptions& options = {}) {
  return call_op("norm", name, {data}, dict_of(options));
}
template <class = void>
NDArray norm(const NDArray& data, const ops::NormOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("norm");
  return op.one({data}, options, out);
}

namespace ops {
struct OneHotOptions {
  /// Extent of the new last axis. (int, required)
  std::optional<int> depth = {};
  /// The value at the index. (double, optional, default=1)
  std::optional<double> on_value = {};
  /// The value elsewhere. (double, optional, default=0)
  std::optional<double> off_value = {};
  /// The element type of the output. (dtype, optional, default=float32)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("depth", depth);
    f("on_value", on_value);
    f("off_value", off_value);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Indices as one-hot rows.
template <class = void>
Symbol one_hot(const std::string& name, const Symbol& indices, const ops::OneHotOptions& options = {}) {
  return call_op("one_hot", name, {indices}, dict_of(options));
}
template <class = void>
NDArray one_hot(const NDArray& indices, const ops::OneHotOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("one_hot");
  return op.one({indices}, options, out);
}

/// An array of ones with shape and element type of the input.
template <class = void>
Symbol ones_like(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("ones_like", name, {data}, dict_of(options));
}
template <class = void>
NDArray ones_like(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("ones_like");
  return op.one({data}, options, out);
}

namespace ops {
struct PickOptions {
  /// The axis from which one element is picked. (int or None, optional, default=-1)
  std::optional<int> axis = {};
  /// Keeps the axis with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// What to do with an index out of range. ({'clip', 'wrap'}, optional, default=clip)
  std::optional<std::string> mode = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("mode", mode);
  }
};
struct PickInputs {
  Symbol data = {};
  Symbol index = {};
};
}  // namespace ops
/// One element of every row, by index.
template <class = void>
Symbol pick(const std::string& name, const Symbol& data, const ops::PickOptions& options = {}) {
  return call_op("pick", name, {data}, dict_of(options));
}
template <class = void>
Symbol pick(const std::string& name, const Symbol& data, const Symbol& index, const ops::PickOptions& options = {}) {
  return call_op("pick", name, {data, index}, dict_of(options));
}
template <class = void>
Symbol pick(const std::string& name, const ops::PickInputs& inputs, const ops::PickOptions& options = {}) {
  return call_op_named("pick", name, {{"data", inputs.data}, {"index", inputs.index}}, dict_of(options));
}
template <class = void>
NDArray pick(const NDArray& data, const NDArray& index, const ops::PickOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("pick");
  return op.one({data, index}, options, out);
}

namespace ops {
struct PreloadedMultiMpSgdMomUpdateOptions {
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("momentum", momentum);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// mp_sgd_mom_update on several weights, the rates in arrays; writes every mom and weight32.
template <class = void>
Symbol preloaded_multi_mp_sgd_mom_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::PreloadedMultiMpSgdMomUpdateOptions& options = {}) {
  return call_op("preloaded_multi_mp_sgd_mom_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> preloaded_multi_mp_sgd_mom_update(const std::vector<NDArray>& inputs, const ops::PreloadedMultiMpSgdMomUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("preloaded_multi_mp_sgd_mom_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct PreloadedMultiMpSgdUpdateOptions {
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// mp_sgd_update on several weights, the rates in arrays; writes every weight32.
template <class = void>
Symbol preloaded_multi_mp_sgd_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::PreloadedMultiMpSgdUpdateOptions& options = {}) {
  return call_op("preloaded_multi_mp_sgd_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> preloaded_multi_mp_sgd_update(const std::vector<NDArray>& inputs, const ops::PreloadedMultiMpSgdUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("preloaded_multi_mp_sgd_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct PreloadedMultiSgdMomUpdateOptions {
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("momentum", momentum);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// sgd_mom_update on several weights, the rates in arrays; writes every mom.
template <class = void>
Symbol preloaded_multi_sgd_mom_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::PreloadedMultiSgdMomUpdateOptions& options = {}) {
  return call_op("preloaded_multi_sgd_mom_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> preloaded_multi_sgd_mom_update(const std::vector<NDArray>& inputs, const ops::PreloadedMultiSgdMomUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("preloaded_multi_sgd_mom_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct PreloadedMultiSgdUpdateOptions {
  /// The gradients are multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradients are clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
}  // namespace ops
/// sgd_update on several weights, the rates in arrays.
template <class = void>
Symbol preloaded_multi_sgd_update(const std::string& name, const std::vector<Symbol>& inputs, const ops::PreloadedMultiSgdUpdateOptions& options = {}) {
  return call_op("preloaded_multi_sgd_update", name, inputs, dict_of(options));
}
template <class = void>
std::vector<NDArray> preloaded_multi_sgd_update(const std::vector<NDArray>& inputs, const ops::PreloadedMultiSgdUpdateOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("preloaded_multi_sgd_update");
  return op.all(inputs, options, out);
}

namespace ops {
struct ProdOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by prod along axes.
template <class = void>
Symbol prod(const std::string& name, const Symbol& data, const ops::ProdOptions& options = {}) {
  return call_op("prod", name, {data}, dict_of(options));
}
template <class = void>
NDArray prod(const NDArray& data, const ops::ProdOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("prod");
  return op.one({data}, options, out);
}

/// Elementwise radians.
template <class = void>
Symbol radians(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("radians", name, {data}, dict_of(options));
}
template <class = void>
NDArray radians(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("radians");
  return op.one({data}, options, out);
}

namespace ops {
struct RandomExponentialOptions {
  /// The rate: one over the mean. (float, optional, default=1)
  std::optional<double> lam = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lam", lam);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution exponential.
template <class = void>
Symbol random_exponential(const std::string& name, const ops::RandomExponentialOptions& options = {}) {
  return call_op("random_exponential", name, {}, dict_of(options));
}
template <class = void>
NDArray random_exponential(const ops::RandomExponentialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_exponential");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomGammaOptions {
  /// The shape. (float, optional, default=1)
  std::optional<double> alpha = {};
  /// The scale: the mean is alpha·beta. (float, optional, default=1)
  std::optional<double> beta = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("alpha", alpha);
    f("beta", beta);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution gamma.
template <class = void>
Symbol random_gamma(const std::string& name, const ops::RandomGammaOptions& options = {}) {
  return call_op("random_gamma", name, {}, dict_of(options));
}
template <class = void>
NDArray random_gamma(const ops::RandomGammaOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_gamma");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomGeneralizedNegativeBinomialOptions {
  /// The mean. (float, optional, default=1)
  std::optional<double> mu = {};
  /// The dispersion; 0 is Poisson's. (float, optional, default=1)
  std::optional<double> alpha = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("mu", mu);
    f("alpha", alpha);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution generalized_negative_binomial.
template <class = void>
Symbol random_generalized_negative_binomial(const std::string& name, const ops::RandomGeneralizedNegativeBinomialOptions& options = {}) {
  return call_op("random_generalized_negative_binomial", name, {}, dict_of(options));
}
template <class = void>
NDArray random_generalized_negative_binomial(const ops::RandomGeneralizedNegativeBinomialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_generalized_negative_binomial");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomNegativeBinomialOptions {
  /// The number of successes that end the count of failures. (int, optional, default=1)
  std::optional<int> k = {};
  /// The probability of a success. (float, optional, default=1)
  std::optional<double> p = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("k", k);
    f("p", p);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution negative_binomial.
template <class = void>
Symbol random_negative_binomial(const std::string& name, const ops::RandomNegativeBinomialOptions& options = {}) {
  return call_op("random_negative_binomial", name, {}, dict_of(options));
}
template <class = void>
NDArray random_negative_binomial(const ops::RandomNegativeBinomialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_negative_binomial");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomNormalOptions {
  /// The mean. (float, optional, default=0)
  std::optional<double> loc = {};
  /// The standard deviation. (float, optional, default=1)
  std::optional<double> scale = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("loc", loc);
    f("scale", scale);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution normal.
template <class = void>
Symbol random_normal(const std::string& name, const ops::RandomNormalOptions& options = {}) {
  return call_op("random_normal", name, {}, dict_of(options));
}
template <class = void>
NDArray random_normal(const ops::RandomNormalOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_normal");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomPdfDirichletOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfDirichletInputs {
  Symbol sample = {};
  Symbol alpha = {};
};
}  // namespace ops
/// The density of the distribution dirichlet at the samples.
template <class = void>
Symbol random_pdf_dirichlet(const std::string& name, const Symbol& sample, const ops::RandomPdfDirichletOptions& options = {}) {
  return call_op("random_pdf_dirichlet", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_dirichlet(const std::string& name, const Symbol& sample, const Symbol& alpha, const ops::RandomPdfDirichletOptions& options = {}) {
  return call_op("random_pdf_dirichlet", name, {sample, alpha}, dict_of(options));
}
template <class = void>
Symbol random_pdf_dirichlet(const std::string& name, const ops::RandomPdfDirichletInputs& inputs, const ops::RandomPdfDirichletOptions& options = {}) {
  return call_op_named("random_pdf_dirichlet", name, {{"sample", inputs.sample}, {"alpha", inputs.alpha}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_dirichlet(const NDArray& sample, const NDArray& alpha, const ops::RandomPdfDirichletOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_dirichlet");
  return op.one({sample, alpha}, options, out);
}

namespace ops {
struct RandomPdfExponentialOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfExponentialInputs {
  Symbol sample = {};
  Symbol lam = {};
};
}  // namespace ops
/// The density of the distribution exponential at the samples.
template <class = void>
Symbol random_pdf_exponential(const std::string& name, const Symbol& sample, const ops::RandomPdfExponentialOptions& options = {}) {
  return call_op("random_pdf_exponential", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_exponential(const std::string& name, const Symbol& sample, const Symbol& lam, const ops::RandomPdfExponentialOptions& options = {}) {
  return call_op("random_pdf_exponential", name, {sample, lam}, dict_of(options));
}
template <class = void>
Symbol random_pdf_exponential(const std::string& name, const ops::RandomPdfExponentialInputs& inputs, const ops::RandomPdfExponentialOptions& options = {}) {
  return call_op_named("random_pdf_exponential", name, {{"sample", inputs.sample}, {"lam", inputs.lam}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_exponential(const NDArray& sample, const NDArray& lam, const ops::RandomPdfExponentialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_exponential");
  return op.one({sample, lam}, options, out);
}

namespace ops {
struct RandomPdfGammaOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfGammaInputs {
  Symbol sample = {};
  Symbol alpha = {};
  Symbol beta = {};
};
}  // namespace ops
/// The density of the distribution gamma at the samples.
template <class = void>
Symbol random_pdf_gamma(const std::string& name, const Symbol& sample, const ops::RandomPdfGammaOptions& options = {}) {
  return call_op("random_pdf_gamma", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_gamma(const std::string& name, const ops::RandomPdfGammaInputs& inputs, const ops::RandomPdfGammaOptions& options = {}) {
  return call_op_named("random_pdf_gamma", name, {{"sample", inputs.sample}, {"alpha", inputs.alpha}, {"beta", inputs.beta}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_gamma(const NDArray& sample, const NDArray& alpha, const NDArray& beta, const ops::RandomPdfGammaOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_gamma");
  return op.one({sample, alpha, beta}, options, out);
}

namespace ops {
struct RandomPdfGeneralizedNegativeBinomialOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfGeneralizedNegativeBinomialInputs {
  Symbol sample = {};
  Symbol mu = {};
  Symbol alpha = {};
};
}  // namespace ops
/// The density of the distribution generalized_negative_binomial at the samples.
template <class = void>
Symbol random_pdf_generalized_negative_binomial(const std::string& name, const Symbol& sample, const ops::RandomPdfGeneralizedNegativeBinomialOptions& options = {}) {
  return call_op("random_pdf_generalized_negative_binomial", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_generalized_negative_binomial(const std::string& name, const ops::RandomPdfGeneralizedNegativeBinomialInputs& inputs, const ops::RandomPdfGeneralizedNegativeBinomialOptions& options = {}) {
  return call_op_named("random_pdf_generalized_negative_binomial", name, {{"sample", inputs.sample}, {"mu", inputs.mu}, {"alpha", inputs.alpha}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_generalized_negative_binomial(const NDArray& sample, const NDArray& mu, const NDArray& alpha, const ops::RandomPdfGeneralizedNegativeBinomialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_generalized_negative_binomial");
  return op.one({sample, mu, alpha}, options, out);
}

namespace ops {
struct RandomPdfNegativeBinomialOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfNegativeBinomialInputs {
  Symbol sample = {};
  Symbol k = {};
  Symbol p = {};
};
}  // namespace ops
/// The density of the distribution negative_binomial at the samples.
template <class = void>
Symbol random_pdf_negative_binomial(const std::string& name, const Symbol& sample, const ops::RandomPdfNegativeBinomialOptions& options = {}) {
  return call_op("random_pdf_negative_binomial", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_negative_binomial(const std::string& name, const ops::RandomPdfNegativeBinomialInputs& inputs, const ops::RandomPdfNegativeBinomialOptions& options = {}) {
  return call_op_named("random_pdf_negative_binomial", name, {{"sample", inputs.sample}, {"k", inputs.k}, {"p", inputs.p}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_negative_binomial(const NDArray& sample, const NDArray& k, const NDArray& p, const ops::RandomPdfNegativeBinomialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_negative_binomial");
  return op.one({sample, k, p}, options, out);
}

namespace ops {
struct RandomPdfNormalOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfNormalInputs {
  Symbol sample = {};
  Symbol mu = {};
  Symbol sigma = {};
};
}  // namespace ops
/// The density of the distribution normal at the samples.
template <class = void>
Symbol random_pdf_normal(const std::string& name, const Symbol& sample, const ops::RandomPdfNormalOptions& options = {}) {
  return call_op("random_pdf_normal", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_normal(const std::string& name, const ops::RandomPdfNormalInputs& inputs, const ops::RandomPdfNormalOptions& options = {}) {
  return call_op_named("random_pdf_normal", name, {{"sample", inputs.sample}, {"mu", inputs.mu}, {"sigma", inputs.sigma}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_normal(const NDArray& sample, const NDArray& mu, const NDArray& sigma, const ops::RandomPdfNormalOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_normal");
  return op.one({sample, mu, sigma}, options, out);
}

namespace ops {
struct RandomPdfPoissonOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfPoissonInputs {
  Symbol sample = {};
  Symbol lam = {};
};
}  // namespace ops
/// The density of the distribution poisson at the samples.
template <class = void>
Symbol random_pdf_poisson(const std::string& name, const Symbol& sample, const ops::RandomPdfPoissonOptions& options = {}) {
  return call_op("random_pdf_poisson", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_poisson(const std::string& name, const Symbol& sample, const Symbol& lam, const ops::RandomPdfPoissonOptions& options = {}) {
  return call_op("random_pdf_poisson", name, {sample, lam}, dict_of(options));
}
template <class = void>
Symbol random_pdf_poisson(const std::string& name, const ops::RandomPdfPoissonInputs& inputs, const ops::RandomPdfPoissonOptions& options = {}) {
  return call_op_named("random_pdf_poisson", name, {{"sample", inputs.sample}, {"lam", inputs.lam}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_poisson(const NDArray& sample, const NDArray& lam, const ops::RandomPdfPoissonOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_poisson");
  return op.one({sample, lam}, options, out);
}

namespace ops {
struct RandomPdfUniformOptions {
  /// Whether to return the logarithm of the density. (boolean, optional, default=False)
  std::optional<bool> is_log = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("is_log", is_log);
  }
};
struct RandomPdfUniformInputs {
  Symbol sample = {};
  Symbol low = {};
  Symbol high = {};
};
}  // namespace ops
/// The density of the distribution uniform at the samples.
template <class = void>
Symbol random_pdf_uniform(const std::string& name, const Symbol& sample, const ops::RandomPdfUniformOptions& options = {}) {
  return call_op("random_pdf_uniform", name, {sample}, dict_of(options));
}
template <class = void>
Symbol random_pdf_uniform(const std::string& name, const ops::RandomPdfUniformInputs& inputs, const ops::RandomPdfUniformOptions& options = {}) {
  return call_op_named("random_pdf_uniform", name, {{"sample", inputs.sample}, {"low", inputs.low}, {"high", inputs.high}}, dict_of(options));
}
template <class = void>
NDArray random_pdf_uniform(const NDArray& sample, const NDArray& low, const NDArray& high, const ops::RandomPdfUniformOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_pdf_uniform");
  return op.one({sample, low, high}, options, out);
}

namespace ops {
struct RandomPoissonOptions {
  /// The mean. (float, optional, default=1)
  std::optional<double> lam = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lam", lam);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution poisson.
template <class = void>
Symbol random_poisson(const std::string& name, const ops::RandomPoissonOptions& options = {}) {
  return call_op("random_poisson", name, {}, dict_of(options));
}
template <class = void>
NDArray random_poisson(const ops::RandomPoissonOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_poisson");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomRandintOptions {
  /// Lower bound, included. (long, required)
  std::optional<std::int64_t> low = {};
  /// Upper bound, not included. (long, required)
  std::optional<std::int64_t> high = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is int32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("low", low);
    f("high", high);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Uniformly distributed whole numbers from low to below high.
template <class = void>
Symbol random_randint(const std::string& name, const ops::RandomRandintOptions& options = {}) {
  return call_op("random_randint", name, {}, dict_of(options));
}
template <class = void>
NDArray random_randint(const ops::RandomRandintOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_randint");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RandomUniformOptions {
  /// Lower bound, included. (float, optional, default=0)
  std::optional<double> low = {};
  /// Upper bound, not included. (float, optional, default=1)
  std::optional<double> high = {};
  /// The shape of the output. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The device, like cpu(0); only for imperative calls. (string, optional, default=)
  std::optional<std::string> ctx = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("low", low);
    f("high", high);
    f("shape", shape);
    f("ctx", ctx);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution uniform.
template <class = void>
Symbol random_uniform(const std::string& name, const ops::RandomUniformOptions& options = {}) {
  return call_op("random_uniform", name, {}, dict_of(options));
}
template <class = void>
NDArray random_uniform(const ops::RandomUniformOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("random_uniform");
  return op.one(std::vector<NDArray>{}, options, out);
}

namespace ops {
struct RavelMultiIndexOptions {
  /// The shape of the indexed array. (Shape or None, optional, default=None)
  TupleOption shape = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
  }
};
}  // namespace ops
/// Flat indices into an array of the given shape, from one row of indices for each axis.
template <class = void>
Symbol ravel_multi_index(const std::string& name, const Symbol& data, const ops::RavelMultiIndexOptions& options = {}) {
  return call_op("ravel_multi_index", name, {data}, dict_of(options));
}
template <class = void>
NDArray ravel_multi_index(const NDArray& data, const ops::RavelMultiIndexOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("ravel_multi_index");
  return op.one({data}, options, out);
}

/// Elementwise rcbrt.
template <class = void>
Symbol rcbrt(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("rcbrt", name, {data}, dict_of(options));
}
template <class = void>
NDArray rcbrt(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("rcbrt");
  return op.one({data}, options, out);
}

/// Elementwise reciprocal.
template <class = void>
Symbol reciprocal(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("reciprocal", name, {data}, dict_of(options));
}
template <class = void>
NDArray reciprocal(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("reciprocal");
  return op.one({data}, options, out);
}

/// Elementwise relu.
template <class = void>
Symbol relu(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("relu", name, {data}, dict_of(options));
}
template <class = void>
NDArray relu(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("relu");
  return op.one({data}, options, out);
}

namespace ops {
struct RepeatOptions {
  /// Repetitions of each element. (int, required)
  std::optional<int> repeats = {};
  /// The axis along which to repeat; None flattens first. (int or None, optional, default=None)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("repeats", repeats);
    f("axis", axis);
  }
};
}  // namespace ops
/// Every element repeated.
template <class = void>
Symbol repeat(const std::string& name, const Symbol& data, const ops::RepeatOptions& options = {}) {
  return call_op("repeat", name, {data}, dict_of(options));
}
template <class = void>
NDArray repeat(const NDArray& data, const ops::RepeatOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("repeat");
  return op.one({data}, options, out);
}

namespace ops {
struct ReshapeLikeOptions {
  /// First axis of lhs that is replaced. (int or None, optional, default=None)
  std::optional<int> lhs_begin = {};
  /// Axis of lhs after the last one that is replaced. (int or None, optional, default=None)
  std::optional<int> lhs_end = {};
  /// First axis of rhs whose extent is taken. (int or None, optional, default=None)
  std::optional<int> rhs_begin = {};
  /// Axis of rhs after the last one that is taken. (int or None, optional, default=None)
  std::optional<int> rhs_end = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lhs_begin", lhs_begin);
    f("lhs_end", lhs_end);
    f("rhs_begin", rhs_begin);
    f("rhs_end", rhs_end);
  }
};
struct ReshapeLikeInputs {
  Symbol lhs = {};
  Symbol rhs = {};
};
}  // namespace ops
/// lhs with the shape of rhs, or with some axes of it.
template <class = void>
Symbol reshape_like(const std::string& name, const Symbol& lhs, const ops::ReshapeLikeOptions& options = {}) {
  return call_op("reshape_like", name, {lhs}, dict_of(options));
}
template <class = void>
Symbol reshape_like(const std::string& name, const Symbol& lhs, const Symbol& rhs, const ops::ReshapeLikeOptions& options = {}) {
  return call_op("reshape_like", name, {lhs, rhs}, dict_of(options));
}
template <class = void>
Symbol reshape_like(const std::string& name, const ops::ReshapeLikeInputs& inputs, const ops::ReshapeLikeOptions& options = {}) {
  return call_op_named("reshape_like", name, {{"lhs", inputs.lhs}, {"rhs", inputs.rhs}}, dict_of(options));
}
template <class = void>
NDArray reshape_like(const NDArray& lhs, const NDArray& rhs, const ops::ReshapeLikeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("reshape_like");
  return op.one({lhs, rhs}, options, out);
}

namespace ops {
struct ReverseOptions {
  /// The axes to reverse. (Shape(tuple), required)
  TupleOption axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
  }
};
}  // namespace ops
/// The elements in reverse order along axes.
template <class = void>
Symbol reverse(const std::string& name, const Symbol& data, const ops::ReverseOptions& options = {}) {
  return call_op("reverse", name, {data}, dict_of(options));
}
template <class = void>
NDArray reverse(const NDArray& data, const ops::ReverseOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("reverse");
  return op.one({data}, options, out);
}

/// Elementwise rint.
template <class = void>
Symbol rint(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("rint", name, {data}, dict_of(options));
}
template <class = void>
NDArray rint(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("rint");
  return op.one({data}, options, out);
}

namespace ops {
struct RmspropUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the mean square that is kept. (float, optional, default=0.95)
  std::optional<double> gamma1 = {};
  /// Keeps the division finite. (float, optional, default=1e-08)
  std::optional<double> epsilon = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  /// The weight is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_weights = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("gamma1", gamma1);
    f("epsilon", epsilon);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("clip_weights", clip_weights);
  }
};
struct RmspropUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol n = {};
};
}  // namespace ops
/// One step of RMSProp (Tieleman and Hinton); writes n.
template <class = void>
Symbol rmsprop_update(const std::string& name, const Symbol& weight, const ops::RmspropUpdateOptions& options = {}) {
  return call_op("rmsprop_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol rmsprop_update(const std::string& name, const ops::RmspropUpdateInputs& inputs, const ops::RmspropUpdateOptions& options = {}) {
  return call_op_named("rmsprop_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"n", inputs.n}}, dict_of(options));
}
template <class = void>
NDArray rmsprop_update(const NDArray& weight, const NDArray& grad, const NDArray& n, const ops::RmspropUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("rmsprop_update");
  return op.one({weight, grad, n}, options, out);
}

namespace ops {
struct RmspropalexUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the mean square that is kept. (float, optional, default=0.95)
  std::optional<double> gamma1 = {};
  /// The share of the last step that is kept. (float, optional, default=0.9)
  std::optional<double> gamma2 = {};
  /// Keeps the division finite. (float, optional, default=1e-08)
  std::optional<double> epsilon = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  /// The weight is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_weights = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("gamma1", gamma1);
    f("gamma2", gamma2);
    f("epsilon", epsilon);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("clip_weights", clip_weights);
  }
};
struct RmspropalexUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol n = {};
  Symbol g = {};
  Symbol delta = {};
};
}  // namespace ops
/// One step of RMSProp (Graves); writes n, g and delta.
template <class = void>
Symbol rmspropalex_update(const std::string& name, const Symbol& weight, const ops::RmspropalexUpdateOptions& options = {}) {
  return call_op("rmspropalex_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol rmspropalex_update(const std::string& name, const ops::RmspropalexUpdateInputs& inputs, const ops::RmspropalexUpdateOptions& options = {}) {
  return call_op_named("rmspropalex_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"n", inputs.n}, {"g", inputs.g}, {"delta", inputs.delta}}, dict_of(options));
}
template <class = void>
NDArray rmspropalex_update(const NDArray& weight, const NDArray& grad, const NDArray& n, const NDArray& g, const NDArray& delta, const ops::RmspropalexUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("rmspropalex_update");
  return op.one({weight, grad, n, g, delta}, options, out);
}

/// Elementwise round.
template <class = void>
Symbol round(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("round", name, {data}, dict_of(options));
}
template <class = void>
NDArray round(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("round");
  return op.one({data}, options, out);
}

/// Elementwise rsqrt.
template <class = void>
Symbol rsqrt(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("rsqrt", name, {data}, dict_of(options));
}
template <class = void>
NDArray rsqrt(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("rsqrt");
  return op.one({data}, options, out);
}

namespace ops {
struct SampleExponentialOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution exponential for every element of its parameters.
template <class = void>
Symbol sample_exponential(const std::string& name, const Symbol& lam, const ops::SampleExponentialOptions& options = {}) {
  return call_op("sample_exponential", name, {lam}, dict_of(options));
}
template <class = void>
NDArray sample_exponential(const NDArray& lam, const ops::SampleExponentialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_exponential");
  return op.one({lam}, options, out);
}

namespace ops {
struct SampleGammaOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
struct SampleGammaInputs {
  Symbol alpha = {};
  Symbol beta = {};
};
}  // namespace ops
/// Samples of the distribution gamma for every element of its parameters.
template <class = void>
Symbol sample_gamma(const std::string& name, const Symbol& alpha, const ops::SampleGammaOptions& options = {}) {
  return call_op("sample_gamma", name, {alpha}, dict_of(options));
}
template <class = void>
Symbol sample_gamma(const std::string& name, const Symbol& alpha, const Symbol& beta, const ops::SampleGammaOptions& options = {}) {
  return call_op("sample_gamma", name, {alpha, beta}, dict_of(options));
}
template <class = void>
Symbol sample_gamma(const std::string& name, const ops::SampleGammaInputs& inputs, const ops::SampleGammaOptions& options = {}) {
  return call_op_named("sample_gamma", name, {{"alpha", inputs.alpha}, {"beta", inputs.beta}}, dict_of(options));
}
template <class = void>
NDArray sample_gamma(const NDArray& alpha, const NDArray& beta, const ops::SampleGammaOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_gamma");
  return op.one({alpha, beta}, options, out);
}

namespace ops {
struct SampleGeneralizedNegativeBinomialOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
struct SampleGeneralizedNegativeBinomialInputs {
  Symbol mu = {};
  Symbol alpha = {};
};
}  // namespace ops
/// Samples of the distribution generalized_negative_binomial for every element of its parameters.
template <class = void>
Symbol sample_generalized_negative_binomial(const std::string& name, const Symbol& mu, const ops::SampleGeneralizedNegativeBinomialOptions& options = {}) {
  return call_op("sample_generalized_negative_binomial", name, {mu}, dict_of(options));
}
template <class = void>
Symbol sample_generalized_negative_binomial(const std::string& name, const Symbol& mu, const Symbol& alpha, const ops::SampleGeneralizedNegativeBinomialOptions& options = {}) {
  return call_op("sample_generalized_negative_binomial", name, {mu, alpha}, dict_of(options));
}
template <class = void>
Symbol sample_generalized_negative_binomial(const std::string& name, const ops::SampleGeneralizedNegativeBinomialInputs& inputs, const ops::SampleGeneralizedNegativeBinomialOptions& options = {}) {
  return call_op_named("sample_generalized_negative_binomial", name, {{"mu", inputs.mu}, {"alpha", inputs.alpha}}, dict_of(options));
}
template <class = void>
NDArray sample_generalized_negative_binomial(const NDArray& mu, const NDArray& alpha, const ops::SampleGeneralizedNegativeBinomialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_generalized_negative_binomial");
  return op.one({mu, alpha}, options, out);
}

namespace ops {
struct SampleMultinomialOptions {
  /// Shape of the draws from every distribution. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// Whether to return the logarithms of the probabilities as well. (boolean, optional,
  /// default=False)
  std::optional<bool> get_prob = {};
  /// The element type of the class numbers. (dtype, optional, default=int32)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("get_prob", get_prob);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Class numbers drawn with the probabilities along the last axis.
template <class = void>
Symbol sample_multinomial(const std::string& name, const Symbol& data, const ops::SampleMultinomialOptions& options = {}) {
  return call_op("sample_multinomial", name, {data}, dict_of(options));
}
template <class = void>
std::vector<NDArray> sample_multinomial(const NDArray& data, const ops::SampleMultinomialOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("sample_multinomial");
  return op.all({data}, options, out);
}

namespace ops {
struct SampleNegativeBinomialOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
struct SampleNegativeBinomialInputs {
  Symbol k = {};
  Symbol p = {};
};
}  // namespace ops
/// Samples of the distribution negative_binomial for every element of its parameters.
template <class = void>
Symbol sample_negative_binomial(const std::string& name, const Symbol& k, const ops::SampleNegativeBinomialOptions& options = {}) {
  return call_op("sample_negative_binomial", name, {k}, dict_of(options));
}
template <class = void>
Symbol sample_negative_binomial(const std::string& name, const Symbol& k, const Symbol& p, const ops::SampleNegativeBinomialOptions& options = {}) {
  return call_op("sample_negative_binomial", name, {k, p}, dict_of(options));
}
template <class = void>
Symbol sample_negative_binomial(const std::string& name, const ops::SampleNegativeBinomialInputs& inputs, const ops::SampleNegativeBinomialOptions& options = {}) {
  return call_op_named("sample_negative_binomial", name, {{"k", inputs.k}, {"p", inputs.p}}, dict_of(options));
}
template <class = void>
NDArray sample_negative_binomial(const NDArray& k, const NDArray& p, const ops::SampleNegativeBinomialOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_negative_binomial");
  return op.one({k, p}, options, out);
}

namespace ops {
struct SampleNormalOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
struct SampleNormalInputs {
  Symbol mu = {};
  Symbol sigma = {};
};
}  // namespace ops
/// Samples of the distribution normal for every element of its parameters.
template <class = void>
Symbol sample_normal(const std::string& name, const Symbol& mu, const ops::SampleNormalOptions& options = {}) {
  return call_op("sample_normal", name, {mu}, dict_of(options));
}
template <class = void>
Symbol sample_normal(const std::string& name, const Symbol& mu, const Symbol& sigma, const ops::SampleNormalOptions& options = {}) {
  return call_op("sample_normal", name, {mu, sigma}, dict_of(options));
}
template <class = void>
Symbol sample_normal(const std::string& name, const ops::SampleNormalInputs& inputs, const ops::SampleNormalOptions& options = {}) {
  return call_op_named("sample_normal", name, {{"mu", inputs.mu}, {"sigma", inputs.sigma}}, dict_of(options));
}
template <class = void>
NDArray sample_normal(const NDArray& mu, const NDArray& sigma, const ops::SampleNormalOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_normal");
  return op.one({mu, sigma}, options, out);
}

namespace ops {
struct SamplePoissonOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// Samples of the distribution poisson for every element of its parameters.
template <class = void>
Symbol sample_poisson(const std::string& name, const Symbol& lam, const ops::SamplePoissonOptions& options = {}) {
  return call_op("sample_poisson", name, {lam}, dict_of(options));
}
template <class = void>
NDArray sample_poisson(const NDArray& lam, const ops::SamplePoissonOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_poisson");
  return op.one({lam}, options, out);
}

namespace ops {
struct SampleUniformOptions {
  /// Shape of the draws for every element of the parameters. (Shape(tuple), optional, default=())
  TupleOption shape = {};
  /// The element type of the output; None is float32. (dtype or None, optional, default=None)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
    f("dtype", dtype);
  }
};
struct SampleUniformInputs {
  Symbol low = {};
  Symbol high = {};
};
}  // namespace ops
/// Samples of the distribution uniform for every element of its parameters.
template <class = void>
Symbol sample_uniform(const std::string& name, const Symbol& low, const ops::SampleUniformOptions& options = {}) {
  return call_op("sample_uniform", name, {low}, dict_of(options));
}
template <class = void>
Symbol sample_uniform(const std::string& name, const Symbol& low, const Symbol& high, const ops::SampleUniformOptions& options = {}) {
  return call_op("sample_uniform", name, {low, high}, dict_of(options));
}
template <class = void>
Symbol sample_uniform(const std::string& name, const ops::SampleUniformInputs& inputs, const ops::SampleUniformOptions& options = {}) {
  return call_op_named("sample_uniform", name, {{"low", inputs.low}, {"high", inputs.high}}, dict_of(options));
}
template <class = void>
NDArray sample_uniform(const NDArray& low, const NDArray& high, const ops::SampleUniformOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sample_uniform");
  return op.one({low, high}, options, out);
}

namespace ops {
struct ScatterNdOptions {
  /// The shape of the output. (Shape(tuple), required)
  TupleOption shape = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
  }
};
struct ScatterNdInputs {
  Symbol data = {};
  Symbol indices = {};
};
}  // namespace ops
/// Writes data to the positions given by tuples of indices, over zeros.
template <class = void>
Symbol scatter_nd(const std::string& name, const Symbol& data, const ops::ScatterNdOptions& options = {}) {
  return call_op("scatter_nd", name, {data}, dict_of(options));
}
template <class = void>
Symbol scatter_nd(const std::string& name, const Symbol& data, const Symbol& indices, const ops::ScatterNdOptions& options = {}) {
  return call_op("scatter_nd", name, {data, indices}, dict_of(options));
}
template <class = void>
Symbol scatter_nd(const std::string& name, const ops::ScatterNdInputs& inputs, const ops::ScatterNdOptions& options = {}) {
  return call_op_named("scatter_nd", name, {{"data", inputs.data}, {"indices", inputs.indices}}, dict_of(options));
}
template <class = void>
NDArray scatter_nd(const NDArray& data, const NDArray& indices, const ops::ScatterNdOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("scatter_nd");
  return op.one({data, indices}, options, out);
}

namespace ops {
struct SgdMomUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// Weight decay: lr·wd of the weight is subtracted. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  /// For sparse gradients; without effect. (boolean, optional, default=True)
  std::optional<bool> lazy_update = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("momentum", momentum);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("lazy_update", lazy_update);
  }
};
struct SgdMomUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mom = {};
};
}  // namespace ops
/// One step of gradient descent with momentum; writes mom; give the weight as out.
template <class = void>
Symbol sgd_mom_update(const std::string& name, const Symbol& weight, const ops::SgdMomUpdateOptions& options = {}) {
  return call_op("sgd_mom_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol sgd_mom_update(const std::string& name, const ops::SgdMomUpdateInputs& inputs, const ops::SgdMomUpdateOptions& options = {}) {
  return call_op_named("sgd_mom_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mom", inputs.mom}}, dict_of(options));
}
template <class = void>
NDArray sgd_mom_update(const NDArray& weight, const NDArray& grad, const NDArray& mom, const ops::SgdMomUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sgd_mom_update");
  return op.one({weight, grad, mom}, options, out);
}

namespace ops {
struct SgdUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// Weight decay: lr·wd of the weight is subtracted. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c] after rescaling; negative: no clipping. (float, optional,
  /// default=-1)
  std::optional<double> clip_gradient = {};
  /// For sparse gradients; without effect. (boolean, optional, default=True)
  std::optional<bool> lazy_update = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("lazy_update", lazy_update);
  }
};
struct SgdUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
};
}  // namespace ops
/// One step of gradient descent; give the weight as out.
template <class = void>
Symbol sgd_update(const std::string& name, const Symbol& weight, const ops::SgdUpdateOptions& options = {}) {
  return call_op("sgd_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol sgd_update(const std::string& name, const Symbol& weight, const Symbol& grad, const ops::SgdUpdateOptions& options = {}) {
  return call_op("sgd_update", name, {weight, grad}, dict_of(options));
}
template <class = void>
Symbol sgd_update(const std::string& name, const ops::SgdUpdateInputs& inputs, const ops::SgdUpdateOptions& options = {}) {
  return call_op_named("sgd_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}}, dict_of(options));
}
template <class = void>
NDArray sgd_update(const NDArray& weight, const NDArray& grad, const ops::SgdUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sgd_update");
  return op.one({weight, grad}, options, out);
}

/// The input's shape as an array.
template <class = void>
Symbol shape_array(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("shape_array", name, {data}, dict_of(options));
}
template <class = void>
NDArray shape_array(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("shape_array");
  return op.one({data}, options, out);
}

/// The rows in random order.
template <class = void>
Symbol shuffle(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("shuffle", name, {data}, dict_of(options));
}
template <class = void>
NDArray shuffle(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("shuffle");
  return op.one({data}, options, out);
}

/// Elementwise sigmoid.
template <class = void>
Symbol sigmoid(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("sigmoid", name, {data}, dict_of(options));
}
template <class = void>
NDArray sigmoid(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sigmoid");
  return op.one({data}, options, out);
}

/// Elementwise sign.
template <class = void>
Symbol sign(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("sign", name, {data}, dict_of(options));
}
template <class = void>
NDArray sign(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sign");
  return op.one({data}, options, out);
}

namespace ops {
struct SignsgdUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
  }
};
struct SignsgdUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
};
}  // namespace ops
/// One step against the gradient's sign.
template <class = void>
Symbol signsgd_update(const std::string& name, const Symbol& weight, const ops::SignsgdUpdateOptions& options = {}) {
  return call_op("signsgd_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol signsgd_update(const std::string& name, const Symbol& weight, const Symbol& grad, const ops::SignsgdUpdateOptions& options = {}) {
  return call_op("signsgd_update", name, {weight, grad}, dict_of(options));
}
template <class = void>
Symbol signsgd_update(const std::string& name, const ops::SignsgdUpdateInputs& inputs, const ops::SignsgdUpdateOptions& options = {}) {
  return call_op_named("signsgd_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}}, dict_of(options));
}
template <class = void>
NDArray signsgd_update(const NDArray& weight, const NDArray& grad, const ops::SignsgdUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("signsgd_update");
  return op.one({weight, grad}, options, out);
}

namespace ops {
struct SignumUpdateOptions {
  /// Learning rate. (float, required)
  std::optional<double> lr = {};
  /// The share of the last step that is kept. (float, optional, default=0)
  std::optional<double> momentum = {};
  /// Weight decay. (float, optional, default=0)
  std::optional<double> wd = {};
  /// The gradient is multiplied by this first. (float, optional, default=1)
  std::optional<double> rescale_grad = {};
  /// The gradient is clipped to [-c, c]; negative: no clipping. (float, optional, default=-1)
  std::optional<double> clip_gradient = {};
  /// Weight decay that is not part of the momentum. (float, optional, default=0)
  std::optional<double> wd_lh = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("lr", lr);
    f("momentum", momentum);
    f("wd", wd);
    f("rescale_grad", rescale_grad);
    f("clip_gradient", clip_gradient);
    f("wd_lh", wd_lh);
  }
};
struct SignumUpdateInputs {
  Symbol weight = {};
  Symbol grad = {};
  Symbol mom = {};
};
}  // namespace ops
/// One step along the momentum's sign; writes mom.
template <class = void>
Symbol signum_update(const std::string& name, const Symbol& weight, const ops::SignumUpdateOptions& options = {}) {
  return call_op("signum_update", name, {weight}, dict_of(options));
}
template <class = void>
Symbol signum_update(const std::string& name, const ops::SignumUpdateInputs& inputs, const ops::SignumUpdateOptions& options = {}) {
  return call_op_named("signum_update", name, {{"weight", inputs.weight}, {"grad", inputs.grad}, {"mom", inputs.mom}}, dict_of(options));
}
template <class = void>
NDArray signum_update(const NDArray& weight, const NDArray& grad, const NDArray& mom, const ops::SignumUpdateOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("signum_update");
  return op.one({weight, grad, mom}, options, out);
}

/// Elementwise sin.
template <class = void>
Symbol sin(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("sin", name, {data}, dict_of(options));
}
template <class = void>
NDArray sin(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sin");
  return op.one({data}, options, out);
}

/// Elementwise sinh.
template <class = void>
Symbol sinh(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("sinh", name, {data}, dict_of(options));
}
template <class = void>
NDArray sinh(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sinh");
  return op.one({data}, options, out);
}

/// The input's number of elements as an array.
template <class = void>
Symbol size_array(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("size_array", name, {data}, dict_of(options));
}
template <class = void>
NDArray size_array(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("size_array");
  return op.one({data}, options, out);
}

namespace ops {
struct SliceOptions {
  /// First index per axis; None starts at the edge. (Shape(tuple), required)
  TupleOption begin = {};
  /// Index after the last, per axis; None goes to the edge. (Shape(tuple), required)
  TupleOption end = {};
  /// Step per axis; negative runs backwards. (Shape(tuple), optional, default=())
  TupleOption step = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("begin", begin);
    f("end", end);
    f("step", step);
  }
};
}  // namespace ops
/// A part of the input: begin, end and step per axis.
template <class = void>
Symbol slice(const std::string& name, const Symbol& data, const ops::SliceOptions& options = {}) {
  return call_op("slice", name, {data}, dict_of(options));
}
template <class = void>
NDArray slice(const NDArray& data, const ops::SliceOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("slice");
  return op.one({data}, options, out);
}

namespace ops {
struct SliceAxisOptions {
  /// The axis to slice. (int, required)
  std::optional<int> axis = {};
  /// First index; negative counts from the end. (int, required)
  std::optional<int> begin = {};
  /// Index after the last; None goes to the edge. (int or None, required)
  std::optional<int> end = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("begin", begin);
    f("end", end);
  }
};
}  // namespace ops
/// A part of the input along one axis.
template <class = void>
Symbol slice_axis(const std::string& name, const Symbol& data, const ops::SliceAxisOptions& options = {}) {
  return call_op("slice_axis", name, {data}, dict_of(options));
}
template <class = void>
NDArray slice_axis(const NDArray& data, const ops::SliceAxisOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("slice_axis");
  return op.one({data}, options, out);
}

namespace ops {
struct SliceLikeOptions {
  /// The axes to slice; () means all. (Shape(tuple), optional, default=())
  TupleOption axes = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axes", axes);
  }
};
struct SliceLikeInputs {
  Symbol data = {};
  Symbol shape_like = {};
};
}  // namespace ops
/// The input reduced to the extents of another array.
template <class = void>
Symbol slice_like(const std::string& name, const Symbol& data, const ops::SliceLikeOptions& options = {}) {
  return call_op("slice_like", name, {data}, dict_of(options));
}
template <class = void>
Symbol slice_like(const std::string& name, const Symbol& data, const Symbol& shape_like, const ops::SliceLikeOptions& options = {}) {
  return call_op("slice_like", name, {data, shape_like}, dict_of(options));
}
template <class = void>
Symbol slice_like(const std::string& name, const ops::SliceLikeInputs& inputs, const ops::SliceLikeOptions& options = {}) {
  return call_op_named("slice_like", name, {{"data", inputs.data}, {"shape_like", inputs.shape_like}}, dict_of(options));
}
template <class = void>
NDArray slice_like(const NDArray& data, const NDArray& shape_like, const ops::SliceLikeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("slice_like");
  return op.one({data, shape_like}, options, out);
}

namespace ops {
struct SmoothL1Options {
  /// The loss is a parabola up to 1 / scalar². (float, optional, default=1)
  std::optional<double> scalar = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("scalar", scalar);
  }
};
}  // namespace ops
/// A parabola near 0, the absolute value elsewhere.
template <class = void>
Symbol smooth_l1(const std::string& name, const Symbol& data, const ops::SmoothL1Options& options = {}) {
  return call_op("smooth_l1", name, {data}, dict_of(options));
}
template <class = void>
NDArray smooth_l1(const NDArray& data, const ops::SmoothL1Options& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("smooth_l1");
  return op.one({data}, options, out);
}

namespace ops {
struct SoftmaxOptions {
  /// The axis along which to normalise. (int, optional, default=-1)
  std::optional<int> axis = {};
  /// Divides the input; None is 1. (double or None, optional, default=None)
  std::optional<double> temperature = {};
  /// The output's type; None is the input's. ({None, 'float16', 'float32', 'float64'}, optional,
  /// default=None)
  std::optional<std::string> dtype = {};
  /// Whether a second input gives the length of each row. (boolean or None, optional,
  /// default=False)
  std::optional<bool> use_length = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("temperature", temperature);
    f("dtype", dtype);
    f("use_length", use_length);
  }
};
struct SoftmaxInputs {
  Symbol data = {};
  Symbol length = {};
};
}  // namespace ops
/// Exponentials along an axis, normalised to the sum 1.
template <class = void>
Symbol softmax(const std::string& name, const Symbol& data, const ops::SoftmaxOptions& options = {}) {
  return call_op("softmax", name, {data}, dict_of(options));
}
template <class = void>
Symbol softmax(const std::string& name, const Symbol& data, const Symbol& length, const ops::SoftmaxOptions& options = {}) {
  return call_op("softmax", name, {data, length}, dict_of(options));
}
template <class = void>
Symbol softmax(const std::string& name, const ops::SoftmaxInputs& inputs, const ops::SoftmaxOptions& options = {}) {
  return call_op_named("softmax", name, {{"data", inputs.data}, {"length", inputs.length}}, dict_of(options));
}
template <class = void>
NDArray softmax(const NDArray& data, const ops::SoftmaxOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("softmax");
  return op.one({data}, options, out);
}
template <class = void>
NDArray softmax(const NDArray& data, const NDArray& length, const ops::SoftmaxOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("softmax");
  return op.one({data, length}, options, out);
}

namespace ops {
struct SoftmaxCrossEntropyInputs {
  Symbol data = {};
  Symbol label = {};
};
}  // namespace ops
/// The cross entropy of softmax with class labels, summed over the rows.
template <class = void>
Symbol softmax_cross_entropy(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("softmax_cross_entropy", name, {data}, dict_of(options));
}
template <class = void>
Symbol softmax_cross_entropy(const std::string& name, const Symbol& data, const Symbol& label, const NoOptions& options = {}) {
  return call_op("softmax_cross_entropy", name, {data, label}, dict_of(options));
}
template <class = void>
Symbol softmax_cross_entropy(const std::string& name, const ops::SoftmaxCrossEntropyInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("softmax_cross_entropy", name, {{"data", inputs.data}, {"label", inputs.label}}, dict_of(options));
}
template <class = void>
NDArray softmax_cross_entropy(const NDArray& data, const NDArray& label, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("softmax_cross_entropy");
  return op.one({data, label}, options, out);
}

namespace ops {
struct SoftminOptions {
  /// The axis along which to normalise. (int, optional, default=-1)
  std::optional<int> axis = {};
  /// Divides the input; None is 1. (double or None, optional, default=None)
  std::optional<double> temperature = {};
  /// The output's type; None is the input's. ({None, 'float16', 'float32', 'float64'}, optional,
  /// default=None)
  std::optional<std::string> dtype = {};
  /// Only softmax supports lengths: mask the input, or take the logarithm of softmax. (boolean or
  /// None, optional, default=False)
  std::optional<bool> use_length = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("temperature", temperature);
    f("dtype", dtype);
    f("use_length", use_length);
  }
};
}  // namespace ops
/// Softmax of the negated data.
template <class = void>
Symbol softmin(const std::string& name, const Symbol& data, const ops::SoftminOptions& options = {}) {
  return call_op("softmin", name, {data}, dict_of(options));
}
template <class = void>
NDArray softmin(const NDArray& data, const ops::SoftminOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("softmin");
  return op.one({data}, options, out);
}

/// Elementwise softsign.
template <class = void>
Symbol softsign(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("softsign", name, {data}, dict_of(options));
}
template <class = void>
NDArray softsign(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("softsign");
  return op.one({data}, options, out);
}

namespace ops {
struct SortOptions {
  /// The axis along which to sort; None takes the array as one row. (int or None, optional,
  /// default=-1)
  std::optional<int> axis = {};
  /// Whether values ascend. (boolean, optional, default=True)
  std::optional<bool> is_ascend = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("is_ascend", is_ascend);
  }
};
}  // namespace ops
/// The elements in order along an axis.
template <class = void>
Symbol sort(const std::string& name, const Symbol& data, const ops::SortOptions& options = {}) {
  return call_op("sort", name, {data}, dict_of(options));
}
template <class = void>
NDArray sort(const NDArray& data, const ops::SortOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sort");
  return op.one({data}, options, out);
}

namespace ops {
struct SpaceToDepthOptions {
  /// The side of a block of pixels. (int, required)
  std::optional<int> block_size = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("block_size", block_size);
  }
};
}  // namespace ops
/// Moves blocks of pixels into channels.
template <class = void>
Symbol space_to_depth(const std::string& name, const Symbol& data, const ops::SpaceToDepthOptions& options = {}) {
  return call_op("space_to_depth", name, {data}, dict_of(options));
}
template <class = void>
NDArray space_to_depth(const NDArray& data, const ops::SpaceToDepthOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("space_to_depth");
  return op.one({data}, options, out);
}

/// Elementwise sqrt.
template <class = void>
Symbol sqrt(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("sqrt", name, {data}, dict_of(options));
}
template <class = void>
NDArray sqrt(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sqrt");
  return op.one({data}, options, out);
}

/// Elementwise square.
template <class = void>
Symbol square(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("square", name, {data}, dict_of(options));
}
template <class = void>
NDArray square(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("square");
  return op.one({data}, options, out);
}

namespace ops {
struct SqueezeOptions {
  /// Axes of extent 1 to drop; None drops all of them. (Shape or None, optional, default=None)
  TupleOption axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
  }
};
}  // namespace ops
/// Drops axes of extent 1.
template <class = void>
Symbol squeeze(const std::string& name, const Symbol& data, const ops::SqueezeOptions& options = {}) {
  return call_op("squeeze", name, {data}, dict_of(options));
}
template <class = void>
NDArray squeeze(const NDArray& data, const ops::SqueezeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("squeeze");
  return op.one({data}, options, out);
}

namespace ops {
struct StackOptions {
  /// Position of the new axis in the output. (int, optional, default=0)
  std::optional<int> axis = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
  }
};
}  // namespace ops
/// Joins the inputs along a new axis.
template <class = void>
Symbol stack(const std::string& name, const std::vector<Symbol>& inputs, const ops::StackOptions& options = {}) {
  return call_op("stack", name, inputs, dict_of(options));
}
template <class = void>
NDArray stack(const std::vector<NDArray>& inputs, const ops::StackOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("stack");
  return op.one(inputs, options, out);
}

namespace ops {
struct SumOptions {
  /// The axes to reduce; None and () mean all. (Shape or None, optional, default=None)
  TupleOption axis = {};
  /// Keeps reduced axes with extent 1. (boolean, optional, default=False)
  std::optional<bool> keepdims = {};
  /// Reduces all axes but the given ones. (boolean, optional, default=False)
  std::optional<bool> exclude = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("keepdims", keepdims);
    f("exclude", exclude);
  }
};
}  // namespace ops
/// Reduces by sum along axes.
template <class = void>
Symbol sum(const std::string& name, const Symbol& data, const ops::SumOptions& options = {}) {
  return call_op("sum", name, {data}, dict_of(options));
}
template <class = void>
NDArray sum(const NDArray& data, const ops::SumOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("sum");
  return op.one({data}, options, out);
}

namespace ops {
struct TakeOptions {
  /// The axis along which to take. (int, optional, default=0)
  std::optional<int> axis = {};
  /// What to do with an index out of range. ({'clip', 'raise', 'wrap'}, optional, default=clip)
  std::optional<std::string> mode = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("mode", mode);
  }
};
struct TakeInputs {
  Symbol a = {};
  Symbol indices = {};
};
}  // namespace ops
/// Elements along an axis, by index.
template <class = void>
Symbol take(const std::string& name, const Symbol& a, const ops::TakeOptions& options = {}) {
  return call_op("take", name, {a}, dict_of(options));
}
template <class = void>
Symbol take(const std::string& name, const Symbol& a, const Symbol& indices, const ops::TakeOptions& options = {}) {
  return call_op("take", name, {a, indices}, dict_of(options));
}
template <class = void>
Symbol take(const std::string& name, const ops::TakeInputs& inputs, const ops::TakeOptions& options = {}) {
  return call_op_named("take", name, {{"a", inputs.a}, {"indices", inputs.indices}}, dict_of(options));
}
template <class = void>
NDArray take(const NDArray& a, const NDArray& indices, const ops::TakeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("take");
  return op.one({a, indices}, options, out);
}

/// Elementwise tan.
template <class = void>
Symbol tan(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("tan", name, {data}, dict_of(options));
}
template <class = void>
NDArray tan(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("tan");
  return op.one({data}, options, out);
}

/// Elementwise tanh.
template <class = void>
Symbol tanh(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("tanh", name, {data}, dict_of(options));
}
template <class = void>
NDArray tanh(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("tanh");
  return op.one({data}, options, out);
}

namespace ops {
struct TileOptions {
  /// Repetitions per axis, counted from the last. (Shape(tuple), required)
  TupleOption reps = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("reps", reps);
  }
};
}  // namespace ops
/// The input repeated along axes.
template <class = void>
Symbol tile(const std::string& name, const Symbol& data, const ops::TileOptions& options = {}) {
  return call_op("tile", name, {data}, dict_of(options));
}
template <class = void>
NDArray tile(const NDArray& data, const ops::TileOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("tile");
  return op.one({data}, options, out);
}

namespace ops {
struct TopkOptions {
  /// The axis along which to choose; None takes the array as one row. (int or None, optional,
  /// default=-1)
  std::optional<int> axis = {};
  /// How many to choose; below 1 means all. (int, optional, default=1)
  std::optional<int> k = {};
  /// What to return of the chosen ones. ({'both', 'indices', 'mask', 'value'}, optional,
  /// default=indices)
  std::optional<std::string> ret_typ = {};
  /// Whether the smallest are chosen instead of the largest. (boolean, optional, default=False)
  std::optional<bool> is_ascend = {};
  /// The element type of the indices. (dtype, optional, default=float32)
  std::optional<DType> dtype = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axis", axis);
    f("k", k);
    f("ret_typ", ret_typ);
    f("is_ascend", is_ascend);
    f("dtype", dtype);
  }
};
}  // namespace ops
/// The k largest or smallest elements along an axis, in order.
template <class = void>
Symbol topk(const std::string& name, const Symbol& data, const ops::TopkOptions& options = {}) {
  return call_op("topk", name, {data}, dict_of(options));
}
template <class = void>
std::vector<NDArray> topk(const NDArray& data, const ops::TopkOptions& options = {}, const std::vector<NDArray>& out = {}) {
  static const ArrayOp op("topk");
  return op.all({data}, options, out);
}

namespace ops {
struct TransposeOptions {
  /// Output axis k is input axis axes[k]; () reverses the order. (Shape(tuple), optional,
  /// default=())
  TupleOption axes = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("axes", axes);
  }
};
}  // namespace ops
/// The axes in another order.
template <class = void>
Symbol transpose(const std::string& name, const Symbol& data, const ops::TransposeOptions& options = {}) {
  return call_op("transpose", name, {data}, dict_of(options));
}
template <class = void>
NDArray transpose(const NDArray& data, const ops::TransposeOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("transpose");
  return op.one({data}, options, out);
}

/// Elementwise trunc.
template <class = void>
Symbol trunc(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("trunc", name, {data}, dict_of(options));
}
template <class = void>
NDArray trunc(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("trunc");
  return op.one({data}, options, out);
}

namespace ops {
struct UnravelIndexOptions {
  /// The shape of the indexed array. (Shape or None, optional, default=None)
  TupleOption shape = {};
  AttrDict attr = {};  ///< user attributes
  template <class F>
  void each(F&& f) const {
    f("shape", shape);
  }
};
}  // namespace ops
/// One row of indices for each axis of the given shape, from flat indices.
template <class = void>
Symbol unravel_index(const std::string& name, const Symbol& data, const ops::UnravelIndexOptions& options = {}) {
  return call_op("unravel_index", name, {data}, dict_of(options));
}
template <class = void>
NDArray unravel_index(const NDArray& data, const ops::UnravelIndexOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("unravel_index");
  return op.one({data}, options, out);
}

namespace ops {
struct WhereInputs {
  Symbol condition = {};
  Symbol x = {};
  Symbol y = {};
};
}  // namespace ops
/// Elements of x where the condition is not 0, of y elsewhere.
template <class = void>
Symbol where(const std::string& name, const Symbol& condition, const NoOptions& options = {}) {
  return call_op("where", name, {condition}, dict_of(options));
}
template <class = void>
Symbol where(const std::string& name, const ops::WhereInputs& inputs, const NoOptions& options = {}) {
  return call_op_named("where", name, {{"condition", inputs.condition}, {"x", inputs.x}, {"y", inputs.y}}, dict_of(options));
}
template <class = void>
NDArray where(const NDArray& condition, const NDArray& x, const NDArray& y, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("where");
  return op.one({condition, x, y}, options, out);
}

/// An array of zeros with shape and element type of the input.
template <class = void>
Symbol zeros_like(const std::string& name, const Symbol& data, const NoOptions& options = {}) {
  return call_op("zeros_like", name, {data}, dict_of(options));
}
template <class = void>
NDArray zeros_like(const NDArray& data, const NoOptions& options = {}, const NDArray& out = {}) {
  static const ArrayOp op("zeros_like");
  return op.one({data}, options, out);
}

}  // namespace symbind
