"""Faults of numbers that must equal MXNet's."""

ROWS = [
]
