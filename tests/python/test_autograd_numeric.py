"""Gradients of the tape against differences in float64, first and second ones."""
import numpy as np
import pytest

from symbind import autograd, nd
from test_autograd import rand, variable


def numeric_gradient(function, values, head, step=1e-5):
    """d sum(function(values) * head) / d values, by differences in float64."""
    result = np.zeros(values.shape)
    for at in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[at] += sign * step
            ends.append((function(nd.array(moved, dtype="float64")).asnumpy() * head).sum())
        result[at] = (ends[0] - ends[1]) / (2 * step)
    return result


def constant(*shape, seed=5):
    return nd.array(rand(*shape, seed=seed), dtype="float64")


FUNCTIONS = {
    "Convolution": ((2, 3, 5, 5), lambda x: nd.Convolution(
        x, constant(4, 3, 3, 3), constant(4), kernel=(3, 3), num_filter=4, pad=(1, 1))),
    "Deconvolution": ((1, 2, 3, 3), lambda x: nd.Deconvolution(
        x, constant(2, 3, 2, 2), kernel=(2, 2), num_filter=3, stride=(2, 2), no_bias=True)),
    "max pooling": ((1, 2, 6, 6), lambda x: nd.Pooling(x, kernel=(3, 3), stride=(2, 2))),
    "average pooling": ((1, 2, 6, 6), lambda x: nd.Pooling(
        x, kernel=(2, 2), stride=(2, 2), pool_type="avg")),
    "global pooling": ((1, 2, 4, 4), lambda x: nd.Pooling(x, global_pool=True, pool_type="avg")),
    "LayerNorm": ((3, 6), lambda x: nd.LayerNorm(x, constant(6), constant(6))),
    "InstanceNorm": ((2, 3, 4), lambda x: nd.InstanceNorm(x, constant(3), constant(3))),
    "L2Normalization": ((3, 4), nd.L2Normalization),
    "LRN": ((1, 4, 3, 3), lambda x: nd.LRN(x, nsize=3)),
    "LeakyReLU": ((3, 4), lambda x: nd.LeakyReLU(x, act_type="elu")),
    "prelu": ((3, 4), lambda x: nd.LeakyReLU(x, constant(4), act_type="prelu")),
    "softmax": ((3, 4), lambda x: nd.softmax(x, axis=0)),
    "log_softmax": ((3, 4), nd.log_softmax),
    "smooth_l1": ((3, 4), lambda x: nd.smooth_l1(x, scalar=2)),
    "batch_dot": ((2, 3, 4), lambda x: nd.batch_dot(x, constant(2, 4, 3))),
    "dot": ((3, 4), lambda x: nd.dot(x, x, transpose_b=True)),
    "norm": ((3, 4), lambda x: nd.norm(x, axis=1)),
    "prod": ((3, 4), lambda x: nd.prod(x, axis=1)),
    "max": ((3, 4), lambda x: nd.max(x, axis=0)),
    "sort": ((3, 4), nd.sort),
    "topk value": ((3, 4), lambda x: nd.topk(x, k=2, ret_typ="value")),
    "topk both": ((3, 4), lambda x: nd.topk(x, k=2, ret_typ="both")[0]),
    "gather_nd": ((3, 4), lambda x: nd.gather_nd(x, nd.array([[0, 2, 2], [1, 3, 3]]))),
    "pick": ((3, 4), lambda x: nd.pick(x, nd.array([0, 3, 1]))),
    "SequenceMask": ((4, 2, 3), lambda x: nd.SequenceMask(
        x, nd.array([2, 4]), use_sequence_length=True)),
    "SequenceLast": ((4, 2, 3), nd.SequenceLast),
    "SequenceReverse": ((4, 2, 3), nd.SequenceReverse),
    "Pad": ((1, 2, 3, 3), lambda x: nd.Pad(
        x, mode="reflect", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))),
    "UpSampling": ((1, 2, 3, 3), lambda x: nd.UpSampling(x, scale=2, sample_type="nearest")),
    "tile": ((2, 3), lambda x: nd.tile(x, reps=(2, 2))),
    "repeat": ((2, 3), lambda x: nd.repeat(x, repeats=3, axis=1)),
    "transpose": ((2, 3, 4), lambda x: nd.transpose(x, axes=(1, 2, 0))),
    "swapaxes": ((2, 3, 4), lambda x: nd.swapaxes(x, 0, 2)),
    "flip": ((2, 3), lambda x: nd.flip(x, axis=1)),
    "broadcast_to": ((1, 3), lambda x: nd.broadcast_to(x, shape=(4, 3))),
    "concat": ((2, 3), lambda x: nd.concat(x, x * 2, dim=0)),
    "stack": ((2, 3), lambda x: nd.stack(x, x * x, axis=1)),
    "split": ((2, 6), lambda x: nd.split(x, num_outputs=3, axis=1)[1]),
    "where": ((2, 3), lambda x: nd.where(x > 0, x * 2, x * x)),
    "clip": ((2, 3), lambda x: nd.clip(x, -0.5, 0.5)),
    "gamma": ((2, 3), lambda x: nd.gammaln(x + 3)),
    "RNN": ((3, 2, 4), lambda x: nd.RNN(
        x, constant(4 * 3 * 5 + 5 * 3 * 5 + 30), nd.zeros((1, 2, 5), dtype="float64"), state_size=5,
        num_layers=1, mode="gru")),
    "linalg_gemm2": ((3, 4), lambda x: nd.linalg.gemm2(x, x, transpose_b=True)),
    "linalg_potrf": ((3, 3), lambda x: nd.linalg.potrf(
        nd.linalg.gemm2(x, x, transpose_b=True) + 3 * nd.eye(3, dtype="float64"))),
    "view, scaled": ((4, 3), lambda x: x.reshape((2, 6))[1].reshape((3, 2)).T * 2),
    "steps": ((5, 4), lambda x: x[::-2, 1::2]),
    "advanced": ((5, 4), lambda x: x[[0, 2, 2], [1, 1, 3]]),
    "last": ((5, 4), lambda x: x[-1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numeric_gradient(name):
    shape, function = FUNCTIONS[name]
    values = rand(*shape)
    x = variable(values)
    with autograd.record():
        y = function(x)
    head = rand(*y.shape, seed=7)
    y.backward(nd.array(head, dtype="float64"))
    wanted = numeric_gradient(function, values, head)
    assert np.abs(wanted).max() > 0
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-7)


def test_batch_norm_training():
    """Differences see the batch's own statistics; the moving ones follow in backward."""
    gamma, beta = constant(3), constant(3)

    def function(x):
        with autograd.train_mode():
            return nd.BatchNorm(x, gamma, beta, nd.zeros(3, dtype="float64"),
                                nd.ones(3, dtype="float64"), fix_gamma=False, eps=1e-3)

    values, head = rand(4, 3, 2), rand(4, 3, 2, seed=7)
    x, mean, var = variable(values), nd.zeros(3, dtype="float64"), nd.ones(3, dtype="float64")
    with autograd.record():
        y = nd.BatchNorm(x, gamma, beta, mean, var, fix_gamma=False, eps=1e-3, momentum=0.75)
    y.backward(nd.array(head, dtype="float64"))
    np.testing.assert_allclose(x.grad.asnumpy(), numeric_gradient(function, values, head),
                               rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(mean.asnumpy(), 0.25 * values.mean((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(var.asnumpy(), 0.75 + 0.25 * values.var((0, 2)), rtol=1e-6)


# Where the second derivative exists: a function of numbers in (0.1, 0.9), moved there by the test.
SECOND = {name: getattr(nd, name) for name in (
    "sigmoid tanh exp sqrt cbrt tan relu log log2 log10 log1p expm1 rsqrt reciprocal sin cos arcsin "
    "arccos arctan sinh cosh arcsinh arctanh erf square abs").split()}
SECOND.update({
    "arccosh": lambda x: nd.arccosh(x + 1), "power": lambda x: x ** 2.5, "inverse": lambda x: 3 / x,
    "exponent": lambda x: 2 ** x, "product": lambda x: x * nd.sin(x) * 2 - x,
    "elementwise": lambda x: nd.elemwise_mul(x, x) + nd.elemwise_sub(nd.exp(x), x),
})


@pytest.mark.parametrize("name", SECOND)
def test_second_gradient(name):
    """d sum(h * f'(x)) / dx by differences of the first gradient."""
    function, values, head = SECOND[name], (rand(6) + 1.25) * 0.4, rand(6, seed=9)

    def first(x):
        x = x.copy()
        x.attach_grad()
        with autograd.record():
            y = function(x)
        y.backward()
        return x.grad

    x = variable(values)
    with autograd.record():
        dx, = autograd.grad(function(x), [x], create_graph=True)
        total = dx * nd.array(head, dtype="float64")
    total.backward()
    np.testing.assert_allclose(dx.asnumpy(), first(nd.array(values, dtype="float64")).asnumpy())
    np.testing.assert_allclose(x.grad.asnumpy(), numeric_gradient(first, values, head), rtol=1e-5,
                               atol=1e-7)


def test_second_gradient_of_what_was_stretched():
    """sum over rows of x c^2, differentiated twice by c: an axis was added to c and summed away."""
    x, c = nd.array(rand(3, 4), dtype="float64"), variable(rand(4, seed=1))
    with autograd.record():
        dc, = autograd.grad(x * c * c, [c], create_graph=True)
        total = dc * dc
    total.backward()
    sums = x.asnumpy().sum(axis=0)
    np.testing.assert_allclose(c.grad.asnumpy(), 8 * sums ** 2 * c.asnumpy())


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("read, wanted", [
    (lambda x: x[[2, 0, 2]], [[1, 1], [0, 0], [2, 2]]),
    (lambda x: nd.pick(x, nd.array([1, 0, 1])), [[0, 1], [1, 0], [0, 1]]),
    (lambda x: nd.where(x > 2, x * 3, x), [[1, 1], [1, 3], [3, 3]]),
    (lambda x: nd.topk(x, k=1, ret_typ="value"), [[0, 1], [0, 1], [0, 1]]),
    (lambda x: nd.Embedding(nd.array([1, 1]), x, 3, 2), [[0, 0], [2, 2], [0, 0]])])
def test_integers(dtype, read, wanted):
    x = variable([[0, 1], [2, 3], [4, 5]], dtype=dtype)
    with autograd.record():
        y = read(x)
    y.backward()
    assert x.grad.dtype == np.dtype(dtype) and x.grad.asnumpy().tolist() == wanted
