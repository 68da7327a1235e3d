"""The sessions of the manual's pages give what they show."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import symbind as mx
from program_cases import program
from run_page import run_commands, run_python

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page, sessions", [
    ("python.md", 14), ("monitor.md", 20), ("optimizers.md", 7), ("data.md", 15),
    ("from_mxnet.md", 50), ("checkpoints.md", 20), ("devices.md", 15), ("bucketing.md", 12),
    ("questions.md", 35), ("training.md", 35), ("predict.md", 20),
    ("explain.md", 20), ("autograd.md", 23), ("scripts.md", 3), ("step.md", 30), ("mistakes.md", 90)])
def test_sessions(page, sessions):
    with mx.name.NameManager():  # made-up names count from 0
        assert run_python(DOCS / page) >= sessions


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


@pytest.mark.parametrize("page, commands", [("scripts.md", 4), ("program.md", 16)])
def test_the_commands_of_a_page(page, commands, tmp_path):
    programs = [os.path.dirname(program())] if page == "program.md" else []
    assert run_commands(DOCS / page, tmp_path, programs) == commands
