#!/usr/bin/env python3
"""Checks that files are short.

Sources: a warning from 500 lines, a failure from 800. Public headers: a failure above 300; other
headers of src/ a warning. Generated files are skipped. Exit status 1 on a failure.

    tools/check_size.py [ROOT]      [ROOT] is the tree of this file by default
"""

import pathlib
import sys

FOLDERS = ["include", "src", "tests", "examples", "benchmarks", "tools", "cmake", "programs", "python"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".py", ".cmake"}
GENERATED = {"include/symbind/ops.h"}
WARN, FAIL, HEADER = 500, 800, 300


def verdict(name, lines):
    """None, or ("warning" | "failure", why)."""
    if name in GENERATED:
        return None
    if name.startswith("include/symbind/") and lines > HEADER:
        return "failure", f"a public header has at most {HEADER} lines"
    if lines >= FAIL:
        return "failure", f"a file has fewer than {FAIL} lines"
    if lines >= WARN:
        return "warning", f"from {WARN} lines a file should be split"
    if name.startswith("src/") and name.endswith(".h") and lines > HEADER:
        return "warning", f"a header should have at most {HEADER} lines"
    return None


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    failures = count = 0
    for folder in FOLDERS:
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in SUFFIXES):
            name = file.relative_to(root).as_posix()
            lines = len(file.read_text(errors="replace").splitlines())
            count += 1
            found = verdict(name, lines)
            if found:
                print(f"{found[0]}: {name} has {lines} lines; {found[1]}")
                failures += found[0] == "failure"
    print(f"check_size: {count} files, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
