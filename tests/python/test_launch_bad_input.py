"""python -m symbind.launch: a mistake on the command line is one clear line on stderr and exit status 2."""
import pytest

from symbind.launch.job import main

TOKEN = "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("SYMBIND_DIST_TOKEN", "SYMBIND_DIST_TOKEN_FILE", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def refused(capsys):
    """A function of the arguments: the launcher's last line."""
    def run(*arguments):
        try:
            status = main(list(arguments), service=["false"])
        except SystemExit as left:  # argparse
            status = left.code
        out, err = capsys.readouterr()
        assert (status, out) == (2, "")
        return err.splitlines()[-1].partition("launch: ")[2]
    return run


@pytest.mark.parametrize("arguments, text", [
    (["-n", "2", "--launcher", "sge", "x"], "launcher 'sge' is not supported: inside a Grid Engine job use "
                                           "--launcher mpi"),
    (["-n", "2", "--launcher", "yarn", "x"], "launcher 'yarn' is not supported: Symbind has no Hadoop client"),
    (["-n", "2", "--launcher", "pbs", "x"], "launcher 'pbs' is not supported: choose one of local, ssh, mpi, slurm"),
    (["-n", "0", "x"], "-n 0 is less than 1"),
    (["-n", "two", "x"], "argument -n/--num-workers: invalid int value: 'two'"),
    (["x"], "the following arguments are required: -n/--num-workers"),
    (["-n", "2", "-s", "-1", "x"], "-s -1 is less than 0"),
    (["-n", "2", "--max-restarts", "-1", "x"], "--max-restarts -1 is less than 0"),
    (["-n", "2", "--min-workers", "0", "x"], "--min-workers 0 is less than 1"),
    (["-n", "2", "--min-workers", "3", "x"], "--min-workers 3 is more than -n 2"),
    (["-n", "2"], "the command of the workers is missing"),
    (["-n", "2", "--"], "the command of the workers is missing"),
    (["-n", "2", "--launcher", "ssh", "x"], "--launcher ssh needs --hostfile"),
    (["-n", "2", "-H", "no_such_file", "x"], "cannot read the host file no_such_file: No such file or directory"),
    (["-n", "2", "-H", "hosts", "--launcher", "local", "x"], "--hostfile is for ssh and mpi, not for local"),
    (["-n", "2", "--sync-dst-dir", "d", "x"], "--sync-dst-dir is for ssh, not for local"),
    (["-n", "2", "--env-worker", "A=b", "x"], "--env-worker A=b: must be NAME:VALUE"),
    (["-n", "2", "--env", "NO_SUCH_VARIABLE", "x"], "--env NO_SUCH_VARIABLE: this variable is not set here"),
    (["-n", "2", "--address", "203.0.113.9", "x"], "cannot listen at 203.0.113.9: Cannot assign requested address; "
                                                 "--address must name an address of this machine"),
    (["-n", "2", "--address", "::", "x"], "--address :: means every address of this machine; name one of them"),
    (["-n", "2", "--address", "no.such.host.invalid", "x"], "--address no.such.host.invalid is unknown"),
    (["-n", "2", "--ssh", "ssh 'x", "x"], "--ssh ssh 'x: No closing quotation"),
    (["-n", "2", "--ssh", "", "x"], "--ssh must name a command"),
    (["-n", "2", "--unknown", "x"], "unrecognized arguments: --unknown"),
])
def test_a_mistake_of_the_command_line_is_named(refused, arguments, text):
    assert text in refused(*arguments)


def test_slurm_outside_an_allocation_is_refused(refused):
    assert "--launcher slurm runs inside an allocation" in refused("-n", "2", "--launcher", "slurm", "x")


@pytest.mark.parametrize("program, launcher", [("mpirun", "mpi"), ("ssh", "ssh"), ("srun", "slurm")])
def test_a_missing_program_is_named(refused, tmp_path, monkeypatch, program, launcher):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    (tmp_path / "hosts").write_text("localhost\n", encoding="utf-8")
    hosts = ["-H", "hosts"] if launcher != "slurm" else []
    assert refused("-n", "1", "--launcher", launcher, *hosts, "x") == (
        f"--launcher {launcher} needs the program {program}, which is not installed")


@pytest.mark.parametrize("content, text", [
    ("", "the host file hosts names no host"),
    ("# only a comment\n\n", "the host file hosts names no host"),
    ("a:2\nb:1\n", "the host file has 3 slots, 4 workers need 4"),
    ("a slots=1\nb slots=2\n", "the host file has 3 slots, 4 workers need 4"),
    ("a:2\nb two\n", "hosts:2: 'b two' is not host, host:slots or host slots=N"),
    ("a:0\n", "hosts:1: 0 slots are not between 1 and 1024"),
    ("a:2222\n", "hosts:1: 2222 slots are not between 1 and 1024; a port belongs into ~/.ssh/config"),
    ("a\nb\n", "processes run on other machines: --address must name an address of this machine"),
])
def test_a_mistake_of_the_host_file_is_named(refused, tmp_path, content, text):
    (tmp_path / "hosts").write_text(content, encoding="utf-8")
    assert text in refused("-n", "4", "-H", "hosts", "x")


@pytest.mark.parametrize("content, mode, text", [
    (TOKEN, 0o644, "has mode 644, others may read it; chmod 600 "),
    (TOKEN, 0o640, "has mode 640, others may read it; chmod 600 "),
    (TOKEN[:-1], 0o600, "a token has 64 hexadecimal digits, this one has 63 characters"),
    ("x" * 64, 0o600, "a token has 64 hexadecimal digits"),
])
@pytest.mark.parametrize("by_flag", [True, False])
def test_a_mistake_of_the_token_file_is_named(refused, tmp_path, monkeypatch, content, mode, text, by_flag):
    path = tmp_path / "token"
    path.write_text(content, encoding="utf-8")
    path.chmod(mode)
    if not by_flag:
        monkeypatch.setenv("SYMBIND_DIST_TOKEN_FILE", str(path))
    found = refused("-n", "1", *(["--token-file", str(path)] if by_flag else []), "x")
    assert text in found and str(path) in found
    assert content not in found


def test_a_token_that_is_too_short_is_refused(refused, monkeypatch):
    monkeypatch.setenv("SYMBIND_DIST_TOKEN", "12ab")
    found = refused("-n", "1", "x")
    assert "SYMBIND_DIST_TOKEN: a token has 64 hexadecimal digits, this one has 4 characters" in found


def test_a_token_file_that_is_not_there_is_named(refused):
    assert "No such file" in refused("-n", "1", "--token-file", "no_such_file", "x")
