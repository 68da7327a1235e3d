"""Timelines of a program's own making: tasks, frames, events, counters and markers, written as a
trace that chrome://tracing and Perfetto read.

Operators are not yet recorded: `dump` writes the program's own entries only, and `dumps`, the table
of operator times, says that it is not there.
"""
import json
import os
import threading
import time
import warnings

from ._absent import not_in_symbind

_OPTIONS = {"filename", "profile_all", "profile_symbolic", "profile_imperative", "profile_memory",
            "profile_api", "continuous_dump", "dump_period", "aggregate_stats", "profile_process"}
_SCOPES = {"global": "g", "process": "p", "thread": "t", "task": "t", "marker": "t"}


class _Recorder:
    """The entries of this process, while it is running and not paused."""

    def __init__(self):
        self.filename = "profile.json"
        self.running = self.paused = False
        self.entries = []

    def add(self, phase, domain, name, **more):
        if self.running and not self.paused:
            self.entries.append({
                "name": name, "cat": str(domain), "ph": phase, "ts": time.perf_counter_ns() / 1000,
                "pid": os.getpid(), "tid": threading.get_native_id(), **more})


_recorder = _Recorder()


def set_config(**kwargs):
    """Sets options of the profiler. `filename` is where dump writes; the others choose among
    operators, which are not recorded yet, and are accepted for that day."""
    for name in kwargs:
        if name not in _OPTIONS:
            raise ValueError("set_config has no option %r; there are %s"
                             % (name, ", ".join(sorted(_OPTIONS))))
    _recorder.filename = kwargs.get("filename", _recorder.filename)


def set_state(state='stop', profile_process='worker'):
    """Starts ('run') or stops ('stop') recording."""
    if state not in ("run", "stop"):
        raise ValueError("the state of the profiler is 'run' or 'stop', not %r" % (state,))
    _recorder.running = state == "run"


def pause(profile_process='worker'):
    """Stops recording until resume."""
    _recorder.paused = True


def resume(profile_process='worker'):
    """Records again after pause."""
    _recorder.paused = False


def dump(finished=True, profile_process='worker'):
    """Writes what was recorded to the file of set_config; `finished` also forgets it and stops."""
    with open(_recorder.filename, "w") as file:
        json.dump({"traceEvents": _recorder.entries, "displayTimeUnit": "ms"}, file)
    if finished:
        _recorder.entries = []
        _recorder.running = False


def dumps(reset=False, format='table', sort_by='total', ascending=False):
    """Not yet there: the times of operators as a table or JSON."""
    assert format in ('table', 'json'), \
        "Invalid value provided for format: {0}. Support: 'table', 'json'".format(format)
    raise not_in_symbind("mxnet.profiler.dumps", "it does not record operators yet")


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


class _Named:
    """An entry's name, and the domain it belongs to."""

    domain = ""

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


class Event(_Named):
    """A stretch of time on one thread; events of a thread nest."""

    def start(self):
        """Begins it."""
        _recorder.add("B", self.domain, self.name)

    def stop(self):
        """Ends it."""
        _recorder.add("E", self.domain, self.name)


class _Spanning(_Named):
    """A stretch of time in a domain, which may begin and end on different threads."""

    def __init__(self, domain, name):
        super().__init__(name)
        self.domain = domain

    def start(self):
        """Begins it."""
        _recorder.add("b", self.domain, self.name, id=id(self))

    def stop(self):
        """Ends it."""
        _recorder.add("e", self.domain, self.name, id=id(self))


class Task(_Spanning):
    """A piece of work."""


class Frame(_Spanning):
    """One of many equal pieces of work, such as an image of a film."""


class Counter(_Named):
    """A number that changes over time."""

    def __init__(self, domain, name, value=None):
        super().__init__(name)
        self.domain = domain
        self._value = 0
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """Makes it `value`."""
        self._value = value
        _recorder.add("C", self.domain, self.name, args={self.name: value})

    def increment(self, delta=1):
        """Adds `delta`."""
        self.set_value(self._value + delta)

    def decrement(self, delta=1):
        """Takes `delta` away."""
        self.set_value(self._value - delta)

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
        _recorder.add("i", self.domain, self.name, s=_SCOPES[scope])
