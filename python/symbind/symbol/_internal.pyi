# Written by tools/stubgen; do not edit.
from collections.abc import Callable
from ..symbol.symbol import Symbol

def __getattr__(name: str) -> Callable[..., Symbol]: ...
