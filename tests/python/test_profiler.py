"""symbind.profiler records a program's own entries; operators are not recorded yet."""
import json

import pytest

import symbind as mx
from symbind import profiler


@pytest.fixture
def trace(tmp_path):
    """Starts recording; called, it writes the trace and returns its entries."""
    path = tmp_path / "profile.json"
    profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(path))
    profiler.set_state("run")

    def entries():
        profiler.dump()
        return json.loads(path.read_text())["traceEvents"]

    yield entries
    profiler.set_state("stop")


def test_entries(trace):
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
        ("b", "load", "training"), ("e", "load", "training"), ("b", "image", "training"),
        ("e", "image", "training"), ("B", "step", ""), ("E", "step", ""),
        ("C", "batches", "training"), ("C", "batches", "training"), ("C", "batches", "training"),
        ("i", "here", "training")]
    assert [e["args"] for e in entries if e["ph"] == "C"] == [
        {"batches": 5}, {"batches": 7}, {"batches": 6}]
    assert [e["ts"] for e in entries] == sorted(e["ts"] for e in entries)
    assert str(domain) == "training" and str(task) == "load"


def test_nothing_is_recorded_when_stopped_or_paused(trace):
    event = profiler.Event("e")
    profiler.pause()
    event.start()
    profiler.resume()
    profiler.set_state("stop")
    event.stop()
    assert trace() == []


def test_wrong_options():
    with pytest.raises(ValueError, match="'fliename'"):
        profiler.set_config(fliename="x")
    with pytest.raises(ValueError, match="'run' or 'stop'"):
        profiler.set_state("go")


def test_operator_tables_are_not_there():
    with pytest.raises(mx.MXNetError, match="does not record operators yet"):
        profiler.dumps()
    with pytest.raises(AssertionError):
        profiler.dumps(format="xml")


def test_old_names(tmp_path):
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_config("all", str(tmp_path / "p.json"))
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.profiler_set_state("run")
    with pytest.warns(UserWarning, match="deprecated"):
        profiler.dump_profile()
    assert json.loads((tmp_path / "p.json").read_text())["traceEvents"] == []
