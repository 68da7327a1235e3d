"""Faults of checked arithmetic and conversions of numbers to indices."""

ROWS = [
]
