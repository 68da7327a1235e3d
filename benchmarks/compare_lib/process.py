"""The worker process of an engine, from the side of the driver."""
import json
import os
import pathlib
import signal
import subprocess

from . import peers

WORKER = pathlib.Path(__file__).resolve().parent / "engines" / "worker.py"

# How each engine is held to AVX2. ONNX Runtime's own kernels have no switch.
AVX2 = {
    "symbind": {"ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"},
    "mxnet": {"DNNL_MAX_CPU_ISA": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"},
    "torch": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
              "MKL_ENABLE_INSTRUCTIONS": "AVX2", "MKL_CBWR": "AVX2", "SYMBIND_COMPARE_ISA": "avx2"},
    "openvino": {"ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2"},
}
# glibc returns large blocks to the system at once, which costs PyTorch a page fault per page in every step.
KEEP_PAGES = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "1000000000000", "MALLOC_TOP_PAD_": "67108864"}
# Some virtual machines list AMX and have no such instructions: an engine that ends by an illegal one runs without AMX.
WITHOUT_AMX = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16", "DNNL_MAX_CPU_ISA": "AVX512_CORE_BF16"}


class Failed(Exception):
    """The engine answered with an error, or its process ended."""


class Worker:
    """A process that waits for commands. It is stopped between them, so that no thread of it uses a core."""

    def __init__(self, engine, python, threads, isa=None, keep_pages=True, without_amx=False):
        self.engine, self.without_amx = engine, without_amx
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        # Installed packages have compiled modules; those of a checkout are compiled once, at the first start.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if isa == "avx2":
            environment.update(AVX2.get(engine, {}))
        if without_amx and isa is None:
            environment.update(WITHOUT_AMX)
        if engine == "torch" and keep_pages:
            environment.update(KEEP_PAGES)
        log = subprocess.DEVNULL if not os.environ.get("SYMBIND_COMPARE_LOG") else None
        self.process = subprocess.Popen([python, str(WORKER), engine, str(threads)], text=True, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.stopped = False
        try:
            greeting = self.answer()
        except Failed:
            self.end()
            raise
        self.version, self.modes = greeting["version"], greeting["modes"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            raise Failed("the process ended with status %d" % code)
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def call(self, do, **arguments):
        if self.stopped:
            self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()
            return self.answer()
        except BrokenPipeError:
            raise Failed("the process ended") from None
        finally:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGSTOP)
                self.stopped = True

    def time(self, mode, steps, clock="seconds"):
        """Seconds of these steps: wall time, or with clock="cpu_seconds" that of the processor."""
        return self.call("run", mode=mode, steps=steps)[clock]

    @property
    def alive(self):
        return self.process.poll() is None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Workers:
    """The processes of a run: one per engine and number of threads, started when first needed."""

    def __init__(self, folder, engines, isa=None):
        self.folder, self.isa = folder, isa
        self.missing = {}      # engine: why
        self.versions = {}
        self.engines = []
        self.processes = {}
        self.without_amx = set()
        for engine in engines:
            if peers.python_of(folder, engine):
                self.engines.append(engine)
            else:
                self.missing[engine] = "not installed in %s; --install-peers installs it" % folder

    def start(self, engine, threads, **options):
        """A new process."""
        worker = Worker(engine, peers.python_of(self.folder, engine), threads, self.isa,
                        without_amx=engine in self.without_amx, **options)
        self.versions[engine] = worker.version
        return worker

    def get(self, engine, threads):
        """The process that stays; started again where it ended."""
        worker = self.processes.get((engine, threads))
        if worker is not None and worker.process.poll() == -signal.SIGILL:
            self.without_amx.add(engine)
        if worker is None or not worker.alive:
            worker = self.processes[engine, threads] = self.start(engine, threads)
        return worker

    def end(self):
        for worker in self.processes.values():
            worker.end()
        self.processes.clear()
