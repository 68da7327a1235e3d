# Written by tools/stubgen; do not edit.
from typing import Any
from .._types import Floats, Shape
from ..symbol.symbol import Symbol

Out = None

def adjust_lighting(data: Symbol | None = None, alpha: Floats = ..., name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An image with the principal colours of ImageNet added."""
def crop(data: Symbol | None = None, x: int = ..., y: int = ..., width: int = ...,
         height: int = ..., name: str | None = None, attr: dict[str, str] | None = None,
         out: Out = None, **kwargs: Any) -> Symbol:
    """A rectangle of an image."""
def flip_left_right(data: Symbol | None = None, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An image mirrored left to right."""
def flip_top_bottom(data: Symbol | None = None, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An image mirrored top to bottom."""
def normalize(data: Symbol | None = None, mean: Floats = (0, 0, 0, 0), std: Floats = (1, 1, 1, 1),
              name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
              **kwargs: Any) -> Symbol:
    """(x - mean) / std, channel by channel."""
def random_brightness(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
                      name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                      **kwargs: Any) -> Symbol:
    """An image with its brightness changed at random."""
def random_color_jitter(data: Symbol | None = None, brightness: float = ..., contrast: float = ...,
                        saturation: float = ..., hue: float = ..., name: str | None = None,
                        attr: dict[str, str] | None = None, out: Out = None,
                        **kwargs: Any) -> Symbol:
    """An image with brightness, contrast, saturation and hue changed at random, in any order."""
def random_contrast(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
                    name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                    **kwargs: Any) -> Symbol:
    """An image with its contrast changed at random."""
def random_flip_left_right(data: Symbol | None = None, name: str | None = None,
                           attr: dict[str, str] | None = None, out: Out = None,
                           **kwargs: Any) -> Symbol:
    """An image mirrored left to right, or not, at random."""
def random_flip_top_bottom(data: Symbol | None = None, name: str | None = None,
                           attr: dict[str, str] | None = None, out: Out = None,
                           **kwargs: Any) -> Symbol:
    """An image mirrored top to bottom, or not, at random."""
def random_hue(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """An image with its hue changed at random."""
def random_lighting(data: Symbol | None = None, alpha_std: float = 0.05, name: str | None = None,
                    attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An image with the principal colours of ImageNet added at random."""
def random_saturation(data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
                      name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                      **kwargs: Any) -> Symbol:
    """An image with its saturation changed at random."""
def resize(data: Symbol | None = None, size: Shape = (), keep_ratio: bool = False, interp: int = 1,
           name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
           **kwargs: Any) -> Symbol:
    """An image, or a batch of them, resampled to another size."""
def to_tensor(data: Symbol | None = None, name: str | None = None,
              attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """An image as a tensor: channels first, 0 to 1."""
