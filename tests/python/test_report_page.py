"""The report of a run in headless Chromium."""
import html
import re

import numpy as np
import pytest

import symbind as mx
from browser import open_page, screenshot


@pytest.fixture(name="folder")
def trained(tmp_path):
    """A run of three epochs over ten classes."""
    random = np.random.RandomState(1)
    centres = random.uniform(-1, 1, (10, 20))
    labels = np.arange(600) % 10
    points = (centres[labels] + 1.0 * random.standard_normal((600, 20))).astype("float32")
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="hidden")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu", name="relu"), num_hidden=10, name="classes")
    mod = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    mod.fit(mx.io.NDArrayIter(points[:500], labels[:500], batch_size=20, shuffle=True),
            mx.io.NDArrayIter(points[500:], labels[500:], batch_size=20), eval_metric=["acc", "ce"], optimizer="adam",
            optimizer_params={"learning_rate": 0.01}, num_epoch=3, progress=False,
            run=mx.callback.Run("page", folder=str(tmp_path), log_every=10))
    return tmp_path / "page"


def test_the_report_shows_curves_times_and_confusion(folder):
    dom = open_page(folder / "report.html", "--dump-dom")
    titles = [html.unescape(title) for title in re.findall(r"<h2>([^<]*)</h2>", dom)]
    assert titles[:4] == ["accuracy", "cross-entropy", "learning rate", "samples per second"]
    assert titles[4].startswith("Confusion matrix") and titles[5].startswith("Time per layer")
    assert titles[6:] == ["How to reproduce it", "config.toml"]
    assert len(re.findall(r'<path class="curve"', dom)) == 6
    for text in (">hidden<", ">classes<", "adam", "complete · 3 epochs"):
        assert text.lower() in dom.lower(), text
    matrix = dom.split('<table class="matrix">')[1].split("</table>")[0]
    counts = [int(text) for text in re.findall(r">(\d+)</td>", matrix)]
    assert sum(counts) == 100
    screenshot(folder / "report.html", "report", size="1300,1900")


def test_a_hostile_name_stays_text(folder):
    page = (folder / "report.html").read_text()
    data = page.split('id="data">')[1].split("</script>")[0]
    hostile = data.replace('"complete"', '"\\u003c/script>\\u003cscript>alert(1)\\u003c/script>"')
    assert hostile != data
    (folder / "hostile.html").write_text(page.replace(data, hostile))
    dom = open_page(folder / "hostile.html", "--dump-dom")
    assert "<script>alert(1)" not in dom and "alert(1)" in dom
