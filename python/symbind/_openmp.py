"""Loads the extension so that waiting threads soon sleep.

OpenMP's threads wait for the next loop by spinning. libgomp's default is 300,000 rounds, several milliseconds: on a busy
machine they take the cores from threads that have work. LeNet's step with one busy process per core took 4.1 times as
long as without them; with 20,000 rounds 2.1 times, and no step became slower on an idle machine. libgomp reads the number
from the environment while it is loaded, and offers no call for it. A process that another thread starts during this import
inherits the variable.
"""
import importlib
import os

VARIABLE = "GOMP_SPINCOUNT"
ROUNDS = "20000"  # 0.2 to 1 ms: longer than the time between two loops of a step


def load(extension):
    """Imports the extension; the user's own choice of either variable counts."""
    if VARIABLE in os.environ or "OMP_WAIT_POLICY" in os.environ:
        return importlib.import_module(extension)
    os.environ[VARIABLE] = ROUNDS
    try:
        return importlib.import_module(extension)
    finally:
        del os.environ[VARIABLE]  # child processes choose for themselves
