"""Measures one row: the engines take turns in one run, on the same problem."""
import dataclasses
import math
import multiprocessing
import os
import re
import statistics
import tempfile
import time

import numpy as np

from . import arithmetic, heads, problem
from .process import Failed

TURN = 0.2         # seconds of work per turn, at least one step
TOLERANCE = {"float32": 1e-3, "bfloat16": 2e-2, "float16": 2e-2}
MOST_OF_ONE_OUTPUT = 0.1   # of the range of the outputs, in bfloat16


@dataclasses.dataclass
class Options:
    rounds: int = 15
    seconds: float = 60.0     # of a row; fewer rounds are run where steps are long, at least 3
    check_steps: int = 20     # at most, of a training
    compiled: bool = True     # whether modes that compile for a long time are tried
    clock: str = "seconds"    # or cpu_seconds
    problems: str = None      # a folder that keeps the files of problems, for later runs


@dataclasses.dataclass
class Contender:
    """An engine in its best mode."""
    engine: str
    worker: object
    mode: str
    step: float                # seconds, estimated
    difference: float = 0.0
    tried: dict = dataclasses.field(default_factory=dict)
    times: list = dataclasses.field(default_factory=list)

    @property
    def steps(self):
        return max(1, round(TURN / self.step))

    def turn(self, clock):
        self.times.append(self.worker.time(self.mode, self.steps, clock) / self.steps)


def write_problem(folder, row, parts=None, **changes):
    """Makes the files, unless an earlier run has left them there."""
    if os.path.exists(os.path.join(folder, "problem.json")):
        return folder
    os.makedirs(folder, exist_ok=True)
    values = {"train": row.train, "kind": row.kind if row.kind in ("fit", "imperative") else "step",
              "dtype": row.dtype, **changes}
    problem.write(folder, parts or row.parts, **values)
    return folder


def estimate(worker, mode, clock):
    """Seconds of a step, after a first one, in which some engines compile."""
    worker.time(mode, 1)
    steps = 1
    while True:
        seconds = worker.time(mode, steps, clock)
        if seconds > TURN / 4 or steps > 1e6:
            return seconds / steps
        steps = max(2 * steps, min(10 * steps, int(steps * TURN / 3 / max(seconds, 1e-7))))


def results_of(worker, mode, row, folder, options):
    """What the engines are compared by: losses of training steps, or outputs; in bfloat16 their loss and they."""
    if row.kind != "step" and row.kind != "load":
        return None
    if row.train:
        return worker.call("losses", mode=mode, steps=min(row.check_steps, options.check_steps))["losses"]
    file = os.path.join(folder, "outputs-%s.npz" % worker.engine)
    worker.call("outputs", mode=mode, file=file)
    with np.load(file) as arrays:
        outputs = [arrays["output%d" % i] for i in range(len(arrays.files))]
    if row.dtype == "bfloat16":
        return [float(heads.Losses(problem.read(folder), 0).of(outputs))], outputs
    return outputs


def difference(row, found, reference):
    if row.train:
        return arithmetic.difference_of_losses(found, reference)
    if row.dtype != "bfloat16":
        return arithmetic.difference_of_arrays(found, reference)
    # Rounding changes single outputs more than the loss, in every engine.
    losses, arrays = (compare(f, r) for compare, f, r in zip(
        (arithmetic.difference_of_losses, arithmetic.difference_of_arrays), found, reference))
    return math.inf if arrays > MOST_OF_ONE_OUTPUT else losses


def modes_of(worker, row, options):
    modes = worker.modes.get(row.kind if row.kind in worker.modes else "step", [])
    return [mode for mode in modes if options.compiled or "compile" not in mode]


def best_mode(worker, row, folder, options, reference):
    """The engine's contender in its fastest mode, and its results, which are those of a new start."""
    modes, tried, errors = modes_of(worker, row, options), {}, []
    for mode in modes if len(modes) > 1 else []:
        try:
            worker.call("build", problem=folder, mode=mode)
            tried[mode] = estimate(worker, mode, options.clock)
            worker.call("drop", mode=mode)
        except Failed as error:
            errors.append("%s: %s" % (mode, error))
            if not worker.alive:
                break
    if not modes or (errors and not tried):
        raise Failed("; ".join(errors) or "has no mode for this row")
    best = min(tried, key=tried.get) if tried else modes[0]
    worker.call("build", problem=folder, mode=best)
    results = results_of(worker, best, row, folder, options)
    apart = 0.0 if results is None or reference is None else difference(row, results, reference)
    step = estimate(worker, best, options.clock)
    return Contender(worker.engine, worker, best, step, apart, tried), results


def busy_loop(core):
    os.sched_setaffinity(0, {core})
    while True:
        pass


class Load:
    """One busy process per core, while it is entered."""

    def __enter__(self):
        self.processes = [multiprocessing.Process(target=busy_loop, args=(core,), daemon=True)
                          for core in os.sched_getaffinity(0)]
        for process in self.processes:
            process.start()
        time.sleep(0.2)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.join()


def rounds_of(contenders, options):
    turn = sum(max(TURN, c.step) for c in contenders)
    return max(3, min(options.rounds, int(options.seconds / turn)))


def take_turns(contenders, options):
    for i in range(rounds_of(contenders, options)):
        for contender in contenders if i % 2 == 0 else contenders[::-1]:
            contender.turn(options.clock)


def entry(contender, ours, row):
    """What the report has about an engine; without ratios where there are no times of ours."""
    without_amx = getattr(contender.worker, "without_amx", False)
    found = {"mode": contender.mode + (" without AMX" if without_amx else ""), "seconds": statistics.median(contender.times) / row.divide,
             "difference": contender.difference, "agrees": contender.difference <= TOLERANCE[row.dtype],
             "modes_tried": {mode: seconds / row.divide for mode, seconds in contender.tried.items()}}
    if ours:
        found.update(arithmetic.ratios(contender.times, ours))
    return found


def results_in_float32(row, workers, threads, folder, options):
    """MXNet's results, for rows in a type that MXNet does not compute in: engines round at different places, so each is
    compared with float32, not with another engine. None without MXNet."""
    if row.dtype != "bfloat16" or "mxnet" not in workers.engines:
        return None
    other = write_problem(os.path.join(folder, "float32"), row, dtype="float32")
    worker = workers.get("mxnet", threads)
    mode = worker.modes["step"][0]
    worker.call("build", problem=other, mode=mode)
    found = results_of(worker, mode, row, other, options)
    worker.call("drop", mode=mode)
    return found


def find_contenders(row, workers, threads, options, folder):
    """The engines in their best modes, in the row's order, and {engine: {"error"}} of those that cannot run the row."""
    main = write_problem(os.path.join(folder, "main"), row)
    plain = write_problem(os.path.join(folder, "plain"), row, kind="step") if row.kind == "fit" else main
    contenders, failed = [], {}
    reference = results_in_float32(row, workers, threads, folder, options)
    # MXNet's results are the reference for all: it is the first.
    for engine in sorted((e for e in row.engines if e in workers.engines), key=lambda e: e != "mxnet"):
        try:
            worker = workers.get(engine, threads)
            where = plain if row.kind == "fit" and "fit" not in worker.modes else main
            try:
                contender, found = best_mode(worker, row, where, options, reference)
            except Failed:
                worker = workers.get(engine, threads)
                if not worker.without_amx:
                    raise
                contender, found = best_mode(worker, row, where, options, reference)
        except Failed as error:
            failed[engine] = {"error": str(error)}
            continue
        reference = found if reference is None else reference
        contenders.append(contender)
    contenders.sort(key=lambda c: row.engines.index(c.engine))
    return contenders, failed


def times_of_ours(contenders):
    return next((c.times for c in contenders if c.engine == "symbind"), None)


def under_load(contenders, row, options):
    """The entries of a row about busy cores; the contenders have had their turns without load."""
    quiet = {c.engine: statistics.median(c.times) for c in contenders}
    for contender in contenders:
        contender.times = []
    with Load():
        take_turns(contenders, options)
    return {c.engine: {**entry(c, times_of_ours(contenders), row), "unloaded_seconds": quiet[c.engine],
                       "slower": statistics.median(c.times) / quiet[c.engine]} for c in contenders}


def measure_steps(row, workers, threads, options, folder):
    """{engine: entry}; an engine that cannot run the row has only `error`."""
    contenders, failed = find_contenders(row, workers, threads, options, folder)
    if row.compare_with and "symbind" not in failed:
        other = write_problem(os.path.join(folder, "other"), row, row.compare_with, dtype="float32")
        worker = workers.get("symbind", threads)
        worker.call("build", problem=other, mode="compare_with")
        step = estimate(worker, "compare_with", options.clock)
        contenders.append(Contender("symbind, float32", worker, "compare_with", step))
    if contenders:
        take_turns(contenders, options)
    if row.kind == "load":
        results = under_load(contenders, row, options)
    else:
        results = {c.engine: entry(c, times_of_ours(contenders), row) for c in contenders}
    for contender in contenders:
        contender.worker.call("drop", mode=contender.mode)
    return {**results, **failed}


def new_process(row, workers, engine, threads, folder, steps):
    """Starts a process that builds the problem and runs steps: seconds until the first is done, and bytes."""
    start = time.perf_counter()
    worker = workers.start(engine, threads, keep_pages=False)
    try:
        mode = worker.modes["step"][0]
        worker.call("build", problem=folder, mode=mode)
        worker.call("run", mode=mode, steps=1)
        seconds = time.perf_counter() - start
        if steps > 1:
            worker.call("run", mode=mode, steps=steps - 1)
        return seconds, worker.call("memory")["bytes"]
    finally:
        worker.end()


def measure_processes(row, workers, threads, options, folder):
    """Rows about whole processes: the time to the first step, or memory."""
    main = write_problem(os.path.join(folder, "main"), row)
    rounds, steps, which = (2, 3, 1) if row.kind == "memory" else (max(3, options.rounds // 2), 1, 0)
    figures, failed = {}, {}
    for _ in range(rounds):
        for engine in [e for e in row.engines if e in workers.engines and e not in failed]:
            try:
                figures.setdefault(engine, []).append(new_process(row, workers, engine, threads, main, steps)[which])
            except Failed as error:
                failed[engine] = {"error": str(error)}
    results = {}
    unit = "bytes" if row.kind == "memory" else "seconds"
    for engine, values in figures.items():
        if engine not in failed and "symbind" in figures:
            results[engine] = {"mode": "new process", unit: statistics.median(values),
                               **arithmetic.ratios(values, figures["symbind"])}
    return {**results, **failed}


def measure(row, workers, threads, options):
    """{"row", "group", "kind", "threads", "engines": {engine: entry}}; `error` where a process ended during the turns."""
    run = measure_processes if row.kind in ("start", "memory") else measure_steps
    found = {"row": row.name, "group": row.group, "kind": row.kind, "threads": threads, "engines": {}}
    with tempfile.TemporaryDirectory(prefix="symbind-compare-") as folder:
        if options.problems:
            folder = os.path.join(options.problems, re.sub("[^A-Za-z0-9]+", "_", row.name))
        try:
            found["engines"] = run(row, workers, threads, options, folder)
        except Failed as error:
            found["error"] = str(error)
            workers.end()
    return found
