"""Symbind: the file that MXNet runs, with Symbind under MXNet's name; and its profile."""
import json

import symbind.as_mxnet  # noqa: F401  from here on `mxnet` is Symbind
from symbind import libinfo, profiler

from compare_lib.engines import mxnet_like
from compare_lib.engines.mxnet_like import MODES  # noqa: F401


def version():
    return libinfo.__version__


def profile(job, steps):
    """All nodes, as [[name, operator, least of its milliseconds, kernel]], and this machine's peak."""
    job.run(2)
    profiler.dumps(reset=True)
    profiler.set_config(profile_symbolic=True)
    profiler.set_state("run")
    job.run(steps)
    profiler.set_state("stop")
    found = json.loads(profiler.dumps(format="json", reset=True))
    return {"nodes": [[n["Name"], n["Operator"], n["Min"], n["Kernel"]] for n in found.get("Node", [])],
            "peak": found.get("Peak")}


def build(problem, mode, threads):
    options = {} if problem["dtype"] != "bfloat16" else {"compute_dtype": "bfloat16"}
    job = mxnet_like.build(problem, mode, threads, **options)
    job.profile = lambda steps: profile(job, steps)
    return job
