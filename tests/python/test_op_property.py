"""Every operator with a NumPy reference, with random attributes and inputs, in float64."""
import fnmatch
import zlib

import numpy as np
import pytest
from op_references import FUSED_ROWS, GRADIENTS, ROWS, SMOOTH_ROWS, WITHOUT, Draw

import symbind as mx
from symbind import _core
from symbind.test_utils import check_numeric_gradient

NAMES = sorted(ROWS)


# (relative, absolute) for what is float64 or exact; float32 and float16 have their own digits.
TOLERANCE = {"float32": (2e-6, 1e-6), "float16": (2e-3, 1e-3)}


def array(x):
    return mx.nd.array(x, dtype=x.dtype)


def check_close(given, value, where):
    assert given.shape == value.shape, where
    rtol, atol = TOLERANCE.get(value.dtype.name, (1e-10, 1e-13))
    np.testing.assert_allclose(given.asnumpy().astype(float), value.astype(float), rtol=rtol,
                               atol=atol, err_msg=where)


def check_forward(name, seed):
    inputs, attrs, expected, *written = ROWS[name](Draw(seed))
    arrays = [array(x) for x in inputs]
    given = {k: array(v) if isinstance(v, np.ndarray) else v for k, v in attrs.items()}
    outputs = _core.ArrayFunction(name)(*arrays, **given)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    where = f"{name} {attrs} of {[x.shape for x in inputs]}, seed {seed}"
    assert len(outputs) == len(expected), where
    for output, value in zip(outputs, expected):
        check_close(output, value, where)
    for position, value in (written[0] if written else {}).items():
        check_close(arrays[position], value, f"input {position} after {where}")


def without_row(name):
    return [why for why, patterns in WITHOUT.items()
            if any(fnmatch.fnmatchcase(name, p) for p in patterns.split())]


def test_every_operator_has_a_row_or_a_reason():
    infos = [_core.op_info(name) for name in _core.list_ops()]
    names = {info["name"] for info in infos}
    have = {_core.op_info(name)["name"] for name in ROWS}
    assert sorted(n for n in names - have if not without_row(n)) == []
    assert sorted(n for n in have if without_row(n)) == []


def seeds(name, count):
    """Other numbers for every operator, the same ones in every run."""
    first = zlib.crc32(name.encode())
    return range(first, first + count)


@pytest.mark.parametrize("name", NAMES)
def test_forward(name):
    for seed in seeds(name, 5):
        check_forward(name, seed)


def check_fused(name, seed):
    row, graph = FUSED_ROWS[name]
    inputs, attrs, (expected,) = row(Draw(seed))
    variables = [mx.sym.Variable(f"x{i}") for i in range(len(inputs))]
    symbol = graph(mx.sym, variables, attrs)
    arrays = {f"x{i}": array(x.astype(np.float32)) for i, x in enumerate(inputs)}
    executor = symbol.bind(mx.cpu(), {n: arrays[n] for n in symbol.list_arguments()},
                           aux_states={n: arrays[n] for n in symbol.list_auxiliary_states()})
    assert name in executor.plan_text()
    check_close(executor.forward()[0], expected.astype(np.float32), f"{name} {attrs}, seed {seed}")


@pytest.mark.parametrize("name", sorted(FUSED_ROWS))
def test_forward_of_what_passes_fuse(name):
    for seed in seeds(name, 5):
        check_fused(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FUSED_ROWS))
def test_forward_of_two_hundred_that_passes_fuse(name):
    for seed in seeds(name, 200):
        check_fused(name, seed)


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
        inputs, attrs, *_ = SMOOTH_ROWS.get(name, ROWS[name])(Draw(seed))
        variables = [mx.sym.Variable(f"x{i}") for i in range(len(inputs))]
        symbol = _core.SymbolFunction(name)(*variables, name="op", **attrs)
        if len(symbol) > 1:
            symbol = mx.sym.concat(*[output.reshape((-1,)) for output in symbol], dim=0)
        by = GRADIENTS[name]
        grad_nodes = [f"x{i}" for i in (range(len(inputs)) if by is None else by)]
        check_numeric_gradient(symbol, inputs, numeric_eps=1e-5, rtol=1e-5, atol=1e-7,
                               grad_nodes=grad_nodes, dtype=np.float64)
