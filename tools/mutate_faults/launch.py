"""The launcher: environments, statuses, restarts, the end of processes, the token.

No fault here changes which processes get a signal: it would reach other programs of the machine.
"""

GUARD, HOSTS, JOB = (f"python/symbind/launch/{name}.py" for name in ("guard", "hosts", "job"))
MEMBERS, OPTIONS, PROCESS = (f"python/symbind/launch/{name}.py" for name in ("members", "options", "process"))

ROWS = [
    ("a process inherits variables of another job", GUARD, 'if name not in spec["unset"]}', "}",
     "python:test_launch.py::token_file_gives"),
    ("a killed guard leaves its command", GUARD, "libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)", "pass",
     "python:test_launch.py::without_the_launcher"),
    ("a killed guard leaves its command's children", PROCESS, "os.kill(int(name), signal.SIGKILL)", "pass",
     "python:test_launch.py::counts_as_the_death"),
    ("a process that ignores signals stays", GUARD, "            timer.start()\n", "",
     "python:test_launch.py::ignore_signals"),
    ("the end of the launcher is ignored", GUARD, "        self.end(signal.SIGTERM)\n", "",
     "python:test_launch.py::killed_launcher"),
    ("children in other sessions stay", GUARD, "os.kill(int(name), signal.SIGKILL)", "pass",
     "python:test_launch.py::that_a_worker_leaves"),
    ("processes share the launcher's session", PROCESS, "start_new_session=True", "start_new_session=False",
     "python:test_launch.py::counts_as_the_death"),
    ("a worker that only noticed a loss gives the status", JOB, "if process.status != LOST", "if process.status",
     "python:test_launch.py::first_failure"),
    ("a worker of an asynchronous job takes the others along", JOB,
     "if self.ended_whole(failures) or not", "if True or not", "python:test_launch.py::worker_alone"),
    ("a server's death restarts a worker", JOB, 'any(process.member.role != "worker" for process in failures)', "False",
     "python:test_launch.py::death_of"),
    ("a missing command is restarted", JOB, "and not missing\n", "\n", "python:test_launch.py::missing_command"),
    ("a restart has the same generation", JOB, "        self.generation += 1\n", "",
     "python:test_launch.py::as_a_whole"),
    ("fewer workers than the least number", JOB, "len(self.starter.places) > self.options.min_workers",
     "len(self.starter.places) > 1", "python:test_launch.py::used_up"),
    ("others may read the token file", OPTIONS, "facts.st_mode & 0o077:", "facts.st_mode & 0o007:",
     "python:test_launch_bad_input.py::token_file"),
    ("a short token is accepted", OPTIONS, '"[0-9a-fA-F]{64}"', '"[0-9a-fA-F]*"',
     "python:test_launch_bad_input.py::token"),
    ("slots are not counted", HOSTS, "                entry[1] -= 1\n", "                pass\n",
     "python:test_launch_bad_input.py::host_file"),
    ("a port is free for every program", HOSTS, "        accepted.close()\n", "", "python:test_launch.py::reserved_port"),
    ("servers get the workers' variables", MEMBERS, '"DMLC_ROLE": "server", **self.options.env_server',
     '"DMLC_ROLE": "server", **self.options.env_worker', "python:test_launch.py::its_environment"),
    ("the token is an argument", MEMBERS, 'str(HERE / "guard.py")]', 'str(HERE / "guard.py"), json.dumps(spec)]',
     "python:test_launch.py::command_line"),
]
