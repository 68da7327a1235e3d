#!/usr/bin/env python3
"""Checks the files, tests and programs that the documents name.

    tools/check_walk.py files               every file has at most the length that README.md,
                                            CONTRIBUTING.md and docs/ state
    tools/check_walk.py tests BUILD_DIR     docs/contract.md: every test named exists
    tools/check_walk.py program             README.md: its C++ program is examples/cpp/readme.cpp
    tools/check_walk.py snippets            the C++ of the pages in PAGES is that of the examples

A length follows the file's name: `src/executor/runner.cpp` (~110 lines). It is kept when the
file has at most a tenth more lines than that. tools/check_links checks that files exist.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDES = ["README.md", "CONTRIBUTING.md",
          *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
# Their C++ blocks are, except for indentation, in examples/cpp, which the tests compile and run.
PAGES = ["docs/from_mxnet.md", "docs/checkpoints.md", "docs/devices.md", "docs/bucketing.md",
         "docs/questions.md", "docs/predict.md", "docs/autograd.md", "README.md"]
MEASURED = re.compile(r"`([\w./-]+)`(?:\]\([\w./-]+\))? \(~(\d+) lines\)")
SLACK = 1.1


def check_files():
    wrong = []
    for guide in GUIDES:
        text = (ROOT / guide).read_text(encoding="utf-8")
        measured = 0
        for name, length in MEASURED.findall(text.replace("\n", " ")):
            if not (ROOT / name).is_file():
                continue
            measured += 1
            lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
            if lines > SLACK * int(length):
                wrong.append(f"{guide}: {name} has {lines} lines, not ~{length}")
        if guide == "docs/walk.md" and measured < 9:
            wrong.append(f"{guide}: only {measured} files have a length")
    return wrong


def check_tests(build):
    known = set()
    for listing in pathlib.Path(build, "ctest").glob("*.cmake"):
        known.update(re.findall(r"^add_test\(\[==\[(.*?)\]==\]", listing.read_text(), re.MULTILINE))
    for example in (ROOT / "examples/cpp").glob("*.cpp"):
        if "// ctest: run" in example.read_text(encoding="utf-8"):
            known.add(f"example.{example.stem}")
    for source in (ROOT / "tests/python").glob("test_*.py"):
        known.add("python." + source.stem.removeprefix("test_"))
    text = (ROOT / "docs/contract.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (S\d+) \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    wrong = []
    if [row[0] for row in rows] != [f"S{n}" for n in range(1, 51)]:
        wrong.append("docs/contract.md: the rows are not S1 to S50, each once")
    for number, shown in rows:
        if shown == "to come":
            continue
        tests = re.findall(r"`([^`]+)`", shown)
        if not tests:
            wrong.append(f"docs/contract.md: {number} names no test and is not 'to come'")
        wrong += [f"docs/contract.md: {number}: there is no test {t}" for t in tests
                  if t not in known and not (ROOT / t).is_file()]
    return wrong


def check_program():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    source = (ROOT / "examples/cpp/readme.cpp").read_text(encoding="utf-8")
    program = source[source.index("#include"):]
    return [] if program in blocks else ["README.md: its program is not examples/cpp/readme.cpp"]


def flat(text):
    """The text without indentation and line ends."""
    return " ".join(text.split())


def check_snippets():
    sources = [flat(path.read_text(encoding="utf-8"))
               for path in sorted((ROOT / "examples/cpp").glob("*.cpp"))]
    wrong = []
    for page in PAGES:
        blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
        if not blocks:
            wrong.append(f"{page}: there is no C++")
        wrong += [f"{page}: not in examples/cpp:\n{block}" for block in blocks
                  if not any(flat(block) in source for source in sources)]
    return wrong


def main(arguments):
    if arguments == ["files"]:
        wrong = check_files()
    elif arguments == ["program"]:
        wrong = check_program()
    elif arguments == ["snippets"]:
        wrong = check_snippets()
    elif len(arguments) == 2 and arguments[0] == "tests":
        wrong = check_tests(arguments[1])
    else:
        print(__doc__)
        return 2
    print("\n".join(wrong) if wrong else "as the documents say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
