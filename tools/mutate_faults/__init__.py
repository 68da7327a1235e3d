"""The faults of tools/mutate: a file, a text in it, its replacement, the tests to run.

Tests are words `folder:filter`, tried in order: a gtest filter of the program tests_<folder>, or
`python:test_file.py::word`, where pytest runs those tests of tests/python/test_file.py whose names
contain the word (no spaces; it may be missing).
"""
import collections

from . import (arithmetic, bindings, borders, checkpoints, dist, engine, graphs, launch, numbers,
               operators, outputs, runs, shares, training, users)

Fault = collections.namedtuple("Fault", "name file old new tests part")

# The engine's faults come last: most files depend on the changed ones.
PARTS = (operators, training, users, runs, graphs, checkpoints, outputs, arithmetic, borders, shares,
         bindings, launch, dist, numbers, engine)
FAULTS = [Fault(*row, part.__name__.rsplit('.', 1)[-1]) for part in PARTS for row in part.ROWS]
