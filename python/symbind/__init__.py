"""Symbind: MXNet's symbols, executors and modules on a C++20 core.

Scripts use `import symbind as mx`; see docs/python.md.
"""
from ._openmp import load

_core = load(__name__ + "._core")
del load

from .error import MXNetError
from . import base
from .context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from . import _absent, _ops, engine, error, log, name, attribute, util, libinfo, registry, runtime
from .attribute import AttrScope
from .name import NameManager
from . import autograd, ndarray
from . import ndarray as nd
from . import random
from . import random as rnd
from . import executor, executor_manager, symbol
from . import symbol as sym
from . import contrib, operator, visualization
from . import lr_scheduler, optimizer
from . import visualization as viz
from . import io, recordio
from . import image
from . import image as img
from . import callback, initializer, lr_scheduler, metric, monitor, optimizer
from . import kvstore, launch, model, module, predictor
from . import kvstore as kv
from . import module as mod
from . import initializer as init
from . import monitor as mon
from .predictor import Predictor
from .util import (is_np_array, is_np_shape, np_array, np_shape, reset_np, set_np, set_np_shape,
                   use_np, use_np_array, use_np_shape)

__version__ = _core.version()
if not launch.is_command():  # the launcher may have the role of another job in its environment
    kvstore._job.serve_role()


def __getattr__(attribute):
    """Imports slow modules at first use."""
    import importlib

    lazy = {"datasets": "datasets", "gluon": "gluon", "misc": "misc", "models": "models", "np": "numpy",
            "numpy": "numpy", "npx": "numpy_extension", "numpy_extension": "numpy_extension",
            "profiler": "profiler", "rnn": "rnn", "symbol_doc": "symbol_doc",
            "test_utils": "test_utils"}
    if attribute in lazy:
        return importlib.import_module(f"{__name__}.{lazy[attribute]}")
    front = _absent.front_module(attribute)
    if front is not None:
        return front
    raise AttributeError(f"module '{__name__}' has no attribute '{attribute}'")
