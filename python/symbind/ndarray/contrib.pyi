# Written by tools/stubgen; do not edit.
from collections.abc import Sequence
from typing import Any, Literal
from .._types import DType, Floats, Shape
from ..ndarray.ndarray import NDArray

Out = NDArray | Sequence[NDArray] | None

def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-08, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """A step of Adam with weight decay apart; `rescale_grad` is a number or an array of one."""
def foreach(body, data, init_states):
    """A loop: `outs, states = body(slice, states)` for every slice of `data` along its first axis."""
def isfinite(data):
    """1 where a number is neither infinite nor NaN."""
def isinf(data):
    """1 where a number is infinite."""
def isnan(data):
    """1 where a number is NaN."""
def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                    beta2=0.999, epsilon=1e-08, wd=0, clip_gradient=-1, out=None, name=None,
                    **kwargs):
    """adamw_update with the weight kept in float32 beside it."""
def multi_adamw_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None,
                       size=0, **kwargs):
    """adamw_update of several weights in one call."""
def multi_lamb_update(weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0,
                      **kwargs):
    """A step of LAMB for several weights in one call."""
def multi_mp_adamw_update(weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas,
                          out=None, name=None, size=0, **kwargs):
    """mp_adamw_update of several weights in one call."""
def multi_mp_lamb_update(weights, grads, mean, var, weights32, step_count, lrs, wds, out=None,
                         num_tensors=0, **kwargs):
    """multi_lamb_update with the weights kept in float32 beside them."""
def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Samples classes from a log-uniform distribution."""
def AdaptiveAvgPooling2D(data: NDArray | None = None, output_size: Shape = (), out: Out = None,
                         name: str | None = None, **kwargs: Any) -> NDArray:
    """Means over as many parts of the image as the output has elements."""
def BilinearResize2D(data: NDArray | None = None, like: NDArray | None = None, height: int = 1,
                     width: int = 1, scale_height: float | None = None,
                     scale_width: float | None = None,
                     mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] = 'size',
                     align_corners: bool = True, out: Out = None, name: str | None = None,
                     **kwargs: Any) -> NDArray:
    """Images of another size, interpolated bilinearly."""
def CTCLoss(data: NDArray | None = None, label: NDArray | None = None,
            data_lengths: NDArray | None = None, label_lengths: NDArray | None = None,
            use_data_lengths: bool = False, use_label_lengths: bool = False,
            blank_label: Literal['first', 'last'] = 'first', out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """The connectionist temporal classification loss of every sample."""
ctc_loss = CTCLoss
def DeformableConvolution(data: NDArray | None = None, offset: NDArray | None = None,
                          weight: NDArray | None = None, bias: NDArray | None = None,
                          kernel: Shape = ..., stride: Shape = (), dilate: Shape = (),
                          pad: Shape = (), num_filter: int = ..., num_group: int = 1,
                          num_deformable_group: int = 1, workspace: int = 1024,
                          no_bias: bool = False,
                          layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None, out: Out = None,
                          name: str | None = None, **kwargs: Any) -> NDArray:
    """A 2-D convolution whose taps are moved by offsets."""
def MultiBoxDetection(cls_prob: NDArray | None = None, loc_pred: NDArray | None = None,
                      anchor: NDArray | None = None, clip: bool = True, threshold: float = 0.01,
                      background_id: int = 0, nms_threshold: float = 0.5,
                      force_suppress: bool = False, variances: Floats = (0.1, 0.1, 0.2, 0.2),
                      nms_topk: int = -1, out: Out = None, name: str | None = None,
                      **kwargs: Any) -> NDArray:
    """Objects from class probabilities, locations and anchors."""
def MultiBoxPrior(data: NDArray | None = None, sizes: Floats = (1,), ratios: Floats = (1,),
                  clip: bool = False, steps: Floats = (-1, -1), offsets: Floats = (0.5, 0.5),
                  out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The anchor boxes of a feature map."""
def MultiBoxTarget(anchor: NDArray | None = None, label: NDArray | None = None,
                   cls_pred: NDArray | None = None, overlap_threshold: float = 0.5,
                   ignore_label: float = -1, negative_mining_ratio: float = -1,
                   negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0,
                   variances: Floats = (0.1, 0.1, 0.2, 0.2), out: Out = None,
                   name: str | None = None, **kwargs: Any) -> list[NDArray]:
    """Target locations, masks and classes of anchors."""
def MultiProposal(cls_prob: NDArray | None = None, bbox_pred: NDArray | None = None,
                  im_info: NDArray | None = None, rpn_pre_nms_top_n: int = 6000,
                  rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16,
                  scales: Floats = (4, 8, 16, 32), ratios: Floats = (0.5, 1, 2),
                  feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False,
                  out: Out = None, name: str | None = None,
                  **kwargs: Any) -> NDArray | list[NDArray]:
    """Regions that may hold an object, from a region proposal network."""
def PSROIPooling(data: NDArray | None = None, rois: NDArray | None = None,
                 spatial_scale: float = ..., output_dim: int = ..., pooled_size: int = ...,
                 group_size: int = 0, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> NDArray:
    """Regions of images, divided into bins; each bin is a mean in the channels of its position."""
def Proposal(cls_prob: NDArray | None = None, bbox_pred: NDArray | None = None,
             im_info: NDArray | None = None, rpn_pre_nms_top_n: int = 6000,
             rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16,
             scales: Floats = (4, 8, 16, 32), ratios: Floats = (0.5, 1, 2),
             feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False,
             out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """Regions that may hold an object, from a region proposal network."""
def ROIAlign(data: NDArray | None = None, rois: NDArray | None = None, pooled_size: Shape = ...,
             spatial_scale: float = ..., sample_ratio: int = -1, position_sensitive: bool = False,
             aligned: bool = False, out: Out = None, name: str | None = None,
             **kwargs: Any) -> NDArray:
    """Regions of images, each resized to one size by averages of interpolated points."""
def RROIAlign(data: NDArray | None = None, rois: NDArray | None = None, pooled_size: Shape = ...,
              spatial_scale: float = ..., sampling_ratio: int = -1, out: Out = None,
              name: str | None = None, **kwargs: Any) -> NDArray:
    """Rotated regions of images, each resized to one size by averages of points."""
def SparseEmbedding(data: NDArray | None = None, weight: NDArray | None = None,
                    input_dim: int = ..., output_dim: int = ..., dtype: DType = 'float32',
                    sparse_grad: bool = False, out: Out = None, name: str | None = None,
                    **kwargs: Any) -> NDArray:
    """Rows of the weight, by index."""
def SyncBatchNorm(data: NDArray | None = None, gamma: NDArray | None = None,
                  beta: NDArray | None = None, moving_mean: NDArray | None = None,
                  moving_var: NDArray | None = None, eps: float = 0.001, momentum: float = 0.9,
                  fix_gamma: bool = True, use_global_stats: bool = False,
                  output_mean_var: bool = False, ndev: int = 1, key: str = ..., out: Out = None,
                  name: str | None = None, **kwargs: Any) -> NDArray | list[NDArray]:
    """Normalises every channel over the batches of all devices."""
def allclose(a: NDArray | None = None, b: NDArray | None = None, rtol: float = 1e-05,
             atol: float = 1e-08, equal_nan: bool = True, out: Out = None, name: str | None = None,
             **kwargs: Any) -> NDArray:
    """1 if all elements of both arrays are close to each other, else 0."""
def arange_like(data: NDArray | None = None, start: float = 0, step: float = 1, repeat: int = 1,
                ctx: str = '', axis: int | None = None, out: Out = None, name: str | None = None,
                **kwargs: Any) -> NDArray:
    """Evenly spaced values, as many as the input has, or as many as one of its axes has."""
def boolean_mask(data: NDArray | None = None, index: NDArray | None = None, axis: int = 0,
                 out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """The rows of data whose entry of index is not zero."""
def box_decode(data: NDArray | None = None, anchors: NDArray | None = None, std0: float = 1,
               std1: float = 1, std2: float = 1, std3: float = 1, clip: float = -1,
               format: Literal['center', 'corner'] = 'center', out: Out = None,
               name: str | None = None, **kwargs: Any) -> NDArray:
    """Boxes from anchors and predictions."""
def box_iou(lhs: NDArray | None = None, rhs: NDArray | None = None,
            format: Literal['center', 'corner'] = 'corner', out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """How much every box of one list overlaps every box of another."""
def box_nms(data: NDArray | None = None, overlap_thresh: float = 0.5, valid_thresh: float = 0,
            topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1,
            background_id: int = -1, force_suppress: bool = False,
            in_format: Literal['center', 'corner'] = 'corner',
            out_format: Literal['center', 'corner'] = 'corner', out: Out = None,
            name: str | None = None, **kwargs: Any) -> NDArray:
    """Of boxes that overlap, keeps the one with the highest score."""
box_non_maximum_suppression = box_nms
def dequantize(data: NDArray | None = None, min_range: NDArray | None = None,
               max_range: NDArray | None = None, out_type: Literal['float32'] = 'float32',
               out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """8 bits back to float32."""
def div_sqrt_dim(data: NDArray | None = None, out: Out = None, name: str | None = None,
                 **kwargs: Any) -> NDArray:
    """The input divided by the square root of its last axis' length."""
def index_array(data: NDArray | None = None, axes: Shape | None = None, out: Out = None,
                name: str | None = None, **kwargs: Any) -> NDArray:
    """The indices of every element."""
def index_copy(old_tensor: NDArray | None = None, index_vector: NDArray | None = None,
               new_tensor: NDArray | None = None, out: Out = None, name: str | None = None,
               **kwargs: Any) -> NDArray:
    """The old tensor with some rows replaced by the new tensor's."""
def interleaved_matmul_encdec_qk(queries: NDArray | None = None, keys_values: NDArray | None = None,
                                 heads: int = ..., out: Out = None, name: str | None = None,
                                 **kwargs: Any) -> NDArray:
    """Scores of attention between two sequences."""
def interleaved_matmul_encdec_valatt(keys_values: NDArray | None = None,
                                     attention: NDArray | None = None, heads: int = ...,
                                     out: Out = None, name: str | None = None,
                                     **kwargs: Any) -> NDArray:
    """Values of attention between two sequences."""
def interleaved_matmul_selfatt_qk(queries_keys_values: NDArray | None = None, heads: int = ...,
                                  out: Out = None, name: str | None = None,
                                  **kwargs: Any) -> NDArray:
    """Scores of self-attention."""
def interleaved_matmul_selfatt_valatt(queries_keys_values: NDArray | None = None,
                                      attention: NDArray | None = None, heads: int = ...,
                                      out: Out = None, name: str | None = None,
                                      **kwargs: Any) -> NDArray:
    """Values of self-attention."""
def quadratic(data: NDArray | None = None, a: float = 0, b: float = 0, c: float = 0,
              out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """a·x² + b·x + c."""
def quantize(data: NDArray | None = None, min_range: NDArray | None = None,
             max_range: NDArray | None = None, out_type: Literal['int8', 'uint8'] = 'uint8',
             out: Out = None, name: str | None = None, **kwargs: Any) -> list[NDArray]:
    """float32 to 8 bits, in a given range."""
def requantize(data: NDArray | None = None, min_range: NDArray | None = None,
               max_range: NDArray | None = None,
               out_type: Literal['auto', 'int8', 'uint8'] = 'int8',
               min_calib_range: float | None = None, max_calib_range: float | None = None,
               out: Out = None, name: str | None = None, **kwargs: Any) -> list[NDArray]:
    """int32 to 8 bits, in the range of a calibration or of the data."""
