"""Faults of the Python bindings and the process: settings, forks, paths."""

ROWS = [
]
