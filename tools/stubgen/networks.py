"""The stub of mx.models: a function for each network, from the options the library lists."""
import symbind as mx
from operators import kind_of
from symbind import _core
from texts import call_text, first_line, plain_parameters

_IMPORTS = """from typing import Any, Literal

from ._types import Shape
from .symbol.symbol import Symbol

def names() -> list[str]: ...
def create(network: str, **options: Any) -> Symbol: ...
"""


def network_stub(network):
    function = getattr(mx.models, network.replace("-", "_"))
    defaults = [text.partition("=")[2] for text in plain_parameters(function)]
    parameters = [f"{option[0]}: {kind_of(option)} = {default}"
                  for option, default in zip(_core.model_options(network), defaults)]
    return (call_text(f"def {function.__name__}(", parameters, ") -> Symbol:") +
            f'\n    """{first_line(function.__doc__)}"""\n')


def networks_stub():
    return _IMPORTS + "".join(network_stub(network) for network in mx.models.names())
