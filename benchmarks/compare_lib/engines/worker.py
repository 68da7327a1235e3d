"""The process of one engine: builds problems and runs steps on demand.

    worker.py ENGINE THREADS

Reads one JSON object per line from standard input and answers with one. `do` is

    build     {"problem": folder, "mode": name}: makes the problem ready; a worker holds several, by mode
    run       {"mode", "steps"} -> {"seconds", "cpu_seconds" of all threads}
    losses    {"mode", "steps"} -> {"losses"}: the loss of every training step
    outputs   {"mode", "file"}: runs one step and writes its outputs (.npz)
    drop      {"mode"}: forgets a problem
    memory    -> {"bytes"}: the largest resident size so far
    profile   {"mode", "steps"} -> {"nodes": [[name, operator, milliseconds], ...]}

An answer to a failed command has only `error`. Nothing else is written to standard output.
"""
import gc
import importlib
import json
import os
import resource
import sys
import time


def own_output():
    """Standard output as a file, with everything that libraries print sent to standard error."""
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return stream


class Worker:
    def __init__(self, engine, threads):
        self.engine = engine
        self.threads = threads
        self.jobs = {}

    def build(self, problem, mode):
        with open(os.path.join(problem, "problem.json")) as file:
            described = json.load(file)
        described["folder"] = problem
        self.jobs[mode] = self.engine.build(described, mode, self.threads)
        return {}

    def run(self, mode, steps):
        job = self.jobs[mode]
        start, cpu = time.perf_counter(), time.process_time()
        job.run(steps)
        return {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}

    def losses(self, mode, steps):
        return {"losses": [float(self.jobs[mode].loss_of_step()) for _ in range(steps)]}

    def outputs(self, mode, file):
        import numpy
        arrays = self.jobs[mode].outputs()
        numpy.savez(file, **{"output%d" % i: array for i, array in enumerate(arrays)})
        return {}

    def drop(self, mode):
        self.jobs.pop(mode, None)
        gc.collect()
        return {}

    def memory(self):
        return {"bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}

    def profile(self, mode, steps):
        return self.jobs[mode].profile(steps)


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    answers = own_output()
    # The package is found from the folder above; the engines' own folder must not be searched, it has a torch.py.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.path.dirname(os.path.dirname(here))] + [p for p in sys.path if os.path.abspath(p or ".") != here]

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        engine = importlib.import_module("compare_lib.engines." + name)
        worker = Worker(engine, threads)
        answer({"version": engine.version(), "modes": engine.MODES, "notes": getattr(engine, "NOTES", "")})
    except Exception as error:
        return answer({"error": "%s: %s" % (type(error).__name__, error)})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer(getattr(worker, command.pop("do"))(**command))
        except Exception as error:
            answer({"error": "%s: %s" % (type(error).__name__, str(error)[:2000])})


if __name__ == "__main__":
    main()
