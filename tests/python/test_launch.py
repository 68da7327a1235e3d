"""python -m symbind.launch on one machine: environments, statuses, restarts, the end of every process."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from launch_cases import PACKAGE, Stubs, runs, until

TOKEN = "0123456789abcdef" * 4


@pytest.fixture
def stubs(tmp_path):
    return Stubs(tmp_path)


def lines(process):
    """What the launcher itself wrote to stderr."""
    return [line for line in process.stderr.splitlines() if line.startswith("symbind.launch: ")]


def test_every_role_gets_its_environment(stubs):
    done = stubs.run_plan({}, "-n", "3", "-s", "2", "--env-server", "OMP_NUM_THREADS:3", "--env-worker", "A:b:c",
                          "--server-import", "my_optimizers")
    assert (done.returncode, done.stdout, lines(done)) == (0, "", [])
    found = {key[:2]: record["environment"] for key, record in stubs.recorded().items()}
    assert set(found) == {("scheduler", 0), ("server", 0), ("server", 1), ("worker", 0), ("worker", 1), ("worker", 2)}
    for (role, rank), environment in found.items():
        assert environment["DMLC_ROLE"] == role
        assert environment["SYMBIND_DIST_RANK"] == str(rank)
        assert environment["DMLC_NUM_WORKER"] == "3" and environment["DMLC_NUM_SERVER"] == "2"
        assert environment["DMLC_PS_ROOT_URI"] == environment["SYMBIND_DIST_BIND"] == "127.0.0.1"
        assert environment["SYMBIND_DIST_GENERATION"] == "0"
        assert re.fullmatch("[0-9a-f]{64}", environment["SYMBIND_DIST_TOKEN"])
        assert "SYMBIND_DIST_TOKEN_FILE" not in environment and "SYMBIND_DIST_MIN_WORKERS" not in environment
        assert environment.get("A") == ("b:c" if role == "worker" else None)
        assert environment.get("SYMBIND_DIST_SERVER_IMPORT") == ("my_optimizers" if role == "server" else None)
        assert "DMLC_PS_VAN_TYPE" not in environment
    assert found["server", 0]["OMP_NUM_THREADS"] == "3"
    for name in ("SYMBIND_DIST_TOKEN", "DMLC_PS_ROOT_PORT"):
        assert len({environment[name] for environment in found.values()}) == 1
    assert 1 <= int(found["worker", 0]["DMLC_PS_ROOT_PORT"]) <= 65535


def test_workers_of_one_machine_share_its_cores(stubs, monkeypatch):
    for name in ("OMP_NUM_THREADS", "SYMBIND_NUM_THREADS", "MXNET_OMP_MAX_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert stubs.run_plan({}, "-n", "2", "-s", "0").returncode == 0
    share = str(max(1, len(os.sched_getaffinity(0)) // 2))
    assert [record["environment"].get("OMP_NUM_THREADS") for key, record in sorted(stubs.recorded().items())] == \
        [None, share, share]


def test_threads_that_the_environment_names_stay(stubs, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert stubs.run_plan({}, "-n", "2", "-s", "0").returncode == 0
    assert {record["environment"]["OMP_NUM_THREADS"] for record in stubs.recorded().values()} == {"7"}


def test_as_many_servers_as_workers_and_p3_as_in_mxnet(stubs):
    assert stubs.run_plan({}, "-n", "2", "--p3").returncode == 0
    found = stubs.recorded()
    assert [role for role, *_ in found].count("server") == 2
    for record in found.values():
        assert record["environment"]["DMLC_PS_VAN_TYPE"] == "p3"
        assert record["environment"]["DMLC_PS_WATER_MARK"] == "10"


def test_words_of_the_command_are_not_split_and_its_flags_are_its_own(stubs):
    program = stubs.write("arguments.py", 'follow("leave")\n')
    assert stubs.run("-n", "1", "-s", "0", *program, "-n", "5", "a b", "$HOME", "--launcher", "x").returncode == 0
    record = stubs.recorded()["worker", 0, 0, 0]
    assert record["argv"][1:] == ["-n", "5", "a b", "$HOME", "--launcher", "x"]
    assert record["folder"] == str(stubs.folder)


def test_one_word_with_spaces_runs_by_a_shell(stubs):
    done = stubs.run("-n", "2", "-s", "0", "touch $STUB_FOLDER/left.0.$SYMBIND_DIST_RANK; echo rank $SYMBIND_DIST_RANK")
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == ["rank 0", "rank 1"]


def test_output_is_tagged_on_request(stubs):
    text = "touch $STUB_FOLDER/left.0.$SYMBIND_DIST_RANK; echo to stdout; echo to stderr >&2"
    done = stubs.run("-n", "2", "-s", "0", "--tag-output", text)
    assert sorted(done.stdout.splitlines()) == ["[worker 0] to stdout", "[worker 1] to stdout"]
    assert sorted(done.stderr.splitlines()) == ["[worker 0] to stderr", "[worker 1] to stderr"]


@pytest.mark.parametrize("word, status, text", [
    ("3", 3, "worker 1 ended with status 3"),
    ("kill", 137, "worker 1 was ended by signal 9 (SIGKILL)")])
def test_the_first_failure_gives_the_status(stubs, word, status, text):
    """Also when others notice the loss and exit with 75 before."""
    done = stubs.run_plan({"0": ["75"], "1": [word], "2": ["75"]}, "-n", "3", "-s", "1",
                          environment={"STUB_SYNC": "1"})
    assert done.returncode == status
    assert lines(done) == [f"symbind.launch: {text}; the job ends with this status"]


def test_a_job_that_only_lost_a_process_returns_75(stubs):
    assert stubs.run_plan({"0": ["75"], "1": ["75"]}, "-n", "2", environment={"STUB_SYNC": "1"}).returncode == 75


def test_a_missing_command_returns_127_and_is_not_restarted(stubs):
    done = stubs.run("-n", "2", "-s", "0", "--max-restarts", "5", "--min-workers", "1", "no_such_program", "x",
                     settings={"SETTLE": 0.1})
    assert done.returncode == 127
    assert "cannot run no_such_program" in done.stderr and "restart" not in done.stderr


def test_a_synchronous_job_is_restarted_as_a_whole(stubs):
    done = stubs.run_plan({"1": ["kill", "4"]}, "-n", "3", "-s", "1", "--max-restarts", "3",
                          environment={"STUB_SYNC": "1"})
    assert done.returncode == 0
    assert lines(done) == [
        "symbind.launch: worker 1 was ended by signal 9 (SIGKILL); restart 1 of 3: the whole job with 3 workers",
        "symbind.launch: worker 1 ended with status 4; restart 2 of 3: the whole job with 3 workers"]
    found = stubs.recorded()
    members = [("scheduler", 0), ("server", 0), ("worker", 0), ("worker", 1), ("worker", 2)]
    assert sorted(found) == sorted((*member, generation, 0) for member in members for generation in range(3))
    assert len({record["environment"]["SYMBIND_DIST_TOKEN"] for record in found.values()}) == 1
    ports = {(key[2], record["environment"]["DMLC_PS_ROOT_PORT"]) for key, record in found.items()}
    assert len(ports) == 3 and len({port for _, port in ports}) == 3


def test_an_asynchronous_job_restarts_the_worker_alone(stubs):
    done = stubs.run_plan({"1": ["9", "kill"]}, "-n", "2", "-s", "1", "--max-restarts", "2", settings={"SETTLE": 0.3})
    assert done.returncode == 0
    assert lines(done) == [
        "symbind.launch: worker 1 ended with status 9; restart 1 of 2: this worker alone",
        "symbind.launch: worker 1 was ended by signal 9 (SIGKILL); restart 2 of 2: this worker alone"]
    assert sorted(stubs.recorded()) == [("scheduler", 0, 0, 0), ("server", 0, 0, 0), ("worker", 0, 0, 0),
                                        ("worker", 1, 0, 0), ("worker", 1, 0, 1), ("worker", 1, 0, 2)]


@pytest.mark.parametrize("role, name", [("scheduler", "the scheduler"), ("server", "server 0")])
def test_the_death_of_scheduler_or_server_restarts_all(stubs, role, name):
    stubs.service = stubs.write("dying.py", "")
    source = (stubs.folder / "dying.py").read_text(encoding="utf-8")
    dies = f'if role == "{role}" and generation == "0":\n    sys.exit(5)\n'
    (stubs.folder / "dying.py").write_text(source.replace('if role != "worker":', dies + 'if role != "worker":'),
                                           encoding="utf-8")
    done = stubs.run_plan({"0": ["wait"], "1": ["wait"]}, "-n", "2", "-s", "1", "--max-restarts", "1",
                          settings={"SETTLE": 0.3})
    assert done.returncode == 0
    assert lines(done) == [f"symbind.launch: {name} ended with status 5; restart 1 of 1: the whole job with 2 workers"]


def test_used_up_restarts_end_the_job_with_the_last_failure(stubs):
    done = stubs.run_plan({"0": ["3", "4", "5"]}, "-n", "2", "-s", "0", "--max-restarts", "1",
                          environment={"STUB_SYNC": "1"})
    assert done.returncode == 4
    assert lines(done)[-1] == "symbind.launch: worker 0 ended with status 4; the job ends with this status"


def test_fewer_workers_when_restarts_are_used_up(stubs):
    done = stubs.run_plan({"2": ["3", "3"], "1": ["leave", "leave", "6"], "0": ["leave", "leave", "leave", "7"]},
                          "-n", "3", "-s", "1", "--max-restarts", "1", "--min-workers", "1",
                          environment={"STUB_SYNC": "1"})
    assert done.returncode == 7
    assert lines(done) == [
        "symbind.launch: worker 2 ended with status 3; restart 1 of 1: the whole job with 3 workers",
        "symbind.launch: worker 2 ended with status 3; 1 of 1 restarts are used: the whole job with 2 workers, "
        "at least 1",
        "symbind.launch: worker 1 ended with status 6; 1 of 1 restarts are used: the whole job with 1 workers, "
        "at least 1",
        "symbind.launch: worker 0 ended with status 7; the job ends with this status"]
    found = stubs.recorded()
    for generation, workers in enumerate((3, 3, 2, 1)):
        of_it = {key: record["environment"] for key, record in found.items() if key[2] == generation}
        assert sorted(rank for role, rank, *_ in of_it if role == "worker") == list(range(workers))
        for environment in of_it.values():
            assert environment["DMLC_NUM_WORKER"] == str(workers)
            assert environment["DMLC_NUM_SERVER"] == "1"
            assert environment["SYMBIND_DIST_MIN_WORKERS"] == "1"


def test_a_scheduler_that_stays_is_ended_after_the_last_worker(stubs):
    done = stubs.run("-n", "1", "-s", "1", "true", settings={"FAREWELL": 0.3})
    assert done.returncode == 0
    assert lines(done) == ["symbind.launch: the scheduler still runs 0.3 s after the last worker and is ended",
                           "symbind.launch: server 0 still runs 0.3 s after the last worker and is ended"]


# A worker with a child in the background; both record their pids.
WITH_CHILD = """
import subprocess
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import signal, time\\n"
    "if {ignores}: signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)\\n"
    "time.sleep(60)"], start_new_session={detached})
(folder / f"child.{{rank}}").write_text(str(child.pid))
if {ignores}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep({seconds})
follow("leave")
"""


def start_with_children(stubs, ignores=False, seconds=60, detached=False, **options):
    """(launcher, pids of all its processes)"""
    program = stubs.write("with_child.py", WITH_CHILD.format(ignores=ignores, seconds=seconds, detached=detached))
    launcher = stubs.start("-n", "2", "-s", "1", *program, **options)
    pids = stubs.wait_for(4)
    children = [stubs.records / f"child.{rank}" for rank in range(2)]
    until(lambda: all(path.exists() and path.read_text(encoding="utf-8") for path in children))
    pids += [int(path.read_text(encoding="utf-8")) for path in children]
    assert all(map(runs, pids)) or seconds < 60
    return launcher, pids


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_all(stubs, number):
    launcher, pids = start_with_children(stubs)
    launcher.send_signal(number)
    _, text = launcher.communicate(timeout=20)
    assert launcher.returncode == 128 + number
    assert f"symbind.launch: got {number.name}, ends all processes\n" in text
    assert not any(map(runs, pids))


def test_ctrl_c_of_a_terminal_reaches_workers_once(stubs):
    """The terminal sends SIGINT to the launcher's process group; workers are in other ones."""
    program = stubs.write("counts.py", """
count = 0
def interrupted(number, frame):
    global count
    count += 1
signal.signal(signal.SIGINT, interrupted)
(folder / "ready").touch()
while not count:
    time.sleep(0.02)
time.sleep(0.2)
(folder / "count").write_text(str(count))
""")
    launcher = stubs.start("-n", "1", "-s", "0", *program, start_new_session=True)
    until((stubs.records / "ready").exists)
    os.killpg(launcher.pid, signal.SIGINT)
    launcher.communicate(timeout=20)
    assert launcher.returncode == 130
    assert (stubs.records / "count").read_text(encoding="utf-8") == "1"


def test_processes_that_ignore_signals_are_killed_after_5_s(stubs, tmp_path_factory):
    """At once for a second Ctrl-C. The two launchers run at the same time to save time."""
    impatient = Stubs(tmp_path_factory.mktemp("impatient"))
    patient_launcher, patient_pids = start_with_children(stubs, ignores=True)
    launcher, pids = start_with_children(impatient, ignores=True)
    patient_launcher.send_signal(signal.SIGINT)
    start = time.monotonic()
    launcher.send_signal(signal.SIGINT)
    time.sleep(0.3)
    launcher.send_signal(signal.SIGINT)
    launcher.communicate(timeout=20)
    assert time.monotonic() - start < 4
    assert launcher.returncode == 130 and not any(map(runs, pids))
    patient_launcher.communicate(timeout=20)
    assert 4.5 < time.monotonic() - start < 6.5  # the launcher ends guards after 7 s
    assert patient_launcher.returncode == 130 and not any(map(runs, patient_pids))


def test_a_killed_launcher_leaves_nothing(stubs):
    launcher, pids = start_with_children(stubs)
    launcher.kill()
    launcher.communicate(timeout=20)
    until(lambda: not any(map(runs, pids)), seconds=5)


@pytest.mark.parametrize("detached", [False, True])
def test_children_that_a_worker_leaves_end_with_it(stubs, detached):
    launcher, pids = start_with_children(stubs, seconds=0.2, detached=detached)
    launcher.communicate(timeout=20)
    assert launcher.returncode == 0
    assert not any(map(runs, pids))


def test_a_failure_ends_workers_that_wait(stubs):
    done = stubs.run_plan({"0": ["wait"], "1": ["3"]}, "-n", "2", settings={"SETTLE": 0.3})
    assert done.returncode == 3
    assert not any(runs(record["pid"]) for record in stubs.recorded().values())


def test_a_killed_guard_counts_as_the_death_of_its_worker(stubs):
    launcher, pids = start_with_children(stubs, settings={"SETTLE": 0.3})
    worker = stubs.recorded()["worker", 1, 0, 0]["pid"]
    stat = pathlib.Path(f"/proc/{worker}/stat").read_text(encoding="utf-8")
    guard = int(stat.rpartition(")")[2].split()[1])
    assert b"guard.py" in pathlib.Path(f"/proc/{guard}/cmdline").read_bytes()
    os.kill(guard, signal.SIGKILL)
    _, text = launcher.communicate(timeout=20)
    assert launcher.returncode == 137 and "worker 1 was ended by signal 9" in text
    assert not any(map(runs, pids))


def test_a_killed_guard_ends_its_command_without_the_launcher(tmp_path):
    spec = {"command": ["sleep", "60"], "folder": str(tmp_path), "environment": {}, "unset": []}
    guard = subprocess.Popen([sys.executable, "-I", "-S", str(PACKAGE / "launch" / "guard.py")],
                             stdin=subprocess.PIPE, text=True)
    guard.stdin.write(json.dumps(spec) + "\n")
    guard.stdin.flush()
    children = pathlib.Path(f"/proc/{guard.pid}/task/{guard.pid}/children")
    child = int(until(lambda: children.read_text(encoding="utf-8").split())[0])
    until(lambda: b"sleep" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes())
    guard.kill()
    guard.communicate()
    until(lambda: not runs(child), seconds=5)


def test_the_token_is_in_no_command_line(stubs):
    launcher, pids = start_with_children(stubs, environment={"SYMBIND_DIST_TOKEN": TOKEN})
    read = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert TOKEN.encode() not in path.read_bytes()
            read += 1
        except OSError:
            pass
    environments = [record["environment"] for record in stubs.recorded().values()]
    launcher.send_signal(signal.SIGTERM)
    launcher.communicate(timeout=20)
    assert read > len(pids)
    assert [environment["SYMBIND_DIST_TOKEN"] for environment in environments] == [TOKEN] * 4


@pytest.mark.parametrize("by_flag", [True, False])
def test_a_token_file_gives_the_token(stubs, by_flag):
    path = stubs.folder / "token"
    path.write_text(TOKEN + "\n", encoding="utf-8")
    path.chmod(0o600)
    flag = ["--token-file", str(path)] if by_flag else []
    variables = {} if by_flag else {"SYMBIND_DIST_TOKEN_FILE": str(path)}
    assert stubs.run_plan({}, "-n", "1", *flag, environment=variables).returncode == 0
    environments = [record["environment"] for record in stubs.recorded().values()]
    assert [environment["SYMBIND_DIST_TOKEN"] for environment in environments] == [TOKEN] * 3
    assert not any("SYMBIND_DIST_TOKEN_FILE" in environment for environment in environments)


def test_a_reserved_port_is_free_for_a_listener_with_reuse_address_alone(stubs):
    program = ("import types, sys; package = types.ModuleType('symbind'); package.__path__ = [sys.argv[1]]; "
               "sys.modules['symbind'] = package; from symbind.launch.hosts import reserve_port; "
               "print(reserve_port('127.0.0.1'))")
    text = subprocess.run([sys.executable, "-I", "-c", program, str(PACKAGE)], capture_output=True, text=True,
                          check=True, timeout=20).stdout
    with socket.socket() as other:
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", int(text)))
    with socket.socket() as scheduler:
        scheduler.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        scheduler.bind(("127.0.0.1", int(text)))
        scheduler.listen()


def test_the_installed_package_runs_it_and_a_role_in_the_environment_is_ignored(tmp_path):
    environment = {**os.environ, "DMLC_ROLE": "scheduler", "DMLC_PS_ROOT_URI": "127.0.0.1",
                   "DMLC_PS_ROOT_PORT": "1", "DMLC_NUM_WORKER": "1", "DMLC_NUM_SERVER": "0"}
    done = subprocess.run([sys.executable, "-m", "symbind.launch", "--help"], env=environment, cwd=tmp_path,
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    for flag in ("--num-workers", "--num-servers", "--hostfile", "--sync-dst-dir", "--launcher", "--env-server",
                 "--env-worker", "--env", "--p3", "--max-restarts", "--min-workers", "--server-import"):
        assert f"{flag} " in done.stdout or f"{flag}\n" in done.stdout, flag
    assert "exit status:" in done.stdout


@pytest.mark.parametrize("arguments, expected", [
    (["-m", "symbind.launch", "--help"], "True"), (["-msymbind.launch", "--help"], "True"),
    (["-c", "import symbind", "-m", "symbind.launch"], "False"), (["-m", "symbind", "symbind.launch"], "False")])
def test_importing_symbind_for_the_launcher_is_recognized(tmp_path, arguments, expected):
    package = tmp_path / "symbind"
    package.mkdir()
    (package / "__init__.py").write_text("from .launch import is_command\nprint(is_command())\n", encoding="utf-8")
    (package / "__main__.py").write_text("", encoding="utf-8")
    (package / "launch").symlink_to(PACKAGE / "launch")
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=60)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, expected)
