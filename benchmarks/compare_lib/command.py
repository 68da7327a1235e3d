"""The command line of benchmarks/compare."""
import argparse
import datetime
import json
import os
import pathlib
import re
import sys
import time

import symbind.as_mxnet  # noqa: F401  the models import mxnet

from . import layers, machine, measure, models, peers, process, report, rows

DESCRIPTION = """Compares Symbind with MXNet 1.9.1, PyTorch, ONNX Runtime and OpenVINO: the same networks, weights and
data, in turns, in one run. Prints Markdown. docs/performance.md explains the figures."""
FULL = {"rounds": 15, "seconds": 60.0, "check_steps": 20}
QUICK = {"rounds": 5, "seconds": 8.0, "check_steps": 5}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="benchmarks/compare", description=DESCRIPTION)
    add = parser.add_argument
    add("--quick", action="store_true", help="the main rows with all cores, few rounds: at most 5 minutes")
    add("--install-peers", action="store_true", help="first make the environments that are missing, by pip")
    add("--peers", metavar="FOLDER", default=str(peers.default_folder()), help="environments of the peers (%(default)s)")
    add("--torch-index", metavar="URL", help="the package index for PyTorch, e.g. that of its wheels without CUDA")
    add("--only", metavar="REGEX", help="rows whose name it matches somewhere; --list shows them")
    add("--group", choices=sorted(report.GROUPS), help="rows of one table")
    add("--list", action="store_true", help="show the rows")
    add("--engines", metavar="NAMES", default=",".join(rows.ALL), help="%(default)s")
    add("--threads", metavar="NUMBERS", help="numbers of threads, by default 1 and all cores")
    add("--rounds", type=int, help="turns of each engine (15; with --quick 5)")
    add("--seconds", type=float, help="of turns per row, for long steps (60; with --quick 8); at least 3 rounds run")
    add("--check-steps", type=int, help="training steps whose losses are compared (20; with --quick 5)")
    add("--no-compile", action="store_true", help="leave out PyTorch's compiled modes")
    add("--isa", choices=["avx2"], help="hold the engines to these instructions, where they have a switch")
    add("--layers", metavar="MODEL", help="instead: each distinct convolution of a model, our time, ONNX Runtime's, the "
        "limit by fused multiply-adds")
    add("--batch", type=int, default=1, help="batch size of --layers (1)")
    add("--cpu-time", action="store_true", help="processor time instead of wall time, for a machine with other work: "
        "only with one thread")
    add("--problems", metavar="FOLDER", help="keep the problems' files there and use those that it has")
    add("--json", metavar="FILE", help="write the results there, too")
    add("--show", metavar="FILE", nargs="+", help="instead: the Markdown of files that --json wrote, as one run")
    add("--markdown", metavar="FILE", help="write the Markdown there, too")
    options = parser.parse_args(arguments)
    options.engines = [name.strip() for name in options.engines.split(",") if name.strip()]
    for name in options.engines:
        if name not in rows.ALL:
            parser.error("there is no engine '%s'; there are %s" % (name, ", ".join(rows.ALL)))
    if "symbind" not in options.engines:
        options.engines.insert(0, "symbind")
    if options.layers and options.layers not in models.all_models():
        parser.error("there is no model '%s'; there are %s" % (options.layers, ", ".join(models.all_models())))
    cores = len(os.sched_getaffinity(0))
    try:
        options.threads = [int(n) for n in options.threads.split(",")] if options.threads else (
            [cores] if options.quick else sorted({1, cores}, reverse=True))
        if options.cpu_time and options.threads != [1]:
            raise ValueError("--cpu-time needs --threads 1: with more threads it counts those that wait")
        options.pattern = re.compile(options.only or "", re.IGNORECASE)
    except (ValueError, re.error) as error:
        parser.error(str(error))
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def chosen_rows(options):
    return [row for row in rows.all_rows() if options.pattern.search(row.name)
            and (not options.group or row.group == options.group) and (row.quick or not options.quick)]


def say(text):
    print(text, file=sys.stderr, flush=True)


def write_results(options, run):
    """The results so far as a file, so that an interrupted run has some."""
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


def run_rows(options, workers, run):
    limits = measure.Options(
        rounds=options.rounds, seconds=options.seconds, check_steps=options.check_steps,
        compiled=not (options.no_compile or options.quick), clock="cpu_seconds" if options.cpu_time else "seconds",
        problems=options.problems)
    for threads in options.threads:
        for row in chosen_rows(options):
            start = time.perf_counter()
            found = measure.measure(row, workers, threads, limits)
            found["took"] = time.perf_counter() - start
            run["results"].append(found)
            write_results(options, run)
            cells = ["%s %s" % (name, report.cell(e, name == "symbind")) for name, e in found["engines"].items()]
            say("%s, %d threads: %s [%.0f s]" % (row.name, threads, "; ".join(cells), found["took"]))
        workers.end()


def merged(files):
    """The runs of these files as one."""
    runs = [json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files]
    run = runs[0]
    for other in runs[1:]:
        run["results"] += other["results"]
        run["versions"].update(other["versions"])
        run["missing"] = {e: why for e, why in run["missing"].items() if e in other["missing"]}
        run["machine"]["peak"].update(other["machine"]["peak"])
    return run


def main(arguments=None):
    options = parse(arguments)
    if options.show:
        print(report.markdown(merged(options.show)))
        return 0
    if options.list:
        for row in chosen_rows(options):
            print(row.name)
        return 0
    if options.install_peers:
        for engine, reason in peers.install(options.peers, options.engines, options.torch_index).items():
            say("%s COULD NOT BE INSTALLED: %s" % (peers.TITLES[engine], reason))
    workers = process.Workers(options.peers, options.engines, options.isa)
    for engine, reason in workers.missing.items():
        say("%s IS MISSING: %s" % (peers.TITLES[engine], reason))
    run = {"date": str(datetime.date.today()), "rounds": options.rounds, "cpu_time": options.cpu_time,
           "isa_notes": [e for e in workers.engines if e not in process.AVX2] if options.isa else [],
           "missing": workers.missing, "versions": workers.versions, "results": []}
    try:
        run["machine"] = machine.describe(workers, options, os.getloadavg()[0])
        if options.layers:
            text = layers.compare(options, workers, run)
        else:
            run_rows(options, workers, run)
            text = report.markdown(run)
    finally:
        workers.end()
    print(text)
    write_results(options, run)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text + "\n", encoding="utf-8")
    differing = [r["row"] for r in run["results"] if any(not e.get("agrees", True) for e in r["engines"].values())]
    if differing:
        say("RESULTS DIFFER: " + "; ".join(differing))
    return 1 if differing else 0
