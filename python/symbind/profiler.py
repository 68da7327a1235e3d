"""The profiler: what ran, when and for how long, as tables (`dumps`) and as a trace (`dump`) that
Perfetto and chrome://tracing open. `docs/explain.md` shows how to read them.
"""
import warnings
from contextlib import contextmanager

from . import _core, error

_FORMATS = ('table', 'json')
_ORDERS = ('total', 'avg', 'min', 'max', 'count')


def _check_process(profile_process):
    if profile_process != 'worker':
        raise error.ValueError("profile_process is %r; there are no servers here, only 'worker'"
                               % (profile_process,))


def set_config(**kwargs):
    """Sets the options of the profiler; those left out get their defaults.

    `filename` ('profile.json') is the trace. `profile_symbolic`, `profile_imperative`,
    `profile_memory`, `profile_api` choose what is recorded, `profile_all` takes everything; the
    program's own entries are always recorded. With `continuous_dump` the trace is written every
    `dump_period` seconds. `aggregate_stats` is accepted: statistics are always kept.
    """
    _core.profiler_set_config({name: str(value) for name, value in kwargs.items()})


def set_state(state='stop', profile_process='worker'):
    """Starts ('run') or stops ('stop') recording."""
    if state not in ("run", "stop"):
        raise error.ValueError("the state of the profiler is 'run' or 'stop', not %r" % (state,))
    _check_process(profile_process)
    _core.profiler_set_running(state == "run")


def pause(profile_process='worker'):
    """Stops recording until resume."""
    _check_process(profile_process)
    _core.profiler_pause()


def resume(profile_process='worker'):
    """Records again after pause."""
    _check_process(profile_process)
    _core.profiler_resume()


def dump(finished=True, profile_process='worker'):
    """Writes the trace to the file of set_config; `finished` also stops and begins a new one."""
    _check_process(profile_process)
    _core.profiler_dump(bool(finished))


def dumps(reset=False, format='table', sort_by='total', ascending=False):
    """Statistics as a table or as JSON: by operator as in MXNet, and by node with FLOPs, bytes and
    their share of what this machine can do.

    `sort_by` is 'total', 'avg', 'min', 'max' or 'count'; `reset` forgets them afterwards.
    """
    for name, value, allowed in (("format", format, _FORMATS), ("sort_by", sort_by, _ORDERS),
                                 ("ascending", ascending, (False, True)),
                                 ("reset", reset, (False, True))):
        assert value in allowed, "Invalid value provided for {}: {}. Support: {}".format(
            name, value, ", ".join(repr(a) for a in allowed))
    return _core.profiler_dumps(bool(reset), format, sort_by, bool(ascending))


def profiler_set_config(mode='symbolic', filename='profile.json'):
    """The old form of set_config."""
    warnings.warn('profiler.profiler_set_config() is deprecated. '
                  'Please use profiler.set_config() instead', stacklevel=2)
    set_config(**{"profile_" + mode: True, "filename": filename})


def profiler_set_state(state='stop'):
    """The old form of set_state."""
    warnings.warn('profiler.profiler_set_state() is deprecated. '
                  'Please use profiler.set_state() instead', stacklevel=2)
    set_state(state)


def dump_profile():
    """The old form of dump."""
    warnings.warn('profiler.dump_profile() is deprecated. '
                  'Please use profiler.dump() instead', stacklevel=2)
    dump(True)


@contextmanager
def scope(name):
    """Records the block as an Event of this name."""
    event = Event(name)
    event.start()
    try:
        yield event
    finally:
        event.stop()


class _Named:
    """What has a name and shows it."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


class Domain(_Named):
    """A group of entries with a name."""

    def new_task(self, name):
        """A Task in this domain."""
        return Task(self, name)

    def new_frame(self, name):
        """A Frame in this domain."""
        return Frame(self, name)

    def new_counter(self, name, value=None):
        """A Counter in this domain."""
        return Counter(self, name, value)

    def new_marker(self, name):
        """A Marker in this domain."""
        return Marker(self, name)


class _Stretch(_Named):
    """A stretch of time; started again it is another one of the same name."""

    def start(self):
        """Begins it."""
        self._core.start()

    def stop(self):
        """Ends it. Without a start nothing is recorded."""
        self._core.stop()


class Event(_Stretch):
    """A stretch of time on one thread; events of a thread nest."""

    def __init__(self, name):
        super().__init__(name)
        self._core = _core.ProfilerStretch("event", "", str(name))


class Task(_Stretch):
    """A piece of work, which may begin and end on different threads."""

    def __init__(self, domain, name):
        super().__init__(name)
        self._core = _core.ProfilerStretch("task", str(domain), str(name))


class Frame(_Stretch):
    """One of many equal pieces of work, such as an image of a film."""

    def __init__(self, domain, name):
        super().__init__(name)
        self._core = _core.ProfilerStretch("frame", str(domain), str(name))


class Counter(_Named):
    """A number that changes over time."""

    def __init__(self, domain, name, value=None):
        super().__init__(name)
        self._core = _core.ProfilerCounter(str(domain), str(name))
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """Makes it `value`."""
        self._core.set(int(value))

    def increment(self, delta=1):
        """Adds `delta`."""
        self._core.add(int(delta))

    def decrement(self, delta=1):
        """Takes `delta` away."""
        self._core.add(-int(delta))

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self


class Marker(_Named):
    """A moment."""

    def __init__(self, domain, name):
        super().__init__(name)
        self.domain = domain

    def mark(self, scope='process'):
        """Marks this moment for 'global', 'process', 'thread', 'task' or 'marker'."""
        _core.profiler_mark(str(self.domain), str(self.name), scope)
