"""The page of explain in headless Chromium."""
import html
import re

import pytest

import symbind as mx
from browser import open_page, screenshot
from explain_cases import HOSTILE, bound, facts_of, lstm, resnet50


def names_of(dom):
    return re.findall(r'<g class="node [^"]*"[^>]*data-name="([^"]*)"', dom)


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


def test_address_chooses_a_node(tmp_path):
    path = tmp_path / "page.html"
    resnet50(True).explain(path)
    dom = open_page(path, "--dump-dom", address="#graph:stage3_unit2_conv1")
    assert len(re.findall(r'class="node [^"]*selected', dom)) == 1
    details = dom.split('id="details"')[1]
    assert "<h2>stage3_unit2_conv1</h2>" in details and "gradient" not in details.split("</h2>")[0]
    assert 'stage3_unit2_conv1_weight' in details


def test_a_network_without_steps(tmp_path):
    path = tmp_path / "page.html"
    mx.sym.Variable("x").simple_bind(mx.cpu(), x=(2, 3), grad_req="null").explain(path)
    assert 'data-ready="true"' in open_page(path, "--dump-dom")
