#!/usr/bin/env python3
"""Runs what a page of the manual shows: `run_page.py PAGE...`, with the Python that has the package.

Each `$ command` of the page's console blocks runs in order, in one folder that contains the script of the page
(the code block after "`name.py`:"). What a command prints, stderr first, must be as shown; `...` stands for any
text. Then the page's Python sessions run as doctests. This file needs only the standard library, because
tools/wheel uses it on systems that have nothing else.
"""
import doctest
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run_commands(page, folder, programs=()):
    """Runs the page's commands in the folder, with the folders `programs` first in PATH; returns their number."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for name, script in re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)```", text, re.DOTALL):
        (pathlib.Path(folder) / name).write_text(script, encoding="utf-8")
    path = os.pathsep.join([*programs, os.path.dirname(sys.executable), os.environ["PATH"]])
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    sessions = [session for block in blocks for session in re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.M)]
    for line, shown in sessions:
        done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, encoding="utf-8", check=False,
                              env={**os.environ, "PATH": path})
        printed = done.stderr + done.stdout
        assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), f"{line}\n{printed}"
    return len(sessions)


def run_python(page):
    """Runs the page's Python sessions; returns their number."""
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.failed == 0, f"{page}: {found.failed} of {found.attempted} examples failed"
    return found.attempted


def main(pages):
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            commands = run_commands(page, folder)
        print(f"{os.path.basename(page)}: {commands} commands, {run_python(page)} examples", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
