"""symbind.test_utils prints, raises and draws what MXNet's does (tests/golden/python)."""
import json
import os
import re
import zipfile

import numpy as np
import pytest

import cases
import symbind as mx
from symbind import test_utils

NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")


def assert_same_text(found, expected):
    """Equal up to the last digits of the numbers: a kernel may round differently."""
    assert NUMBER.sub("#", found) == NUMBER.sub("#", expected)
    assert [float(x) for x in NUMBER.findall(found)] == pytest.approx(
        [float(x) for x in NUMBER.findall(expected)], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", cases.comparisons())
def test_comparison_is_mxnets(name):
    a, b, options = cases.comparisons()[name]
    assert cases.outcome(test_utils.assert_almost_equal, a, b, **options) == \
        cases.recorded("compare")[name]


@pytest.mark.parametrize("each", cases.draws(), ids=json.dumps)
def test_draw_is_mxnets(each):
    assert cases.draw(test_utils, *each) == cases.recorded("draws")[json.dumps(each)]


@pytest.mark.parametrize("name", cases.symbol_checks())
def test_symbol_check_is_mxnets(name):
    np.random.seed(3)
    found = cases.outcome(cases.symbol_checks()[name], mx)
    expected = cases.recorded("checks")[name]
    assert np.random.rand() == expected["next"]
    assert (found["error"] is None) == (expected["error"] is None), found["error"]
    assert_same_text(found["printed"], expected["printed"])
    if expected["error"]:
        assert found["error"][0] == expected["error"][0]
        assert_same_text(found["error"][1], expected["error"][1])


def test_comparison_does_not_change_the_print_options():
    before = np.get_printoptions()
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal(np.zeros(9), np.ones(9))
    assert np.get_printoptions() == before


def test_comparison_of_ndarrays():
    a, b = mx.nd.array([1, 2]), mx.nd.array([1, 2.5])
    test_utils.assert_almost_equal(a, a)
    test_utils.assert_almost_equal(a, [1, 2])
    test_utils.assert_almost_equal(a, np.array([1, 2.5]), rtol=0.5)
    for wrong in (b, b.asnumpy(), [1, 2.5]):
        with pytest.raises(AssertionError, match="Error"):
            test_utils.assert_almost_equal(a, wrong)
    with pytest.raises(AssertionError, match="not equal"):
        test_utils.assert_almost_equal(mx.nd.zeros((2, 3)), mx.nd.zeros((3,)))
    assert test_utils.almost_equal(a, b, rtol=1) and not test_utils.almost_equal(a, b)
    assert test_utils.same(a, np.array([1, 2])) and not test_utils.same(a, b)


def test_other_comparisons():
    a = np.array([np.nan, 1, 2, 3])
    test_utils.assert_almost_equal_ignore_nan(a, np.array([5, 1, 2, np.nan]))
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal_ignore_nan(a, np.array([5, 1, 9, np.nan]))
    test_utils.assert_almost_equal_with_err(np.arange(10.), np.arange(10.) * (np.arange(10) != 9),
                                            etol=0.1)
    with pytest.raises(AssertionError, match="mismatch 20"):
        test_utils.assert_almost_equal_with_err(np.arange(10.),
                                                np.arange(10.) * (np.arange(10) < 8), etol=0.1)
    test_utils.assert_allclose(a, a)
    test_utils.compare_ndarray_tuple((a[1:], (a[1:], None)), (a[1:], (a[1:], 0)))
    with pytest.raises(AssertionError):
        test_utils.compare_ndarray_tuple((a[1:], (a[1:],)), (a[1:], (a[1:] + 1,)))


def test_assert_exception():
    test_utils.assert_exception(lambda x: 1 / x, ZeroDivisionError, 0)
    with pytest.raises(AssertionError, match="did not raise"):
        test_utils.assert_exception(lambda x: 1 / x, ZeroDivisionError, 1)
    with pytest.raises(AssertionError):
        test_utils.assert_exception(lambda: None, AssertionError)


def test_same_array_tells_views_from_copies():
    a = mx.nd.zeros((4,))
    assert test_utils.same_array(a, a[:])
    assert test_utils.same_array(a.reshape((2, 2)), a.reshape((2, 2)))
    assert not test_utils.same_array(a, a.copy())
    assert a.asnumpy().tolist() == [0, 0, 0, 0]


def test_reductions():
    a = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(test_utils.np_reduce(a, (0, 2), True, np.sum),
                          a.sum((0, 2), keepdims=True))
    assert np.array_equal(test_utils.np_reduce(a, 1, False, np.max), a.max(1))
    assert test_utils.np_reduce(a, None, True, np.sum).tolist() == [[[276]]]
    assert np.array_equal(test_utils.collapse_sum_like(a, (3, 1)), a.sum((0, 2)).reshape(3, 1))


def test_arrays_by_rule():
    assert test_utils.create_2d_tensor(3, 2).asnumpy().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert test_utils.create_vector(3).dtype == np.int64
    assert test_utils.get_identity_mat_batch(2).asnumpy().tolist() == [[[1, 0], [0, 1]]] * 2
    assert test_utils.rand_ndarray((2, 3), dtype="float64").dtype == np.float64


def test_shapes_are_python_integers():
    shapes = (test_utils.rand_shape_nd(3), test_utils.rand_shape_2d(), test_utils.rand_shape_3d())
    assert all(type(size) is int for shape in shapes for size in shape)


def test_locations_that_do_not_fit():
    net = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=2, name="fc")
    with pytest.raises(ValueError, match=r"\['fc_bias', 'fc_weight', 'x'\].*\['x'\]"):
        test_utils.check_symbolic_forward(net, {"x": np.ones((1, 2))}, [np.ones((1, 2))])
    with pytest.raises((ValueError, KeyError)):
        test_utils.check_symbolic_backward(
            net, [np.ones((1, 2)), np.ones((2, 2)), np.ones(2)], [np.ones((1, 2))],
            {"x": np.ones((1, 2))}, grad_req="wirte")
    with pytest.raises(AssertionError, match="too small"):
        test_utils.check_numeric_gradient(net, [np.ones((1, 2)), np.ones((2, 2)), np.ones(2)],
                                          numeric_eps=1e-7)


def test_simple_forward_and_speed():
    x = mx.sym.Variable("x")
    assert test_utils.simple_forward(x * 2, x=np.array([1, 2])).tolist() == [2, 4]
    both = test_utils.simple_forward(mx.sym.Group([x * 2, x + 1]), x=np.array([1, 2]))
    assert [each.tolist() for each in both] == [[2, 4], [2, 3]]
    assert test_utils.check_speed(x * 2, x=(2, 3), N=2) > 0
    assert test_utils.check_speed(x * 2, location={"x": np.ones(3)}, typ="forward", N=2) > 0
    with pytest.raises(ValueError):
        test_utils.check_speed(x * 2, x=(2, 3), typ="backward")
    assert test_utils.same_symbol_structure(x * 2, mx.sym.Variable("y") * 3)
    assert not test_utils.same_symbol_structure(x * 2, x + 2)


def test_consistency_prints_without_raising():
    x = mx.sym.Variable("x")
    bindings = [{"ctx": mx.cpu(0), "x": (2,)}] * 2
    different = [mx.sym.Activation(x, act_type=kind, name="y") for kind in ("relu", "sigmoid")]
    found = cases.outcome(test_utils.check_consistency, different, bindings)
    assert found["error"][0] == "AssertionError"
    found = cases.outcome(test_utils.check_consistency, different, bindings, raise_on_err=False)
    assert found["error"] is None and "Predict Err: ctx 1 vs ctx 0" in found["printed"]


def test_generators():
    pytest.importorskip("scipy")
    np.random.seed(0)
    buckets, probs = test_utils.gen_buckets_probs_with_ppf(lambda p: 2 * p, 4)
    assert buckets == [(0, .5), (.5, 1), (1, 1.5), (1.5, 2)] and probs == [.25] * 4
    uniform = lambda n: np.random.uniform(0, 2, n)
    p, observed, expected = test_utils.chi_square_check(uniform, buckets, probs, nsamples=1000)
    assert observed.sum() == 1000 and expected.tolist() == [250] * 4
    from scipy import stats
    assert p == pytest.approx(stats.chisquare(observed, expected)[1])
    assert len(test_utils.verify_generator(uniform, buckets, probs, nsamples=1000)) == 5
    test_utils.verify_generator(lambda n: np.random.randint(0, 3, n), [0, 1, 2], [1 / 3] * 3,
                                nsamples=1000)
    with pytest.raises(AssertionError, match="Generator test fails"):
        test_utils.verify_generator(lambda n: np.random.uniform(0, 1.8, n), buckets, probs,
                                    nsamples=10000)
    assert test_utils.mean_check(uniform, 1, 3 ** -.5, 10000)
    assert not test_utils.mean_check(uniform, 1.2, 3 ** -.5, 10000)
    assert test_utils.var_check(uniform, 3 ** -.5, 10000)
    assert not test_utils.var_check(uniform, 1, 10000)


def test_generator_whose_samples_miss_the_buckets():
    """Half of the samples lie outside; scaling the expected counts would hide it."""
    pytest.importorskip("scipy")
    with pytest.raises(AssertionError):
        test_utils.verify_generator(lambda n: np.arange(n) % 4, [0, 1], [.5, .5], nsamples=1000)


def test_environment():
    os.environ.pop("SYMBIND_TEST_A", None)
    with test_utils.environment({"SYMBIND_TEST_A": "1", "SYMBIND_TEST_B": "2"}):
        assert os.environ["SYMBIND_TEST_A"] == mx.util.getenv("SYMBIND_TEST_A") == "1"
        with pytest.raises(KeyError):
            with test_utils.environment("SYMBIND_TEST_A", None):
                assert mx.util.getenv("SYMBIND_TEST_A") is None
                os.environ["SYMBIND_TEST_A"]
        assert mx.util.getenv("SYMBIND_TEST_A") == "1"
    assert mx.util.getenv("SYMBIND_TEST_A") is None and "SYMBIND_TEST_A" not in os.environ


def test_retry():
    runs = []

    @test_utils.retry(3)
    def third_time_lucky():
        runs.append(1)
        assert len(runs) == 3

    third_time_lucky()
    assert len(runs) == 3 and third_time_lucky.__name__ == "third_time_lucky"
    with pytest.raises(AssertionError):
        test_utils.retry(2)(lambda: test_utils.assert_almost_equal(np.ones(1), np.zeros(1)))()


def test_discard_stderr(capfd):
    with test_utils.discard_stderr():
        os.write(2, b"hidden")
    os.write(2, b"shown")
    assert capfd.readouterr().err == "shown"


def test_default_context():
    test_utils.set_default_context(mx.cpu(1))
    try:
        assert test_utils.default_context() == mx.cpu(1)
    finally:
        test_utils.set_default_context(mx.cpu(0))


def test_downloads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "source.txt"
    source.write_text("hello")
    address = source.as_uri()
    assert test_utils.download(address, dirname="a/b") == os.path.join("a/b", "source.txt")
    source.write_text("changed")
    path = test_utils.download(address, dirname="a/b")
    assert open(path).read() == "hello"
    assert open(test_utils.download(address, dirname="a/b", overwrite=True)).read() == "changed"
    with pytest.raises(OSError):
        test_utils.download((tmp_path / "none").as_uri(), fname="none2", retries=1)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("none2")]
    with zipfile.ZipFile("pack.zip", "w") as file:
        file.writestr("inner.txt", "inside")
    test_utils.get_zip_data("unpacked", (tmp_path / "pack.zip").as_uri(), "pack.zip")
    assert open("unpacked/inner.txt").read() == "inside"


def test_staged_data_needs_no_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.makedirs("data/cifar")
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                 "t10k-labels-idx1-ubyte", "cifar/train.rec", "cifar/test.rec", "cifar/train.lst",
                 "cifar/test.lst"):
        open(os.path.join("data", name), "w").close()
    test_utils.get_mnist_ubyte()
    test_utils.get_cifar10()
    assert test_utils.download_model("no such model") == (None, 0)


def test_im2rec_is_the_checkouts(tmp_path, monkeypatch):
    monkeypatch.delenv("MXNET_HOME", raising=False)
    with pytest.raises(IOError, match="tools/im2rec.py: MXNET_HOME is not set"):
        test_utils.get_im2rec_path()
    monkeypatch.setenv("MX_ROOT", str(tmp_path))
    with pytest.raises(IOError, match="is not there\n.*set MX_ROOT to a checkout"):
        test_utils.get_im2rec_path("MX_ROOT")
    tool = tmp_path / "tools" / "im2rec.py"
    tool.parent.mkdir()
    tool.write_text("")
    assert test_utils.get_im2rec_path("MX_ROOT") == str(tool)


def test_dummy_iter_repeats_its_batch():
    class Source:
        provide_data, provide_label, batch_size = ["d"], ["l"], 2

        def __next__(self):
            return object()

    dummy = test_utils.DummyIter(Source())
    first = next(dummy)
    assert dummy.next() is first and next(iter(dummy)) is first
    assert (dummy.provide_data, dummy.provide_label, dummy.batch_size) == (["d"], ["l"], 2)


def test_star_import_leaks_what_mxnets_tests_use():
    names = {}
    exec("from symbind.test_utils import *", names)
    for name in ("sys", "os", "logging", "rnd", "npt", "np", "mx", "array", "use_np"):
        assert name in names
    assert names["mx"] is mx and names["array"] is mx.nd.array
