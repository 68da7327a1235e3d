"""fit(run=...), its progress display and its callbacks."""
import json
import os
import pty
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import symbind as mx

SCRIPT = """
import sys
import numpy as np
import symbind as mx
{setup}
x = np.random.RandomState(0).uniform(-1, 1, (200000, 2)).astype('float32')
y = (x.sum(axis=1) > 0).astype('float32')
train = mx.io.NDArrayIter(x, y, batch_size=2)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2), name='softmax')
mod = mx.mod.Module(net)
mod.fit(train, num_epoch=2, {arguments})
"""


def module():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))


def data(rows=24):
    random = np.random.RandomState(3)
    return mx.io.NDArrayIter(random.uniform(-1, 1, (rows, 5)), np.arange(rows) % 3, batch_size=8)


def report(folder):
    page = (folder / "report.html").read_text()
    return json.loads(page.split('id="data">')[1].split("</script>")[0])


def test_a_run_is_recorded_and_resumed(tmp_path):
    runs = str(tmp_path)
    mod, evaluation = module(), data()
    mod.fit(data(), evaluation, num_epoch=2, run=mx.callback.Run("first", folder=runs, log_every=2))
    folder = tmp_path / "first"
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [(line["phase"], line["epoch"]) for line in lines] == [
        ("interval", 0), ("train", 0), ("validation", 0), ("interval", 1), ("train", 1), ("validation", 1)]
    accuracy = dict(mod.score(evaluation, "acc"))["accuracy"]
    assert lines[-1]["accuracy"] == accuracy
    page = report(folder)
    counts = np.array(page["confusion"])
    assert counts.sum() == 24 and np.trace(counts) / 24 == accuracy
    assert page["state"] == "complete" and {"fc", "softmax", "updates"} <= {one["name"] for one in page["layers"]}
    assert "pytest" in page["command"] or "python" in page["command"]

    epochs = []
    module().fit(data(), data(), num_epoch=3, run=mx.callback.Run("first", folder=runs),
                 epoch_end_callback=lambda epoch, *others: epochs.append(epoch))
    assert epochs == [2]
    module().fit(data(), data(), num_epoch=1, run=mx.callback.Run("first", folder=runs, restart=True))
    assert (tmp_path / "first.1" / "model-0003.params").exists() and not (folder / "model-0003.params").exists()


def test_a_run_by_its_name_is_in_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module().fit(data(), num_epoch=1, run="second")
    assert sorted(os.listdir(tmp_path)) == ["runs"]
    assert sorted(os.listdir(tmp_path / "runs" / "second")) == [
        ".lock", "config.toml", "log.jsonl", "model-0001.manifest.json", "model-0001.params",
        "model-0001.states", "model-symbol.json", "report.html"]


def test_bad_names_and_errors(tmp_path):
    with pytest.raises(ValueError, match="cannot be the name of a run"):
        module().fit(data(), num_epoch=1, run=mx.callback.Run("a/b", folder=str(tmp_path)))
    with pytest.raises(ValueError, match="log_every is -1"):
        mx.callback.Run("a", log_every=-1)

    def fail(param):
        raise RuntimeError("the cable")
    with pytest.raises(RuntimeError, match="the cable"):
        module().fit(data(), num_epoch=1, batch_end_callback=fail, run=mx.callback.Run("a", folder=str(tmp_path)))
    page = report(tmp_path / "a")
    assert page["state"] == "stopped" and page["error"] == "RuntimeError: the cable"


def test_callbacks_of_a_whole_fit():
    calls = []

    def note(name):
        return lambda param: calls.append((name, param.begin_epoch, param.num_epoch, repr(param.error)))
    module().fit(data(), num_epoch=1, fit_begin_callback=note("begin"), fit_end_callback=[note("end")],
                 fit_error_callback=note("error"))
    assert calls == [("begin", 0, 1, "None"), ("end", 0, 1, "None")]
    calls.clear()

    def fail(param):
        raise KeyError("lost")

    def fail_again(param):
        raise ValueError("a second one")
    with pytest.raises(KeyError, match="lost"):
        module().fit(data(), num_epoch=1, batch_end_callback=fail, fit_begin_callback=note("begin"),
                     fit_end_callback=note("end"), fit_error_callback=[note("error"), fail_again])
    assert calls == [("begin", 0, 1, "None"), ("error", 0, 1, "KeyError('lost')")]


# --- progress -------------------------------------------------------------------------------------

def script(tmp_path, setup="", arguments="", stderr=subprocess.PIPE, **env):
    program = SCRIPT.format(setup=setup, arguments=arguments)
    return subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=stderr,
                          check=True, timeout=120, env={**os.environ, **env})


def in_terminal(tmp_path, **options):
    leader, follower = pty.openpty()
    blocks = []

    def read():
        try:
            while block := os.read(leader, 65536):
                blocks.append(block)
        except OSError:  # the other end is closed
            pass
    reader = threading.Thread(target=read)
    reader.start()
    done = script(tmp_path, stderr=follower, **options)
    os.close(follower)
    reader.join()
    os.close(leader)
    assert done.stdout == b"" and os.listdir(tmp_path) == []
    return b"".join(blocks).decode().replace("\r\n", "\n")


def test_a_terminal_has_a_bar_and_a_line_per_epoch(tmp_path):
    text = in_terminal(tmp_path)
    assert "\r\x1b[K1/2" in text and "[#" in text and "accuracy" in text
    lines = [part for part in re.split(r"\n|\r\x1b\[K", text) if part.startswith("epoch ")]
    assert len(lines) == 2 and re.match(r"epoch 2/2  accuracy 0\.\d{4}  \d+ samples/s  0:0\d$", lines[1])
    assert text.endswith(lines[1] + "\n")


def test_elsewhere_there_is_a_line_per_epoch(tmp_path):
    lines = script(tmp_path).stderr.decode().splitlines()
    assert len(lines) == 2 and lines[0].startswith("epoch 1/2  accuracy ")


@pytest.mark.parametrize("options", [{"arguments": "progress=False"}, {"SYMBIND_PROGRESS": "0"}])
def test_progress_can_be_off(tmp_path, options):
    assert script(tmp_path, **options).stderr == b""


def test_the_log_of_a_script_is_unchanged(tmp_path):
    setup = "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s')"
    text = in_terminal(tmp_path, setup=setup)
    assert re.fullmatch(r"(Epoch\[\d\] (Train-accuracy|Time cost)=[\d.]+\n){4}", text), text


def test_the_bar_of_a_script_is_the_only_one(tmp_path):
    text = in_terminal(tmp_path, arguments="batch_end_callback=mx.callback.ProgressBar(total=100000, length=20)")
    assert "\x1b[K" not in text and "epoch 1/2" not in text and "[====" in text


def test_a_custom_metric_that_cannot_tell_yet_changes_nothing(tmp_path):
    setup = """
class Odd(mx.metric.EvalMetric):
    def update(self, labels, preds):
        self.num_inst += 1
    def get(self):
        return ('odd', 'no number')
    get_global = get
"""
    text = in_terminal(tmp_path, setup=setup, arguments="eval_metric=Odd('odd')")
    assert "epoch 2/2" in text
