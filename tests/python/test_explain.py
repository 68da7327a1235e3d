"""explain: the plan as text, JSON and a page of HTML. test_explain_page.py opens it in a browser."""
import html.parser
import json
import re

import pytest

import symbind as mx
from explain_cases import HOSTILE, bound, facts_of, lstm, resnet50, small_net
from symbind import profiler

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
