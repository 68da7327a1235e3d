"""A program of a test in an interpreter that may crash."""
import os
import subprocess
import sys

import symbind as mx


def run(program, **environment):
    path = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(mx.__file__))])
    return subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], text=True, capture_output=True,
                          timeout=300,
                          env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment})
