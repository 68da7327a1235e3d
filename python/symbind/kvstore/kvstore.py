"""KVStore: the stores of one process; wraps the C++ ones."""
from .. import _core, error
from .. import optimizer as opt
from ..ndarray import NDArray
from ..optimizer import _files
from . import _job
from .base import KVStoreBase

__all__ = ["KVStore"]


def _pairs(keys, values):
    """(key, list of arrays) for each key. A key comes with an array or with one per device."""
    if isinstance(keys, (tuple, list)):
        assert len(keys) == len(values), \
            "%d keys were given with %d values" % (len(keys), len(values))
        merged = {}
        for key, value in zip(keys, values):
            for one, arrays in _pairs(key, value):
                merged.setdefault(one, []).extend(arrays)
        return list(merged.items())
    if isinstance(values, NDArray):
        return [(keys, [values])]
    for value in values:
        if not isinstance(value, NDArray):
            raise error.TypeError("a store holds NDArrays, not {}".format(type(value).__name__))
    return [(keys, list(values))]


def _are_rows(values):
    """Whether a distributed store sends only the rows of these arrays that are not 0."""
    return bool(values) and all(value.stype == "row_sparse" for value in values)


def _facts(optimizer):
    """An optimizer's class and its numbers, as text."""
    numbers = sorted((name, value) for name, value in optimizer.__getstate__().items()
                     if isinstance(value, (int, float, str)))
    return "{} {}".format(type(optimizer).__name__,
                          ", ".join("{}={}".format(*pair) for pair in numbers))


def _texts(params):
    """Parameters as C++ reads them."""
    if not isinstance(params, dict):
        raise error.TypeError("compression_params is a dict such as {'type': '2bit', 'threshold': 0.5}, not %r"
                              % (params,))
    return {str(name): str(value) for name, value in params.items()}


def _check_compression_params(params):
    """Raises unless set_gradient_compression accepts them; None and {} mean no compression."""
    if params:
        _core.check_compression_params(_texts(params))


class KVStore(KVStoreBase):
    """Sums the arrays of several devices, and of several workers, in their order, and returns the sum."""

    def __init__(self, type_name="local"):
        self._core = _core.KVStore(type_name)
        if self._core.trains_together or self._core.is_remote:
            _job.watch_end()
        self._updater = None
        self._updater_func = None
        self._known_core = None

    # --------------------------------------------------------------------- values

    def init(self, key, value):
        """Gives keys their first values; each key once."""
        for one, values in _pairs(key, value):
            for first in values:
                self._core.init(one, first)

    def push(self, key, value, priority=0):
        """Adds up one array per device; the sum replaces the value, or goes to the updater."""
        self._follow_updater()
        for one, values in _pairs(key, value):
            self._push(one, values)

    def _push(self, key, values):
        if _are_rows(values):
            self._core.push_rows(key, values)
        else:
            self._core.push(key, values)

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copies values into the arrays of `out`."""
        assert out is not None
        for one, arrays in _pairs(key, out):
            self._core.pull(one, arrays)

    def pushpull(self, key, value, out=None, priority=0):
        """push, then pull into `out` (the pushed arrays unless given)."""
        self._follow_updater()
        pushed, pulled = _pairs(key, value), _pairs(key, value if out is None else out)
        if len(pushed) == 1 and not _are_rows(pushed[0][1]):
            self._core.pushpull(*pushed[0], pulled[0][1])
            return
        for one, values in pushed:  # all of them first: the lists may hold the same arrays
            self._push(one, values)
        for one, arrays in pulled:
            self._core.pull(one, arrays)

    def broadcast(self, key, value, out, priority=0):
        """init, then pull."""
        self.init(key, value)
        self.pull(key, out=out, priority=priority)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Pulls the rows `row_ids`; the other rows of `out` become 0."""
        assert out is not None and row_ids is not None
        for one, arrays in _pairs(key, out):
            ids = row_ids if isinstance(row_ids, list) else [row_ids] * len(arrays)
            for array, rows in zip(arrays, ids):
                whole = array.copy()
                self._core.pull(one, [whole])
                array[:] = 0
                array[rows] = whole[rows]

    # ------------------------------------------------------------------- updating

    def set_gradient_compression(self, compression_params):
        """Compresses pushed gradients: {'type': '2bit', 'threshold': 0.5}, {'type': 'fp16'} or {'type': 'bf16'}."""
        self._core.set_gradient_compression(_texts(compression_params))

    def set_optimizer(self, optimizer):
        """Runs `optimizer` on every push. On dist_sync every worker runs it, on dist_async the servers do."""
        if self._core.is_remote:
            self._updater = opt.get_updater(optimizer)
            self._send_optimizer()
            return
        if self._core.trains_together:
            self._core.agree("set_optimizer", _facts(optimizer))
        self._set_updater(opt.get_updater(optimizer))

    def _send_optimizer(self):
        """Gives the servers the optimizer."""
        optimizer = self._updater.optimizer
        native = getattr(optimizer, "_native", lambda: None)()
        if native is not None and getattr(optimizer.lr_scheduler, "_native", lambda: True)() is not None:
            self._core.send_optimizer(native)
        else:
            self._core.send_custom_optimizer(type(optimizer).__name__, _files.dump(optimizer, opt.Optimizer))

    def _fetch_states(self):
        """Copies the servers' states and counts into the updater, if servers run the updates."""
        if self._core.is_remote:
            states, optimizer = _files.load(self._core.remote_states(), opt.Optimizer, self._updater.optimizer)
            self._updater.states = states
            mine = self._updater.optimizer
            mine._all_index_update_counts = optimizer._all_index_update_counts
            mine.num_update = optimizer.num_update

    def _send_states(self):
        """The reverse."""
        if self._core.is_remote:
            self._send_optimizer()
            self._core.set_remote_states(self._updater.get_states())

    def _set_updater(self, updater):
        """Calls `updater(key, pushed sum, stored value)` on every push."""
        self._updater = updater
        self._known_core = getattr(updater, "_core_updater", None)
        native = getattr(updater, "_native", lambda: None)()
        if native is not None:
            self._core.set_core_updater(native)
        else:
            self._core.set_updater(updater)

    def _follow_updater(self):
        """Updates the core of an updater that got other states or another optimizer."""
        if not self._core.is_remote and getattr(self._updater, "_core_updater", None) is not self._known_core:
            self._set_updater(self._updater)

    @staticmethod
    def is_capable(capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise error.ValueError("Unknown capability: {}".format(capability))

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Writes the optimizer's states to a file."""
        assert self._updater is not None, "Cannot save states for distributed training"
        self._fetch_states()
        _core.write_file(fname, self._updater.get_states(dump_optimizer))

    def load_optimizer_states(self, fname):
        """Reads them back."""
        assert self._updater is not None, "Cannot load states for distributed training"
        with open(fname, "rb") as file:
            self._updater.set_states(file.read())
        self._send_states()

    # ---------------------------------------------------------------------- facts

    @property
    def type(self):
        return self._core.type

    @property
    def rank(self):
        return self._core.rank

    @property
    def num_workers(self):
        return self._core.num_workers

    def _barrier(self):
        """Waits for the other workers."""
        self._core.barrier()

    def _send_command_to_servers(self, head, body):
        """Accepted for MXNet's scripts. Servers take no commands here."""

    def _native(self):
        """The C++ store, if this class's methods are not overridden."""
        self._follow_updater()
        ours = all(getattr(type(self), name) is getattr(KVStore, name)
                   for name in ("push", "pull", "pushpull"))
        return self._core if ours else None
