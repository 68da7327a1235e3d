"""Operators for the library itself: names that begin with an underscore."""
