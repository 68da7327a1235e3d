# Written by tools/stubgen; do not edit.
from typing import Any, Literal

from ._types import Shape
from .symbol.symbol import Symbol

def names() -> list[str]: ...
def create(network: str, **options: Any) -> Symbol: ...
def alexnet(num_classes: int = 1000, dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of alexnet."""
def googlenet(num_classes: int = 1000) -> Symbol:
    """The symbol of googlenet."""
def inception_bn(num_classes: int = 1000, image_shape: Shape = (3, 224, 224)) -> Symbol:
    """The symbol of inception-bn."""
def inception_resnet_v2(num_classes: int = 1000) -> Symbol:
    """The symbol of inception-resnet-v2."""
def inception_v3(num_classes: int = 1000,
                 dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of inception-v3."""
def inception_v4(num_classes: int = 1000,
                 dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of inception-v4."""
def lenet(num_classes: int = 10, add_stn: bool = False) -> Symbol:
    """The symbol of lenet."""
def lstm(seq_len: int = 60, vocab_size: int = 10000, num_layers: int = 2, num_hidden: int = 200,
         num_embed: int = 200, forget_bias: float = 1) -> Symbol:
    """The symbol of lstm."""
def mlp(num_classes: int = 10) -> Symbol:
    """The symbol of mlp."""
def mobilenet(num_classes: int = 1000, alpha: float = 1, resolution: int = 224) -> Symbol:
    """The symbol of mobilenet."""
def mobilenetv2(num_classes: int = 1000, multiplier: float = 1) -> Symbol:
    """The symbol of mobilenetv2."""
def resnet(num_classes: int = 1000, num_layers: int = 50, image_shape: Shape = (3, 224, 224),
           conv_workspace: int = 256, dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of resnet."""
def resnet_v1(num_classes: int = 1000, num_layers: int = 50, image_shape: Shape = (3, 224, 224),
              conv_workspace: int = 256,
              dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of resnet-v1."""
def resnetv1(num_classes: int = 1000, num_layers: int = 50, image_shape: Shape = (3, 224, 224),
             conv_workspace: int = 256, dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of resnetv1."""
def resnext(num_classes: int = 1000, num_layers: int = 50, image_shape: Shape = (3, 224, 224),
            num_group: int = 32, conv_workspace: int = 256,
            dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of resnext."""
def vgg(num_classes: int = 1000, num_layers: int = 11, batch_norm: bool = False,
        dtype: Literal['float32', 'float16'] = 'float32') -> Symbol:
    """The symbol of vgg."""
