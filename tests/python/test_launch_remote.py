"""python -m symbind.launch over ssh to this machine and by mpirun, with stubs.

Skipped where sshd or mpirun is missing. What takes seconds because of mpirun or rsync is marked slow.
"""
import getpass
import pathlib
import shutil
import signal
import socket
import subprocess

import pytest

from launch_cases import Stubs, runs, until

TOKEN = "fedcba9876543210" * 4
SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
PASS = ("--env", "STUB_FOLDER", "--env", "STUB_SYNC")


@pytest.fixture
def stubs(tmp_path):
    return Stubs(tmp_path)


@pytest.fixture(scope="module")
def ssh(tmp_path_factory):
    """The ssh command for an sshd of this test, with throwaway keys, on a high port of the loopback address."""
    if not (SSHD and shutil.which("ssh") and shutil.which("ssh-keygen")):
        pytest.skip("sshd or ssh is not installed")
    folder = tmp_path_factory.mktemp("ssh")
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
        "StrictModes no\nPermitRootLogin yes\nUsePAM no\nMaxStartups 100\nPidFile none\n", encoding="utf-8")
    (folder / "config").write_text(
        f"Host down\n HostName 127.0.0.1\n Port 1\nHost *\n Port {port}\n User {getpass.getuser()}\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
        f" UserKnownHostsFile {folder}/known\n StrictHostKeyChecking accept-new\n LogLevel ERROR\n", encoding="utf-8")
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=subprocess.DEVNULL)
    command = f"ssh -F {folder}/config"
    until(lambda: subprocess.run([*command.split(), "127.0.0.1", "true"], check=False, stdin=subprocess.DEVNULL,
                                 capture_output=True).returncode == 0)
    yield command
    server.terminate()
    server.wait()


def write_hosts(stubs, text):
    path = stubs.folder / "hosts"
    path.write_text(text, encoding="utf-8")
    return str(path)


def check_environment(found, token, workers, servers):
    assert sorted(key[:2] for key in found) == sorted(
        [("scheduler", 0), *(("server", rank) for rank in range(servers)), *(("worker", rank) for rank in range(workers))])
    for (role, rank, *_), record in found.items():
        environment = record["environment"]
        assert (environment["DMLC_ROLE"], environment["SYMBIND_DIST_RANK"]) == (role, str(rank))
        assert environment["SYMBIND_DIST_TOKEN"] == token and "SYMBIND_DIST_TOKEN_FILE" not in environment
        assert environment["DMLC_PS_ROOT_URI"] == environment["SYMBIND_DIST_BIND"] == "127.0.0.1"
        assert environment["DMLC_NUM_WORKER"] == str(workers) and environment["DMLC_NUM_SERVER"] == str(servers)
        assert environment.get("FOR_WORKERS") == ("1" if role == "worker" else None)


def command_lines():
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            pass
    return found


def kinds():
    missing = pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun is not installed")
    return [pytest.param("ssh"), pytest.param("mpi", marks=[missing, pytest.mark.slow])]


@pytest.fixture(params=kinds())
def launcher(request, stubs):
    """Flags of a launcher that reaches this machine as if it were another one."""
    if request.param == "ssh":
        return ("--ssh", request.getfixturevalue("ssh"), "-H", write_hosts(stubs, "127.0.0.1:2\nlocalhost\n"), *PASS)
    return ("--launcher", "mpi", *PASS)


# mpirun of Open MPI refuses to run as root without these.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def environment(**more):
    return {**AS_ROOT, "STUB_SYNC": "1", "SYMBIND_DIST_TOKEN": TOKEN, **more}


def test_every_process_starts_with_its_environment(stubs, launcher):
    done = stubs.run_plan({}, *launcher, "-n", "3", "-s", "2", "--env-worker", "FOR_WORKERS:1",
                          environment=environment())
    assert done.returncode == 0, done.stderr
    check_environment(stubs.recorded(), TOKEN, 3, 2)


def test_a_failure_gives_the_status_and_a_restart_works(stubs, launcher):
    done = stubs.run_plan({"1": ["3", "4"]}, *launcher, "-n", "2", "-s", "1", "--max-restarts", "1",
                          environment=environment())
    assert done.returncode == 4, done.stderr
    assert "restart 1 of 1: the whole job with 2 workers" in done.stderr
    assert sorted(key[2] for key in stubs.recorded()) == [0] * 4 + [1] * 4


WITH_CHILD = """
import subprocess
child = subprocess.Popen(["sleep", "60"])
(folder / f"child.{rank}").write_text(str(child.pid))
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_launcher_leaves_nothing_and_shows_no_token(stubs, launcher, number):
    program = stubs.write("with_child.py", WITH_CHILD)
    process = stubs.start(*launcher, "-n", "2", "-s", "1", *program, environment=environment())
    pids = stubs.wait_for(4)
    children = [stubs.records / f"child.{rank}" for rank in range(2)]
    until(lambda: all(path.exists() and path.read_text(encoding="utf-8") for path in children))
    pids += [int(path.read_text(encoding="utf-8")) for path in children]
    lines = command_lines()
    assert all(map(runs, pids)) and len(lines) > 6
    assert not any(TOKEN.encode() in line for line in lines)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == (130 if number == signal.SIGINT else -9)
    until(lambda: not any(map(runs, pids)), seconds=8)


@pytest.mark.slow
def test_the_folder_is_copied(stubs, ssh, tmp_path_factory):
    if not shutil.which("rsync"):
        pytest.skip("rsync is not installed")
    target = tmp_path_factory.mktemp("target") / "copy"
    done = stubs.run_plan({}, "--ssh", ssh, "-H", write_hosts(stubs, "127.0.0.1\n"), *PASS[:2], "-n", "1", "-s", "0",
                          "--sync-dst-dir", str(target))
    assert done.returncode == 0, done.stderr
    assert stubs.recorded()["worker", 0, 0, 0]["folder"] == str(target)
    assert (target / "planned.py").read_bytes() == (stubs.folder / "planned.py").read_bytes()


@pytest.mark.slow
def test_a_host_that_does_not_answer_is_left_out(stubs, ssh):
    """The host is tried twice; then the job restarts with one worker fewer."""
    hosts = write_hosts(stubs, "localhost:1\ndown:1\n127.0.0.1:1\n")
    flags = ("--ssh", ssh, "-H", hosts, "--address", "127.0.0.1", *PASS[:2], "-n", "3", "-s", "0")
    settings = {"SETTLE": 0.3}
    plan = {"0": ["wait"], "2": ["wait"]}
    done = stubs.run_plan(plan, *flags, "--max-restarts", "5", "--min-workers", "2", settings=settings)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("symbind.launch: ")] == [
        "symbind.launch: worker 1 on down ended with status 255; restart 1 of 5: this worker alone",
        "symbind.launch: worker 1 on down ended with status 255; 1 of 5 restarts are used: the whole job with 2 "
        "workers, at least 2"]
    assert stubs.run_plan(plan, *flags, settings=settings).returncode == 255


def test_a_python_that_a_host_lacks_is_named(stubs, ssh):
    hosts = write_hosts(stubs, "127.0.0.1\n")
    done = stubs.run("--ssh", ssh, "-H", hosts, "-n", "1", "-s", "0", "--python", "/no/such/python", "true",
                     settings={"SETTLE": 0.3})
    assert done.returncode == 127 and "/no/such/python" in done.stderr
