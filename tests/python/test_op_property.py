"""Every operator with a NumPy reference, with random attributes and inputs, in float64."""
import zlib

import numpy as np
import pytest
from op_references import GRADIENTS, ROWS, Draw

import symbind as mx
from symbind import _core
from symbind.test_utils import check_numeric_gradient

NAMES = sorted(ROWS)


def check_forward(name, seed):
    inputs, attrs, expected = ROWS[name](Draw(seed))
    arrays = [mx.nd.array(x, dtype=x.dtype) for x in inputs]
    outputs = _core.ArrayFunction(name)(*arrays, **attrs)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    where = f"{name} {attrs} of {[x.shape for x in inputs]}, seed {seed}"
    assert len(outputs) == len(expected), where
    for output, value in zip(outputs, expected):
        assert output.shape == value.shape, where
        np.testing.assert_allclose(output.asnumpy().astype(float), value, rtol=1e-10, atol=1e-13,
                                   err_msg=where)


def seeds(name, count):
    """Other numbers for every operator, the same ones in every run."""
    first = zlib.crc32(name.encode())
    return range(first, first + count)


@pytest.mark.parametrize("name", NAMES)
def test_forward(name):
    for seed in seeds(name, 5):
        check_forward(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_forward_of_two_hundred(name):
    for seed in seeds(name, 200):
        check_forward(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradient(name):
    """Central differences of 1e-5 in float64 leave about ten digits of the truth."""
    for seed in seeds(name, 5):
        np.random.seed(seed % 2 ** 32)
        inputs, attrs, _ = ROWS[name](Draw(seed))
        variables = [mx.sym.Variable(f"x{i}") for i in range(len(inputs))]
        symbol = _core.SymbolFunction(name)(*variables, name="op", **attrs)
        by = GRADIENTS[name]
        grad_nodes = [f"x{i}" for i in (range(len(inputs)) if by is None else by)]
        check_numeric_gradient(symbol, inputs, numeric_eps=1e-5, rtol=1e-5, atol=1e-7,
                               grad_nodes=grad_nodes, dtype=np.float64)
