"""Runs one command and ends it when the launcher asks or is gone.

The launcher runs this file on its own machine and sends its text over ssh to another one. Standard
input has one line of JSON: command, folder, environment (added), unset (names removed). Each later
line is the number of a signal for the command and all its children. The end of the input, which
also comes when the launcher or the connection dies, means SIGTERM. PATIENCE seconds after the first
signal all that is left gets SIGKILL. The exit status is the command's, 128 + n after signal n, 126
or 127 if it cannot be started.

Runs without symbind on Python 3.6 and later.
"""
import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time

PATIENCE = 5
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Guard:
    def __init__(self, spec):
        libc = ctypes.CDLL(None)
        # Children that the command leaves become the guard's, which sees when they end and can end them.
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)

        def enter():
            """In the child: its own process group, and SIGKILL if the guard is killed."""
            os.setpgid(0, 0)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

        environment = {name: value for name, value in os.environ.items() if name not in spec["unset"]}
        environment.update(spec["environment"])
        os.chdir(spec["folder"])
        self.child = subprocess.Popen(spec["command"], env=environment, stdin=subprocess.DEVNULL,
                                      preexec_fn=enter)
        self.deadline = None

    def signal_group(self, number):
        try:
            os.killpg(self.child.pid, number)
        except ProcessLookupError:
            pass

    def end(self, number):
        if self.deadline is None:
            self.deadline = time.monotonic() + PATIENCE
            timer = threading.Timer(PATIENCE, self.signal_group, [signal.SIGKILL])
            timer.daemon = True
            timer.start()
        self.signal_group(number)

    def listen(self):
        for line in sys.stdin:
            self.end(int(line))
        self.end(signal.SIGTERM)

    def wait(self):
        """The exit status. What the command left has a second to end by itself."""
        status = self.child.wait()
        until = self.deadline or time.monotonic() + 1
        while has_children():
            if time.monotonic() >= until:
                kill_children()
            time.sleep(0.02)
        return status if status >= 0 else 128 - status


def has_children():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def kill_children():
    """Those of a killed child become the guard's children; the caller kills them next."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/{}/stat".format(name), errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            if parent == os.getpid():
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it ended meanwhile


def main():
    spec = json.loads(sys.stdin.readline())
    try:
        guard = Guard(spec)
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write("symbind.launch: cannot run {} in {}: {}\n".format(
            spec["command"][0], spec["folder"], error))
        return 127 if getattr(error, "errno", None) == errno.ENOENT else 126
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, frame: guard.end(received))
    listener = threading.Thread(target=guard.listen)
    listener.daemon = True
    listener.start()
    return guard.wait()


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)  # the listener holds the lock of stdin, which an ordinary exit would wait for
