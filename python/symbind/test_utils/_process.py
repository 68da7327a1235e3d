"""The process a test runs in: its default device, environment and error output; and retries."""
import contextlib
import functools
import io
import os
import platform
import sys

from .. import ndarray as nd
from ..context import Context, current_context, num_gpus
from ..util import setenv


def default_context():
    """The device tests run on: the current context."""
    return current_context()


def set_default_context(ctx):
    """Makes `ctx` the current context of this thread, outside of any `with` block."""
    Context.default_ctx = ctx


def list_gpus():
    """The numbers of the GPUs there are."""
    return range(num_gpus())


def is_cd_run():
    """Whether this is a run of MXNet's continuous delivery."""
    return os.environ.get("CD_JOB") == "1"


def is_aarch64_run():
    """Whether the processor is an aarch64."""
    return platform.machine() == "aarch64"


def _set_environment(variables):
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
        setenv(name, value)  # the library reads a snapshot, which this takes


@contextlib.contextmanager
def environment(*args):
    """Sets environment variables for the length of a `with` block, for Python and the library.

    Takes a name and a value, or a dict of them; None unsets. All operators end before the old
    values come back.
    """
    if len(args) == 1 and isinstance(args[0], dict):
        variables = args[0]
    else:
        assert len(args) == 2, 'Expecting one dict arg or two args: env var name and value'
        variables = {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in variables}
    _set_environment(variables)
    try:
        yield
    finally:
        nd.waitall()
        _set_environment(before)


@contextlib.contextmanager
def discard_stderr():
    """Silences the error output, the library's included, for the length of a `with` block."""
    descriptors = {2}
    with contextlib.suppress(AttributeError, io.UnsupportedOperation):
        descriptors.add(sys.stderr.fileno())  # elsewhere under a test runner, nowhere in a notebook
    saved = {descriptor: os.dup(descriptor) for descriptor in descriptors}
    try:
        with open(os.devnull, 'w') as nowhere:
            for descriptor in descriptors:
                os.dup2(nowhere.fileno(), descriptor)
        yield
    finally:
        for descriptor, copy in saved.items():
            os.dup2(copy, descriptor)
            os.close(copy)


def retry(n):
    """Decorates a test of chance: it fails when `n` runs have failed an assertion."""
    assert n > 0

    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            for left in reversed(range(n)):
                try:
                    return f(*args, **kwargs)
                except AssertionError:
                    if left == 0:
                        raise
                    nd.waitall()
        return wrapper
    return decorate
