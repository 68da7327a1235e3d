"""explain: the plan as text, JSON and a page of HTML; the page is opened in Chromium where there is one."""
import html.parser
import json
import os
import re
import shutil
import subprocess

import pytest

import symbind as mx
from symbind import profiler

BROWSER = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
                if path), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
HOSTILE = 'x</script><script>alert(1)</script>"\'&<b>\u2028ünï'


def small_net(name="fc"):
    net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=8, name="conv")
    net = mx.sym.BatchNorm(net, name="bn")
    net = mx.sym.FullyConnected(net, num_hidden=10, name=name)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def bound(training=True, name="fc"):
    return small_net(name).simple_bind(mx.cpu(), data=(2, 3, 8, 8),
                                       grad_req="write" if training else "null")


def resnet50(training):
    net = mx.models.create("resnet", num_layers=50, num_classes=1000, image_shape="3,224,224")
    return net.simple_bind(mx.cpu(), data=(1, 3, 224, 224),
                           grad_req="write" if training else "null")


def lstm():
    cell = mx.rnn.SequentialRNNCell()
    for layer in range(2):
        cell.add(mx.rnn.LSTMCell(32, prefix="lstm_l%d_" % layer))
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=50, output_dim=16, name="embed")
    outputs, _ = cell.unroll(20, inputs=embed, merge_outputs=True)
    net = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 32)), num_hidden=50, name="pred")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(net, label, name="softmax").simple_bind(
        mx.cpu(), data=(4, 20), softmax_label=(4, 20))


class Page(html.parser.HTMLParser):
    """Elements of a page and the data it carries."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.tags, self.data, self._in_data = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_data = dict(attrs).get("id") == "data"

    def handle_endtag(self, tag):
        self._in_data = False

    def handle_data(self, data):
        if self._in_data:
            self.data += data


# ---------------------------------------------------------------------------- the facts


def facts_of(executor):
    return json.loads(executor.explain(format="json"))


def test_facts():
    facts = facts_of(bound())
    steps = {step["name"]: step for step in facts["steps"]}
    conv, fc = steps["conv"], steps["fc"]
    assert conv["op"] == "Convolution" and conv["phase"] == "forward"
    assert conv["flops"] == 2 * 8 * 6 * 6 * (2 * 27 + 1)
    assert fc["flops"] == 2 * 10 * (2 * 8 * 6 * 6 + 1)
    assert fc["bytes"] == 4 * (2 * 288 + 10 * 288 + 10 + 20)
    assert conv["attributes"]["kernel"] == "(3, 3)"
    assert steps["conv_backward"]["of"] == facts["steps"].index(conv)
    tensor = facts["tensors"][conv["out"][0]]
    assert tensor["shape"] == [2, 8, 6, 6] and tensor["bytes"] == 4 * 576
    assert facts["totals"]["flops"] == sum(step["flops"] or 0 for step in facts["steps"])
    assert facts["totals"]["steps"] == len(facts["steps"])
    assert "time" not in conv and "peak" not in facts


def test_refusals_have_reasons():
    facts = facts_of(bound())
    text = bound().plan_text()
    refused = [reason for step in facts["steps"] for reason in step.get("refused", [])]
    assert refused == re.findall(r"refused (.*)", text) and refused
    assert all(re.fullmatch(r"\w+: .+", reason) for reason in refused)


def resnet_flops():
    """Of the convolutions and the classifier of ResNet-50 at 224x224, by the book: 4.09 GMAC."""
    return 2 * 4.089e9


def test_resnet50_costs_what_is_known():
    facts = facts_of(resnet50(False))
    products = sum(step["flops"] for step in facts["steps"]
                   if "Convolution" in step["op"] or step["op"] == "FullyConnected")
    assert products == pytest.approx(resnet_flops(), rel=0.01)


@pytest.mark.parametrize("make", [bound, lambda: bound(False), lambda: resnet50(True), lstm],
                         ids=["small", "inference", "resnet50", "lstm"])
def test_blocks_of_memory_never_overlap(make):
    facts = facts_of(make())
    for device in facts["memory"]:
        arena, blocks = device["arena_bytes"], device["blocks"]
        live = [0] * len(facts["steps"])
        by_step = [[] for _ in live]
        for tensor, first, last, offset, size in blocks:
            assert 0 <= first <= last < len(live) and size > 0 and offset + size <= arena
            for step in range(first, last + 1):
                by_step[step].append((offset, offset + size))
                live[step] += size
        for held in by_step:
            held.sort()
            assert all(a[1] <= b[0] for a, b in zip(held, held[1:]))
        assert live == device["live_bytes"]
        # The planner rounds every block up to 64 bytes.
        most = max(live, default=0)
        assert most <= facts["totals"]["max_live_bytes"] <= most + 64 * len(blocks) + 64
        assert max(live, default=0) <= arena


def test_blocks_cover_what_steps_read_and_write():
    facts = facts_of(bound())
    held = {block[0]: block for block in facts["memory"][0]["blocks"]}
    for number, step in enumerate(facts["steps"]):
        for tensor in step["in"]:
            if facts["tensors"][tensor]["home"] != "arena":
                continue
            _, first, last, offset, size = held[tensor]
            heirs = [t for t in step["out"] if facts["tensors"][t].get("offset") == offset]
            assert first < number and (number <= last or heirs)
            assert offset == facts["tensors"][tensor]["offset"]


def test_monitored_plans_keep_everything():
    executor = bound()
    executor.set_monitor_callback(lambda name, value: None)
    facts = facts_of(executor)
    assert all(block[2] == len(facts["steps"]) - 1 for block in facts["memory"][0]["blocks"]
               if block[0] >= 0)


def test_times_appear_where_the_profiler_ran(tmp_path):
    executor = bound()
    profiler.set_config(profile_symbolic=True, filename=str(tmp_path / "p.json"))
    profiler.set_state("run")
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward()
    profiler.dump()
    facts = facts_of(executor)
    assert all(step["time"]["runs"] == 3 for step in facts["steps"])
    assert all(0 < s["time"]["min_ns"] <= s["time"]["max_ns"] <= s["time"]["total_ns"]
               for s in facts["steps"])
    assert facts["peak"]["flops"] > 1e8 and facts["peak"]["bytes"] > 1e8
    assert "ms on average of 3" in executor.explain()
    profiler.dumps(reset=True)
    profiler.set_state("run")
    executor.forward()
    profiler.dump()
    assert facts_of(executor)["steps"][0]["time"]["runs"] == 1
    profiler.set_config()


# ----------------------------------------------------------------------- forms and mistakes


def test_text_is_the_plan_and_its_costs():
    executor = bound()
    text = executor.explain()
    assert text.startswith(executor.plan_text())
    assert re.search(r"^ +0 conv: 31.68 kFLOP, \d", text, re.M)


def test_files(tmp_path):
    executor = bound()
    for name, start in (("a.html", "<!DOCTYPE html>"), ("a.txt", "plan: "), ("a.json", "{"),
                        ("plain", "<!DOCTYPE html>")):
        path = tmp_path / name
        assert executor.explain(path) is path
        assert path.read_text(encoding="utf-8").startswith(start)
    with pytest.raises(mx.MXNetError, match="nowhere"):
        executor.explain(tmp_path / "nowhere" / "a.html")


def test_modules_symbols_and_mistakes():
    module = mx.mod.Module(small_net(), context=[mx.cpu(0), mx.cpu(1)])
    with pytest.raises(AssertionError, match="bind"):
        module.explain()
    module.bind([("data", (4, 3, 8, 8))], [("softmax_label", (4,))])
    assert "(2, 3, 8, 8)" in module.explain() and "on cpu(1)" in module.explain(device=1)
    with pytest.raises(IndexError, match="device 2 of 2"):
        module.explain(device=2)
    assert mx.viz.explain(module).startswith("plan: ")
    inference = mx.viz.explain(small_net(), shape={"data": (1, 3, 8, 8)})
    training = mx.viz.explain(small_net(), shape={"data": (1, 3, 8, 8)}, for_training=True)
    assert "_backward_" in training and "_backward_" not in inference
    with pytest.raises(ValueError, match="shape="):
        mx.viz.explain(small_net())
    with pytest.raises(TypeError, match="not str"):
        mx.viz.explain("net")
    with pytest.raises(ValueError, match="html, json or text"):
        bound().explain(format="pdf")


def test_names_cannot_leave_the_data():
    page = Page(bound(name=HOSTILE).explain(format="html", title=HOSTILE))
    scripts = [attrs for tag, attrs in page.tags if tag == "script"]
    assert len(scripts) == 2 and "<" not in page.data
    facts = json.loads(page.data)
    assert facts["title"] == HOSTILE
    assert HOSTILE in [step["name"] for step in facts["steps"]]


def test_page_asks_for_nothing():
    text = bound().explain(format="html")
    page = Page(text)
    assert not any("src" in attrs for _, attrs in page.tags)
    assert all(attrs.get("href", "data:").startswith("data:") for _, attrs in page.tags)
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg", "", text)


# ------------------------------------------------------------------------------ the browser


def open_page(path, *options, address=""):
    """The page's elements once its script ran; anything said on the console is an error."""
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--window-size=1500,950", "--virtual-time-budget=4000", "--enable-logging=stderr",
         "--user-data-dir=%s" % (path.parent / "browser"), *options,
         path.as_uri() + address], capture_output=True, text=True, timeout=170, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "Uncaught" in line]
    assert said == []
    return done.stdout


def screenshot(path, name, address=""):
    """Written where SYMBIND_SCREENSHOTS says, for people to look at."""
    folder = os.environ.get("SYMBIND_SCREENSHOTS", str(path.parent))
    picture = os.path.join(folder, name + ".png")
    open_page(path, "--screenshot=" + picture, address=address)
    assert os.path.getsize(picture) > 20000
    with open(picture, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def names_of(dom):
    return re.findall(r'<g class="node [^"]*"[^>]*data-name="([^"]*)"', dom)


@needs_browser
def test_small_page_in_the_browser(tmp_path):
    path = tmp_path / "page.html"
    executor = bound(name=HOSTILE)
    executor.explain(path, title=HOSTILE)
    dom = open_page(path, "--dump-dom")
    assert 'data-ready="true"' in dom and "alert(1)</script>" not in dom.split('id="data"')[0]
    facts = facts_of(executor)
    names = [step["name"] for step in facts["steps"]]
    shown = [html.unescape(n) for n in names_of(dom)]
    assert set(names) <= set(shown) and {"data", "softmax_label"} <= set(shown)
    assert dom.count('class="block kind-') == sum(len(d["blocks"]) for d in facts["memory"])
    assert len(re.findall(r'<tr class="(?:forward|backward)">', dom)) == len(names)
    for text in ("Memory of cpu(0) over time", "Kernels that refused, and why", "live at most"):
        assert text in dom
    assert [r for s in facts["steps"] for r in s.get("refused", [])][0].split(": ")[1] in dom


@needs_browser
@pytest.mark.parametrize("name, make, blocks", [
    ("resnet50_train", lambda: resnet50(True), {"stage1_unit1", "stage4_unit3"}),
    ("resnet50_inference", lambda: resnet50(False), {"stage2_unit4"}),
    ("lstm", lstm, {"lstm_l0_t0", "lstm_l1_t19"})])
def test_large_pages_in_the_browser(tmp_path, name, make, blocks):
    path = tmp_path / "page.html"
    executor = make()
    executor.explain(path)
    dom = open_page(path, "--dump-dom")
    assert 'data-ready="true"' in dom and blocks <= set(names_of(dom))
    facts = facts_of(executor)
    assert len(re.findall(r'<tr class="(?:forward|backward)">', dom)) == len(facts["steps"])
    screenshot(path, name)
    screenshot(path, name + "_memory", "#memory")


@needs_browser
def test_address_chooses_a_node(tmp_path):
    path = tmp_path / "page.html"
    resnet50(True).explain(path)
    dom = open_page(path, "--dump-dom", address="#graph:stage3_unit2_conv1")
    assert len(re.findall(r'class="node [^"]*selected', dom)) == 1
    details = dom.split('id="details"')[1]
    assert "<h2>stage3_unit2_conv1</h2>" in details and "gradient" not in details.split("</h2>")[0]
    assert 'stage3_unit2_conv1_weight' in details
