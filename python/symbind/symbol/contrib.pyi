# Written by tools/stubgen; do not edit.
from typing import Any, Literal
from .._types import DType, Floats, Shape
from ..symbol.symbol import Symbol

Out = None

def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-08, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """A step of Adam with weight decay apart; `rescale_grad` is a number or a symbol."""
def foreach(body, data, init_states, name='foreach'):
    """A loop: `outs, states = body(slice, states)` for every slice of `data` along its first axis."""
def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                    beta2=0.999, epsilon=1e-08, wd=0, clip_gradient=-1, out=None, name=None,
                    **kwargs):
    """adamw_update with the weight kept in float32 beside it."""
def rand_zipfian(true_classes, num_sampled, range_max):
    """Samples classes from a log-uniform distribution; see nd.contrib.rand_zipfian."""
def AdaptiveAvgPooling2D(data: Symbol | None = None, output_size: Shape = (),
                         name: str | None = None, attr: dict[str, str] | None = None,
                         out: Out = None, **kwargs: Any) -> Symbol:
    """Means over as many parts of the image as the output has elements."""
def BilinearResize2D(data: Symbol | None = None, like: Symbol | None = None, height: int = 1,
                     width: int = 1, scale_height: float | None = None,
                     scale_width: float | None = None,
                     mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] = 'size',
                     align_corners: bool = True, name: str | None = None,
                     attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Images of another size, interpolated bilinearly."""
def CTCLoss(data: Symbol | None = None, label: Symbol | None = None,
            data_lengths: Symbol | None = None, label_lengths: Symbol | None = None,
            use_data_lengths: bool = False, use_label_lengths: bool = False,
            blank_label: Literal['first', 'last'] = 'first', name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The connectionist temporal classification loss of every sample."""
ctc_loss = CTCLoss
def DeformableConvolution(data: Symbol | None = None, offset: Symbol | None = None,
                          weight: Symbol | None = None, bias: Symbol | None = None,
                          kernel: Shape = ..., stride: Shape = (), dilate: Shape = (),
                          pad: Shape = (), num_filter: int = ..., num_group: int = 1,
                          num_deformable_group: int = 1, workspace: int = 1024,
                          no_bias: bool = False,
                          layout: Literal['NCDHW', 'NCHW', 'NCW'] | None = None,
                          name: str | None = None, attr: dict[str, str] | None = None,
                          out: Out = None, **kwargs: Any) -> Symbol:
    """A 2-D convolution whose taps are moved by offsets."""
def MultiBoxDetection(cls_prob: Symbol | None = None, loc_pred: Symbol | None = None,
                      anchor: Symbol | None = None, clip: bool = True, threshold: float = 0.01,
                      background_id: int = 0, nms_threshold: float = 0.5,
                      force_suppress: bool = False, variances: Floats = (0.1, 0.1, 0.2, 0.2),
                      nms_topk: int = -1, name: str | None = None,
                      attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Objects from class probabilities, locations and anchors."""
def MultiBoxPrior(data: Symbol | None = None, sizes: Floats = (1,), ratios: Floats = (1,),
                  clip: bool = False, steps: Floats = (-1, -1), offsets: Floats = (0.5, 0.5),
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """The anchor boxes of a feature map."""
def MultiBoxTarget(anchor: Symbol | None = None, label: Symbol | None = None,
                   cls_pred: Symbol | None = None, overlap_threshold: float = 0.5,
                   ignore_label: float = -1, negative_mining_ratio: float = -1,
                   negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0,
                   variances: Floats = (0.1, 0.1, 0.2, 0.2), name: str | None = None,
                   attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Target locations, masks and classes of anchors."""
def MultiProposal(cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None,
                  im_info: Symbol | None = None, rpn_pre_nms_top_n: int = 6000,
                  rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16,
                  scales: Floats = (4, 8, 16, 32), ratios: Floats = (0.5, 1, 2),
                  feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False,
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """Regions that may hold an object, from a region proposal network."""
def PSROIPooling(data: Symbol | None = None, rois: Symbol | None = None, spatial_scale: float = ...,
                 output_dim: int = ..., pooled_size: int = ..., group_size: int = 0,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """Regions of images, divided into bins; each bin is a mean in the channels of its position."""
def Proposal(cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None,
             im_info: Symbol | None = None, rpn_pre_nms_top_n: int = 6000,
             rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16,
             scales: Floats = (4, 8, 16, 32), ratios: Floats = (0.5, 1, 2),
             feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False,
             name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
             **kwargs: Any) -> Symbol:
    """Regions that may hold an object, from a region proposal network."""
def ROIAlign(data: Symbol | None = None, rois: Symbol | None = None, pooled_size: Shape = ...,
             spatial_scale: float = ..., sample_ratio: int = -1, position_sensitive: bool = False,
             aligned: bool = False, name: str | None = None, attr: dict[str, str] | None = None,
             out: Out = None, **kwargs: Any) -> Symbol:
    """Regions of images, each resized to one size by averages of interpolated points."""
def RROIAlign(data: Symbol | None = None, rois: Symbol | None = None, pooled_size: Shape = ...,
              spatial_scale: float = ..., sampling_ratio: int = -1, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Rotated regions of images, each resized to one size by averages of points."""
def SparseEmbedding(data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ...,
                    output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False,
                    name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                    **kwargs: Any) -> Symbol:
    """Rows of the weight, by index."""
def SyncBatchNorm(data: Symbol | None = None, gamma: Symbol | None = None,
                  beta: Symbol | None = None, moving_mean: Symbol | None = None,
                  moving_var: Symbol | None = None, eps: float = 0.001, momentum: float = 0.9,
                  fix_gamma: bool = True, use_global_stats: bool = False,
                  output_mean_var: bool = False, ndev: int = 1, key: str = ...,
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """Normalises every channel over the batches of all devices."""
def allclose(a: Symbol | None = None, b: Symbol | None = None, rtol: float = 1e-05,
             atol: float = 1e-08, equal_nan: bool = True, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """1 if all elements of both arrays are close to each other, else 0."""
def arange_like(data: Symbol | None = None, start: float = 0, step: float = 1, repeat: int = 1,
                ctx: str = '', axis: int | None = None, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Evenly spaced values, as many as the input has, or as many as one of its axes has."""
def boolean_mask(data: Symbol | None = None, index: Symbol | None = None, axis: int = 0,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """The rows of data whose entry of index is not zero."""
def box_decode(data: Symbol | None = None, anchors: Symbol | None = None, std0: float = 1,
               std1: float = 1, std2: float = 1, std3: float = 1, clip: float = -1,
               format: Literal['center', 'corner'] = 'center', name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Boxes from anchors and predictions."""
def box_iou(lhs: Symbol | None = None, rhs: Symbol | None = None,
            format: Literal['center', 'corner'] = 'corner', name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """How much every box of one list overlaps every box of another."""
def box_nms(data: Symbol | None = None, overlap_thresh: float = 0.5, valid_thresh: float = 0,
            topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1,
            background_id: int = -1, force_suppress: bool = False,
            in_format: Literal['center', 'corner'] = 'corner',
            out_format: Literal['center', 'corner'] = 'corner', name: str | None = None,
            attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Of boxes that overlap, keeps the one with the highest score."""
box_non_maximum_suppression = box_nms
def dequantize(data: Symbol | None = None, min_range: Symbol | None = None,
               max_range: Symbol | None = None, out_type: Literal['float32'] = 'float32',
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """8 bits back to float32."""
def div_sqrt_dim(data: Symbol | None = None, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The input divided by the square root of its last axis' length."""
def index_array(data: Symbol | None = None, axes: Shape | None = None, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The indices of every element."""
def index_copy(old_tensor: Symbol | None = None, index_vector: Symbol | None = None,
               new_tensor: Symbol | None = None, name: str | None = None,
               attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """The old tensor with some rows replaced by the new tensor's."""
def interleaved_matmul_encdec_qk(queries: Symbol | None = None, keys_values: Symbol | None = None,
                                 heads: int = ..., name: str | None = None,
                                 attr: dict[str, str] | None = None, out: Out = None,
                                 **kwargs: Any) -> Symbol:
    """Scores of attention between two sequences."""
def interleaved_matmul_encdec_valatt(keys_values: Symbol | None = None,
                                     attention: Symbol | None = None, heads: int = ...,
                                     name: str | None = None, attr: dict[str, str] | None = None,
                                     out: Out = None, **kwargs: Any) -> Symbol:
    """Values of attention between two sequences."""
def interleaved_matmul_selfatt_qk(queries_keys_values: Symbol | None = None, heads: int = ...,
                                  name: str | None = None, attr: dict[str, str] | None = None,
                                  out: Out = None, **kwargs: Any) -> Symbol:
    """Scores of self-attention."""
def interleaved_matmul_selfatt_valatt(queries_keys_values: Symbol | None = None,
                                      attention: Symbol | None = None, heads: int = ...,
                                      name: str | None = None, attr: dict[str, str] | None = None,
                                      out: Out = None, **kwargs: Any) -> Symbol:
    """Values of self-attention."""
def quadratic(data: Symbol | None = None, a: float = 0, b: float = 0, c: float = 0,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """a·x² + b·x + c."""
def quantize(data: Symbol | None = None, min_range: Symbol | None = None,
             max_range: Symbol | None = None, out_type: Literal['int8', 'uint8'] = 'uint8',
             name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
             **kwargs: Any) -> Symbol:
    """float32 to 8 bits, in a given range."""
def requantize(data: Symbol | None = None, min_range: Symbol | None = None,
               max_range: Symbol | None = None, out_type: Literal['auto', 'int8', 'uint8'] = 'int8',
               min_calib_range: float | None = None, max_calib_range: float | None = None,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """int32 to 8 bits, in the range of a calibration or of the data."""
