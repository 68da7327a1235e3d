"""The sessions of the documents give what they show."""
import doctest
import pathlib

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "python.md"


def test_sessions():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted >= 14 and found.failed == 0


def test_the_session_of_optimizers():
    found = doctest.testfile(str(DOCS / "optimizers.md"), module_relative=False)
    assert found.attempted >= 7 and found.failed == 0
