"""Executor: a symbol bound to arrays."""
import os

from . import error
from .ndarray import NDArray

__all__ = ["Executor"]


class Executor:
    """One bound network. Its arrays are the bound arrays themselves."""

    def __init__(self, bound, symbol, ctx, grad_req, group2ctx, other_types=()):
        self._bound = bound
        # Gradient arrays of another type than their argument: (place, array, whether to add).
        self._other_types = other_types
        self._symbol = symbol
        self._ctx = ctx
        self._grad_req = grad_req
        self._group2ctx = group2ctx
        self._monitor_callback = None
        self.arg_arrays = bound._arg_arrays()
        self.grad_arrays = bound._grad_arrays()
        for place, array, _ in other_types:
            self.grad_arrays[place] = array
        self.aux_arrays = bound._aux_arrays()
        self.outputs = bound._outputs()
        self._arg_dict = self._grad_dict = self._aux_dict = self._output_dict = None

    # ----------------------------------------------------------------- running

    def forward(self, is_train=False, **kwargs):
        """Runs the graph; named arrays are copied into the arguments first."""
        if kwargs:
            arguments = self.arg_dict
            for name, array in kwargs.items():
                if not isinstance(array, (NDArray,)) and not hasattr(array, "__array__"):
                    raise error.ValueError(
                        "only accept keyword argument of NDArrays and numpy.ndarray")
                if name not in arguments:
                    raise error.TypeError(f"Unknown argument {name}")
                if tuple(arguments[name].shape) != tuple(array.shape):
                    raise error.ValueError(
                        f"Shape not match! Argument {name}, need: {arguments[name].shape}, "
                        f"received: {tuple(array.shape)}; use reshape for other shapes")
                arguments[name][:] = array.detach() if isinstance(array, NDArray) else array
        self._bound._forward(is_train, {})
        return self.outputs

    def backward(self, out_grads=None, is_train=True):
        """Fills the gradient arrays; heads that are losses need no gradient."""
        if isinstance(out_grads, dict):
            out_grads = [out_grads[k] for k in self._symbol.list_outputs()]
        elif isinstance(out_grads, NDArray):
            out_grads = [out_grads]
        for grad in out_grads or []:
            if not isinstance(grad, NDArray):
                raise error.TypeError("inputs must be NDArray")
        # MXNet ignores head gradients beyond the outputs.
        self._bound._backward((out_grads or [])[:len(self.outputs)])
        if self._other_types:
            computed = self._bound._grad_arrays()
            for place, array, add in self._other_types:
                gradient = computed[place].astype(array.dtype)
                array[:] = array + gradient if add else gradient

    def set_monitor_callback(self, callback, monitor_all=False):
        """`callback(name, array)` after each operator; None ends it."""
        self._monitor_callback = callback
        self._bound._set_monitor(callback, monitor_all)

    # -------------------------------------------------------------- dictionaries

    @staticmethod
    def _by_name(names, arrays):
        if len(set(names)) != len(names):
            raise error.ValueError(f"Duplicate names detected, {names}")
        return dict(zip(names, arrays))

    @property
    def arg_dict(self):
        """Arguments by name."""
        if self._arg_dict is None:
            self._arg_dict = self._by_name(self._symbol.list_arguments(), self.arg_arrays)
        return self._arg_dict

    @property
    def grad_dict(self):
        """Gradients by argument name; None where there is none."""
        if self._grad_dict is None:
            self._grad_dict = self._by_name(self._symbol.list_arguments(), self.grad_arrays)
        return self._grad_dict

    @property
    def aux_dict(self):
        """Auxiliary states by name."""
        if self._aux_dict is None:
            self._aux_dict = self._by_name(self._symbol.list_auxiliary_states(), self.aux_arrays)
        return self._aux_dict

    @property
    def output_dict(self):
        """Outputs by name."""
        if self._output_dict is None:
            self._output_dict = self._by_name(self._symbol.list_outputs(), self.outputs)
        return self._output_dict

    # ------------------------------------------------------------------ others

    def copy_params_from(self, arg_params, aux_params=None, allow_extra_params=False):
        """Copies parameters in by name, casting to the types bound."""
        unknown = [n for n in arg_params if n not in self.arg_dict]
        if unknown and not allow_extra_params:
            raise error.ValueError(f"Find name \"{unknown[0]}\" that is not in the arguments")
        unknown = [n for n in aux_params or {} if n not in self.aux_dict]
        if unknown and not allow_extra_params:
            raise error.ValueError(f"Find name {unknown[0]} that is not in the auxiliary states")
        self._bound._copy_params_from(arg_params, aux_params, allow_extra_params)

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """An executor for other shapes that shares arrays and memory."""
        for name, shape in kwargs.items():
            if not isinstance(shape, (tuple, list)):
                raise error.TypeError(f"the shape of {name} must be a tuple, not {type(shape)}")
        bound = self._bound._reshape(kwargs, partial_shaping, allow_up_sizing)
        other = Executor(bound, self._symbol, self._ctx, self._grad_req, self._group2ctx)
        other._monitor_callback = self._monitor_callback
        return other

    def debug_str(self):
        """The plan and its memory, in MXNet's format."""
        return self._bound.debug_str()

    def plan_text(self):
        """The compiled plan: steps, kernels and rejected kernels, layouts, memory."""
        return self._bound.plan_text()

    def explain(self, filename=None, format=None, title=None):
        """How this network runs: steps, kernels and rejected kernels, layouts, memory over time,
        FLOPs and bytes, and times if the profiler ran.

        Writes to `filename` if given ('html' unless it ends in .txt or .json), else returns the
        result ('text' by default).
        """
        if format is None:
            endings = {"txt": "text", "json": "json"}
            ending = str(filename).rsplit(".", 1)[-1].lower()
            format = "text" if filename is None else endings.get(ending, "html")
        if filename is None:
            return self._bound._explain(format, title or "")
        self._bound._explain_to_file(os.fspath(filename), format, title or "")
        return filename

    def get_optimized_symbol(self):
        """The graph after the passes on symbols."""
        return self._bound._optimized_symbol()
