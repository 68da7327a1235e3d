"""The machine: CPU, instruction sets, and probes of its speed."""
import os
import pathlib
import re
import tempfile

from . import problem

FLAGS = (("avx512_bf16", "AVX-512 with bf16"), ("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sse4_1", "SSE4.1"))


def cpu_and_flags():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = re.search(r"model name\s*: (.*)", text)
    flags = re.search(r"flags\s*: (.*)", text)
    return name.group(1) if name else "unknown CPU", set(flags.group(1).split()) if flags else set()


def isa_text(flags, held=None):
    text = next((title for flag, title in FLAGS if flag in flags), "without SSE4.1")
    if "amx_bf16" in flags:
        text += " and AMX"
    return text + (", held to %s" % held.upper() if held else "")


def probes(workers, threads_list):
    """{threads: {"GFLOP/s", "GB/s"}}: Symbind's profiler measures them."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        problem.write(folder, (("mlp", 1),))
        for threads in threads_list:
            worker = workers.get("symbind", threads)
            worker.call("build", problem=folder, mode="probe")
            found[str(threads)] = worker.call("profile", mode="probe", steps=1)["peak"]
            worker.call("drop", mode="probe")
    return found


def describe(workers, options, load):
    name, flags = cpu_and_flags()
    return {"cpu": name, "cores": os.cpu_count(), "isa": isa_text(flags, options.isa), "load": load,
            "peak": probes(workers, options.threads)}
