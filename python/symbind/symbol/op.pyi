# Written by tools/stubgen; do not edit.
from typing import Any, Literal
from .._types import DType, Floats, Shape
from ..symbol.symbol import Symbol

Out = None

def Activation(data: Symbol | None = None,
               act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'] = ...,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """Applies an activation function to every element."""
def BatchNorm(data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
              moving_mean: Symbol | None = None, moving_var: Symbol | None = None,
              eps: float = 0.0010000000474974513, momentum: float = 0.9, fix_gamma: bool = True,
              use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1,
              cudnn_off: bool = False, min_calib_range: float | None = None,
              max_calib_range: float | None = None, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Normalises every channel over the batch."""
BatchNorm_v1 = BatchNorm
CuDNNBatchNorm = BatchNorm
def BilinearSampler(data: Symbol | None = None, grid: Symbol | None = None,
                    cudnn_off: bool | None = None, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Images sampled at the positions of a grid."""
def BlockGrad(data: Symbol | None = None, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input, through which no gradient flows."""
stop_gradient = BlockGrad
def CTCLoss(data: Symbol | None = None, label: Symbol | None = None,
            data_lengths: Symbol | None = None, label_lengths: Symbol | None = None,
            use_data_lengths: bool = False, use_label_lengths: bool = False,
            blank_label: Literal['first', 'last'] = 'first', name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The connectionist temporal classification loss of every sample."""
ctc_loss = CTCLoss
def Cast(data: Symbol | None = None, dtype: DType = ..., name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input in another element type."""
cast = Cast
def Concat(*data: Symbol, dim: int = 1, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Joins the inputs along an axis."""
concat = Concat
def Convolution(data: Symbol | None = None, weight: Symbol | None = None,
                bias: Symbol | None = None, kernel: Shape = ..., stride: Shape = (),
                dilate: Shape = (), pad: Shape = (), num_filter: int = ..., num_group: int = 1,
                workspace: int = 1024, no_bias: bool = False,
                cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
                cudnn_off: bool = False,
                layout: Literal['NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] | None = None,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """Convolution over one, two or three spatial axes."""
Convolution_v1 = Convolution
def Correlation(data1: Symbol | None = None, data2: Symbol | None = None, kernel_size: int = 1,
                max_displacement: int = 1, stride1: int = 1, stride2: int = 1, pad_size: int = 0,
                is_multiply: bool = True, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Compares patches of one image with displaced patches of another."""
def Crop(*data: Symbol, offset: Shape = (0, 0), h_w: Shape = (0, 0), center_crop: bool = False,
         name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
         **kwargs: Any) -> Symbol:
    """A window out of images."""
def Custom(*data: Symbol, op_type: str = ..., name: str | None = None,
           attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """A user-defined, registered operator; it defines its inputs and further parameters."""
def Deconvolution(data: Symbol | None = None, weight: Symbol | None = None,
                  bias: Symbol | None = None, kernel: Shape = ..., stride: Shape = (),
                  dilate: Shape = (), pad: Shape = (), adj: Shape = (), target_shape: Shape = (),
                  num_filter: int = ..., num_group: int = 1, workspace: int = 512,
                  no_bias: bool = True,
                  cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
                  cudnn_off: bool = False,
                  layout: Literal['NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] | None = None,
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """The transpose of a convolution over one, two or three spatial axes."""
def Dropout(data: Symbol | None = None, p: float = 0.5,
            mode: Literal['always', 'training'] = 'training', axes: Shape = (),
            cudnn_off: bool | None = False, name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Zeroes elements at random while training and scales the rest."""
def Embedding(data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ...,
              output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """Rows of the weight, by index."""
def Flatten(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Joins all axes but the first."""
flatten = Flatten
def FullyConnected(data: Symbol | None = None, weight: Symbol | None = None,
                   bias: Symbol | None = None, num_hidden: int = ..., no_bias: bool = False,
                   flatten: bool = True, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Applies y = x·Wᵀ + b to every row of the data."""
def GridGenerator(data: Symbol | None = None, transform_type: Literal['affine', 'warp'] = ...,
                  target_shape: Shape = (0, 0), name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The positions that an affine transform or a flow reads."""
def GroupNorm(data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
              num_groups: int = 1, eps: float = 1e-05, output_mean_var: bool = False,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """Normalises groups of channels of every sample."""
def IdentityAttachKLSparseReg(data: Symbol | None = None, moving_avg: Symbol | None = None,
                              sparseness_target: float = 0.1, penalty: float = 0.001,
                              momentum: float = 0.9, name: str | None = None,
                              attr: dict[str, str] | None = None, out: Out = None,
                              **kwargs: Any) -> Symbol:
    """The identity; its gradient pulls the mean activation towards a target."""
def InstanceNorm(data: Symbol | None = None, gamma: Symbol | None = None,
                 beta: Symbol | None = None, eps: float = 0.001, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Normalises every channel of every sample."""
def L2Normalization(data: Symbol | None = None, eps: float = 1e-10,
                    mode: Literal['channel', 'instance', 'spatial'] = 'instance',
                    name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                    **kwargs: Any) -> Symbol:
    """Scales samples, positions or channels to the length 1."""
def LRN(data: Symbol | None = None, alpha: float = 0.0001, beta: float = 0.75, knorm: float = 2,
        nsize: int = ..., name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Divides every element by the magnitude of its neighbours along the channels."""
def LayerNorm(data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None,
              axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """Normalises along one axis."""
def LeakyReLU(data: Symbol | None = None, gamma: Symbol | None = None,
              act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky',
              slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """Variants of relu that are not constant below 0."""
def LinearRegressionOutput(data: Symbol | None = None, label: Symbol | None = None,
                           grad_scale: float = 1, name: str | None = None,
                           attr: dict[str, str] | None = None, out: Out = None,
                           **kwargs: Any) -> Symbol:
    """The data; its gradient is that of half the squared distance to the label."""
def LogisticRegressionOutput(data: Symbol | None = None, label: Symbol | None = None,
                             grad_scale: float = 1, name: str | None = None,
                             attr: dict[str, str] | None = None, out: Out = None,
                             **kwargs: Any) -> Symbol:
    """Sigmoid; its gradient is that of the cross entropy with the label."""
def MAERegressionOutput(data: Symbol | None = None, label: Symbol | None = None,
                        grad_scale: float = 1, name: str | None = None,
                        attr: dict[str, str] | None = None, out: Out = None,
                        **kwargs: Any) -> Symbol:
    """The data; its gradient is that of the absolute distance to the label."""
def MakeLoss(data: Symbol | None = None, grad_scale: float = 1, valid_thresh: float = 0,
             normalization: Literal['batch', 'null', 'valid'] = 'null', name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input as a loss: backward starts here with a constant."""
def Pad(data: Symbol | None = None, mode: Literal['constant', 'edge', 'reflect'] = ...,
        pad_width: Shape = ..., constant_value: float = 0, name: str | None = None,
        attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input with a border."""
pad = Pad
def Pooling(data: Symbol | None = None, kernel: Shape = (),
            pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False,
            cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid',
            stride: Shape = (), pad: Shape = (), p_value: int | None = None,
            count_include_pad: bool | None = None,
            layout: Literal['NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = None,
            name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
            **kwargs: Any) -> Symbol:
    """Maximum, average, sum or p-norm of a sliding window."""
Pooling_v1 = Pooling
def RNN(data: Symbol | None = None, parameters: Symbol | None = None, state: Symbol | None = None,
        state_cell: Symbol | None = None, sequence_length: Symbol | None = None,
        state_size: int = ..., num_layers: int = ..., bidirectional: bool = False,
        mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0,
        state_outputs: bool = False, projection_size: int | None = None,
        lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
        lstm_state_clip_nan: bool = False, use_sequence_length: bool = False,
        name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
        **kwargs: Any) -> Symbol:
    """A stack of recurrent layers over all steps."""
def ROIPooling(data: Symbol | None = None, rois: Symbol | None = None, pooled_size: Shape = ...,
               spatial_scale: float = ..., name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Max pooling of regions of images, each to one size."""
def Reshape(data: Symbol | None = None, shape: Shape = (), reverse: bool = False,
            target_shape: Shape = (), keep_highest: bool = False, name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The same elements under another shape."""
reshape = Reshape
def SVMOutput(data: Symbol | None = None, label: Symbol | None = None, margin: float = 1,
              regularization_coefficient: float = 1, use_linear: bool = False,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """The data; its gradient is that of hinge losses with the label."""
def SequenceLast(data: Symbol | None = None, sequence_length: Symbol | None = None,
                 use_sequence_length: bool = False, axis: int = 0, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The last step of each sequence."""
def SequenceMask(data: Symbol | None = None, sequence_length: Symbol | None = None,
                 use_sequence_length: bool = False, value: float = 0, axis: int = 0,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """Sets everything after the end of each sequence to a value."""
def SequenceReverse(data: Symbol | None = None, sequence_length: Symbol | None = None,
                    use_sequence_length: bool = False, axis: int = 0, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Each sequence in reverse order; elements after its end are unchanged."""
def SliceChannel(data: Symbol | None = None, num_outputs: int = ..., axis: int = 1,
                 squeeze_axis: bool = False, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Splits the input into equal parts along an axis."""
split = SliceChannel
def SoftmaxActivation(data: Symbol | None = None, mode: Literal['channel', 'instance'] = 'instance',
                      name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                      **kwargs: Any) -> Symbol:
    """Softmax along the last axis, or over the channels of each position."""
def SoftmaxOutput(data: Symbol | None = None, label: Symbol | None = None, grad_scale: float = 1,
                  ignore_label: float = -1, multi_output: bool = False, use_ignore: bool = False,
                  preserve_shape: bool = False,
                  normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False,
                  smooth_alpha: float = 0, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Softmax; its gradient is that of the cross entropy with the label."""
Softmax = SoftmaxOutput
def SpatialTransformer(data: Symbol | None = None, loc: Symbol | None = None,
                       target_shape: Shape = (0, 0), transform_type: Literal['affine'] = ...,
                       sampler_type: Literal['bilinear'] = ..., cudnn_off: bool | None = None,
                       name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """Images under an affine transform that a net computes."""
def SwapAxis(data: Symbol | None = None, dim1: int = 0, dim2: int = 0, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Swaps two axes."""
swapaxes = SwapAxis
def UpSampling(*data: Symbol, scale: int = ..., num_filter: int = 0,
               sample_type: Literal['bilinear', 'nearest'] = ...,
               multi_input_mode: Literal['concat', 'sum'] = 'concat', workspace: int = 512,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """Makes images larger by a whole factor."""
def abs(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise abs."""
def adam_update(weight: Symbol | None = None, grad: Symbol | None = None,
                mean: Symbol | None = None, var: Symbol | None = None, lr: float = ...,
                beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0,
                rescale_grad: float = 1, clip_gradient: float = -1, lazy_update: bool = True,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """One step of Adam; writes mean and var; give the weight as out."""
def add_n(*data: Symbol, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """The sum of its inputs."""
ElementWiseSum = add_n
def all_finite(data: Symbol | None = None, init_output: bool = True, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """1 if every number is finite, else 0."""
def amp_cast(data: Symbol | None = None, dtype: DType = ..., name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """A float32 or 16-bit array in another element type; others are unchanged."""
def amp_multicast(*data: Symbol, cast_narrow: bool = False, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """float32 and 16-bit arrays in one type; others are unchanged."""
def arccos(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise arccos."""
def arccosh(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise arccosh."""
def arcsin(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise arcsin."""
def arcsinh(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise arcsinh."""
def arctan(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise arctan."""
def arctanh(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise arctanh."""
def argmax(data: Symbol | None = None, axis: int | None = None, keepdims: bool = False,
           name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
           **kwargs: Any) -> Symbol:
    """The index of the largest element along an axis."""
def argmax_channel(data: Symbol | None = None, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The index of the largest element along axis 1."""
def argmin(data: Symbol | None = None, axis: int | None = None, keepdims: bool = False,
           name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
           **kwargs: Any) -> Symbol:
    """The index of the smallest element along an axis."""
def argsort(data: Symbol | None = None, axis: int | None = -1, is_ascend: bool = True,
            dtype: DType = 'float32', name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """The indices of the elements in order along an axis."""
def batch_dot(lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: bool = False,
              transpose_b: bool = False,
              forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """Products of matrices, one for each index of the shared leading axes."""
def batch_take(a: Symbol | None = None, indices: Symbol | None = None, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """One element of every row of the last axis, by index."""
def broadcast_add(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise add of two arrays, broadcast to one shape."""
broadcast_plus = broadcast_add
def broadcast_axis(data: Symbol | None = None, axis: Shape = (), size: Shape = (),
                   name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                   **kwargs: Any) -> Symbol:
    """The input broadcast along axes."""
broadcast_axes = broadcast_axis
def broadcast_div(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise div of two arrays, broadcast to one shape."""
def broadcast_equal(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise equal of two arrays, broadcast to one shape."""
def broadcast_greater(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise greater of two arrays, broadcast to one shape."""
def broadcast_greater_equal(lhs: Symbol | None = None, rhs: Symbol | None = None,
                            name: str | None = None, attr: dict[str, str] | None = None,
                            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise greater_equal of two arrays, broadcast to one shape."""
def broadcast_hypot(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise hypot of two arrays, broadcast to one shape."""
def broadcast_lesser(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                     attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise lesser of two arrays, broadcast to one shape."""
def broadcast_lesser_equal(lhs: Symbol | None = None, rhs: Symbol | None = None,
                           name: str | None = None, attr: dict[str, str] | None = None,
                           out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise lesser_equal of two arrays, broadcast to one shape."""
def broadcast_like(lhs: Symbol | None = None, rhs: Symbol | None = None,
                   lhs_axes: Shape | None = None, rhs_axes: Shape | None = None,
                   name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                   **kwargs: Any) -> Symbol:
    """lhs broadcast to the shape of rhs."""
def broadcast_logical_and(lhs: Symbol | None = None, rhs: Symbol | None = None,
                          name: str | None = None, attr: dict[str, str] | None = None,
                          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise logical_and of two arrays, broadcast to one shape."""
def broadcast_logical_or(lhs: Symbol | None = None, rhs: Symbol | None = None,
                         name: str | None = None, attr: dict[str, str] | None = None,
                         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise logical_or of two arrays, broadcast to one shape."""
def broadcast_logical_xor(lhs: Symbol | None = None, rhs: Symbol | None = None,
                          name: str | None = None, attr: dict[str, str] | None = None,
                          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise logical_xor of two arrays, broadcast to one shape."""
def broadcast_maximum(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise maximum of two arrays, broadcast to one shape."""
def broadcast_minimum(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise minimum of two arrays, broadcast to one shape."""
def broadcast_mod(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise mod of two arrays, broadcast to one shape."""
def broadcast_mul(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise mul of two arrays, broadcast to one shape."""
def broadcast_not_equal(lhs: Symbol | None = None, rhs: Symbol | None = None,
                        name: str | None = None, attr: dict[str, str] | None = None,
                        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise not_equal of two arrays, broadcast to one shape."""
def broadcast_power(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise power of two arrays, broadcast to one shape."""
def broadcast_sub(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sub of two arrays, broadcast to one shape."""
broadcast_minus = broadcast_sub
def broadcast_to(data: Symbol | None = None, shape: Shape = (), name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input broadcast to a shape."""
def cbrt(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise cbrt."""
def ceil(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise ceil."""
def clip(data: Symbol | None = None, a_min: float = ..., a_max: float = ...,
         name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
         **kwargs: Any) -> Symbol:
    """The input clipped to a range."""
def col2im(data: Symbol | None = None, output_size: Shape = ..., kernel: Shape = ...,
           stride: Shape = (), dilate: Shape = (), pad: Shape = (), name: str | None = None,
           attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Images as sums of patches: the reverse of im2col."""
def cos(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise cos."""
def cosh(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise cosh."""
def cumsum(a: Symbol | None = None, axis: int | None = None, dtype: DType | None = None,
           name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
           **kwargs: Any) -> Symbol:
    """Running sums along an axis."""
def degrees(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise degrees."""
def depth_to_space(data: Symbol | None = None, block_size: int = ..., name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Moves channels into blocks of pixels."""
def diag(data: Symbol | None = None, k: int = 0, axis1: int = 0, axis2: int = 1,
         name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
         **kwargs: Any) -> Symbol:
    """The diagonal of two axes; of a vector, the matrix that has it as diagonal."""
def dot(lhs: Symbol | None = None, rhs: Symbol | None = None, transpose_a: bool = False,
        transpose_b: bool = False,
        forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None,
        name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
        **kwargs: Any) -> Symbol:
    """The product of two arrays: the last axis of lhs with the first of rhs."""
def elemwise_add(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise add of two arrays of equal shape."""
def elemwise_div(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise div of two arrays of equal shape."""
def elemwise_mul(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise mul of two arrays of equal shape."""
def elemwise_sub(lhs: Symbol | None = None, rhs: Symbol | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sub of two arrays of equal shape."""
def erf(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise erf."""
def erfinv(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise erfinv."""
def exp(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise exp."""
def expand_dims(data: Symbol | None = None, axis: int = ..., name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Inserts an axis of extent 1."""
def expm1(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise expm1."""
def fill_element_0index(lhs: Symbol | None = None, mhs: Symbol | None = None,
                        rhs: Symbol | None = None, name: str | None = None,
                        attr: dict[str, str] | None = None, out: Out = None,
                        **kwargs: Any) -> Symbol:
    """A copy of lhs with one element of every row replaced: lhs[i, rhs[i]] = mhs[i]."""
def fix(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise fix."""
def floor(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise floor."""
def ftml_update(weight: Symbol | None = None, grad: Symbol | None = None, d: Symbol | None = None,
                v: Symbol | None = None, z: Symbol | None = None, lr: float = ...,
                beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 9.99999993922529e-09,
                t: int = ..., wd: float = 0, rescale_grad: float = 1, clip_grad: float = -1,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """One step of FTML; writes d, v and z."""
def ftrl_update(weight: Symbol | None = None, grad: Symbol | None = None, z: Symbol | None = None,
                n: Symbol | None = None, lr: float = ..., lamda1: float = 0.01, beta: float = 1,
                wd: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """One step of FTRL-proximal; writes z and n."""
def gamma(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise gamma."""
def gammaln(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise gammaln."""
def gather_nd(data: Symbol | None = None, indices: Symbol | None = None, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elements by tuples of indices; the indices have the axes first."""
def hard_sigmoid(data: Symbol | None = None, alpha: float = 0.2, beta: float = 0.5,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """A line clipped to [0, 1]."""
def identity(data: Symbol | None = None, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """A copy of the input."""
def im2col(data: Symbol | None = None, kernel: Shape = ..., stride: Shape = (), dilate: Shape = (),
           pad: Shape = (), name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """The patches of images under a window, as columns."""
def lamb_update_phase1(weight: Symbol | None = None, grad: Symbol | None = None,
                       mean: Symbol | None = None, var: Symbol | None = None, beta1: float = 0.9,
                       beta2: float = 0.999, epsilon: float = 1e-06, t: int = ...,
                       bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1,
                       clip_gradient: float = -1, name: str | None = None,
                       attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """The direction of a step of LAMB; writes mean and var."""
def lamb_update_phase2(weight: Symbol | None = None, g: Symbol | None = None,
                       r1: Symbol | None = None, r2: Symbol | None = None, lr: float = ...,
                       lower_bound: float = -1, upper_bound: float = -1, name: str | None = None,
                       attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """The step of LAMB along direction g; r1 and r2 are the norms of weight and g."""
def linalg_det(A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
               out: Out = None, **kwargs: Any) -> Symbol:
    """The determinant of square matrices."""
def linalg_extractdiag(A: Symbol | None = None, offset: int = 0, name: str | None = None,
                       attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """A diagonal of square matrices."""
def linalg_extracttrian(A: Symbol | None = None, offset: int = 0, lower: bool = True,
                        name: str | None = None, attr: dict[str, str] | None = None,
                        out: Out = None, **kwargs: Any) -> Symbol:
    """A triangle of square matrices, packed."""
def linalg_gelqf(A: Symbol | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The factors of A = L · Q, the rows of Q orthonormal: Q, then L."""
def linalg_gemm(A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None,
                transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1,
                beta: float = 1, axis: int = -2, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The product of matrices and a sum, alpha · op(A) · op(B) + beta · C."""
def linalg_gemm2(A: Symbol | None = None, B: Symbol | None = None, transpose_a: bool = False,
                 transpose_b: bool = False, alpha: float = 1, axis: int = -2,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """The product of matrices, alpha · op(A) · op(B)."""
def linalg_inverse(A: Symbol | None = None, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The inverse of square matrices."""
def linalg_makediag(A: Symbol | None = None, offset: int = 0, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Matrices with a given diagonal."""
def linalg_maketrian(A: Symbol | None = None, offset: int = 0, lower: bool = True,
                     name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                     **kwargs: Any) -> Symbol:
    """Matrices with a given packed triangle."""
def linalg_potrf(A: Symbol | None = None, lower: bool = True, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The Cholesky factor L of symmetric positive definite matrices, A = L · Lᵀ."""
def linalg_potri(A: Symbol | None = None, lower: bool = True, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The inverse of matrices from their Cholesky factor, (L · Lᵀ)⁻¹."""
def linalg_slogdet(A: Symbol | None = None, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Sign and logarithm of the magnitude of the determinant of square matrices."""
def linalg_sumlogdiag(A: Symbol | None = None, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The sum of the logarithms of the diagonal."""
def linalg_syrk(A: Symbol | None = None, transpose: bool = False, alpha: float = 1,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """The product of a matrix with its own transpose."""
def linalg_trmm(A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
                rightside: bool = False, lower: bool = True, alpha: float = 1,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """The product of a triangular matrix and a matrix."""
def linalg_trsm(A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
                rightside: bool = False, lower: bool = True, alpha: float = 1,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """Solves a system of equations with a triangular matrix."""
def log(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise log."""
def log10(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise log10."""
def log1p(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise log1p."""
def log2(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise log2."""
def log_softmax(data: Symbol | None = None, axis: int = -1, temperature: float | None = None,
                dtype: Literal['float16', 'float32', 'float64'] | None = None,
                use_length: bool | None = False, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The logarithm of softmax."""
def logical_not(data: Symbol | None = None, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise logical_not."""
def make_loss(data: Symbol | None = None, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input as a loss: backward starts here with ones."""
def max(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
        exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by max along axes."""
max_axis = max
def mean(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
         exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by mean along axes."""
def min(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
        exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by min along axes."""
min_axis = min
def moments(data: Symbol | None = None, axes: Shape | None = None, keepdims: bool = False,
            name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
            **kwargs: Any) -> Symbol:
    """Mean and variance along axes."""
def mp_lamb_update_phase1(weight: Symbol | None = None, grad: Symbol | None = None,
                          mean: Symbol | None = None, var: Symbol | None = None,
                          weight32: Symbol | None = None, beta1: float = 0.9, beta2: float = 0.999,
                          epsilon: float = 1e-06, t: int = ..., bias_correction: bool = True,
                          wd: float = ..., rescale_grad: float = 1, clip_gradient: float = -1,
                          name: str | None = None, attr: dict[str, str] | None = None,
                          out: Out = None, **kwargs: Any) -> Symbol:
    """lamb_update_phase1 on a float master copy; the direction is in float32."""
def mp_lamb_update_phase2(weight: Symbol | None = None, g: Symbol | None = None,
                          r1: Symbol | None = None, r2: Symbol | None = None,
                          weight32: Symbol | None = None, lr: float = ..., lower_bound: float = -1,
                          upper_bound: float = -1, name: str | None = None,
                          attr: dict[str, str] | None = None, out: Out = None,
                          **kwargs: Any) -> Symbol:
    """lamb_update_phase2 on a float master copy; writes weight32."""
def mp_nag_mom_update(weight: Symbol | None = None, grad: Symbol | None = None,
                      mom: Symbol | None = None, weight32: Symbol | None = None, lr: float = ...,
                      momentum: float = 0, wd: float = 0, rescale_grad: float = 1,
                      clip_gradient: float = -1, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """nag_mom_update on a float master copy; writes mom and weight32."""
def mp_sgd_mom_update(weight: Symbol | None = None, grad: Symbol | None = None,
                      mom: Symbol | None = None, weight32: Symbol | None = None, lr: float = ...,
                      momentum: float = 0, wd: float = 0, rescale_grad: float = 1,
                      clip_gradient: float = -1, lazy_update: bool = True, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """sgd_mom_update on a float master copy; writes mom and weight32."""
def mp_sgd_update(weight: Symbol | None = None, grad: Symbol | None = None,
                  weight32: Symbol | None = None, lr: float = ..., wd: float = 0,
                  rescale_grad: float = 1, clip_gradient: float = -1, lazy_update: bool = True,
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """sgd_update on a float master copy; writes weight32."""
def multi_all_finite(*data: Symbol, init_output: bool = True, name: str | None = None,
                     attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """1 if every number of every array is finite, else 0."""
def multi_lars(lrs: Symbol | None = None, weights_sum_sq: Symbol | None = None,
               grads_sum_sq: Symbol | None = None, wds: Symbol | None = None, eta: float = ...,
               eps: float = ..., rescale_grad: float = 1, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The learning rates of LARS from those given and the sums of squares."""
def multi_mp_sgd_mom_update(*data: Symbol, lrs: Floats = ..., wds: Floats = ...,
                            momentum: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
                            name: str | None = None, attr: dict[str, str] | None = None,
                            out: Out = None, **kwargs: Any) -> Symbol:
    """mp_sgd_mom_update on several weights; writes every mom and weight32."""
def multi_mp_sgd_update(*data: Symbol, lrs: Floats = ..., wds: Floats = ...,
                        rescale_grad: float = 1, clip_gradient: float = -1, name: str | None = None,
                        attr: dict[str, str] | None = None, out: Out = None,
                        **kwargs: Any) -> Symbol:
    """mp_sgd_update on several weights; writes every weight32."""
def multi_sgd_mom_update(*data: Symbol, lrs: Floats = ..., wds: Floats = ..., momentum: float = 0,
                         rescale_grad: float = 1, clip_gradient: float = -1,
                         name: str | None = None, attr: dict[str, str] | None = None,
                         out: Out = None, **kwargs: Any) -> Symbol:
    """sgd_mom_update on several weights; writes every mom."""
def multi_sgd_update(*data: Symbol, lrs: Floats = ..., wds: Floats = ..., rescale_grad: float = 1,
                     clip_gradient: float = -1, name: str | None = None,
                     attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """sgd_update on several weights."""
def multi_sum_sq(*data: Symbol, name: str | None = None, attr: dict[str, str] | None = None,
                 out: Out = None, **kwargs: Any) -> Symbol:
    """The sum of the squares of each array."""
def nag_mom_update(weight: Symbol | None = None, grad: Symbol | None = None,
                   mom: Symbol | None = None, lr: float = ..., momentum: float = 0, wd: float = 0,
                   rescale_grad: float = 1, clip_gradient: float = -1, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """One step of Nesterov's accelerated gradient; writes mom."""
def nanprod(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
            exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by nanprod along axes."""
def nansum(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
           exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by nansum along axes."""
def negative(data: Symbol | None = None, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise negative."""
def norm(data: Symbol | None = None, ord: int = 2, axis: Shape | None = None,
         out_dtype: DType | None = None, keepdims: bool = False, name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The norm along axes."""
def normal(loc: float = 0, scale: float = 1, shape: Shape = (), ctx: str = '',
           dtype: DType | None = None, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution normal."""
random_normal = normal
def one_hot(indices: Symbol | None = None, depth: int = ..., on_value: float = 1,
            off_value: float = 0, dtype: DType = 'float32', name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Indices as one-hot rows."""
def ones_like(data: Symbol | None = None, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An array of ones with shape and element type of the input."""
def pick(data: Symbol | None = None, index: Symbol | None = None, axis: int | None = -1,
         keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """One element of every row, by index."""
choose_element_0index = pick
def preloaded_multi_mp_sgd_mom_update(*data: Symbol, momentum: float = 0, rescale_grad: float = 1,
                                      clip_gradient: float = -1, name: str | None = None,
                                      attr: dict[str, str] | None = None, out: Out = None,
                                      **kwargs: Any) -> Symbol:
    """mp_sgd_mom_update on several weights, the rates in arrays; writes every mom and weight32."""
def preloaded_multi_mp_sgd_update(*data: Symbol, rescale_grad: float = 1, clip_gradient: float = -1,
                                  name: str | None = None, attr: dict[str, str] | None = None,
                                  out: Out = None, **kwargs: Any) -> Symbol:
    """mp_sgd_update on several weights, the rates in arrays; writes every weight32."""
def preloaded_multi_sgd_mom_update(*data: Symbol, momentum: float = 0, rescale_grad: float = 1,
                                   clip_gradient: float = -1, name: str | None = None,
                                   attr: dict[str, str] | None = None, out: Out = None,
                                   **kwargs: Any) -> Symbol:
    """sgd_mom_update on several weights, the rates in arrays; writes every mom."""
def preloaded_multi_sgd_update(*data: Symbol, rescale_grad: float = 1, clip_gradient: float = -1,
                               name: str | None = None, attr: dict[str, str] | None = None,
                               out: Out = None, **kwargs: Any) -> Symbol:
    """sgd_update on several weights, the rates in arrays."""
def prod(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
         exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by prod along axes."""
def radians(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise radians."""
def random_exponential(lam: float = 1, shape: Shape = (), ctx: str = '', dtype: DType | None = None,
                       name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """Samples of the distribution exponential."""
def random_gamma(alpha: float = 1, beta: float = 1, shape: Shape = (), ctx: str = '',
                 dtype: DType | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution gamma."""
def random_generalized_negative_binomial(mu: float = 1, alpha: float = 1, shape: Shape = (),
                                         ctx: str = '', dtype: DType | None = None,
                                         name: str | None = None,
                                         attr: dict[str, str] | None = None, out: Out = None,
                                         **kwargs: Any) -> Symbol:
    """Samples of the distribution generalized_negative_binomial."""
def random_negative_binomial(k: int = 1, p: float = 1, shape: Shape = (), ctx: str = '',
                             dtype: DType | None = None, name: str | None = None,
                             attr: dict[str, str] | None = None, out: Out = None,
                             **kwargs: Any) -> Symbol:
    """Samples of the distribution negative_binomial."""
def random_pdf_dirichlet(sample: Symbol | None = None, alpha: Symbol | None = None,
                         is_log: bool = False, name: str | None = None,
                         attr: dict[str, str] | None = None, out: Out = None,
                         **kwargs: Any) -> Symbol:
    """The density of the distribution dirichlet at the samples."""
def random_pdf_exponential(sample: Symbol | None = None, lam: Symbol | None = None,
                           is_log: bool = False, name: str | None = None,
                           attr: dict[str, str] | None = None, out: Out = None,
                           **kwargs: Any) -> Symbol:
    """The density of the distribution exponential at the samples."""
def random_pdf_gamma(sample: Symbol | None = None, alpha: Symbol | None = None,
                     beta: Symbol | None = None, is_log: bool = False, name: str | None = None,
                     attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The density of the distribution gamma at the samples."""
def random_pdf_generalized_negative_binomial(sample: Symbol | None = None, mu: Symbol | None = None,
                                             alpha: Symbol | None = None, is_log: bool = False,
                                             name: str | None = None,
                                             attr: dict[str, str] | None = None, out: Out = None,
                                             **kwargs: Any) -> Symbol:
    """The density of the distribution generalized_negative_binomial at the samples."""
def random_pdf_negative_binomial(sample: Symbol | None = None, k: Symbol | None = None,
                                 p: Symbol | None = None, is_log: bool = False,
                                 name: str | None = None, attr: dict[str, str] | None = None,
                                 out: Out = None, **kwargs: Any) -> Symbol:
    """The density of the distribution negative_binomial at the samples."""
def random_pdf_normal(sample: Symbol | None = None, mu: Symbol | None = None,
                      sigma: Symbol | None = None, is_log: bool = False, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The density of the distribution normal at the samples."""
def random_pdf_poisson(sample: Symbol | None = None, lam: Symbol | None = None,
                       is_log: bool = False, name: str | None = None,
                       attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """The density of the distribution poisson at the samples."""
def random_pdf_uniform(sample: Symbol | None = None, low: Symbol | None = None,
                       high: Symbol | None = None, is_log: bool = False, name: str | None = None,
                       attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """The density of the distribution uniform at the samples."""
def random_poisson(lam: float = 1, shape: Shape = (), ctx: str = '', dtype: DType | None = None,
                   name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                   **kwargs: Any) -> Symbol:
    """Samples of the distribution poisson."""
def random_randint(low: int = ..., high: int = ..., shape: Shape = (), ctx: str = '',
                   dtype: DType | None = None, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Uniformly distributed whole numbers from low to below high."""
def random_uniform(low: float = 0, high: float = 1, shape: Shape = (), ctx: str = '',
                   dtype: DType | None = None, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution uniform."""
uniform = random_uniform
def ravel_multi_index(data: Symbol | None = None, shape: Shape | None = None,
                      name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                      **kwargs: Any) -> Symbol:
    """Flat indices into an array of the given shape, from one row of indices for each axis."""
def rcbrt(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise rcbrt."""
def reciprocal(data: Symbol | None = None, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise reciprocal."""
def relu(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise relu."""
def repeat(data: Symbol | None = None, repeats: int = ..., axis: int | None = None,
           name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
           **kwargs: Any) -> Symbol:
    """Every element repeated."""
def reshape_like(lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_begin: int | None = None,
                 lhs_end: int | None = None, rhs_begin: int | None = None,
                 rhs_end: int | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """lhs with the shape of rhs, or with some axes of it."""
def reverse(data: Symbol | None = None, axis: Shape = ..., name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The elements in reverse order along axes."""
flip = reverse
def rint(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise rint."""
def rmsprop_update(weight: Symbol | None = None, grad: Symbol | None = None,
                   n: Symbol | None = None, lr: float = ..., gamma1: float = 0.95,
                   epsilon: float = 1e-08, wd: float = 0, rescale_grad: float = 1,
                   clip_gradient: float = -1, clip_weights: float = -1, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """One step of RMSProp (Tieleman and Hinton); writes n."""
def rmspropalex_update(weight: Symbol | None = None, grad: Symbol | None = None,
                       n: Symbol | None = None, g: Symbol | None = None,
                       delta: Symbol | None = None, lr: float = ..., gamma1: float = 0.95,
                       gamma2: float = 0.9, epsilon: float = 1e-08, wd: float = 0,
                       rescale_grad: float = 1, clip_gradient: float = -1, clip_weights: float = -1,
                       name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """One step of RMSProp (Graves); writes n, g and delta."""
def round(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise round."""
def rsqrt(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise rsqrt."""
def sample_exponential(lam: Symbol | None = None, shape: Shape = (), dtype: DType | None = None,
                       name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """Samples of the distribution exponential for every element of its parameters."""
def sample_gamma(alpha: Symbol | None = None, beta: Symbol | None = None, shape: Shape = (),
                 dtype: DType | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution gamma for every element of its parameters."""
def sample_generalized_negative_binomial(mu: Symbol | None = None, alpha: Symbol | None = None,
                                         shape: Shape = (), dtype: DType | None = None,
                                         name: str | None = None,
                                         attr: dict[str, str] | None = None, out: Out = None,
                                         **kwargs: Any) -> Symbol:
    """Samples of the distribution generalized_negative_binomial for every element of its parameters."""
def sample_multinomial(data: Symbol | None = None, shape: Shape = (), get_prob: bool = False,
                       dtype: DType = 'int32', name: str | None = None,
                       attr: dict[str, str] | None = None, out: Out = None,
                       **kwargs: Any) -> Symbol:
    """Class numbers drawn with the probabilities along the last axis."""
def sample_negative_binomial(k: Symbol | None = None, p: Symbol | None = None, shape: Shape = (),
                             dtype: DType | None = None, name: str | None = None,
                             attr: dict[str, str] | None = None, out: Out = None,
                             **kwargs: Any) -> Symbol:
    """Samples of the distribution negative_binomial for every element of its parameters."""
def sample_normal(mu: Symbol | None = None, sigma: Symbol | None = None, shape: Shape = (),
                  dtype: DType | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution normal for every element of its parameters."""
def sample_poisson(lam: Symbol | None = None, shape: Shape = (), dtype: DType | None = None,
                   name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                   **kwargs: Any) -> Symbol:
    """Samples of the distribution poisson for every element of its parameters."""
def sample_uniform(low: Symbol | None = None, high: Symbol | None = None, shape: Shape = (),
                   dtype: DType | None = None, name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution uniform for every element of its parameters."""
def scatter_nd(data: Symbol | None = None, indices: Symbol | None = None, shape: Shape = ...,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """Writes data to the positions given by tuples of indices, over zeros."""
def sgd_mom_update(weight: Symbol | None = None, grad: Symbol | None = None,
                   mom: Symbol | None = None, lr: float = ..., momentum: float = 0, wd: float = 0,
                   rescale_grad: float = 1, clip_gradient: float = -1, lazy_update: bool = True,
                   name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                   **kwargs: Any) -> Symbol:
    """One step of gradient descent with momentum; writes mom; give the weight as out."""
def sgd_update(weight: Symbol | None = None, grad: Symbol | None = None, lr: float = ...,
               wd: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
               lazy_update: bool = True, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """One step of gradient descent; give the weight as out."""
def shape_array(data: Symbol | None = None, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input's shape as an array."""
def shuffle(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """The rows in random order."""
def sigmoid(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
            out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sigmoid."""
def sign(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sign."""
def signsgd_update(weight: Symbol | None = None, grad: Symbol | None = None, lr: float = ...,
                   wd: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
                   name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                   **kwargs: Any) -> Symbol:
    """One step against the gradient's sign."""
def signum_update(weight: Symbol | None = None, grad: Symbol | None = None,
                  mom: Symbol | None = None, lr: float = ..., momentum: float = 0, wd: float = 0,
                  rescale_grad: float = 1, clip_gradient: float = -1, wd_lh: float = 0,
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """One step along the momentum's sign; writes mom."""
def sin(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sin."""
def sinh(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sinh."""
def size_array(data: Symbol | None = None, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input's number of elements as an array."""
def slice(data: Symbol | None = None, begin: Shape = ..., end: Shape = ..., step: Shape = (),
          name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
          **kwargs: Any) -> Symbol:
    """A part of the input: begin, end and step per axis."""
crop = slice
def slice_axis(data: Symbol | None = None, axis: int = ..., begin: int = ..., end: int | None = ...,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """A part of the input along one axis."""
def slice_like(data: Symbol | None = None, shape_like: Symbol | None = None, axes: Shape = (),
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """The input reduced to the extents of another array."""
def smooth_l1(data: Symbol | None = None, scalar: float = 1, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """A parabola near 0, the absolute value elsewhere."""
def softmax(data: Symbol | None = None, length: Symbol | None = None, axis: int = -1,
            temperature: float | None = None,
            dtype: Literal['float16', 'float32', 'float64'] | None = None,
            use_length: bool | None = False, name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Exponentials along an axis, normalised to the sum 1."""
def softmax_cross_entropy(data: Symbol | None = None, label: Symbol | None = None,
                          name: str | None = None, attr: dict[str, str] | None = None,
                          out: Out = None, **kwargs: Any) -> Symbol:
    """The cross entropy of softmax with class labels, summed over the rows."""
def softmin(data: Symbol | None = None, axis: int = -1, temperature: float | None = None,
            dtype: Literal['float16', 'float32', 'float64'] | None = None,
            use_length: bool | None = False, name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Softmax of the negated data."""
def softsign(data: Symbol | None = None, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise softsign."""
def sort(data: Symbol | None = None, axis: int | None = -1, is_ascend: bool = True,
         name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
         **kwargs: Any) -> Symbol:
    """The elements in order along an axis."""
def space_to_depth(data: Symbol | None = None, block_size: int = ..., name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Moves blocks of pixels into channels."""
def sqrt(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise sqrt."""
def square(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
           out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise square."""
def squeeze(data: Symbol | None = None, axis: Shape | None = None, name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Drops axes of extent 1."""
def stack(*data: Symbol, axis: int = 0, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Joins the inputs along a new axis."""
def sum(data: Symbol | None = None, axis: Shape | None = None, keepdims: bool = False,
        exclude: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Reduces by sum along axes."""
sum_axis = sum
def take(a: Symbol | None = None, indices: Symbol | None = None, axis: int = 0,
         mode: Literal['clip', 'raise', 'wrap'] = 'clip', name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Elements along an axis, by index."""
def tan(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
        out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise tan."""
def tanh(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise tanh."""
def tile(data: Symbol | None = None, reps: Shape = ..., name: str | None = None,
         attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input repeated along axes."""
def topk(data: Symbol | None = None, axis: int | None = -1, k: int = 1,
         ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False,
         dtype: DType = 'float32', name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """The k largest or smallest elements along an axis, in order."""
def transpose(data: Symbol | None = None, axes: Shape = (), name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The axes in another order."""
def trunc(data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
          out: Out = None, **kwargs: Any) -> Symbol:
    """Elementwise trunc."""
def unravel_index(data: Symbol | None = None, shape: Shape | None = None, name: str | None = None,
                  attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """One row of indices for each axis of the given shape, from flat indices."""
def where(condition: Symbol | None = None, x: Symbol | None = None, y: Symbol | None = None,
          name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
          **kwargs: Any) -> Symbol:
    """Elements of x where the condition is not 0, of y elsewhere."""
def zeros_like(data: Symbol | None = None, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An array of zeros with shape and element type of the input."""
