"""Operators that MXNet has for sparse storage; here they are the dense ones."""
