"""Monitors are shown MXNet's names: recorded by tools/oracle/monitor_names.py, replayed here."""
import importlib.util
import json
import os

import pytest

import symbind as mx

ORACLE = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "oracle", "monitor_names.py")
spec = importlib.util.spec_from_file_location("monitor_names", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

with open(oracle.TARGET) as file:
    RECORDED = json.load(file)
CASES = oracle.first_cases()


def test_most_operators_are_recorded():
    assert len(RECORDED) >= 150


@pytest.mark.parametrize("op", sorted(RECORDED))
def test_names(op):
    shown, recorded = oracle.names_shown(mx, CASES[op]), RECORDED[op]
    # Hidden outputs that nothing reads are not computed here, so they are not shown.
    assert shown == recorded[:len(shown)]
    assert not any(name.startswith(("in_", "node_output")) for name in recorded[len(shown):]
                   if name != "node_output1")
