"""The sessions of the manual's pages give what they show."""
import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page, sessions", [
    ("python.md", 14), ("monitor.md", 20), ("optimizers.md", 7), ("data.md", 15),
    ("from_mxnet.md", 50), ("checkpoints.md", 20), ("devices.md", 15), ("bucketing.md", 12),
    ("questions.md", 35)])
def test_sessions(page, sessions):
    found = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted >= sessions and found.failed == 0
