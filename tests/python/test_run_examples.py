"""The list of run_examples is complete, and the runner refuses, stops and judges as documented.

The scripts themselves are run by run_examples, which needs a copy of MXNet's sources.
"""
import hashlib
import importlib.machinery
import importlib.util
import inspect
import json
import math
import pathlib
import re
import subprocess
import sys

import pytest

from mxnet_examples import data, runs, source
from mxnet_examples.scripts import KINDS, NUMBER, SCRIPTS, Script

HERE = pathlib.Path(__file__).resolve().parent


def load_program():
    loader = importlib.machinery.SourceFileLoader("run_examples", str(HERE / "run_examples"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_examples", loader))
    loader.exec_module(module)
    return module


run_examples = load_program()


# ------------------------------------------------------------------ the list


def test_there_are_enough_of_every_kind():
    assert set(KINDS) <= {script.kind for script in SCRIPTS}
    assert len({script.script for script in SCRIPTS if script.release == "1.9.1"}) >= 25
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_row_is_well_formed(script):
    assert re.compile(script.metric).groups == 1
    assert script.release in source.COMMITS and script.stop_after >= 0
    assert all(isinstance(word, str) for word in script.arguments)
    for name, arguments in script.data.items():
        inspect.signature(getattr(data, name)).bind("folder", **arguments)
    recorded = json.loads(run_examples.GOLDEN.read_text(encoding="utf-8"))["scripts"][script.name]
    assert len(recorded["metrics"]) == len(recorded["seconds"]) == 2
    assert script.exact or all(math.isfinite(metric) for metric in recorded["metrics"])


def test_hashes():
    hashes = source.read_hashes()
    assert set(hashes) == {(script.release, file) for script in SCRIPTS for file in script.files}
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in hashes.values())
    assert len(set(hashes.values())) > 40  # those of real files differ, but for a few that are empty


def test_the_program_lists():
    shown = subprocess.run([sys.executable, str(HERE / "run_examples"), "--list", "--only", "nce-loss"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(shown) == 2 and all("nce-loss/wordvec" in line for line in shown)
    for arguments, said in ((["--only", "no_such"], "no script is called like 'no_such'"),
                            ([], "--source is needed"),
                            (["--source", str(HERE)], "neither a git directory nor a source tree")):
        done = subprocess.run([sys.executable, str(HERE / "run_examples"), *arguments],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and said in done.stderr


# ------------------------------------------------------------------ sources


@pytest.fixture
def tree(tmp_path):
    """An unpacked tree with one script, and its hashes."""
    folder = tmp_path / "mxnet" / "example" / "toy"
    folder.mkdir(parents=True)

    def write(text):
        (folder / "toy.py").write_text(text)
        return {("1.9.1", "toy/toy.py"): hashlib.sha256(text.encode()).hexdigest()}

    return tmp_path / "mxnet", write


def test_only_the_release_runs(tree, tmp_path):
    folder, write = tree
    hashes = write("print('metric=1')\n")
    sources = source.Source(str(folder))
    sources.place("1.9.1", "toy/toy.py", tmp_path / "out", hashes)
    assert (tmp_path / "out" / "toy" / "toy.py").read_text() == "print('metric=1')\n"
    write("print('metric=2')\n")
    with pytest.raises(source.Refused, match="example/toy/toy.py is not that of 1.9.1: sha256"):
        sources.place("1.9.1", "toy/toy.py", tmp_path / "again", hashes)
    assert not (tmp_path / "again").exists()
    assert sources.holds("1.9.1") and not sources.holds("1.3.1")
    with pytest.raises(source.Refused, match="not in sha256.txt"):
        sources.place("1.9.1", "toy/other.py", tmp_path / "again", hashes)


@pytest.mark.parametrize("bare", [False, True])
def test_a_git_directory_gives_the_commit(tree, tmp_path, monkeypatch, bare):
    folder, write = tree
    hashes = write("print('metric=1')\n")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "one"], check=True)
    commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    write("raise SystemExit('edited')\n")  # in the work tree only
    monkeypatch.setitem(source.COMMITS, "1.9.1", commit)
    source.Source(str(folder / ".git" if bare else folder)).place(
        "1.9.1", "toy/toy.py", tmp_path / "out", hashes)
    assert (tmp_path / "out" / "toy" / "toy.py").read_text() == "print('metric=1')\n"
    assert source.Source(str(folder)).holds("1.9.1") and not source.Source(str(folder)).holds("1.3.1")
    monkeypatch.setitem(source.COMMITS, "1.9.1", "0" * 40)
    with pytest.raises(source.Refused, match="has no example/toy/toy.py of 1.9.1"):
        source.Source(str(folder)).place("1.9.1", "toy/toy.py", tmp_path / "out", hashes)


# ------------------------------------------------------------------ runs


def run(tree, text, **options):
    folder, write = tree
    hashes = write(text)
    row = Script("toy", "toy/toy.py", "metric=" + NUMBER, **options)
    return runs.run(row, sys.executable, source.Source(str(folder)), hashes, seed=3, timeout=60)


def test_a_script_runs_seeded_under_symbind(tree):
    """Twice the same numbers; data is there, other files are not; `mxnet` is Symbind."""
    text = ("import os, random, sys\nimport numpy as np\nimport mxnet as mx\n"
            "print(sorted(os.listdir('.')), sys.argv, mx.__name__, __name__)\n"
            "print('metric=%r' % (random.random() + np.random.rand() + mx.nd.random.uniform().asscalar().item()))\n")
    first, second = (run(tree, text, arguments=("--a", "b"), data={"empty": {"names": ["x.zip"]}}) for _ in range(2))
    assert first.error == "" and first.metric == second.metric
    assert "['toy.py', 'x.zip'] ['toy.py', '--a', 'b'] symbind __main__" in first.output


def test_a_script_is_stopped_at_its_metric(tree):
    outcome = run(tree, "import itertools, time\nfor i in itertools.count():\n"
                        "    print('metric=%d' % i)\n    time.sleep(0.01)\n", stop_after=3)
    assert outcome == runs.Outcome(2.0, outcome.seconds, "", "metric=0\nmetric=1\nmetric=2\n")


@pytest.mark.parametrize("text, options, error", [
    ("print('metric=1')\nraise ValueError('no')\n", {}, "ended with status 1: ValueError: no"),
    ("print('nothing')\n", {}, "printed no metric"),
    ("print('metric=1')\n", {"stop_after": 2}, "ended before its metric was printed 2 times"),
    ("print('metric=1')\n", {"data": {"mnist": {"at": "toy.py"}}}, "its data cannot be made: "),
    ("from sklearn_of_old import f\nf()\n", {}, "ended with status 1: ModuleNotFoundError")])
def test_what_fails(tree, text, options, error):
    assert run(tree, text, **options).error.startswith(error)


def test_a_removed_function_can_be_imported_but_not_called(tree):
    options = {"absent": ("json.gone",)}
    assert run(tree, "from json import gone, dumps\nprint('metric=1')\n", **options).error == ""
    assert "json.gone is not in this version" in run(tree, "from json import gone\ngone()\n", **options).error


def test_a_notebook_runs_cell_by_cell(tmp_path):
    cells = [{"cell_type": "code", "source": ["%matplotlib inline\n", "x = 4\n", "if x:\n", "    x += 1"]},
             {"cell_type": "markdown", "source": ["metric=9"]},
             {"cell_type": "code", "source": ["print('metric=%d' % x)"]}]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    done = subprocess.run([sys.executable, "-m", "symbind", str(runs.LAUNCH), "1", "--", "n.ipynb"], cwd=tmp_path,
                          capture_output=True, text=True, check=True)
    assert done.stdout == "metric=5\n"


# ------------------------------------------------------------------ the verdict


@pytest.mark.parametrize("metric, recorded, good", [
    (0.95, [0.94, 0.93], True), (0.965, [0.94, 0.93], False), (0.911, [0.94, 0.93], True),
    (0.909, [0.94, 0.93], False), (5.09, [5.0, 5.0], True), (5.11, [5.0, 5.0], False),
    (math.nan, [0.9, 0.9], False), (-51.1, [-51, -50], True), (-53, [-51, -50], False)])
def test_verdict(metric, recorded, good):
    row = Script("toy", "toy/toy.py", "x")
    wrong = run_examples.verdict(row, runs.Outcome(metric, 1.0, "", ""), {"metrics": recorded})
    assert (wrong == "") == good


def test_verdict_of_text():
    row = Script("toy", "toy/toy.py", "x", exact=True)
    for text, wrong in (("1, 2", ""), ("1, 3", "metric is another")):
        assert run_examples.verdict(row, runs.Outcome(text, 1.0, "", ""), {"metrics": ["1, 2", "1, 2"]}) == wrong
    assert run_examples.verdict(row, runs.Outcome("1", 1.0, "late", ""), None) == "late"
    assert run_examples.verdict(row, runs.Outcome("1", 1.0, "", ""), None) == "no recording of MXNet's"


def test_data_is_the_same_everywhere(tmp_path):
    """What a recording was made with: the sums are of the files that tools/oracle/examples used."""
    data.mnist(tmp_path, train=10, test=10)
    data.sentences(tmp_path, count=20)
    sums = {name: hashlib.sha256((tmp_path / "data" / name).read_bytes()).hexdigest()[:12]
            for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "sherlockholmes.test.txt")}
    assert sums == {"train-images-idx3-ubyte": "650bc58e7fff", "train-labels-idx1-ubyte": "e5152fc107b0",
                    "sherlockholmes.test.txt": "9e8f48a1ce06"}
