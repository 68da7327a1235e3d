"""Faults of unread outputs and empty arrays."""

ROWS = [
]
