"""Front of mx.npx, which Symbind does not have, except for its switches of NumPy's semantics."""
from ._absent import front
from .context import cpu, cpu_pinned, current_context, gpu, num_gpus
from .util import is_np_array, is_np_shape, reset_np, set_np, set_np_shape, use_np, use_np_array

__getattr__ = front(__name__, ("image", "random"))
