"""Runs a job of several processes on this machine and collects what they print."""
import collections
import os
import signal
import socket
import subprocess
import sys
import tempfile

Result = collections.namedtuple("Result", "status out err")


def free_port():
    """A port that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    """Scheduler, servers and workers, each running `script` (the text of a Python program)."""

    def __init__(self, script, workers, servers=0, scheduler=True, settings=None, by_rank=None, port=None):
        self.folder = tempfile.mkdtemp(prefix="dist_job_")
        path = os.path.join(self.folder, "script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        self.port = port or free_port()
        base = {name: value for name, value in os.environ.items()
                if not name.startswith(("DMLC_", "SYMBIND_DIST_"))}
        base.update(DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(self.port),
                    DMLC_NUM_WORKER=str(workers), DMLC_NUM_SERVER=str(servers), OMP_NUM_THREADS="1")
        base.update(settings or {})

        def start(role, rank, command):
            own = dict(base, DMLC_ROLE=role, SYMBIND_DIST_RANK=str(rank))
            own.update((by_rank or {}).get(rank, {}) if role == "worker" else {})
            # Files, not pipes: a process that waits for its reader would look like one that hangs.
            out, err = (open(os.path.join(self.folder, "%s%d.%s" % (role, rank, kind)), "w+", encoding="utf-8")
                        for kind in ("out", "err"))
            process = subprocess.Popen(command, env=own, stdout=out, stderr=err, cwd=self.folder)
            process.files = (out, err)
            return process

        self._start = start
        self._command = [sys.executable, path]
        serve = [sys.executable, "-c", "import symbind"]
        self.scheduler = start("scheduler", 0, serve) if scheduler else None
        self.servers = [start("server", i, serve) for i in range(servers)]
        self.workers = [start("worker", i, self._command) for i in range(workers)]

    def restart_worker(self, rank):
        """Starts a worker that has ended again; its former output is lost."""
        self.workers[rank] = self._start("worker", rank, self._command)

    def processes(self):
        """All of them."""
        return [p for p in [self.scheduler, *self.servers, *self.workers] if p is not None]

    def read(self, process):
        """What a process has printed so far: (stdout, stderr)."""
        texts = []
        for file in process.files:
            file.seek(0)
            texts.append(file.read())
        return texts

    def wait(self, seconds=60):
        """Waits for all; returns the results of the workers. Whatever is left then is an error."""
        try:
            for process in self.processes():
                process.wait(seconds)
        finally:
            self.end()
        return [Result(p.returncode, *self.read(p)) for p in self.workers]

    def end(self):
        """Ends what still runs."""
        for process in self.processes():
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()


def run_job(script, workers, seconds=60, **options):
    """The results of all workers."""
    return Job(script, workers, **options).wait(seconds)


def check_all_passed(results):
    """Fails with the output of a worker that failed."""
    for rank, result in enumerate(results):
        assert result.status == 0, "worker {}:\n{}\n{}".format(rank, result.out, result.err)
