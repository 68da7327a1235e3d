# Written by tools/stubgen; do not edit.
from collections.abc import Sequence
from typing import Any
from .._types import Floats, Shape
from ..ndarray.ndarray import NDArray

Out = NDArray | Sequence[NDArray] | None

def adjust_lighting(data: NDArray | None = None, alpha: Floats = ..., out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with the principal colours of ImageNet added."""
def crop(data: NDArray | None = None, x: int = ..., y: int = ..., width: int = ...,
         height: int = ..., out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """A rectangle of an image."""
def flip_left_right(data: NDArray | None = None, out: Out = None, name: str | None = None,
                    **kwargs: Any) -> NDArray:
    """An image mirrored left to right."""
def flip_top_bottom(data: NDArray | None = None, out: Out = None, name: str | None = None,
                    **kwargs: Any) -> NDArray:
    """An image mirrored top to bottom."""
def normalize(data: NDArray | None = None, mean: Floats = (0, 0, 0, 0), std: Floats = (1, 1, 1, 1),
              out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """(x - mean) / std, channel by channel."""
def random_brightness(data: NDArray | None = None, min_factor: float = ..., max_factor: float = ...,
                      out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with its brightness changed at random."""
def random_color_jitter(data: NDArray | None = None, brightness: float = ..., contrast: float = ...,
                        saturation: float = ..., hue: float = ..., out: Out = None,
                        name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with brightness, contrast, saturation and hue changed at random, in any order."""
def random_contrast(data: NDArray | None = None, min_factor: float = ..., max_factor: float = ...,
                    out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with its contrast changed at random."""
def random_flip_left_right(data: NDArray | None = None, out: Out = None, name: str | None = None,
                           **kwargs: Any) -> NDArray:
    """An image mirrored left to right, or not, at random."""
def random_flip_top_bottom(data: NDArray | None = None, out: Out = None, name: str | None = None,
                           **kwargs: Any) -> NDArray:
    """An image mirrored top to bottom, or not, at random."""
def random_hue(data: NDArray | None = None, min_factor: float = ..., max_factor: float = ...,
               out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with its hue changed at random."""
def random_lighting(data: NDArray | None = None, alpha_std: float = 0.05, out: Out = None,
                    name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with the principal colours of ImageNet added at random."""
def random_saturation(data: NDArray | None = None, min_factor: float = ..., max_factor: float = ...,
                      out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """An image with its saturation changed at random."""
def resize(data: NDArray | None = None, size: Shape = (), keep_ratio: bool = False, interp: int = 1,
           out: Out = None, name: str | None = None, **kwargs: Any) -> NDArray:
    """An image, or a batch of them, resampled to another size."""
def to_tensor(data: NDArray | None = None, out: Out = None, name: str | None = None,
              **kwargs: Any) -> NDArray:
    """An image as a tensor: channels first, 0 to 1."""
