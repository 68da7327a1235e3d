"""Predictor: a trained network that any number of threads may ask at once.

Weights are held once, plans are kept per shape of the inputs, and the interpreter is free while a network runs;
docs/predict.md tells how to serve with it.
"""
import numpy as np

from . import _core, error

__all__ = ["Predictor"]


def _options(ctx=None, threads=0, max_pool=0, max_plans=16, outputs=(), data_names=(), types=None,
             input_shapes=None, allow_missing=False, allow_extra=False, exact=None,
             compute_dtype=None):
    return {"ctx": ctx, "threads": threads, "max_pool": max_pool, "max_plans": max_plans,
            "outputs": [outputs] if isinstance(outputs, str) else list(outputs),
            "data_names": [data_names] if isinstance(data_names, str) else list(data_names),
            "types": types or {}, "input_shapes": input_shapes or {}, "allow_missing": allow_missing,
            "allow_extra": allow_extra, "exact": exact,
            "compute_dtype": "" if compute_dtype is None else str(compute_dtype)}


def _readable(name, value):
    """An NDArray, or a NumPy array whose memory C++ can read."""
    if isinstance(value, _core.NDArray):
        return value
    try:
        array = np.asarray(value, order="C")
    except (ValueError, TypeError) as reason:
        raise error.TypeError(f"input '{name}' is no array: {reason}") from None
    if array.dtype.kind not in "fiubV":
        raise error.TypeError(f"input '{name}' is an array of {array.dtype}; numbers are wanted")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


class Predictor:
    """The network of a checkpoint, ready for predictions: `Predictor(prefix, epoch)(images)`.

    Options, of the other ways to make one too: `ctx`; `threads` of one call (0: as loops use; with many callers 1 is
    best); `max_pool` calls at once, others wait (0: any number); `max_plans` shapes whose plans are kept; `outputs` by
    name of `get_internals()`; `data_names`, the inputs in order; `types` and `input_shapes` of inputs, by name;
    `allow_missing` and `allow_extra` parameters; `exact` forbids kernels and fusions that trade digits for speed
    (None: SYMBIND_EXACT decides); `compute_dtype="bfloat16"` lets layers round their inputs and outputs to bfloat16
    where the CPU computes with it (None: SYMBIND_COMPUTE_DTYPE decides).
    """

    def __init__(self, prefix, epoch, **options):
        self._core = _core.Predictor.load(str(prefix), epoch, _options(**options))

    @classmethod
    def _of(cls, core):
        made = cls.__new__(cls)
        made._core = core
        return made

    @classmethod
    def from_files(cls, symbol_path, params_path, **options):
        """From a symbol's JSON file and a file of parameters."""
        return cls._of(_core.Predictor.from_files(str(symbol_path), str(params_path), _options(**options)))

    @classmethod
    def from_memory(cls, symbol_json, param_bytes, **options):
        """From the contents of such files."""
        return cls._of(_core.Predictor.from_memory(symbol_json, param_bytes, _options(**options)))

    @classmethod
    def from_symbol(cls, symbol, arg_params, aux_params=None, **options):
        """From a symbol and its parameters, which are copied."""
        return cls._of(_core.Predictor.from_symbol(symbol, arg_params, aux_params, _options(**options)))

    def predict(self, *args, **kwargs):
        """Runs the network over inputs by order or by name, NumPy arrays or NDArrays of any batch size. Gives the
        output, or the list of outputs where there are several; they belong to the caller."""
        names = self.input_names
        if len(args) > len(names):
            raise error.TypeError(f"{len(args)} inputs were given, {len(names)} are needed: {', '.join(names)}")
        for name, value in zip(names, args):
            if name in kwargs:
                raise error.TypeError(f"input '{name}' was given twice, by order and by name")
            kwargs[name] = value
        outputs = self._core.predict({name: _readable(name, value) for name, value in kwargs.items()})
        return outputs[0] if len(outputs) == 1 else outputs

    __call__ = predict

    def output_shapes(self, **shapes):
        """Shapes of the outputs for inputs of these shapes; a call with them then finds its plan made."""
        return self._core.output_shapes(shapes)

    def stats(self):
        """Plans kept and made, sets of working memory, and the bytes of those not in use."""
        return self._core.stats()

    def close(self):
        """Lets go of everything; calls that run end, later ones raise."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def input_names(self):
        """The inputs, in order."""
        return self._core.input_names()

    @property
    def label_names(self):
        """Arguments no output depends on; calls leave them out."""
        return self._core.label_names()

    @property
    def output_names(self):
        """The outputs, in order."""
        return self._core.output_names()

    @property
    def symbol(self):
        """What is computed."""
        return self._core.symbol()

    @property
    def threads(self):
        """Threads of one call."""
        return self._core.threads()
