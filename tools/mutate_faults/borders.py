"""Faults of the borders of blocks and of threads' shares."""

ROWS = [
]
