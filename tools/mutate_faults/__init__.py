"""The faults of tools/mutate: a file, a text in it, what stands there instead, the tests to run.

Tests are words `folder:filter`, tried in order: a gtest filter of the program tests_<folder>, or
`python:test_file.py::words`, where pytest runs those tests of tests/python/test_file.py whose names
hold the words (no spaces: one word, or none).
"""
import collections

from . import (arithmetic, bindings, borders, checkpoints, engine, graphs, numbers, operators,
               outputs, shares, training, users)

Fault = collections.namedtuple("Fault", "name file old new tests part")

# The engine's last: most files read what its faults are in.
PARTS = (operators, training, users, graphs, checkpoints, outputs, arithmetic, borders, shares,
         bindings, numbers, engine)
FAULTS = [Fault(*row, part.__name__.rsplit('.', 1)[-1]) for part in PARTS for row in part.ROWS]
