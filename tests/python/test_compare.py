"""benchmarks/compare without peers: the models run, the arithmetic is right, a missing peer is reported."""
import json
import math
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import symbind as mx
import symbind.as_mxnet  # noqa: F401  the models import mxnet

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from compare_lib import arithmetic, measure, models, problem, report, rows, symbol_json  # noqa: E402
from compare_lib.lstm_weights import lstm_weights  # noqa: E402

MODELS = models.all_models()
# The outputs' shapes for a batch of 1, from the papers: classes, embeddings, 8,732 anchors of SSD-300, ...
OUTPUTS = {
    "mlp": [(1, 10)], "lenet": [(1, 10)], "add_chain": [(1,)], "resnet50": [(1, 1000)], "resnet50_v2": [(1, 1000)],
    "se_resnet50": [(1, 1000)], "resnet50_fp16": [(1, 1000)], "inception_v3": [(1, 1000)], "mobilenet_v2": [(1, 1000)],
    "arcface_r50": [(1, 512)], "arcface_training": [(1, 1000)], "mobilefacenet": [(1, 128)],
    "mtcnn_rnet": [(1, 2), (1, 4)], "mtcnn_onet": [(1, 2), (1, 4), (1, 10)],
    "mtcnn_pnet_288x384": [(1, 2, 139, 187), (1, 4, 139, 187)], "ssd_vgg_heads": [(1, 21, 8732), (1, 4 * 8732)],
    "ssd_vgg": [(1, 8732, 6)], "edsr": [(1, 3, 192, 192)], "edsr_training": [(1, 3, 96, 96)], "deepak8": [(1, 17)],
    "particlenet": [(1, 5)], "lstm_language_model": [(35, 10000)], "sockeye_rnn": [(20, 10000)],
    "lstm_bucket_10": [(10, 10000)],
}
# Millions of parameters, from the papers and model zoos.
PARAMETERS = {"resnet50": 25.6, "mobilenet_v2": 3.5, "inception_v3": 23.8, "se_resnet50": 28.1, "arcface_r50": 43.6,
              "mobilefacenet": 1.0, "edsr": 1.37}


def shapes_of(made):
    return {name: values.shape for name, values in problem.all_values(made).items()}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_model_builds_and_infers_its_shapes(name):
    with mx.name.NameManager():
        made = MODELS[name](1)
    arguments, outputs, _ = made.symbol.infer_shape(**shapes_of(made))
    if name in OUTPUTS:
        assert outputs == OUTPUTS[name]
    if name in PARAMETERS:
        given = problem.all_values(made)
        total = sum(math.prod(s) for n, s in zip(made.symbol.list_arguments(), arguments) if n not in given)
        assert total / 1e6 == pytest.approx(PARAMETERS[name], rel=0.03)


# In float16 a convolution may run in a reference loop, which takes minutes; the others contain models that run.
@pytest.mark.parametrize("name", sorted(OUTPUTS.keys() - {"resnet50_fp16", "arcface_training", "ssd_vgg_heads"}))
def test_a_model_runs(name):
    with mx.name.NameManager():
        made = MODELS[name](1)
    executor = made.symbol.simple_bind(mx.cpu(), grad_req="null", **shapes_of(made))
    for i, (argument, values) in enumerate(problem.all_values(made).items()):
        executor.arg_dict[argument][:] = problem.random_values(values, i)
    for key, array in problem.random_weights(made, {}).items():
        (executor.arg_dict if key.startswith("arg:") else executor.aux_dict)[key[4:]][:] = array
    for output, shape in zip(executor.forward(is_train=False), OUTPUTS[name]):
        value = output.asnumpy()
        assert value.shape == shape and np.isfinite(value).all()


def test_a_problem_has_what_the_twins_need(tmp_path):
    problem.write(str(tmp_path), (("lenet", 3),), train=True)
    graph = symbol_json.Graph(str(tmp_path / "part0.json"))
    by_name = {node.name: node for node in graph.nodes}
    assert by_name["conv1"].shapes == [(3, 20, 24, 24)] and by_name["fc2"].shapes == [(3, 10)]
    loss = by_name["softmax"]
    assert graph.label_path(loss.id)[0] == "softmax_label" and "softmax_label" not in by_name
    data = np.load(tmp_path / "part0.npz")
    assert data["data"].shape == (3, 1, 28, 28) and set(data["softmax_label"]) <= set(range(10))
    assert np.load(tmp_path / "weights.npz")["arg:conv2_weight"].shape == (50, 20, 5, 5)


def test_packed_weights_of_an_lstm():
    """An LSTM in NumPy with the unpacked weights gives what the operator gives."""
    length, inputs, state = 3, 2, 4
    count = 4 * state * (inputs + state + 2) + 4 * state * (2 * state + 2)
    random = np.random.RandomState(0)
    packed, x = random.uniform(-1, 1, count).astype("float32"), random.randn(length, 1, inputs).astype("float32")
    zeros = mx.nd.zeros((2, 1, state))
    expected = mx.nd.RNN(mx.nd.array(x), mx.nd.array(packed), zeros, zeros, state_size=state, num_layers=2, mode="lstm")

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    for w, r, wb, rb in lstm_weights(packed, inputs, state, 2, 1):
        h = c = np.zeros(state)
        rows_out = []
        for row in x[:, 0]:
            i, f, g, o = np.split(w @ row + wb + r @ h + rb, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            rows_out.append(h)
        x = np.stack(rows_out)[:, None]
    np.testing.assert_allclose(expected.asnumpy(), x, rtol=1e-5, atol=1e-6)


def test_ratios_and_means():
    assert arithmetic.quartile([4, 1, 3, 2, 5], 0.25) == 2
    assert arithmetic.quartile([1, 2], 0.25) == 1.25
    found = arithmetic.ratios([2, 6, 3, 8, 5], [1, 2, 3, 4, 5])  # 2, 3, 1, 2, 1
    assert found == {"ratio": 2, "worst_quartile": 1}
    assert arithmetic.geometric_mean([1, 4]) == pytest.approx(2)


def test_differences():
    reference = [np.array([0.0, 2.0])]
    assert arithmetic.difference_of_arrays([np.array([0.0, 1.5])], reference) == 0.25
    assert arithmetic.difference_of_arrays([np.array([0.0, np.nan])], reference) == math.inf
    assert arithmetic.difference_of_arrays([np.array([0.0])], reference) == math.inf
    assert arithmetic.difference_of_losses([1.0, 2.2], [1.0, 2.0]) == pytest.approx(0.1)
    assert arithmetic.difference_of_losses([1.0], [1.0, 2.0]) == math.inf


def test_a_result_that_differs_is_marked():
    contender = measure.Contender("mxnet", None, "Module", 1.0, difference=0.01, times=[2.0, 2.0])
    found = measure.entry(contender, [1.0, 1.0], rows.Row("main", "x", ()))
    assert not found["agrees"] and "DIFFERS" in report.cell(found, False)
    assert found["ratio"] == 2 and "(2.00×, 2.00×)" in report.cell(found, False)


def test_rows_are_distinct_and_name_models():
    every = rows.all_rows()
    assert len({row.name for row in every}) == len(every)
    assert {model for row in every for model, _ in row.parts + row.compare_with} <= set(MODELS)


def run_compare(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "benchmarks" / "compare"), *arguments], capture_output=True,
                          text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})


def test_missing_peers_are_reported(tmp_path):
    file = tmp_path / "results.json"
    done = run_compare("--peers", str(tmp_path), "--only", "addition of 64 floats from Python", "--threads", "1",
                       "--rounds", "3", "--seconds", "1", "--json", str(file))
    assert done.returncode == 0, done.stderr
    for title in ("MXNet", "PyTorch", "ONNX Runtime", "OpenVINO"):
        assert f"**{title} IS MISSING: not installed in {tmp_path}" in done.stdout
        assert f"{title} IS MISSING" in done.stderr
    assert "| an addition of 64 floats from Python | 1 |" in done.stdout
    result, = json.loads(file.read_text())["results"]
    assert list(result["engines"]) == ["symbind"] and result["engines"]["symbind"]["seconds"] > 0


def test_bad_arguments_are_named():
    done = run_compare("--engines", "symbind,caffe")
    assert done.returncode == 2 and "there is no engine 'caffe'; there are symbind, mxnet" in done.stderr
    assert run_compare("--only", "(").returncode == 2
