# Written by tools/stubgen; do not edit.
from collections.abc import Callable
from ..ndarray.ndarray import NDArray

def __getattr__(name: str) -> Callable[..., NDArray]: ...
