"""Faults of symbol files: public operators, limits, what backward trusts."""

ROWS = [
]
