"""The sessions of the manual's pages give what they show."""
import os
import pathlib
import re

import numpy as np
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


def test_the_readme_program_learns(capsys):
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    mx.random.seed(1)
    np.random.seed(1)
    names = {}
    exec(compile(program, "README.md", "exec"), names)  # pylint: disable=exec-used
    assert names["mod"].score(names["val"], "acc")[0][1] > 0.9
    assert capsys.readouterr().out.startswith("[('accuracy', 0.9")


@pytest.mark.parametrize("page, commands", [("scripts.md", 4), ("program.md", 16)])
def test_the_commands_of_a_page(page, commands, tmp_path):
    programs = [os.path.dirname(program())] if page == "program.md" else []
    assert run_commands(DOCS / page, tmp_path, programs) == commands
