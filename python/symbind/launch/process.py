"""One running process of the job, or one mpirun or srun, under a guard."""
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

_output_lock = threading.Lock()


def status_text(status):
    """How a process ended, in words."""
    if status in (126, 127):
        return f"could not be started (status {status})"
    if status > 128:
        try:
            return f"was ended by signal {status - 128} ({signal.Signals(status - 128).name})"
        except ValueError:
            pass
    return f"ended with status {status}"


class Process:
    """Starts a Member. `ended(process)` is called by another thread when `status` is known."""

    def __init__(self, member, tag_output, ended):
        self.member = member
        self.status = None
        self.ended_at = None
        pipe = subprocess.PIPE if tag_output else None
        sys.stdout.flush()
        # In another session: the terminal's Ctrl-C reaches the launcher alone, which passes it on.
        self._guard = subprocess.Popen(member.argv, stdin=subprocess.PIPE, stdout=pipe, stderr=pipe,
                                       start_new_session=True)
        self._copiers = [threading.Thread(target=self._copy, args=streams, daemon=True) for streams in
                         ((self._guard.stdout, sys.stdout), (self._guard.stderr, sys.stderr)) if tag_output]
        self._write(member.stdin)
        for thread in (*self._copiers, threading.Thread(target=self._wait, args=(ended,), daemon=True)):
            thread.start()

    def end(self, number):
        """Sends a signal to the process and its children; the guard sends SIGKILL 5 s after the first.

        mpirun and srun always get SIGTERM. It makes them end their processes, by SIGKILL if necessary. SIGINT
        makes srun print a status, and SIGKILL would make them leave their processes.
        """
        self._write(f"{int(signal.SIGTERM if self.member.rank is None else number)}\n")

    def kill(self):
        """Ends the guard, which may be an ssh without a connection."""
        self._guard.kill()

    def _write(self, text):
        with contextlib.suppress(BrokenPipeError, ValueError):  # it has ended; _wait reports how
            self._guard.stdin.write(text.encode())
            self._guard.stdin.flush()

    def _wait(self, ended):
        status = self._guard.wait()
        self.ended_at = time.monotonic()
        if status < 0:
            self._end_session()
        self._guard.stdin.close()
        for thread in self._copiers:
            thread.join(1)
        self.status = status if status >= 0 else 128 - status
        ended(self)

    def _end_session(self):
        """Kills what a killed guard left: all processes of its session."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    session = int(file.read().rpartition(")")[2].split()[3])
                if session == self._guard.pid:
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                pass  # it ended meanwhile

    def _copy(self, source, target):
        for line in source:
            with _output_lock, contextlib.suppress(OSError):  # a closed output does not block the process
                target.buffer.write(f"[{self.member.tag}] ".encode() + line.rstrip(b"\n") + b"\n")
                target.flush()
