"""The faults of tools/mutate: a file, a text in it, what stands there instead, the tests to run.

Tests are words `folder:filter`: a gtest filter of the program tests_<folder>, tried in order.
"""
import collections

from . import engine, operators, training, users

Fault = collections.namedtuple("Fault", "name file old new tests")

# The engine's last: most files read what its faults are in.
FAULTS = [Fault(*row) for part in (operators, training, users, engine) for row in part.ROWS]
