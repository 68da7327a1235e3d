"""The sessions of the manual's pages give what they show."""
import doctest
import os
import pathlib
import re
import subprocess
import sys

import pytest

import symbind as mx
from program_cases import program

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page, sessions", [
    ("python.md", 14), ("monitor.md", 20), ("optimizers.md", 7), ("data.md", 15),
    ("from_mxnet.md", 50), ("checkpoints.md", 20), ("devices.md", 15), ("bucketing.md", 12),
    ("questions.md", 35), ("training.md", 35), ("predict.md", 20),
    ("explain.md", 20), ("autograd.md", 23), ("scripts.md", 3), ("step.md", 30), ("mistakes.md", 90)])
def test_sessions(page, sessions):
    with mx.name.NameManager():  # made-up names count from 0
        found = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted >= sessions and found.failed == 0


def assert_shown(shown, printed):
    """`...` is any text, a time is any number, and other numbers with a fraction may differ by 0.02."""
    parts = re.split(r"(\.\.\.|\d+\.\d+)", shown)
    numbers, pattern = [], ""
    for part in parts:
        if part == "...":
            pattern += ".*"
        elif not re.fullmatch(r"\d+\.\d+", part):
            pattern += re.escape(part)
        elif pattern.endswith(re.escape("Time cost=")):
            pattern += r"\d+\.\d+"
        else:
            pattern += r"(\d+\.\d+)"
            numbers.append(float(part))
    found = re.fullmatch(pattern, printed, re.DOTALL)
    assert found, printed
    assert [float(number) for number in found.groups()] == pytest.approx(numbers, abs=0.02), printed


def test_output_that_differs_from_the_shown_one_is_found():
    assert_shown("a 0.50\n...b=1.25\nTime cost=3.0\n", "a 0.51\nx\nb=1.25\nTime cost=0.1\n")
    for printed in ("a 0.53\nb=1.25\nTime cost=3.0\n", "a 0.50\nb=1.25\n", "a 0.50\nc=1.25\nTime cost=3.0\n"):
        with pytest.raises(AssertionError):
            assert_shown("a 0.50\n...b=1.25\nTime cost=3.0\n", printed)


def test_the_commands_of_the_readme(tmp_path):
    """Each `$ …` of a console block, in a folder that holds the Python program and the build; the output is as shown."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    (tmp_path / "circle.py").write_text(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1))
    programs = os.path.dirname(program())
    (tmp_path / "build" / "release").mkdir(parents=True)
    (tmp_path / "build" / "release" / "bin").symlink_to(programs)
    sessions = re.findall(r"```console\n\$ (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(sessions) == 3
    for line, shown in sessions:
        done = subprocess.run(["bash", "-c", line.replace("python ", sys.executable + " ", 1)], cwd=tmp_path,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
                              env={**os.environ, "PATH": os.pathsep.join([programs, os.environ["PATH"]])})
        assert done.returncode == 0, done.stdout
        assert_shown(shown, done.stdout)
    assert (tmp_path / "lenet.html").stat().st_size > 10000


def test_the_commands_of_the_scripts_page(tmp_path):
    """Each `$ …` of the page, in order, in a folder that holds the page's train.py; the output is as shown."""
    text = (DOCS / "scripts.md").read_text(encoding="utf-8")
    (tmp_path / "train.py").write_text(re.search(r"```python\n(import.*?)```", text, re.DOTALL).group(1))
    sessions = re.findall(r"```console\n\$ (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(sessions) == 4
    for line, shown in sessions:
        done = subprocess.run(["bash", "-c", line.replace("python ", sys.executable + " ", 1)], cwd=tmp_path,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", check=False)
        assert doctest.OutputChecker().check_output(shown, done.stdout, doctest.ELLIPSIS), line + "\n" + done.stdout


def test_the_commands_of_the_program_page(tmp_path):
    """Each `$ …` of the page, in order, in one folder; what it prints is as shown, stderr first."""
    text = (DOCS / "program.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    sessions = [session for block in blocks for session in re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.M)]
    assert len(sessions) == 16
    path = os.pathsep.join([os.path.dirname(program()), os.environ["PATH"]])
    for line, shown in sessions:
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
                              env={**os.environ, "PATH": path})
        printed = done.stderr + done.stdout
        assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), line + "\n" + printed
