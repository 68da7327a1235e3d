"""Faults of checkpoints and files from strangers."""

ROWS = [
]
