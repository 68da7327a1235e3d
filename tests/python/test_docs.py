"""The sessions of the manual's pages give what they show."""
import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page, sessions", [("python.md", 14), ("monitor.md", 20),
                                            ("optimizers.md", 7)])
def test_sessions(page, sessions):
    found = doctest.testfile(str(DOCS / page), module_relative=False)
    assert found.attempted >= sessions and found.failed == 0
