"""Autograd computes what MXNet 1.9.1's computed (tools/oracle/record_autograd.py)."""
import numpy as np
import pytest

import autograd_cases as programs
import symbind as mx
from cases import recorded

RECORDED = recorded("autograd")
NUMBERS = [p for p in programs.PROGRAMS if p is not programs.refusals]


@pytest.mark.parametrize("program", NUMBERS, ids=lambda p: p.__name__)
def test_program(program):
    found, wanted = program(mx), RECORDED[program.__name__]
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        if not (isinstance(value, dict) and "values" in value):
            assert found[name] == value, name
            continue
        right = np.array(value["values"]).reshape(value["shape"])
        assert found[name].shape == right.shape, name
        assert str(found[name].dtype) == value["dtype"], name
        off = np.abs(found[name].astype("float64") - right).max()
        assert off <= 1e-5 * max(1e-3, np.abs(right).max()), (name, off)


def test_refusals_say_what_mxnets_say():
    found, wanted = programs.refusals(mx), RECORDED["refusals"]
    assert set(found) == set(wanted)
    for what, text in wanted.items():
        if text.startswith("Assigning to NDArrays that are already in a computational graph"):
            text = wanted["write into a part"]  # MXNet has two sentences for one mistake
        assert text.rstrip(".") in found[what], (what, found[what])
