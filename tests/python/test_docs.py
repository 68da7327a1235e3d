"""The sessions of docs/python.md give what they show."""
import doctest
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_sessions():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted >= 14 and found.failed == 0
