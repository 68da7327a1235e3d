"""Shapes without elements or axes, in both meanings of 0 (mx.np_shape)."""
import numpy as np
import pytest

import symbind as mx
from symbind import nd


@pytest.mark.parametrize("make", [nd.zeros, nd.ones])
@pytest.mark.parametrize("shape", [(), (0,), (5, 0), (0, 1, 3, 0)])
def test_zeros_and_ones_want_a_shape_in_full(make, shape):
    """0 means unknown where np_shape is off, as in MXNet."""
    with pytest.raises(mx.MXNetError, match="np_shape"):
        make(shape)
    with mx.np_shape():
        made = make(shape)
        assert made.shape == shape and made.asnumpy().shape == shape


def test_one_hot_of_depth_0():
    found = nd.one_hot(nd.array([1, 0], dtype="int32"), depth=0, dtype="int32").asnumpy()
    assert found.shape == (2, 0) and found.dtype == np.int32
    with pytest.raises(mx.MXNetError, match="depth"):
        nd.one_hot(nd.array([1]), depth=-1)


@pytest.mark.parametrize("name", ["max", "min"])
def test_no_elements_have_no_extremum(name):
    with mx.np_shape():
        empty = nd.zeros((5, 0))
        with pytest.raises(mx.MXNetError, match=r"\(5, 0\) has no elements"):
            getattr(empty, name)()
        assert getattr(nd.zeros((0, 3)), name)(axis=1).shape == (0,)
        assert float(empty.sum().asnumpy()) == 0


def test_dropout_of_everything():
    """p = 1 divides 0 by 0, as in MXNet; predicting, it is the identity."""
    x = nd.ones((3, 4))
    assert nd.Dropout(x, p=1).asnumpy().tolist() == x.asnumpy().tolist()
    with mx.autograd.train_mode():
        assert np.isnan(nd.Dropout(x, p=1).asnumpy()).all()
