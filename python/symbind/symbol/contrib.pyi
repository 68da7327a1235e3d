# Written by tools/stubgen; do not edit.
from typing import Any, Literal
from .._types import DType, Floats, Shape
from ..symbol.symbol import Symbol

Out = None

def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-08, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """A step of Adam with weight decay apart; `rescale_grad` is a number or a symbol."""
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
    """Locations, masks and classes that anchors shall predict."""
def MultiProposal(cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None,
                  im_info: Symbol | None = None, rpn_pre_nms_top_n: int = 6000,
                  rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16,
                  scales: Floats = (4, 8, 16, 32), ratios: Floats = (0.5, 1, 2),
                  feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False,
                  name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                  **kwargs: Any) -> Symbol:
    """Regions of several images to look at, from scores and shifts of anchors."""
def Proposal(cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None,
             im_info: Symbol | None = None, rpn_pre_nms_top_n: int = 6000,
             rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16,
             scales: Floats = (4, 8, 16, 32), ratios: Floats = (0.5, 1, 2),
             feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False,
             name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
             **kwargs: Any) -> Symbol:
    """Regions of one image to look at, from scores and shifts of anchors."""
def SparseEmbedding(data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ...,
                    output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False,
                    name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                    **kwargs: Any) -> Symbol:
    """Rows of the weight, by index."""
def allclose(a: Symbol | None = None, b: Symbol | None = None, rtol: float = 1e-05,
             atol: float = 1e-08, equal_nan: bool = True, name: str | None = None,
             attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """1 if all elements are close to one another, else 0."""
def arange_like(data: Symbol | None = None, start: float = 0, step: float = 1, repeat: int = 1,
                ctx: str = '', axis: int | None = None, name: str | None = None,
                attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Evenly spaced values, as many as the input has, or as one of its axes is long."""
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
def quadratic(data: Symbol | None = None, a: float = 0, b: float = 0, c: float = 0,
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """a·x² + b·x + c."""
