# Written by tools/stubgen; do not edit.
from collections.abc import Sequence
from typing import Any, Literal
from .._types import DType, Floats, Shape
from ..ndarray.ndarray import NDArray

Out = NDArray | Sequence[NDArray] | None

def Activation(data: NDArray | None = None,
               act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'] = ...,
               out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Applies an activation function to every element."""
def BatchNorm(data: NDArray | None = None, gamma: NDArray | None = None,
              beta: NDArray | None = None, moving_mean: NDArray | None = None,
              moving_var: NDArray | None = None, eps: float = 0.0010000000474974513,
              momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False,
              output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False,
              min_calib_range: float | None = None, max_calib_range: float | None = None,
              out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """Normalises every channel over the batch."""
BatchNorm_v1 = BatchNorm
CuDNNBatchNorm = BatchNorm
def BilinearSampler(data: NDArray | None = None, grid: NDArray | None = None,
                    cudnn_off: bool | None = None, out: Out = None, name: str | None = None,
                    **kwargs: Any) -> NDArray:
    """Images sampled at the positions of a grid."""
def BlockGrad(data: NDArray | None = None, out: Out = None, name: str | None = None,
              **kwargs: Any) -> NDArray:
    """The input, through which no gradient flows."""
stop_gradient = BlockGrad
def CTCLoss(data: NDArray | None = None, label: NDArray | None = None,
            data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
            use_data_lengths: bool = False, use_label_lengths: bool = False,
            blank_label: Literal['first', 'last'] = 'first', out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """The connectionist temporal classification loss of every sample."""
ctc_loss = CTCLoss
def Cast(data: NDArray | None = None, dtype: DType = ..., out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """The input in another element type."""
cast = Cast
def Concat(*data: NDArray, dim: int = 1, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Joins the inputs along an axis."""
concat = Concat
def Convolution(data: NDArray | None = None, weight: NDArray | None = None,
                bias: NDArray | None = None, kernel: Shape = ..., stride: Shape = (),
                dilate: Shape = (), pad: Shape = (), num_filter: int = ..., num_group: int = 1,
                workspace: int = 1024, no_bias: bool = False,
                cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
                cudnn_off: bool = False,
                layout: Literal['NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] | None = None,
                out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Convolution over one, two or three spatial axes."""
Convolution_v1 = Convolution
def Correlation(data1: NDArray | None = None, data2: NDArray | None = None, kernel_size: int = 1,
                max_displacement: int = 1, stride1: int = 1, stride2: int = 1, pad_size: int = 0,
                is_multiply: bool = True, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """Compares patches of one image with displaced patches of another."""
def Crop(*data: NDArray, offset: Shape = (0, 0), h_w: Shape = (0, 0), center_crop: bool = False,
         out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """A window out of images."""
def Custom(*data: NDArray, op_type: str = ..., out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray | list[NDArray]:
    """A user-defined, registered operator; it defines its inputs and further parameters."""
def Deconvolution(data: NDArray | None = None, weight: NDArray | None = None,
                  bias: NDArray | None = None, kernel: Shape = ..., stride: Shape = (),
                  dilate: Shape = (), pad: Shape = (), adj: Shape = (), target_shape: Shape = (),
                  num_filter: int = ..., num_group: int = 1, workspace: int = 512,
                  no_bias: bool = True,
                  cudnn_tune: Literal['fastest', 'limited_workspace', 'off'] | None = None,
                  cudnn_off: bool = False,
                  layout: Literal['NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] | None = None,
                  out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The transpose of a convolution over one, two or three spatial axes."""
def Dropout(data: NDArray | None = None, p: float = 0.5,
            mode: Literal['always', 'training'] = 'training', axes: Shape = (),
            cudnn_off: bool | None = False, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Zeroes elements at random while training and scales the rest."""
def Embedding(data: NDArray | None = None, weight: NDArray | None = None, input_dim: int = ...,
              output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False,
              out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Rows of the weight, by index."""
def Flatten(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Joins all axes but the first."""
flatten = Flatten
def FullyConnected(data: NDArray | None = None, weight: NDArray | None = None,
                   bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = False,
                   flatten: bool = True, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> NDArray:
    """Applies y = x·Wᵀ + b to every row of the data."""
def GridGenerator(data: NDArray | None = None, transform_type: Literal['affine', 'warp'] = ...,
                  target_shape: Shape = (0, 0), out: Out = None, name: str | None = None,
                  **kwargs: Any) -> NDArray:
    """The positions that an affine transform or a flow reads."""
def GroupNorm(data: NDArray | None = None, gamma: NDArray | None = None,
              beta: NDArray | None = None, num_groups: int = 1, eps: float = 1e-05,
              output_mean_var: bool = False, out: Out = None, name: str | None = None,
              **kwargs: Any) -> NDArray | list[NDArray]:
    """Normalises groups of channels of every sample."""
def IdentityAttachKLSparseReg(data: NDArray | None = None, moving_avg: NDArray | None = None,
                              sparseness_target: float = 0.1, penalty: float = 0.001,
                              momentum: float = 0.9, out: Out = None, name: str | None = None,
                              **kwargs: Any) -> NDArray:
    """The identity; its gradient pulls the mean activation towards a target."""
def InstanceNorm(data: NDArray | None = None, gamma: NDArray | None = None,
                 beta: NDArray | None = None, eps: float = 0.001, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """Normalises every channel of every sample."""
def L2Normalization(data: NDArray | None = None, eps: float = 1e-10,
                    mode: Literal['channel', 'instance', 'spatial'] = 'instance', out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """Scales samples, positions or channels to the length 1."""
def LRN(data: NDArray | None = None, alpha: float = 0.0001, beta: float = 0.75, knorm: float = 2,
        nsize: int = ..., out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Divides every element by the magnitude of its neighbours along the channels."""
def LayerNorm(data: NDArray | None = None, gamma: NDArray | None = None,
              beta: NDArray | None = None, axis: int = -1, eps: float = 1e-05,
              output_mean_var: bool = False, out: Out = None, name: str | None = None,
              **kwargs: Any) -> NDArray | list[NDArray]:
    """Normalises along one axis."""
def LeakyReLU(data: NDArray | None = None, gamma: NDArray | None = None,
              act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky',
              slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334,
              out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Variants of relu that are not constant below 0."""
def LinearRegressionOutput(data: NDArray | None = None, label: NDArray | None = None,
                           grad_scale: float = 1, out: Out = None, name: str | None = None,
                           **kwargs: Any) -> NDArray:
    """The data; its gradient is that of half the squared distance to the label."""
def LogisticRegressionOutput(data: NDArray | None = None, label: NDArray | None = None,
                             grad_scale: float = 1, out: Out = None, name: str | None = None,
                             **kwargs: Any) -> NDArray:
    """Sigmoid; its gradient is that of the cross entropy with the label."""
def MAERegressionOutput(data: NDArray | None = None, label: NDArray | None = None,
                        grad_scale: float = 1, out: Out = None, name: str | None = None,
                        **kwargs: Any) -> NDArray:
    """The data; its gradient is that of the absolute distance to the label."""
def MakeLoss(data: NDArray | None = None, grad_scale: float = 1, valid_thresh: float = 0,
             normalization: Literal['batch', 'null', 'valid'] = 'null', out: Out = None,
             name: str | None = None, **kwargs: Any) -> NDArray:
    """The input as a loss: backward starts here with a constant."""
def Pad(data: NDArray | None = None, mode: Literal['constant', 'edge', 'reflect'] = ...,
        pad_width: Shape = ..., constant_value: float = 0, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """The input with a border."""
pad = Pad
def Pooling(data: NDArray | None = None, kernel: Shape = (),
            pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False,
            cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid',
            stride: Shape = (), pad: Shape = (), p_value: int | None = None,
            count_include_pad: bool | None = None,
            layout: Literal['NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] | None = None,
            out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Maximum, average, sum or p-norm of a sliding window."""
Pooling_v1 = Pooling
def RNN(data: NDArray | None = None, parameters: NDArray | None = None,
        state: NDArray | None = None, state_cell: NDArray | None = None,
        sequence_length: NDArray | None = None, state_size: int = ..., num_layers: int = ...,
        bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ...,
        p: float = 0, state_outputs: bool = False, projection_size: int | None = None,
        lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
        lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, out: Out = None,
        name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """A stack of recurrent layers over all steps."""
def ROIPooling(data: NDArray | None = None, rois: NDArray | None = None, pooled_size: Shape = ...,
               spatial_scale: float = ..., out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """Max pooling of regions of images, each to one size."""
def Reshape(data: NDArray | None = None, shape: Shape = (), reverse: bool = False,
            target_shape: Shape = (), keep_highest: bool = False, out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """The same elements under another shape."""
reshape = Reshape
def SVMOutput(data: NDArray | None = None, label: NDArray | None = None, margin: float = 1,
              regularization_coefficient: float = 1, use_linear: bool = False, out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """The data; its gradient is that of hinge losses with the label."""
def SequenceLast(data: NDArray | None = None, sequence_length: NDArray | None = None,
                 use_sequence_length: bool = False, axis: int = 0, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """The last step of each sequence."""
def SequenceMask(data: NDArray | None = None, sequence_length: NDArray | None = None,
                 use_sequence_length: bool = False, value: float = 0, axis: int = 0,
                 out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Sets everything after the end of each sequence to a value."""
def SequenceReverse(data: NDArray | None = None, sequence_length: NDArray | None = None,
                    use_sequence_length: bool = False, axis: int = 0, out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """Each sequence in reverse order; elements after its end are unchanged."""
def SliceChannel(data: NDArray | None = None, num_outputs: int = ..., axis: int = 1,
                 squeeze_axis: bool = False, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> NDArray | list[NDArray]:
    """Splits the input into equal parts along an axis."""
split = SliceChannel
def SoftmaxActivation(data: NDArray | None = None,
                      mode: Literal['channel', 'instance'] = 'instance', out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """Softmax along the last axis, or over the channels of each position."""
def SoftmaxOutput(data: NDArray | None = None, label: NDArray | None = None, grad_scale: float = 1,
                  ignore_label: float = -1, multi_output: bool = False, use_ignore: bool = False,
                  preserve_shape: bool = False,
                  normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False,
                  smooth_alpha: float = 0, out: Out = None, name: str | None = None,
                  **kwargs: Any) -> NDArray:
    """Softmax; its gradient is that of the cross entropy with the label."""
Softmax = SoftmaxOutput
def SpatialTransformer(data: NDArray | None = None, loc: NDArray | None = None,
                       target_shape: Shape = (0, 0), transform_type: Literal['affine'] = ...,
                       sampler_type: Literal['bilinear'] = ..., cudnn_off: bool | None = None,
                       out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Images under an affine transform that a net computes."""
def SwapAxis(data: NDArray | None = None, dim1: int = 0, dim2: int = 0, out: Out = None,
             name: str | None = None, **kwargs: Any) -> NDArray:
    """Swaps two axes."""
swapaxes = SwapAxis
def UpSampling(*data: NDArray, scale: int = ..., num_filter: int = 0,
               sample_type: Literal['bilinear', 'nearest'] = ...,
               multi_input_mode: Literal['concat', 'sum'] = 'concat', workspace: int = 512,
               out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Makes images larger by a whole factor."""
def abs(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise abs."""
def adam_update(weight: NDArray | None = None, grad: NDArray | None = None,
                mean: NDArray | None = None, var: NDArray | None = None, lr: float = ...,
                beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0,
                rescale_grad: float = 1, clip_gradient: float = -1, lazy_update: bool = True,
                out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """One step of Adam; writes mean and var; give the weight as out."""
def add_n(*data: NDArray, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The sum of its inputs."""
ElementWiseSum = add_n
def all_finite(data: NDArray | None = None, init_output: bool = True, out: Out = None,
               name: str | None = None, **kwargs: Any) -> NDArray:
    """1 if every number is finite, else 0."""
def amp_cast(data: NDArray | None = None, dtype: DType = ..., out: Out = None,
             name: str | None = None, **kwargs: Any) -> NDArray:
    """A float32 or 16-bit array in another element type; others are unchanged."""
def amp_multicast(*data: NDArray, cast_narrow: bool = False, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """float32 and 16-bit arrays in one type; others are unchanged."""
def arccos(data: NDArray | None = None, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Elementwise arccos."""
def arccosh(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise arccosh."""
def arcsin(data: NDArray | None = None, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Elementwise arcsin."""
def arcsinh(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise arcsinh."""
def arctan(data: NDArray | None = None, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Elementwise arctan."""
def arctanh(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise arctanh."""
def argmax(data: NDArray | None = None, axis: int | None = None, keepdims: bool = False,
           out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The index of the largest element along an axis."""
def argmax_channel(data: NDArray | None = None, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> NDArray:
    """The index of the largest element along axis 1."""
def argmin(data: NDArray | None = None, axis: int | None = None, keepdims: bool = False,
           out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The index of the smallest element along an axis."""
def argsort(data: NDArray | None = None, axis: int | None = -1, is_ascend: bool = True,
            dtype: DType = 'float32', out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """The indices of the elements in order along an axis."""
def batch_dot(lhs: NDArray | None = None, rhs: NDArray | None = None, transpose_a: bool = False,
              transpose_b: bool = False,
              forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None, out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """Products of matrices, one for each index of the shared leading axes."""
def batch_take(a: NDArray | None = None, indices: NDArray | None = None, out: Out = None,
               name: str | None = None, **kwargs: Any) -> NDArray:
    """One element of every row of the last axis, by index."""
def broadcast_add(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise add of two arrays, broadcast to one shape."""
broadcast_plus = broadcast_add
def broadcast_axis(data: NDArray | None = None, axis: Shape = (), size: Shape = (), out: Out = None,
                   name: str | None = None, **kwargs: Any) -> NDArray:
    """The input broadcast along axes."""
broadcast_axes = broadcast_axis
def broadcast_div(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise div of two arrays, broadcast to one shape."""
def broadcast_equal(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise equal of two arrays, broadcast to one shape."""
def broadcast_greater(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise greater of two arrays, broadcast to one shape."""
def broadcast_greater_equal(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                            name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise greater_equal of two arrays, broadcast to one shape."""
def broadcast_hypot(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise hypot of two arrays, broadcast to one shape."""
def broadcast_lesser(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                     name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise lesser of two arrays, broadcast to one shape."""
def broadcast_lesser_equal(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                           name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise lesser_equal of two arrays, broadcast to one shape."""
def broadcast_like(lhs: NDArray | None = None, rhs: NDArray | None = None,
                   lhs_axes: Shape | None = None, rhs_axes: Shape | None = None, out: Out = None,
                   name: str | None = None, **kwargs: Any) -> NDArray:
    """lhs broadcast to the shape of rhs."""
def broadcast_logical_and(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                          name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise logical_and of two arrays, broadcast to one shape."""
def broadcast_logical_or(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                         name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise logical_or of two arrays, broadcast to one shape."""
def broadcast_logical_xor(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                          name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise logical_xor of two arrays, broadcast to one shape."""
def broadcast_maximum(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise maximum of two arrays, broadcast to one shape."""
def broadcast_minimum(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise minimum of two arrays, broadcast to one shape."""
def broadcast_mod(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise mod of two arrays, broadcast to one shape."""
def broadcast_mul(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise mul of two arrays, broadcast to one shape."""
def broadcast_not_equal(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                        name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise not_equal of two arrays, broadcast to one shape."""
def broadcast_power(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise power of two arrays, broadcast to one shape."""
def broadcast_sub(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise sub of two arrays, broadcast to one shape."""
broadcast_minus = broadcast_sub
def broadcast_to(data: NDArray | None = None, shape: Shape = (), out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """The input broadcast to a shape."""
def cbrt(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise cbrt."""
def ceil(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise ceil."""
def clip(data: NDArray | None = None, a_min: float = ..., a_max: float = ..., out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """The input clipped to a range."""
def col2im(data: NDArray | None = None, output_size: Shape = ..., kernel: Shape = ...,
           stride: Shape = (), dilate: Shape = (), pad: Shape = (), out: Out = None,
           name: str | None = None, **kwargs: Any) -> NDArray:
    """Images as sums of patches: the reverse of im2col."""
def cos(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise cos."""
def cosh(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise cosh."""
def cumsum(a: NDArray | None = None, axis: int | None = None, dtype: DType | None = None,
           out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Running sums along an axis."""
def degrees(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise degrees."""
def depth_to_space(data: NDArray | None = None, block_size: int = ..., out: Out = None,
                   name: str | None = None, **kwargs: Any) -> NDArray:
    """Moves channels into blocks of pixels."""
def diag(data: NDArray | None = None, k: int = 0, axis1: int = 0, axis2: int = 1, out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """The diagonal of two axes; of a vector, the matrix that has it as diagonal."""
def dot(lhs: NDArray | None = None, rhs: NDArray | None = None, transpose_a: bool = False,
        transpose_b: bool = False,
        forward_stype: Literal['csr', 'default', 'row_sparse'] | None = None, out: Out = None,
        name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of two arrays: the last axis of lhs with the first of rhs."""
def elemwise_add(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise add of two arrays of equal shape."""
def elemwise_div(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise div of two arrays of equal shape."""
def elemwise_mul(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise mul of two arrays of equal shape."""
def elemwise_sub(lhs: NDArray | None = None, rhs: NDArray | None = None, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """Elementwise sub of two arrays of equal shape."""
def erf(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise erf."""
def erfinv(data: NDArray | None = None, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Elementwise erfinv."""
def exp(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise exp."""
def expand_dims(data: NDArray | None = None, axis: int = ..., out: Out = None,
                name: str | None = None, **kwargs: Any) -> NDArray:
    """Inserts an axis of extent 1."""
def expm1(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise expm1."""
def fill_element_0index(lhs: NDArray | None = None, mhs: NDArray | None = None,
                        rhs: NDArray | None = None, out: Out = None, name: str | None = None,
                        **kwargs: Any) -> NDArray:
    """A copy of lhs with one element of every row replaced: lhs[i, rhs[i]] = mhs[i]."""
def fix(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise fix."""
def floor(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise floor."""
def ftml_update(weight: NDArray | None = None, grad: NDArray | None = None,
                d: NDArray | None = None, v: NDArray | None = None, z: NDArray | None = None,
                lr: float = ..., beta1: float = 0.6, beta2: float = 0.999,
                epsilon: float = 9.99999993922529e-09, t: int = ..., wd: float = 0,
                rescale_grad: float = 1, clip_grad: float = -1, out: Out = None,
                name: str | None = None, **kwargs: Any) -> NDArray:
    """One step of FTML; writes d, v and z."""
def ftrl_update(weight: NDArray | None = None, grad: NDArray | None = None,
                z: NDArray | None = None, n: NDArray | None = None, lr: float = ...,
                lamda1: float = 0.01, beta: float = 1, wd: float = 0, rescale_grad: float = 1,
                clip_gradient: float = -1, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """One step of FTRL-proximal; writes z and n."""
def gamma(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise gamma."""
def gammaln(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise gammaln."""
def gather_nd(data: NDArray | None = None, indices: NDArray | None = None, out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """Elements by tuples of indices; the indices have the axes first."""
def hard_sigmoid(data: NDArray | None = None, alpha: float = 0.2, beta: float = 0.5,
                 out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """A line clipped to [0, 1]."""
def identity(data: NDArray | None = None, out: Out = None, name: str | None = None,
             **kwargs: Any) -> NDArray:
    """A copy of the input."""
def im2col(data: NDArray | None = None, kernel: Shape = ..., stride: Shape = (), dilate: Shape = (),
           pad: Shape = (), out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The patches of images under a window, as columns."""
def lamb_update_phase1(weight: NDArray | None = None, grad: NDArray | None = None,
                       mean: NDArray | None = None, var: NDArray | None = None, beta1: float = 0.9,
                       beta2: float = 0.999, epsilon: float = 1e-06, t: int = ...,
                       bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1,
                       clip_gradient: float = -1, out: Out = None, name: str | None = None,
                       **kwargs: Any) -> NDArray:
    """The direction of a step of LAMB; writes mean and var."""
def lamb_update_phase2(weight: NDArray | None = None, g: NDArray | None = None,
                       r1: NDArray | None = None, r2: NDArray | None = None, lr: float = ...,
                       lower_bound: float = -1, upper_bound: float = -1, out: Out = None,
                       name: str | None = None, **kwargs: Any) -> NDArray:
    """The step of LAMB along direction g; r1 and r2 are the norms of weight and g."""
def linalg_det(A: NDArray | None = None, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """The determinant of square matrices."""
def linalg_extractdiag(A: NDArray | None = None, offset: int = 0, out: Out = None,
                       name: str | None = None, **kwargs: Any) -> NDArray:
    """A diagonal of square matrices."""
def linalg_extracttrian(A: NDArray | None = None, offset: int = 0, lower: bool = True,
                        out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """A triangle of square matrices, packed."""
def linalg_gelqf(A: NDArray | None = None, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> list[NDArray]:
    """The factors of A = L · Q, the rows of Q orthonormal: Q, then L."""
def linalg_gemm(A: NDArray | None = None, B: NDArray | None = None, C: NDArray | None = None,
                transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1,
                beta: float = 1, axis: int = -2, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """The product of matrices and a sum, alpha · op(A) · op(B) + beta · C."""
def linalg_gemm2(A: NDArray | None = None, B: NDArray | None = None, transpose_a: bool = False,
                 transpose_b: bool = False, alpha: float = 1, axis: int = -2, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of matrices, alpha · op(A) · op(B)."""
def linalg_inverse(A: NDArray | None = None, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> NDArray:
    """The inverse of square matrices."""
def linalg_makediag(A: NDArray | None = None, offset: int = 0, out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """Matrices with a given diagonal."""
def linalg_maketrian(A: NDArray | None = None, offset: int = 0, lower: bool = True, out: Out = None,
                     name: str | None = None, **kwargs: Any) -> NDArray:
    """Matrices with a given packed triangle."""
def linalg_potrf(A: NDArray | None = None, lower: bool = True, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """The Cholesky factor L of symmetric positive definite matrices, A = L · Lᵀ."""
def linalg_potri(A: NDArray | None = None, lower: bool = True, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """The inverse of matrices from their Cholesky factor, (L · Lᵀ)⁻¹."""
def linalg_slogdet(A: NDArray | None = None, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> list[NDArray]:
    """Sign and logarithm of the magnitude of the determinant of square matrices."""
def linalg_sumlogdiag(A: NDArray | None = None, out: Out = None, name: str | None = None,
                      **kwargs: Any) -> NDArray:
    """The sum of the logarithms of the diagonal."""
def linalg_syrk(A: NDArray | None = None, transpose: bool = False, alpha: float = 1,
                out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of a matrix with its own transpose."""
def linalg_trmm(A: NDArray | None = None, B: NDArray | None = None, transpose: bool = False,
                rightside: bool = False, lower: bool = True, alpha: float = 1, out: Out = None,
                name: str | None = None, **kwargs: Any) -> NDArray:
    """The product of a triangular matrix and a matrix."""
def linalg_trsm(A: NDArray | None = None, B: NDArray | None = None, transpose: bool = False,
                rightside: bool = False, lower: bool = True, alpha: float = 1, out: Out = None,
                name: str | None = None, **kwargs: Any) -> NDArray:
    """Solves a system of equations with a triangular matrix."""
def log(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise log."""
def log10(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise log10."""
def log1p(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise log1p."""
def log2(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise log2."""
def log_softmax(data: NDArray | None = None, axis: int = -1, temperature: float | None = None,
                dtype: Literal['float16', 'float32', 'float64'] | None = None,
                use_length: bool | None = False, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """The logarithm of softmax."""
def logical_not(data: NDArray | None = None, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """Elementwise logical_not."""
def make_loss(data: NDArray | None = None, out: Out = None, name: str | None = None,
              **kwargs: Any) -> NDArray:
    """The input as a loss: backward starts here with ones."""
def max(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
        exclude: bool = False, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Reduces by max along axes."""
max_axis = max
def mean(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
         exclude: bool = False, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Reduces by mean along axes."""
def min(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
        exclude: bool = False, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Reduces by min along axes."""
min_axis = min
def moments(data: NDArray | None = None, axes: Shape | None = None, keepdims: bool = False,
            out: Out = None, name: str | None = None, **kwargs: Any) -> list[NDArray]:
    """Mean and variance along axes."""
def mp_lamb_update_phase1(weight: NDArray | None = None, grad: NDArray | None = None,
                          mean: NDArray | None = None, var: NDArray | None = None,
                          weight32: NDArray | None = None, beta1: float = 0.9, beta2: float = 0.999,
                          epsilon: float = 1e-06, t: int = ..., bias_correction: bool = True,
                          wd: float = ..., rescale_grad: float = 1, clip_gradient: float = -1,
                          out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """lamb_update_phase1 on a float master copy; the direction is in float32."""
def mp_lamb_update_phase2(weight: NDArray | None = None, g: NDArray | None = None,
                          r1: NDArray | None = None, r2: NDArray | None = None,
                          weight32: NDArray | None = None, lr: float = ..., lower_bound: float = -1,
                          upper_bound: float = -1, out: Out = None, name: str | None = None,
                          **kwargs: Any) -> NDArray:
    """lamb_update_phase2 on a float master copy; writes weight32."""
def mp_nag_mom_update(weight: NDArray | None = None, grad: NDArray | None = None,
                      mom: NDArray | None = None, weight32: NDArray | None = None, lr: float = ...,
                      momentum: float = 0, wd: float = 0, rescale_grad: float = 1,
                      clip_gradient: float = -1, out: Out = None, name: str | None = None,
                      **kwargs: Any) -> NDArray:
    """nag_mom_update on a float master copy; writes mom and weight32."""
def mp_sgd_mom_update(weight: NDArray | None = None, grad: NDArray | None = None,
                      mom: NDArray | None = None, weight32: NDArray | None = None, lr: float = ...,
                      momentum: float = 0, wd: float = 0, rescale_grad: float = 1,
                      clip_gradient: float = -1, lazy_update: bool = True, out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """sgd_mom_update on a float master copy; writes mom and weight32."""
def mp_sgd_update(weight: NDArray | None = None, grad: NDArray | None = None,
                  weight32: NDArray | None = None, lr: float = ..., wd: float = 0,
                  rescale_grad: float = 1, clip_gradient: float = -1, lazy_update: bool = True,
                  out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """sgd_update on a float master copy; writes weight32."""
def multi_all_finite(*data: NDArray, init_output: bool = True, out: Out = None,
                     name: str | None = None, **kwargs: Any) -> NDArray:
    """1 if every number of every array is finite, else 0."""
def multi_lars(lrs: NDArray | None = None, weights_sum_sq: NDArray | None = None,
               grads_sum_sq: NDArray | None = None, wds: NDArray | None = None, eta: float = ...,
               eps: float = ..., rescale_grad: float = 1, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """The learning rates of LARS from those given and the sums of squares."""
def multi_mp_sgd_mom_update(*data: NDArray, lrs: Floats = ..., wds: Floats = ...,
                            momentum: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
                            out: Out = None, name: str | None = None,
                            **kwargs: Any) -> NDArray | list[NDArray]:
    """mp_sgd_mom_update on several weights; writes every mom and weight32."""
def multi_mp_sgd_update(*data: NDArray, lrs: Floats = ..., wds: Floats = ...,
                        rescale_grad: float = 1, clip_gradient: float = -1, out: Out = None,
                        name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """mp_sgd_update on several weights; writes every weight32."""
def multi_sgd_mom_update(*data: NDArray, lrs: Floats = ..., wds: Floats = ..., momentum: float = 0,
                         rescale_grad: float = 1, clip_gradient: float = -1, out: Out = None,
                         name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """sgd_mom_update on several weights; writes every mom."""
def multi_sgd_update(*data: NDArray, lrs: Floats = ..., wds: Floats = ..., rescale_grad: float = 1,
                     clip_gradient: float = -1, out: Out = None, name: str | None = None,
                     **kwargs: Any) -> NDArray | list[NDArray]:
    """sgd_update on several weights."""
def multi_sum_sq(*data: NDArray, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> NDArray:
    """The sum of the squares of each array."""
def nag_mom_update(weight: NDArray | None = None, grad: NDArray | None = None,
                   mom: NDArray | None = None, lr: float = ..., momentum: float = 0, wd: float = 0,
                   rescale_grad: float = 1, clip_gradient: float = -1, out: Out = None,
                   name: str | None = None, **kwargs: Any) -> NDArray:
    """One step of Nesterov's accelerated gradient; writes mom."""
def nanprod(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
            exclude: bool = False, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Reduces by nanprod along axes."""
def nansum(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
           exclude: bool = False, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Reduces by nansum along axes."""
def negative(data: NDArray | None = None, out: Out = None, name: str | None = None,
             **kwargs: Any) -> NDArray:
    """Elementwise negative."""
def norm(data: NDArray | None = None, ord: int = 2, axis: Shape | None = None,
         out_dtype: DType | None = None, keepdims: bool = False, out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """The norm along axes."""
def normal(loc: float = 0, scale: float = 1, shape: Shape = (), ctx: str = '',
           dtype: DType | None = None, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Samples of the distribution normal."""
random_normal = normal
def one_hot(indices: NDArray | None = None, depth: int = ..., on_value: float = 1,
            off_value: float = 0, dtype: DType = 'float32', out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """Indices as one-hot rows."""
def ones_like(data: NDArray | None = None, out: Out = None, name: str | None = None,
              **kwargs: Any) -> NDArray:
    """An array of ones with shape and element type of the input."""
def pick(data: NDArray | None = None, index: NDArray | None = None, axis: int | None = -1,
         keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', out: Out = None,
         name: str | None = None, **kwargs: Any) -> NDArray:
    """One element of every row, by index."""
choose_element_0index = pick
def preloaded_multi_mp_sgd_mom_update(*data: NDArray, momentum: float = 0, rescale_grad: float = 1,
                                      clip_gradient: float = -1, out: Out = None,
                                      name: str | None = None,
                                      **kwargs: Any) -> NDArray | list[NDArray]:
    """mp_sgd_mom_update on several weights, the rates in arrays; writes every mom and weight32."""
def preloaded_multi_mp_sgd_update(*data: NDArray, rescale_grad: float = 1,
                                  clip_gradient: float = -1, out: Out = None,
                                  name: str | None = None,
                                  **kwargs: Any) -> NDArray | list[NDArray]:
    """mp_sgd_update on several weights, the rates in arrays; writes every weight32."""
def preloaded_multi_sgd_mom_update(*data: NDArray, momentum: float = 0, rescale_grad: float = 1,
                                   clip_gradient: float = -1, out: Out = None,
                                   name: str | None = None,
                                   **kwargs: Any) -> NDArray | list[NDArray]:
    """sgd_mom_update on several weights, the rates in arrays; writes every mom."""
def preloaded_multi_sgd_update(*data: NDArray, rescale_grad: float = 1, clip_gradient: float = -1,
                               out: Out = None, name: str | None = None,
                               **kwargs: Any) -> NDArray | list[NDArray]:
    """sgd_update on several weights, the rates in arrays."""
def prod(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
         exclude: bool = False, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Reduces by prod along axes."""
def radians(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise radians."""
def random_exponential(lam: float = 1, shape: Shape = (), ctx: str = '', dtype: DType | None = None,
                       out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Samples of the distribution exponential."""
def random_gamma(alpha: float = 1, beta: float = 1, shape: Shape = (), ctx: str = '',
                 dtype: DType | None = None, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> NDArray:
    """Samples of the distribution gamma."""
def random_generalized_negative_binomial(mu: float = 1, alpha: float = 1, shape: Shape = (),
                                         ctx: str = '', dtype: DType | None = None, out: Out = None,
                                         name: str | None = None, **kwargs: Any) -> NDArray:
    """Samples of the distribution generalized_negative_binomial."""
def random_negative_binomial(k: int = 1, p: float = 1, shape: Shape = (), ctx: str = '',
                             dtype: DType | None = None, out: Out = None, name: str | None = None,
                             **kwargs: Any) -> NDArray:
    """Samples of the distribution negative_binomial."""
def random_pdf_dirichlet(sample: NDArray | None = None, alpha: NDArray | None = None,
                         is_log: bool = False, out: Out = None, name: str | None = None,
                         **kwargs: Any) -> NDArray:
    """The density of the distribution dirichlet at the samples."""
def random_pdf_exponential(sample: NDArray | None = None, lam: NDArray | None = None,
                           is_log: bool = False, out: Out = None, name: str | None = None,
                           **kwargs: Any) -> NDArray:
    """The density of the distribution exponential at the samples."""
def random_pdf_gamma(sample: NDArray | None = None, alpha: NDArray | None = None,
                     beta: NDArray | None = None, is_log: bool = False, out: Out = None,
                     name: str | None = None, **kwargs: Any) -> NDArray:
    """The density of the distribution gamma at the samples."""
def random_pdf_generalized_negative_binomial(sample: NDArray | None = None,
                                             mu: NDArray | None = None,
                                             alpha: NDArray | None = None, is_log: bool = False,
                                             out: Out = None, name: str | None = None,
                                             **kwargs: Any) -> NDArray:
    """The density of the distribution generalized_negative_binomial at the samples."""
def random_pdf_negative_binomial(sample: NDArray | None = None, k: NDArray | None = None,
                                 p: NDArray | None = None, is_log: bool = False, out: Out = None,
                                 name: str | None = None, **kwargs: Any) -> NDArray:
    """The density of the distribution negative_binomial at the samples."""
def random_pdf_normal(sample: NDArray | None = None, mu: NDArray | None = None,
                      sigma: NDArray | None = None, is_log: bool = False, out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """The density of the distribution normal at the samples."""
def random_pdf_poisson(sample: NDArray | None = None, lam: NDArray | None = None,
                       is_log: bool = False, out: Out = None, name: str | None = None,
                       **kwargs: Any) -> NDArray:
    """The density of the distribution poisson at the samples."""
def random_pdf_uniform(sample: NDArray | None = None, low: NDArray | None = None,
                       high: NDArray | None = None, is_log: bool = False, out: Out = None,
                       name: str | None = None, **kwargs: Any) -> NDArray:
    """The density of the distribution uniform at the samples."""
def random_poisson(lam: float = 1, shape: Shape = (), ctx: str = '', dtype: DType | None = None,
                   out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Samples of the distribution poisson."""
def random_randint(low: int = ..., high: int = ..., shape: Shape = (), ctx: str = '',
                   dtype: DType | None = None, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> NDArray:
    """Uniformly distributed whole numbers from low to below high."""
def random_uniform(low: float = 0, high: float = 1, shape: Shape = (), ctx: str = '',
                   dtype: DType | None = None, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> NDArray:
    """Samples of the distribution uniform."""
uniform = random_uniform
def ravel_multi_index(data: NDArray | None = None, shape: Shape | None = None, out: Out = None,
                      name: str | None = None, **kwargs: Any) -> NDArray:
    """Flat indices into an array of the given shape, from one row of indices for each axis."""
def rcbrt(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise rcbrt."""
def reciprocal(data: NDArray | None = None, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """Elementwise reciprocal."""
def relu(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise relu."""
def repeat(data: NDArray | None = None, repeats: int = ..., axis: int | None = None,
           out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Every element repeated."""
def reshape_like(lhs: NDArray | None = None, rhs: NDArray | None = None,
                 lhs_begin: int | None = None, lhs_end: int | None = None,
                 rhs_begin: int | None = None, rhs_end: int | None = None, out: Out = None,
                 name: str | None = None, **kwargs: Any) -> NDArray:
    """lhs with the shape of rhs, or with some axes of it."""
def reverse(data: NDArray | None = None, axis: Shape = ..., out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """The elements in reverse order along axes."""
flip = reverse
def rint(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise rint."""
def rmsprop_update(weight: NDArray | None = None, grad: NDArray | None = None,
                   n: NDArray | None = None, lr: float = ..., gamma1: float = 0.95,
                   epsilon: float = 1e-08, wd: float = 0, rescale_grad: float = 1,
                   clip_gradient: float = -1, clip_weights: float = -1, out: Out = None,
                   name: str | None = None, **kwargs: Any) -> NDArray:
    """One step of RMSProp (Tieleman and Hinton); writes n."""
def rmspropalex_update(weight: NDArray | None = None, grad: NDArray | None = None,
                       n: NDArray | None = None, g: NDArray | None = None,
                       delta: NDArray | None = None, lr: float = ..., gamma1: float = 0.95,
                       gamma2: float = 0.9, epsilon: float = 1e-08, wd: float = 0,
                       rescale_grad: float = 1, clip_gradient: float = -1, clip_weights: float = -1,
                       out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """One step of RMSProp (Graves); writes n, g and delta."""
def round(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise round."""
def rsqrt(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise rsqrt."""
def sample_exponential(lam: NDArray | None = None, shape: Shape = (), dtype: DType | None = None,
                       out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Samples of the distribution exponential for every element of its parameters."""
def sample_gamma(alpha: NDArray | None = None, beta: NDArray | None = None, shape: Shape = (),
                 dtype: DType | None = None, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> NDArray:
    """Samples of the distribution gamma for every element of its parameters."""
def sample_generalized_negative_binomial(mu: NDArray | None = None, alpha: NDArray | None = None,
                                         shape: Shape = (), dtype: DType | None = None,
                                         out: Out = None, name: str | None = None,
                                         **kwargs: Any) -> NDArray:
    """Samples of the distribution generalized_negative_binomial for every element of its parameters."""
def sample_multinomial(data: NDArray | None = None, shape: Shape = (), get_prob: bool = False,
                       dtype: DType = 'int32', out: Out = None, name: str | None = None,
                       **kwargs: Any) -> NDArray | list[NDArray]:
    """Class numbers drawn with the probabilities along the last axis."""
def sample_negative_binomial(k: NDArray | None = None, p: NDArray | None = None, shape: Shape = (),
                             dtype: DType | None = None, out: Out = None, name: str | None = None,
                             **kwargs: Any) -> NDArray:
    """Samples of the distribution negative_binomial for every element of its parameters."""
def sample_normal(mu: NDArray | None = None, sigma: NDArray | None = None, shape: Shape = (),
                  dtype: DType | None = None, out: Out = None, name: str | None = None,
                  **kwargs: Any) -> NDArray:
    """Samples of the distribution normal for every element of its parameters."""
def sample_poisson(lam: NDArray | None = None, shape: Shape = (), dtype: DType | None = None,
                   out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Samples of the distribution poisson for every element of its parameters."""
def sample_uniform(low: NDArray | None = None, high: NDArray | None = None, shape: Shape = (),
                   dtype: DType | None = None, out: Out = None, name: str | None = None,
                   **kwargs: Any) -> NDArray:
    """Samples of the distribution uniform for every element of its parameters."""
def scatter_nd(data: NDArray | None = None, indices: NDArray | None = None, shape: Shape = ...,
               out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Writes data to the positions given by tuples of indices, over zeros."""
def sgd_mom_update(weight: NDArray | None = None, grad: NDArray | None = None,
                   mom: NDArray | None = None, lr: float = ..., momentum: float = 0, wd: float = 0,
                   rescale_grad: float = 1, clip_gradient: float = -1, lazy_update: bool = True,
                   out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """One step of gradient descent with momentum; writes mom; give the weight as out."""
def sgd_update(weight: NDArray | None = None, grad: NDArray | None = None, lr: float = ...,
               wd: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
               lazy_update: bool = True, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """One step of gradient descent; give the weight as out."""
def shape_array(data: NDArray | None = None, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """The input's shape as an array."""
def shuffle(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """The rows in random order."""
def sigmoid(data: NDArray | None = None, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Elementwise sigmoid."""
def sign(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise sign."""
def signsgd_update(weight: NDArray | None = None, grad: NDArray | None = None, lr: float = ...,
                   wd: float = 0, rescale_grad: float = 1, clip_gradient: float = -1,
                   out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """One step against the gradient's sign."""
def signum_update(weight: NDArray | None = None, grad: NDArray | None = None,
                  mom: NDArray | None = None, lr: float = ..., momentum: float = 0, wd: float = 0,
                  rescale_grad: float = 1, clip_gradient: float = -1, wd_lh: float = 0,
                  out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """One step along the momentum's sign; writes mom."""
def sin(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise sin."""
def sinh(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise sinh."""
def size_array(data: NDArray | None = None, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """The input's number of elements as an array."""
def slice(data: NDArray | None = None, begin: Shape = ..., end: Shape = ..., step: Shape = (),
          out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """A part of the input: begin, end and step per axis."""
crop = slice
def slice_axis(data: NDArray | None = None, axis: int = ..., begin: int = ...,
               end: int | None = ..., out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """A part of the input along one axis."""
def slice_like(data: NDArray | None = None, shape_like: NDArray | None = None, axes: Shape = (),
               out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The input reduced to the extents of another array."""
def smooth_l1(data: NDArray | None = None, scalar: float = 1, out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """A parabola near 0, the absolute value elsewhere."""
def softmax(data: NDArray | None = None, length: NDArray | None = None, axis: int = -1,
            temperature: float | None = None,
            dtype: Literal['float16', 'float32', 'float64'] | None = None,
            use_length: bool | None = False, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Exponentials along an axis, normalised to the sum 1."""
def softmax_cross_entropy(data: NDArray | None = None, label: NDArray | None = None,
                          out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The cross entropy of softmax with class labels, summed over the rows."""
def softmin(data: NDArray | None = None, axis: int = -1, temperature: float | None = None,
            dtype: Literal['float16', 'float32', 'float64'] | None = None,
            use_length: bool | None = False, out: Out = None, name: str | None = None,
            **kwargs: Any) -> NDArray:
    """Softmax of the negated data."""
def softsign(data: NDArray | None = None, out: Out = None, name: str | None = None,
             **kwargs: Any) -> NDArray:
    """Elementwise softsign."""
def sort(data: NDArray | None = None, axis: int | None = -1, is_ascend: bool = True,
         out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The elements in order along an axis."""
def space_to_depth(data: NDArray | None = None, block_size: int = ..., out: Out = None,
                   name: str | None = None, **kwargs: Any) -> NDArray:
    """Moves blocks of pixels into channels."""
def sqrt(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise sqrt."""
def square(data: NDArray | None = None, out: Out = None, name: str | None = None,
           **kwargs: Any) -> NDArray:
    """Elementwise square."""
def squeeze(data: NDArray | None = None, axis: Shape | None = None, out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """Drops axes of extent 1."""
def stack(*data: NDArray, axis: int = 0, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Joins the inputs along a new axis."""
def sum(data: NDArray | None = None, axis: Shape | None = None, keepdims: bool = False,
        exclude: bool = False, out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Reduces by sum along axes."""
sum_axis = sum
def take(a: NDArray | None = None, indices: NDArray | None = None, axis: int = 0,
         mode: Literal['clip', 'raise', 'wrap'] = 'clip', out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elements along an axis, by index."""
def tan(data: NDArray | None = None, out: Out = None, name: str | None = None,
        **kwargs: Any) -> NDArray:
    """Elementwise tan."""
def tanh(data: NDArray | None = None, out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """Elementwise tanh."""
def tile(data: NDArray | None = None, reps: Shape = ..., out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray:
    """The input repeated along axes."""
def topk(data: NDArray | None = None, axis: int | None = -1, k: int = 1,
         ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False,
         dtype: DType = 'float32', out: Out = None, name: str | None = None,
         **kwargs: Any) -> NDArray | list[NDArray]:
    """The k largest or smallest elements along an axis, in order."""
def transpose(data: NDArray | None = None, axes: Shape = (), out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """The axes in another order."""
def trunc(data: NDArray | None = None, out: Out = None, name: str | None = None,
          **kwargs: Any) -> NDArray:
    """Elementwise trunc."""
def unravel_index(data: NDArray | None = None, shape: Shape | None = None, out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray:
    """One row of indices for each axis of the given shape, from flat indices."""
def where(condition: NDArray | None = None, x: NDArray | None = None, y: NDArray | None = None,
          out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """Elements of x where the condition is not 0, of y elsewhere."""
def zeros_like(data: NDArray | None = None, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """An array of zeros with shape and element type of the input."""
