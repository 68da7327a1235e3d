"""Modules train as MXNet 1.9.1 trained them (tools/oracle/record_module.py): on several devices, by
every optimizer, over buckets, in chains, with states; fit's log is MXNet's, line by line."""
import json
import os
import re

import numpy as np
import pytest

import module_cases as cases
import module_kinds as kinds
import symbind as mx

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "module")


def recorded(name):
    with open(os.path.join(GOLDEN, name + ".json")) as file:
        return {c["name"]: c for c in json.load(file)["cases"]}


MODULES, BUCKETS = recorded("modules"), recorded("buckets")
CHAINS, STATES, FITS = recorded("chains"), recorded("states"), recorded("fit")


def by_name(specs):
    return pytest.mark.parametrize("spec", specs, ids=lambda spec: spec["name"].replace(" ", "-"))


def compare(title, got, wanted, tolerance):
    """max|a-b| <= tolerance * max|b| for each array; prints the largest ratio."""
    worst = 0.0
    for mine, theirs in zip(got, wanted, strict=True):
        for what, arrays in theirs.items():
            assert set(mine[what]) == set(arrays), what
            for name, row in arrays.items():
                right = np.array(row["values"], "float64").reshape(row["shape"])
                assert mine[what][name].shape == right.shape, (what, name)
                assert str(mine[what][name].dtype) == row["dtype"], (what, name)
                off = np.abs(mine[what][name].astype("float64") - right).max()
                top = np.abs(right).max()
                assert off <= tolerance * top, (title, what, name, off, top)
                worst = max(worst, off / top if top else 0.0)
    if os.environ.get("SHOW_WORST"):
        print("\nWORST %-40s %.1e" % (title, worst))


@by_name(cases.CASES)
def test_module_by_verbs(spec):
    seen, metrics = cases.run_module(mx, spec)
    wanted = MODULES[spec["name"]]
    compare(spec["name"], seen, wanted["seen"], spec["tolerance"])
    assert metrics == pytest.approx(wanted["metrics"], rel=1e-4)


class Recorded(mx.io.DataIter):
    """The batches of a case."""
    def __init__(self, spec, make, label):
        super().__init__(spec["data"][0])
        self.spec, self.make, self.step = spec, make, 0
        self.provide_data = [mx.io.DataDesc("data", tuple(spec["data"]))]
        self.provide_label = [mx.io.DataDesc("softmax_label", tuple(label))]

    def reset(self):
        self.step = 0

    def next(self):
        if self.step == self.spec["steps"]:
            raise StopIteration
        self.step += 1
        return self.make(self.step - 1)


@by_name(cases.CASES)
def test_module_by_fit(spec):
    """fit goes by the fused step; it leaves what the verbs leave."""
    with cases.updates_on_store(spec["on_store"]):
        mod, optimizer = cases.make_module(mx, spec)
        metric = mx.metric.create(["acc", "ce"])
        make = lambda step: cases.batch_of(mx, spec["net"], tuple(spec["data"]), step)
        mod.fit(Recorded(spec, make, spec["data"][:1]), eval_metric=metric, num_epoch=1,
                **optimizer)
    wanted = MODULES[spec["name"]]
    compare(spec["name"] + ", fit", [cases.behind(mx, mod)], wanted["seen"][1:], spec["tolerance"])
    assert [v for _, v in metric.get_global_name_value()] == pytest.approx(wanted["metrics"],
                                                                           rel=1e-4)


@by_name(kinds.BUCKET_CASES)
def test_buckets(spec):
    seen, _ = kinds.run_buckets(mx, spec)
    compare(spec["name"], seen, BUCKETS[spec["name"]]["seen"], spec["tolerance"])


@by_name(kinds.BUCKET_CASES)
def test_buckets_by_fit(spec):
    mod, optimizer = kinds.make_buckets(mx, spec)
    batches = Recorded(spec, lambda step: kinds.bucket_batch(mx, step), spec["data"])
    mod.fit(batches, num_epoch=1, **optimizer)
    args = {n: a.asnumpy() for n, a in mod.get_params()[0].items()}
    wanted = BUCKETS[spec["name"]]["seen"][-1]["params"]
    compare(spec["name"] + ", fit", [{"params": args}], [{"params": wanted}], spec["tolerance"])


@by_name(kinds.CHAIN_CASES)
def test_chains(spec):
    seen, _ = kinds.run_chain(mx, spec)
    compare(spec["name"], seen, CHAINS[spec["name"]]["seen"], spec["tolerance"])


@by_name(kinds.STATE_CASES)
def test_states(spec):
    seen, _ = kinds.run_states(mx, spec)
    compare(spec["name"], seen, STATES[spec["name"]]["seen"], spec["tolerance"])


def assert_same_log(lines, recorded):
    """To the byte but for the last printed digit of a metric, which another CPU may round
    otherwise."""
    number = re.compile(r"[0-9]+\.[0-9]{6}\b")
    assert [number.sub("#", x) for x in lines] == [number.sub("#", x) for x in recorded]
    for line, other in zip(lines, recorded):
        for a, b in zip(number.findall(line), number.findall(other)):
            assert abs(float(a) - float(b)) <= 1.5e-6, line



@by_name(kinds.FIT_CASES)
def test_log_of_fit(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines, params = kinds.run_fit(mx, spec)
    wanted = FITS[spec["name"]]
    assert_same_log(lines, wanted["lines"])
    compare(spec["name"], [{"params": params}], [{"params": wanted["seen"]}], 1e-4)
    assert sorted(os.listdir()) == wanted["files"]
