"""Starts, watches, restarts and ends the processes of a job.

Decided here:
- The job succeeds when all workers ended with 0. Scheduler and servers then end by themselves.
- After the first failure the others have SETTLE seconds. In a synchronous job the scheduler ends in
  this time, and the whole job fails or is restarted. If it still runs, the job is asynchronous, and
  failed workers alone are restarted.
- A lost process makes others exit with 75 (LOST). The failure that counts is the first with another status.
"""
import queue
import signal
import sys
import time

from . import options as command_line
from .guard import PATIENCE
from .hosts import UsageError
from .members import KINDS, service_command
from .process import Process, status_text

LOST = 75
SETTLE = 2        # seconds from the first failure to the decision
FAREWELL = 10     # seconds that scheduler and servers have after the last worker


def say(text):
    sys.stderr.write(f"symbind.launch: {text}\n")
    sys.stderr.flush()


class Stopped(Exception):
    """The launcher got a signal that ends it."""


class Job:
    def __init__(self, options, starter):
        self.options = options
        self.starter = starter
        self.generation = 0
        self.restarts = 0
        self.restarted_ranks = set()   # workers started again in this generation
        self.processes = []            # of this generation, also those that ended
        self.signals = []
        self.events = queue.SimpleQueue()

    def on_signal(self, number, _frame):
        self.signals.append(number)
        self.events.put(None)

    def run(self):
        """The exit status of the launcher."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, self.on_signal)
        try:
            while True:
                for member in self.starter.members(self.generation):
                    self.start(member)
                failure = self.watch()
                self.end_all(signal.SIGTERM)
                if failure is None:
                    return 0
                if not self.plan_restart(failure):
                    say(f"{failure.member.name} {status_text(failure.status)}; the job ends with this status")
                    return failure.status
        except Stopped:
            say(f"got {signal.Signals(self.signals[0]).name}, ends all processes")
            return 128 + self.signals[0]
        finally:
            self.end_all(self.signals[0] if self.signals else signal.SIGTERM)

    def start(self, member):
        if self.signals:
            raise Stopped
        self.processes.append(Process(member, self.options.tag_output, self.events.put))

    def of_role(self, *roles):
        return [process for process in self.processes if process.member.role in roles]

    def wait_event(self, deadline):
        """A process that ended; None when a signal came or the deadline passed."""
        try:
            return self.events.get(timeout=deadline and max(0, deadline - time.monotonic()))
        except queue.Empty:
            return None

    def wait_until(self, done, deadline):
        """Waits for events until done() or the deadline."""
        while not done() and (deadline is None or time.monotonic() < deadline):
            self.wait_event(deadline)
            if self.signals:
                raise Stopped

    def watch(self):
        """None when all workers ended with 0, else the process whose failure decides."""
        while True:
            self.wait_until(lambda: self.failures() or self.succeeded(), None)
            if self.succeeded():
                self.see_off()
                return None
            self.settle()
            failures = self.failures()
            if self.ended_whole(failures) or not self.restart_workers(failures):
                return next((process for process in failures if process.status != LOST), failures[0])

    def succeeded(self):
        return all(process.status == 0 for process in self.of_role("worker"))

    def failures(self):
        """Failed processes, in the order in which they ended."""
        failed = [process for process in self.processes if process.status not in (None, 0)]
        return sorted(failed, key=lambda process: process.ended_at)

    def settle(self):
        """Gives the others time to end by themselves after the first failure."""
        def scheduler_failed():
            return self.of_role("scheduler")[0].status not in (None, 0)

        def all_ended():
            return all(process.status is not None for process in self.processes)

        start = time.monotonic()
        self.wait_until(lambda: scheduler_failed() or all_ended(), start + SETTLE)
        if scheduler_failed():
            self.wait_until(all_ended, max(start + SETTLE, time.monotonic() + self.starter.last_words))

    def ended_whole(self, failures):
        """Whether the failures end the whole job, not workers alone."""
        return (self.of_role("scheduler")[0].status is not None or not self.starter.restarts_workers
                or any(process.member.role != "worker" for process in failures))

    def may_retry(self, failure):
        """Whether a restart is left and useful: not for a command or host that is missing for the second time."""
        again = self.generation > 0 or failure.member.rank in self.restarted_ranks
        missing = self.starter.cannot_start(failure.status) and (again or failure.status != 255)
        return self.restarts < self.options.max_restarts and not missing

    def count_restart(self, failure, what):
        self.restarts += 1
        say(f"{failure.member.name} {status_text(failure.status)}; "
            f"restart {self.restarts} of {self.options.max_restarts}: {what}")

    def restart_workers(self, failures):
        """Starts failed workers again in a job that continues. False if one of them may not."""
        for failure in failures:
            if not self.may_retry(failure):
                return False
            self.count_restart(failure, "this worker alone")
            self.restarted_ranks.add(failure.member.rank)
            self.processes.remove(failure)
            self.start(failure.member)
        return True

    def plan_restart(self, failure):
        """Prepares the next generation. False if the job ends."""
        count = len(self.starter.places)
        if self.may_retry(failure):
            self.count_restart(failure, f"the whole job with {count} workers")
        elif self.may_shrink(failure):
            self.starter.places.pop(-1 if failure.member.rank is None else failure.member.rank)
            say(f"{failure.member.name} {status_text(failure.status)}; {self.restarts} of "
                f"{self.options.max_restarts} restarts are used: the whole job with {count - 1} workers, "
                f"at least {self.options.min_workers}")
        else:
            return False
        self.generation += 1
        self.restarted_ranks.clear()
        self.processes.clear()
        return True

    def may_shrink(self, failure):
        """A missing command is missing for every worker of this machine, but another host may have it."""
        missing_here = self.starter.cannot_start(failure.status) and not self.starter.hosts
        return (failure.member.role == "worker" and len(self.starter.places) > self.options.min_workers
                and not missing_here)

    def see_off(self):
        """Waits for scheduler and servers after the last worker."""
        others = self.of_role("scheduler", "server")
        self.wait_until(lambda: all(process.status is not None for process in others),
                        time.monotonic() + FAREWELL)
        for process in others:
            if process.status is None:
                say(f"{process.member.name} still runs {FAREWELL} s after the last worker and is ended")
            elif process.status != 0:
                say(f"{process.member.name} {status_text(process.status)} after all workers succeeded")

    def end_all(self, number):
        """Ends all processes; returns when none runs. A second signal to the launcher means SIGKILL."""
        def running():
            return [process for process in self.processes if process.status is None]

        for process in running():
            process.end(number)
        deadline = time.monotonic() + PATIENCE + 2
        seen = len(self.signals)
        while running() and time.monotonic() < deadline:
            self.wait_event(deadline)
            if len(self.signals) > max(seen, 1):
                seen = len(self.signals)
                for process in running():
                    process.end(signal.SIGKILL)
        for process in running():
            process.kill()
        while running():
            self.wait_event(None)


def main(arguments, service=None):
    """The exit status. `service` replaces the command of scheduler and servers."""
    try:
        options = command_line.parse(arguments)
        starter = KINDS[options.launcher](options, service or service_command(options.python))
        starter.prepare()
        return Job(options, starter).run()
    except UsageError as error:
        say(str(error))
        return 2
