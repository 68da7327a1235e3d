"""Runs the program `symbind` of the build that is tested."""
import importlib.util
import json
import os
import pathlib
import re
import struct
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
TEXTS = GOLDEN / "program"
CHECKPOINT = GOLDEN / "checkpoint" / "fashion"


def program():
    """Its path: the package of the tests is in build/<preset>/python, the program in build/<preset>/bin."""
    given = os.environ.get("SYMBIND_PROGRAM")
    if not given:
        spec = importlib.util.find_spec("symbind")
        given = str(pathlib.Path(spec.origin).parents[2] / "bin" / "symbind")
    if not os.path.exists(given):
        pytest.skip("the program symbind was not built: CLI11 is missing")
    return given


def run(*arguments, cwd, code=0, stdin=None, env=None, **options):
    """The finished process; its exit code is checked."""
    done = subprocess.run([program(), *map(str, arguments)], cwd=cwd, text=True, capture_output=True, check=False,
                          timeout=120, input=stdin, env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
                          **options)
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run_json(*arguments, cwd, code=0):
    return json.loads(run(*arguments, "--json", cwd=cwd, code=code).stdout)


def error_line(*arguments, cwd, code):
    """The only line on stderr of a command that fails; stdout stays empty."""
    done = run(*arguments, cwd=cwd, code=code)
    lines = done.stderr.splitlines()
    assert done.stdout == "" and len(lines) == 1, done.stdout + done.stderr
    return lines[0]


def without_numbers(text):
    """Numbers with a fraction, times and speeds differ from machine to machine."""
    text = re.sub(r"\d+\.\d+(e-?\d+)?", "#", text)
    text = re.sub(r"\b\d+:\d\d\b", "#", text)
    return re.sub(r"[\d#]+ samples/s", "# samples/s", text)


def check_text(name, text):
    """Compares with tests/golden/program/<name>; SYMBIND_UPDATE_GOLDEN=1 writes it."""
    path = TEXTS / name
    if os.environ.get("SYMBIND_UPDATE_GOLDEN"):
        TEXTS.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def write_idx(path, array):
    """A file of unsigned bytes as MNIST has them."""
    header = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(header + array.astype("uint8").tobytes())
