"""The command and the environment of each process of a job, by launcher.

The token and the environment go through standard input of the guard, never through an argument. An
mpirun or srun is one member that contains all its ranks. The scheduler always runs on the launcher's machine.
"""
import collections
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys

from . import hosts
from .hosts import UsageError

HERE = pathlib.Path(__file__).parent
# What the launcher sets itself, and what a process must not inherit from the launcher's environment.
JOB_VARIABLES = (
    "DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER", "SYMBIND_DIST_RANK",
    "SYMBIND_DIST_TOKEN", "SYMBIND_DIST_TOKEN_FILE", "SYMBIND_DIST_BIND", "SYMBIND_DIST_GENERATION",
    "SYMBIND_DIST_MIN_WORKERS", "SYMBIND_DIST_SERVER_IMPORT")
# What other machines get without --env; the last one and the prefixes are not MXNet's.
PASSED = ("OMP_NUM_THREADS", "KMP_AFFINITY", "LD_LIBRARY_PATH", "DMLC_INTERFACE", "PYTHONPATH")
PASSED_PREFIXES = ("MXNET_", "SYMBIND_")
SSH_FLAGS = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5",
             "-o", "ServerAliveCountMax=3")
READS_GUARD = "import json, sys; exec(json.loads(sys.stdin.readline()))"


@dataclasses.dataclass(eq=False)
class Member:
    """What a Process starts."""
    role: str
    rank: int | None   # None: all ranks of the role, by mpirun or srun
    place: str         # " on HOST", or empty
    argv: list
    stdin: str

    @property
    def tag(self):
        return f"{self.role} {self.rank}" if self.rank is not None else self.role + "s"

    @property
    def name(self):
        if self.rank is None:
            return f"the group of {self.role}s"
        return ("the scheduler" if self.role == "scheduler" else self.tag) + self.place


def service_command(python):
    """What the scheduler and the servers run: importing symbind in these roles serves, then exits."""
    return [python, "-c", "import symbind"]


def passed_environment(options):
    names = [name for name in os.environ
             if name in PASSED or name in options.env or name.startswith(PASSED_PREFIXES)]
    return {name: os.environ[name] for name in names if name not in JOB_VARIABLES}


def guarded(command, environment):
    """(argv, stdin) of a guard on this machine. The environment is added to the launcher's."""
    spec = {"command": command, "folder": os.getcwd(), "environment": environment, "unset": JOB_VARIABLES}
    return [sys.executable, "-I", "-S", str(HERE / "guard.py")], json.dumps(spec) + "\n"


def on_host(options, rank_variable, command):
    return [options.python, "-I", "-S", "-c", (HERE / "on_host.py").read_text(encoding="utf-8"), rank_variable,
            *command]


class Local:
    """Every process is a child of the launcher. The other launchers change what differs."""

    program = None
    restarts_workers = True   # one worker can be started again without the others
    last_words = 1            # seconds that workers have after the scheduler failed, to report the error

    def __init__(self, options, service):
        self.options = options
        self.service = service
        if self.program and not shutil.which(self.program):
            raise UsageError(f"--launcher {options.launcher} needs the program {self.program}, which is not installed")
        self.hosts = hosts.read_hostfile(options.hostfile) if options.hostfile else []
        # The host of each worker.
        self.places = hosts.place(self.hosts, options.num_workers) if self.hosts else [None] * options.num_workers
        self.address = hosts.resolve(options.address, self.leaves_machine())

    def leaves_machine(self):
        return not all(hosts.is_loopback(host) for host, _ in self.hosts)

    def prepare(self):
        """Work before the first start."""

    def members(self, generation):
        """All processes, the scheduler first. Every start has another port."""
        common = {
            "DMLC_PS_ROOT_URI": self.address, "DMLC_PS_ROOT_PORT": str(hosts.reserve_port(self.address)),
            "DMLC_NUM_WORKER": str(len(self.places)), "DMLC_NUM_SERVER": str(self.options.num_servers),
            "SYMBIND_DIST_TOKEN": self.options.token, "SYMBIND_DIST_GENERATION": str(generation)}
        if self.options.min_workers < self.options.num_workers:
            common["SYMBIND_DIST_MIN_WORKERS"] = str(self.options.min_workers)
        if self.options.p3:
            common.update(DMLC_PS_VAN_TYPE="p3", DMLC_PS_WATER_MARK="10")
        here = {"SYMBIND_DIST_BIND": self.address, "SYMBIND_DIST_RANK": "0"}
        scheduler = Member("scheduler", 0, "", *guarded(self.service, {**common, **here, "DMLC_ROLE": "scheduler"}))
        server = {**common, "DMLC_ROLE": "server", **self.options.env_server}
        if self.options.server_import:
            server["SYMBIND_DIST_SERVER_IMPORT"] = self.options.server_import
        worker = {**common, "DMLC_ROLE": "worker", **self.threads(), **self.options.env_worker}
        names = [host for host, _ in self.hosts] or [None]
        server_places = [names[rank % len(names)] for rank in range(self.options.num_servers)]
        return [scheduler, *self.start(server_places, self.service, server),
                *self.start(self.places, self.options.command, worker)]

    def threads(self):
        """Workers of one machine share its cores, unless the environment says how many threads they have."""
        named = {"OMP_NUM_THREADS", "SYMBIND_NUM_THREADS", "MXNET_OMP_MAX_THREADS"} & set(os.environ)
        if named or self.options.launcher != "local":
            return {}
        return {"OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // len(self.places)))}

    def start(self, places, command, environment):
        """The members of one role; places are the hosts of its ranks."""
        return [Member(environment["DMLC_ROLE"], rank, f" on {host}" if host else "",
                       *self.start_one(host, command, {**environment, "SYMBIND_DIST_RANK": str(rank)}))
                for rank, host in enumerate(places)]

    def start_one(self, host, command, environment):
        return guarded(command, {"SYMBIND_DIST_BIND": self.address, **environment})

    def cannot_start(self, status):
        """Whether the status says that the command or its host is not there."""
        return status in (126, 127)


class Ssh(Local):
    def __init__(self, options, service):
        self.program = options.ssh[0]
        super().__init__(options, service)

    def prepare(self):
        if not self.options.sync_dst_dir:
            return
        if not shutil.which("rsync"):
            raise UsageError("--sync-dst-dir needs the program rsync, which is not installed")
        remote_shell = shlex.join([*self.options.ssh, *SSH_FLAGS])
        for host in dict.fromkeys(name for name, _ in self.hosts):
            target = f"[{host}]" if ":" in host else host
            copied = subprocess.run(["rsync", "-az", "-e", remote_shell, os.getcwd() + "/",
                                     f"{target}:{self.options.sync_dst_dir}"], check=False)
            if copied.returncode != 0:
                raise UsageError(f"--sync-dst-dir: rsync to {host} ended with status {copied.returncode}")

    def start_one(self, host, command, environment):
        spec = {"command": on_host(self.options, "-", command), "unset": JOB_VARIABLES,
                "folder": self.options.sync_dst_dir or os.getcwd(),
                "environment": {**passed_environment(self.options), **environment}}
        remote = shlex.join([self.options.python, "-I", "-S", "-c", READS_GUARD])
        source = (HERE / "guard.py").read_text(encoding="utf-8")
        return ([*self.options.ssh, *SSH_FLAGS, host, "exec " + remote],
                json.dumps(source) + "\n" + json.dumps(spec) + "\n")

    def cannot_start(self, status):
        return status in (126, 127, 255)


class Group(Local):
    """All ranks of a role under one mpirun or srun, which ends them all when one fails."""

    restarts_workers = False
    last_words = 5   # mpirun and srun return a second or more after their processes

    def start(self, places, command, environment):
        if not places:
            return []
        environment = {**passed_environment(self.options), **environment}
        line = self.group_line(places, environment)
        return [Member(environment["DMLC_ROLE"], None, "",
                       *guarded([*line, *on_host(self.options, self.rank_variable, command)], environment))]


class Mpi(Group):
    program = "mpirun"

    def __init__(self, options, service):
        super().__init__(options, service)
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=False).stdout
        self.open_mpi = "Open MPI" in version or "OpenRTE" in version or "PRRTE" in version
        if not self.open_mpi and not any(name in version.upper() for name in ("HYDRA", "INTEL(R) MPI")):
            raise UsageError(f"mpirun is neither Open MPI nor one with Hydra (MPICH, Intel MPI): {version[:80]!r}")
        self.rank_variable = "OMPI_COMM_WORLD_RANK" if self.open_mpi else "PMI_RANK"

    def group_line(self, places, environment):
        """The environment goes by name: mpirun has the values in its own environment."""
        line = [self.program, "-n", str(len(places))]
        if self.hosts:
            counts = collections.Counter(places)
            line += ["--host" if self.open_mpi else "-hosts",
                     ",".join(f"{host}:{count}" for host, count in counts.items())]
        if self.open_mpi:
            return line + ["--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none",
                           *(word for name in environment for word in ("-x", name))]
        return line + ["-genvlist", ",".join(environment)]


class Slurm(Group):
    program = "srun"
    rank_variable = "SLURM_PROCID"

    def __init__(self, options, service):
        if "SLURM_JOB_ID" not in os.environ:
            raise UsageError("--launcher slurm runs inside an allocation: start it by sbatch, or as salloc -n "
                             f"{options.num_workers} python -m symbind.launch ...")
        super().__init__(options, service)

    def leaves_machine(self):
        return os.environ.get("SLURM_JOB_NODELIST") != socket.gethostname().partition(".")[0]

    def group_line(self, places, environment):
        # Servers and workers share the allocation's processors.
        return [self.program, "--ntasks", str(len(places)), "--overlap", "--export=ALL", "--kill-on-bad-exit=1"]


KINDS = {"local": Local, "ssh": Ssh, "mpi": Mpi, "slurm": Slurm}
