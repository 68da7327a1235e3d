"""MXNet's control of bulk execution. Symbind compiles a bound graph into one list of kernels and runs
single operators synchronously, so the bulk size has no effect."""
import threading

_state = threading.local()


def set_bulk_size(size):
    """Stores the bulk size of this thread; returns the previous one."""
    before = getattr(_state, "bulk_size", 0)
    _state.bulk_size = int(size)
    return before


class _BulkScope:
    def __init__(self, size):
        self._size = size
        self._before = None

    def __enter__(self):
        self._before = set_bulk_size(self._size)
        return self

    def __exit__(self, *error):
        set_bulk_size(self._before)


def bulk(size):
    """A `with` block in which the bulk size is `size`."""
    return _BulkScope(size)
