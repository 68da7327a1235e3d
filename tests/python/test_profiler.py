"""symbind.profiler: what is recorded, the tables and JSON of `dumps`, the trace of `dump`."""
import gc
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import symbind as mx
from symbind import profiler


@pytest.fixture
def trace(tmp_path):
    """Starts recording everything; called, it writes the trace and returns its entries."""
    path = tmp_path / "profile.json"
    profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(path))
    gc.collect()  # arrays of other tests
    profiler.dump()  # and what they recorded
    profiler.dumps(reset=True)
    profiler.set_state("run")

    def entries(metadata=False):
        profiler.dump()
        found = json.loads(path.read_text())["traceEvents"]
        return found if metadata else [e for e in found if e["ph"] != "M"]

    yield entries
    profiler.set_state("stop")
    profiler.set_config()


def small_net():
    net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=8, name="conv")
    net = mx.sym.Activation(net, act_type="relu", name="relu")
    net = mx.sym.FullyConnected(net, num_hidden=10, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def statistics(**options):
    return json.loads(profiler.dumps(format="json", **options))


def test_own_entries(trace):
    domain = profiler.Domain("training")
    task, frame, event = domain.new_task("load"), domain.new_frame("image"), profiler.Event("step")
    for each in (task, frame, event):
        each.start()
        each.stop()
    counter = domain.new_counter("batches", 5)
    counter += 2
    counter -= 1
    domain.new_marker("here").mark("global")
    entries = trace()
    assert [(e["ph"], e["name"], e["cat"]) for e in entries] == [
        ("b", "load", "training"), ("e", "load", "training"), ("b", "image", "training,frame"),
        ("e", "image", "training,frame"), ("X", "step", "event"),
        ("C", "batches", "training,counter"), ("C", "batches", "training,counter"),
        ("C", "batches", "training,counter"), ("i", "here", "training,instant_marker")]
    assert [e["args"] for e in entries if e["ph"] == "C"] == [
        {"batches": 5}, {"batches": 7}, {"batches": 6}]
    assert entries[0]["id"] == entries[1]["id"] != entries[2]["id"]
    assert str(domain) == "training" and str(task) == "load"


def test_schema_of_the_trace(trace):
    """What chrome://tracing and Perfetto ask for; stretches of a thread nest."""
    executor = small_net().simple_bind(mx.cpu(), data=(2, 3, 8, 8))
    executor.forward(is_train=True)
    executor.backward()

    def work():
        with profiler.scope("outer"):
            (mx.nd.ones((50, 50)) + 1).wait_to_read()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    entries = trace(metadata=True)
    for e in entries:
        assert {"name", "ph", "ts", "pid", "tid"} <= set(e), e
        assert e["pid"] == os.getpid() and e["ph"] in "XbeCiM"
    named = {e["tid"]: e["args"]["name"] for e in entries if e["name"] == "thread_name"}
    assert named[os.getpid()] == "main" and len(named) == 2
    complete = [e for e in entries if e["ph"] == "X"]
    assert {e["tid"] for e in complete} == set(named)
    for thread_id in named:
        stack = []
        own = [e for e in complete if e["tid"] == thread_id]
        for e in sorted(own, key=lambda e: (e["ts"], -e["dur"])):
            while stack and stack[-1] <= e["ts"] + 1e-3:
                stack.pop()
            assert not stack or e["ts"] + e["dur"] <= stack[-1] + 1e-3, e
            stack.append(e["ts"] + e["dur"])
    conv = next(e for e in complete if e.get("args", {}).get("node") == "conv")
    assert conv["name"] == "Convolution" and conv["cat"] == "operator"
    assert conv["args"]["shapes"] == "(2, 3, 8, 8) (8, 3, 3, 3) (8,) -> (2, 8, 6, 6)"
    # Every output: 3*3*3 products, as many sums, and the bias.
    assert conv["args"]["FLOPs"] == 2 * 8 * 6 * 6 * (2 * 27 + 1)
    assert conv["args"]["bytes"] == 4 * (2 * 3 * 8 * 8 + 8 * 27 + 8 + 2 * 8 * 6 * 6)
    outer = next(e for e in complete if e["name"] == "outer")
    inner = next(e for e in complete if e["name"] == "_plus_scalar")
    assert outer["ts"] <= inner["ts"] and inner["dur"] <= outer["dur"]
    assert inner["args"]["FLOPs"] == 2500 and inner["args"]["bytes"] == 20000


def test_nothing_is_recorded_when_stopped_or_paused(trace):
    event = profiler.Event("e")
    profiler.pause()
    event.start()
    (mx.nd.ones((2,)) + 1).wait_to_read()
    profiler.resume()
    event.stop()
    profiler.set_state("stop")
    event.start()
    event.stop()
    assert trace() == []
    assert statistics()["Time"] == {}


def test_counts_and_times(trace):
    data = mx.nd.array(np.random.rand(64, 256))
    weight = mx.nd.array(np.random.rand(128, 256))
    begin = time.perf_counter()
    for _ in range(20):
        mx.nd.FullyConnected(data, weight, no_bias=True, num_hidden=128).wait_to_read()
    wall = 1e3 * (time.perf_counter() - begin)
    found = statistics()
    assert found["Unit"] == {"Time": "ms", "Memory": "kB"}
    entry = found["Time"]["operator"]["FullyConnected"]
    assert set(entry) == {"Count", "Total", "Min", "Max", "Avg"} and entry["Count"] == 20
    assert entry["Min"] <= entry["Avg"] <= entry["Max"] <= entry["Total"] <= wall
    assert entry["Avg"] == pytest.approx(entry["Total"] / 20)
    total = [e["dur"] for e in trace() if e["name"] == "FullyConnected"]
    assert sum(total) / 1e3 == pytest.approx(entry["Total"], rel=1e-3)
    statistics(reset=True)
    assert statistics()["Time"] == {}


def test_nodes_and_their_share_of_peak(trace):
    executor = small_net().simple_bind(mx.cpu(), data=(16, 3, 32, 32))
    executor.forward(is_train=True)  # what is done once is done
    statistics(reset=True)
    begin = time.perf_counter()
    for _ in range(10):
        executor.forward(is_train=True)
        executor.backward()
    wall = 1e3 * (time.perf_counter() - begin)
    found = statistics()
    nodes = {n["Name"]: n for n in found["Node"]}
    assert set(nodes) >= {"conv", "relu", "fc", "softmax", "fc_backward", "conv_backward"}
    assert all(n["Count"] == 10 and n["Device"] == "cpu(0)" for n in nodes.values())
    times = sum(n["Total"] for n in nodes.values())
    assert 0.5 * wall < times <= wall  # the steps are the run, and nothing is counted twice
    fc = nodes["fc"]
    assert fc["FLOPs"] == 16 * 10 * (2 * 8 * 30 * 30 + 1)
    assert fc["Bytes"] == 4 * (16 * 7200 + 10 * 7200 + 10 + 160)
    back = nodes["fc_backward"]
    assert back["FLOPs"] == 2 * 16 * 10 * 2 * 7200 + 160  # of data, of weight, of bias
    peak = found["Peak"]
    for n in nodes.values():
        assert n["GFLOP/s"] == pytest.approx(n["FLOPs"] / n["Avg"] / 1e6)
        assert n["PeakShare"] == pytest.approx(n["GFLOP/s"] / peak["GFLOP/s"])
        assert n["MemoryShare"] == pytest.approx(n["GB/s"] / peak["GB/s"])
        assert 0 <= n["PeakShare"] < 1.5
    table = profiler.dumps()
    assert "peak measured here" in table and "conv_backward" in table


def test_table_has_mxnets_lines(trace):
    mx.nd.sqrt(mx.nd.ones((3,))).wait_to_read()
    lines = profiler.dumps().splitlines()
    assert lines[:3] == ["", "Profile Statistics:",
                         "\tNote the difference in units for different entries."]
    at = lines.index("operator")
    assert lines[at + 1:at + 4] == [
        "=================",
        "Name                          Total Count        Time (ms)    Min Time (ms)    "
        "Max Time (ms)    Avg Time (ms)",
        "----                          -----------        ---------    -------------    "
        "-------------    -------------"]
    sqrt = next(line for line in lines if line.startswith("sqrt"))
    assert sqrt.split()[:2] == ["sqrt", "1"] and len(sqrt) == 25 + 16 + 4 * 17


def test_sorting(trace):
    for n in (1, 3, 2):
        for _ in range(n):
            mx.nd.waitall()
            [mx.nd.sqrt, mx.nd.exp, mx.nd.square][n - 1](mx.nd.ones((4,)))
    for key, column in (("count", "Count"), ("total", "Total"), ("avg", "Avg"), ("min", "Min"),
                        ("max", "Max")):
        for ascending in (True, False):
            values = [e[column] for e in statistics(sort_by=key, ascending=ascending)["Time"]
                      ["operator"].values()]
            assert values == sorted(values, reverse=not ascending) and len(values) == 4


def test_memory(trace):
    array = mx.nd.empty((1000, 250))
    grown = statistics()["Memory"]["Device Storage"]["Memory: cpu/0"]
    assert grown["Max"] == pytest.approx(1000) and grown["Count"] == 1
    del array
    values = [e["args"]["Memory: cpu/0"] for e in trace() if e["ph"] == "C"]
    assert len(values) == 2 and values[1] == values[0] - 10**6


def test_custom_operators(trace):
    class Twice(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            time.sleep(0.01)
            self.assign(out_data[0], req[0], in_data[0] + in_data[0])
            mx.nd.zeros((3, 3))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("profiled_twice")
    class _Prop(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Twice()

    net = mx.sym.Custom(mx.sym.Variable("x"), op_type="profiled_twice", name="twice")
    executor = net.simple_bind(mx.cpu(), x=(4,))
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones((4,))])
    mx.nd.waitall()
    times = statistics()["Time"]
    custom = times["Custom Operator"]
    assert {"profiled_twice::pure_python", "profiled_twice::broadcast_add", "profiled_twice::_zeros",
            "_backward_profiled_twice::pure_python"} <= set(custom)
    assert custom["profiled_twice::pure_python"]["Total"] >= 10
    # The time of nested operators is theirs alone.
    spans = [e for e in trace() if e["name"] == "profiled_twice::pure_python"]
    nested = sum(e["Total"] for name, e in custom.items()
                 if name.startswith("profiled_twice::") and "pure" not in name)
    assert spans[0]["dur"] / 1e3 == pytest.approx(
        custom["profiled_twice::pure_python"]["Total"] + nested, rel=1e-3)
    assert "_zeros" not in times["operator"]


def test_calls_of_module_store_and_iterator(trace):
    x, y = np.random.rand(32, 20), np.arange(32) % 10
    train = mx.io.NDArrayIter(x, y, batch_size=8)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=10),
                               name="softmax")
    module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
    module.fit(train, num_epoch=1, kvstore="local")
    calls = statistics()["Time"]["api"]
    assert calls["Module.load_batch"]["Count"] == 4
    assert calls["KVStore.push"]["Count"] == 8 and calls["KVStore.pull"]["Count"] >= 8
    assert calls["Executor.forward"]["Count"] == 8
    assert calls["NDArrayIter.next"]["Count"] >= 4
    assert calls["Module.update_metric"]["Count"] == 4
    devices = {n["Device"] for n in statistics()["Node"]}
    assert devices == {"cpu(0)", "cpu(1)"}


def test_fused_steps_have_their_updates(trace):
    train = mx.io.NDArrayIter(np.random.rand(32, 20), np.arange(32) % 10, batch_size=8)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=10, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.fit(train, num_epoch=1, optimizer="sgd", optimizer_params={"momentum": 0.9})
    nodes = {n["Name"]: n for n in statistics()["Node"]}
    assert nodes["fc_weight_update"]["Operator"] == "sgd_mom_update"
    assert nodes["fc_weight_update"]["Count"] == 4
    assert nodes["fc_weight_update"]["FLOPs"] == 6 * 200
    assert '"fc_weight_update"' in module.explain(format="json")


def test_events_that_do_not_nest_get_their_own_track(trace):
    first, second = profiler.Event("first"), profiler.Event("second")
    first.start()
    second.start()
    first.stop()
    second.stop()
    second.stop()  # was not started again
    assert [(e["name"], e["ph"]) for e in trace()] == [
        ("first", "b"), ("first", "e"), ("second", "X")]


def test_names_of_any_kind(trace):
    name = 'quote " backslash \\ </script> newline \n ünïcode \u2028'
    with profiler.scope(name):
        pass
    assert [e["name"] for e in trace()] == [name]
    assert list(statistics()["Time"]["event"]) == [name]


def test_continuous_dumps_are_valid_and_grow(tmp_path):
    path = tmp_path / "grows.json"
    profiler.set_config(profile_imperative=True, filename=str(path), continuous_dump=True,
                        dump_period=0.02)
    profiler.set_state("run")
    sizes = []
    for _ in range(4):
        for _ in range(5):
            mx.nd.sqrt(mx.nd.ones((3,))).wait_to_read()
        profiler.dump(False)
        entries = json.loads(path.read_text())["traceEvents"]
        sizes.append(sum(e["name"] == "sqrt" for e in entries))
    assert sizes == [5, 10, 15, 20]
    mx.nd.sqrt(mx.nd.ones((3,))).wait_to_read()
    for _ in range(200):  # without dump, by the period alone
        time.sleep(0.02)
        if path.read_text().count('"sqrt"') == 21:
            break
    else:
        pytest.fail("the trace was not written")
    path.unlink()  # the file was removed: a new one begins
    mx.nd.sqrt(mx.nd.ones((3,))).wait_to_read()
    profiler.dump(True)
    assert sum(e["name"] == "sqrt" for e in json.loads(path.read_text())["traceEvents"]) == 1
    profiler.set_config()


def test_a_file_that_cannot_be_written_loses_nothing(trace, tmp_path):
    mx.nd.sqrt(mx.nd.ones((3,))).wait_to_read()
    profiler.set_config(profile_all=True, filename=str(tmp_path / "no" / "such" / "p.json"))
    with pytest.raises(mx.MXNetError, match="p.json"):
        profiler.dump(False)
    profiler.set_config(profile_all=True, filename=str(tmp_path / "profile.json"))
    assert sum(e["name"] == "sqrt" for e in trace()) == 1


def test_wrong_options():
    with pytest.raises(ValueError, match="'fliename'; did you mean 'filename'"):
        profiler.set_config(fliename="x")
    with pytest.raises(ValueError, match="profile_all='maybe' is neither"):
        profiler.set_config(profile_all="maybe")
    with pytest.raises(ValueError, match="dump_period='soon'"):
        profiler.set_config(dump_period="soon")
    with pytest.raises(ValueError, match="'run' or 'stop'"):
        profiler.set_state("go")
    with pytest.raises(ValueError, match="no servers"):
        profiler.set_state("run", profile_process="server")
    with pytest.raises(ValueError, match="scope is global"):
        profiler.Marker(profiler.Domain("d"), "m").mark("galaxy")
    for wrong in ({"format": "xml"}, {"sort_by": "name"}, {"reset": "yes"}):
        with pytest.raises(AssertionError, match="Invalid value provided for " + list(wrong)[0]):
            profiler.dumps(**wrong)


def test_old_names(tmp_path):
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_config("all", str(tmp_path / "p.json"))
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_state("run")
    (mx.nd.ones((2,)) + 1).wait_to_read()
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.dump_profile()
    names = [e["name"] for e in json.loads((tmp_path / "p.json").read_text())["traceEvents"]]
    assert "_plus_scalar" in names
    profiler.set_config()


PROGRAM = """
import os, symbind as mx
x = mx.sym.exp(mx.sym.Variable("x"), name="e").simple_bind(mx.cpu(), x=(3,))
x.forward()
(mx.nd.ones((2,)) + 1).wait_to_read()
if os.fork() == 0:          # a child has its own profile and does not change the parent's
    x.forward()
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize("mode, names", [("0", {"exp"}), ("1", {"exp", "_plus_scalar", "_ones"})])
def test_autostart_writes_at_the_end(tmp_path, mode, names):
    environment = {**os.environ, "MXNET_PROFILER_AUTOSTART": "1", "MXNET_PROFILER_MODE": mode}
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, check=True)
    entries = json.loads((tmp_path / "profile.json").read_text())["traceEvents"]
    assert {e["name"] for e in entries if e.get("cat") == "operator"} == names
    assert sum(e["name"] == "exp" for e in entries) == 1


def test_without_autostart_there_is_no_file(tmp_path):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []
