"""The process's part in a distributed job: what it does at import and at its end."""
import atexit
import importlib
import os
import sys

from .. import _core
from ..error import WorkerLostError

__all__ = []

_end = {"error": "", "status": None}


def serve_role():
    """Serves and exits if this process is the scheduler or a server of a job."""
    status = _core.serve_role(_custom_updaters)
    if status is not None:
        sys.stdout.flush()
        sys.exit(status)


def _custom_updaters():
    """A function that makes the Updater of an optimizer that a worker sent. It imports nothing: the thread that calls
    it would wait for the import of symbind, which lasts as long as the server serves."""
    from ..optimizer import Optimizer, Updater, _files
    for module in filter(None, _core.setting("SYMBIND_DIST_SERVER_IMPORT").split(",")):
        importlib.import_module(module)
    return lambda name, data: Updater(_files.receive(name, data, Optimizer))


def watch_end():
    """From now on the other workers learn how this process ends, and a lost worker is exit status 75."""
    if _end["status"] is not None:
        return
    _end["status"] = 0
    previous = sys.excepthook

    def hook(kind, value, trace):
        _end["error"] = "{}: {}".format(kind.__name__, value)
        if issubclass(kind, WorkerLostError):
            _end["status"] = _core.EXIT_LOST
        previous(kind, value, trace)

    sys.excepthook = hook
    atexit.register(_leave)


def _leave():
    _core.leave_job(_end["error"])
    if _end["status"]:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_end["status"])  # the interpreter itself would exit with 1
