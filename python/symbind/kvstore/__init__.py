"""Stores that sum the arrays that several devices push."""
from . import _job, base, kvstore
from .base import KVStoreBase, TestStore, create
from .kvstore import KVStore

__all__ = ["KVStore", "KVStoreBase", "TestStore", "create"]
