"""A repeated call on arrays makes no text of its parameters."""
import numpy as np

import symbind as mx
from symbind import _core


def texts_of(call, times=5):
    call()
    before = _core._texts_made()
    for _ in range(times):
        call()
    return _core._texts_made() - before


def test_no_texts_in_a_repeated_call():
    x = mx.nd.array(np.arange(12, dtype="float32").reshape(3, 4))
    out, rows = mx.nd.zeros((3,)), mx.nd.zeros((3, 4))
    calls = [
        lambda: mx.nd.sum(x, axis=1, out=out),
        lambda: mx.nd.sum(x, 1, out=out),
        lambda: mx.nd.transpose(x, axes=(1, 0)),
        lambda: mx.nd.clip(x, a_min=0.5, a_max=2.0, out=rows),
        lambda: mx.nd.LeakyReLU(data=x, act_type="leaky", slope=0.1, out=rows),
        lambda: mx.nd.slice(x, begin=(None, 1), end=(2, None)),
        lambda: mx.nd.Cast(x, dtype="float64"),
        lambda: mx.nd.L2Normalization(x, mode="instance", eps=10**-10, out=rows),
    ]
    for number, call in enumerate(calls):
        assert texts_of(call) == 0, number
    # Objects of other types are known by their text alone.
    assert texts_of(lambda: mx.nd.Cast(x, dtype=np.float64)) > 0


def test_calls_with_different_values_are_different():
    x = mx.nd.array([[-4.0, 1.0], [2.0, 8.0]])

    def leaky(slope):
        return mx.nd.LeakyReLU(x, act_type="leaky", slope=slope).asnumpy()[0, 0]

    assert [leaky(s) for s in (0.5, 1, 0.25, "0.125", 2**70 * 1.0)] == [
        -2, -4, -1, -0.5, -4.0 * np.float32(2**70)]
    shapes = [mx.nd.transpose(mx.nd.zeros((2, 3, 4)), axes=axes).shape
              for axes in ((0, 1, 2), (2, 1, 0), [1, 0, 2], "(1, 2, 0)")]
    assert shapes == [(2, 3, 4), (4, 3, 2), (3, 2, 4), (3, 4, 2)]
    # True and 1, 0.0 and -0.0, 1 and 1.0 are different values of one parameter.
    kept = [mx.nd.sum(x, axis=0, keepdims=k).shape for k in (True, False, 1, 0)]
    assert kept == [(1, 2), (2,), (1, 2), (2,)]
    assert np.signbit((x * 0).asnumpy()[0, 0])
    assert np.isneginf(mx.nd._internal._rdiv_scalar(mx.nd._internal._mul_scalar(mx.nd.ones(1), scalar=-0.0),
                                          scalar=1.0).asnumpy()[0])
    assert np.isposinf(mx.nd._internal._rdiv_scalar(mx.nd._internal._mul_scalar(mx.nd.ones(1), scalar=0.0),
                                          scalar=1.0).asnumpy()[0])


def test_which_inputs_there_are_follows_the_parameters_of_each_call():
    x = mx.nd.array([[-4.0, 8.0]])
    gamma = mx.nd.array([0.5, 0.5])
    for _ in range(2):
        prelu = mx.nd.LeakyReLU(data=x, gamma=gamma, act_type="prelu")
        leaky = mx.nd.LeakyReLU(data=x, act_type="leaky", slope=0.25)
        assert prelu.asnumpy().tolist() == [[-2, 8]]
        assert leaky.asnumpy().tolist() == [[-1, 8]]
    w, b = mx.nd.ones((1, 2)), mx.nd.array([3.0])
    for _ in range(2):
        with_bias = mx.nd.FullyConnected(bias=b, weight=w, data=x, num_hidden=1)
        without = mx.nd.FullyConnected(weight=w, data=x, num_hidden=1, no_bias=True)
        assert (with_bias.asscalar(), without.asscalar()) == (7, 4)


class Clears:
    """Its text is 1; making it empties a list."""

    def __init__(self, target):
        self.target = target

    def __str__(self):
        self.target.clear()
        return "1"


def test_a_list_that_changes_while_it_is_read():
    x = mx.nd.zeros((2, 3, 4))
    axes = []
    axes += [Clears(axes), 0, 2]
    try:
        mx.nd.transpose(x, axes=axes)
    except mx.MXNetError:
        pass  # what is left of the list is no permutation
    assert mx.nd.transpose(x, axes=(1, 0, 2)).shape == (3, 2, 4)


def test_an_object_whose_text_changes_serves_its_own_call_only():
    x = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])

    class Axis:
        """0 and 1 in turn."""
        asked = -1

        def __str__(self):
            self.asked += 1
            return str(self.asked % 2)

    axis = Axis()
    assert mx.nd.sum(x, axis=axis).asnumpy().tolist() == [4, 6]
    assert mx.nd.sum(x, axis=axis).asnumpy().tolist() == [3, 7]
    assert mx.nd.sum(x, axis=[0]).asnumpy().tolist() == [4, 6]
    axes = [0]
    assert mx.nd.sum(x, axis=axes).asnumpy().tolist() == [4, 6]
    axes[0] = 1
    assert mx.nd.sum(x, axis=axes).asnumpy().tolist() == [3, 7]
