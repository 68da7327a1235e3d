"""The command `symbind` of a wheel, python/scripts/symbind: it runs the program of the package that Python finds."""
import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "python" / "scripts" / "symbind"


def run_script(folder, *arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(folder)})


def make_package(folder):
    """A package that fails if it is imported."""
    (folder / "symbind" / "bin").mkdir(parents=True)
    (folder / "symbind" / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    return folder / "symbind" / "bin" / "symbind"


def test_arguments_output_and_exit_code_are_those_of_the_program(tmp_path):
    program = make_package(tmp_path)
    program.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    done = run_script(tmp_path, "train", "--run", "a name", "")
    assert (done.returncode, done.stdout, done.stderr) == (3, "<train><--run><a name><>", "")


def test_a_package_without_the_program_is_named(tmp_path):
    program = make_package(tmp_path)
    done = run_script(tmp_path, "doctor")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"symbind: cannot run {program}: No such file or directory; ")
    assert "PYTHONPATH" in done.stderr
