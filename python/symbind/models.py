"""Well-known networks, with the names and attributes of MXNet's examples.

    net = mx.models.resnet(num_layers=50)
    net = mx.models.create('inception-bn', image_shape=(3, 28, 28), num_classes=10)

There is a function for each network; its name has `_` for `-`. Names of unnamed layers come from the
current NameManager, as in MXNet.
"""
import inspect

from . import _core
from ._ops import default_of

__all__ = ["create", "names"]


def names():
    """MXNet's names of the networks, in alphabetical order."""
    return _core.model_names()


def create(network, **options):
    """The symbol of the network called `network`; an unknown name or option is an error that lists
    what there is."""
    return _core.create_model(network, options)


def _maker(network):
    options = _core.model_options(network)
    parameters = [inspect.Parameter(option[0], inspect.Parameter.POSITIONAL_OR_KEYWORD,
                                    default=default_of((option[0], option[1], None, option[2])))
                  for option in options]
    signature = inspect.Signature(parameters)

    def function(*args, **kwargs):
        return _core.create_model(network, signature.bind(*args, **kwargs).arguments)

    function.__name__ = function.__qualname__ = network.replace("-", "_")
    function.__signature__ = signature
    function.__doc__ = f"The symbol of {network}.\n\nParameters\n----------\n" + "\n".join(
        f"{name} : {kind}\n    {doc}" for name, kind, _, doc in options)
    return function


for _network in names():
    _made = _maker(_network)
    globals()[_made.__name__] = _made
    __all__.append(_made.__name__)
