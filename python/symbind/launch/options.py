"""The command line of `python -m symbind.launch`.

The flags of MXNet 1.9.1's tools/launch.py keep their names and meaning. Decided here: without
--launcher a host file means ssh, else local (MXNet's default is ssh, which fails without a host file);
flags after the command belong to the command.
"""
import argparse
import os
import re
import secrets
import shlex
import stat
import sys

from .hosts import UsageError

LAUNCHERS = ("local", "ssh", "mpi", "slurm")
REFUSED = {"sge": "inside a Grid Engine job use --launcher mpi, whose mpirun knows the job's hosts",
           "yarn": "Symbind has no Hadoop client; write the hosts to a file and use --launcher ssh"}

EPILOG = """\
the command:
  Several words run as they are, without a shell. A single word that contains a space runs by `sh -c`:
    python -m symbind.launch -n 2 'cd src && python train.py > log.$SYMBIND_DIST_RANK'

examples:
  python -m symbind.launch -n 2 python train.py --kv-store dist_sync
  python -m symbind.launch -n 4 --max-restarts 3 --min-workers 2 python train.py
  python -m symbind.launch -n 8 -H hosts --address 10.0.0.1 --sync-dst-dir /tmp/job python train.py
  python -m symbind.launch -n 8 --launcher mpi -H hosts --address 10.0.0.1 python train.py
  salloc -n 8 python -m symbind.launch -n 8 --launcher slurm --address 10.0.0.1 python train.py

exit status:
  0        all workers ended with 0
  2        a mistake on this command line
  75       a process was lost, and no other status explains it
  126, 127 the command cannot be started
  128 + n  a process was ended by signal n, or this program was
  255      ssh: no connection to a host
  other    the status of the first process that failed
"""


def build_parser():
    parser = argparse.ArgumentParser(
        prog="python -m symbind.launch", description="Starts a scheduler, servers and workers of a distributed job.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = parser.add_argument
    add("-n", "--num-workers", type=int, required=True, metavar="N", help="number of workers")
    add("-s", "--num-servers", type=int, metavar="N",
        help="number of servers (as many as workers); dist_async uses them, dist_sync does not: -s 0 starts none")
    add("-H", "--hostfile", metavar="FILE",
        help="hosts for ssh and mpi, one per line: host, host:slots or host slots=N")
    add("--launcher", metavar="|".join(LAUNCHERS), help="how processes start (ssh with --hostfile, else local)")
    add("--sync-dst-dir", metavar="FOLDER",
        help="ssh: copy the current folder to FOLDER of every host by rsync and run the command there")
    add("--env-server", action="append", default=[], metavar="NAME:VALUE", help="a variable for the servers")
    add("--env-worker", action="append", default=[], metavar="NAME:VALUE", help="a variable for the workers")
    add("--env", action="append", default=[], metavar="NAME",
        help="pass this variable of the current environment to all processes; local and slurm pass all")
    add("--p3", action="store_true", help="set DMLC_PS_VAN_TYPE=p3 and DMLC_PS_WATER_MARK=10, as MXNet does")
    add("--max-restarts", type=int, default=0, metavar="N", help="how often a failed job or worker is restarted (0)")
    add("--min-workers", type=int, metavar="N",
        help="when no restart is left or a host is lost, restart with one worker fewer, down to N")
    add("--server-import", metavar="MODULE", help="a module with custom optimizers that servers import")
    add("--token-file", metavar="FILE",
        help="the job token: 64 hexadecimal digits in a file of mode 600 (SYMBIND_DIST_TOKEN or a random one)")
    add("--address", metavar="ADDRESS",
        help="where the scheduler listens (127.0.0.1); needed if processes run on other machines")
    add("--python", default=sys.executable, metavar="PATH",
        help="the Python of scheduler and servers, and of ssh's helper on every host (%(default)s)")
    add("--ssh", default="ssh", metavar="COMMAND", help="the ssh command, such as 'ssh -F my_config' (ssh)")
    add("--tag-output", action="store_true", help="begin every line of output with role and rank")
    add("command", nargs=argparse.REMAINDER, metavar="command ...", help="what each worker runs")
    return parser


def pairs(flag, texts):
    """{name: value} of NAME:VALUE."""
    found = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise UsageError(f"{flag} {text}: must be NAME:VALUE, such as OMP_NUM_THREADS:3")
        found[name] = value
    return found


def read_token(path, flag):
    """The token of a file that only its owner can read."""
    try:
        with open(path, encoding="ascii") as file:
            facts = os.fstat(file.fileno())
            token = file.read(200).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{flag} {path} cannot be read: {error}") from error
    if not stat.S_ISREG(facts.st_mode) or facts.st_mode & 0o077:
        raise UsageError(f"{flag} {path} has mode {facts.st_mode & 0o777:o}, others may read it; chmod 600 {path}")
    if facts.st_uid != os.geteuid():
        raise UsageError(f"{flag} {path} belongs to user {facts.st_uid}, this is user {os.geteuid()}")
    return checked_token(token, f"{flag} {path}")


def checked_token(token, where):
    if not re.fullmatch("[0-9a-fA-F]{64}", token):
        raise UsageError(f"{where}: a token has 64 hexadecimal digits, this one has {len(token)} characters; "
                         "openssl rand -hex 32 makes one")
    return token


def find_token(token_file):
    if token_file:
        return read_token(token_file, "--token-file")
    if os.environ.get("SYMBIND_DIST_TOKEN_FILE"):
        return read_token(os.environ["SYMBIND_DIST_TOKEN_FILE"], "SYMBIND_DIST_TOKEN_FILE")
    if os.environ.get("SYMBIND_DIST_TOKEN"):
        return checked_token(os.environ["SYMBIND_DIST_TOKEN"], "SYMBIND_DIST_TOKEN")
    return secrets.token_hex(32)


def parse(arguments):
    """The checked options. Raises UsageError; argparse itself exits with 2."""
    options = build_parser().parse_args(arguments)
    if options.launcher is None:
        options.launcher = "ssh" if options.hostfile else "local"
    if options.launcher not in LAUNCHERS:
        reason = REFUSED.get(options.launcher, "choose one of " + ", ".join(LAUNCHERS))
        raise UsageError(f"launcher '{options.launcher}' is not supported: {reason}")
    if options.num_servers is None:
        options.num_servers = options.num_workers
    if options.min_workers is None:
        options.min_workers = options.num_workers
    for flag, value, least in (("-n", options.num_workers, 1), ("-s", options.num_servers, 0),
                               ("--max-restarts", options.max_restarts, 0), ("--min-workers", options.min_workers, 1)):
        if value < least:
            raise UsageError(f"{flag} {value} is less than {least}")
    if options.min_workers > options.num_workers:
        raise UsageError(f"--min-workers {options.min_workers} is more than -n {options.num_workers}")
    if options.launcher == "ssh" and not options.hostfile:
        raise UsageError("--launcher ssh needs --hostfile")
    if options.hostfile and options.launcher not in ("ssh", "mpi"):
        raise UsageError(f"--hostfile is for ssh and mpi, not for {options.launcher}")
    if options.sync_dst_dir and options.launcher != "ssh":
        raise UsageError(f"--sync-dst-dir is for ssh, not for {options.launcher}")
    try:
        options.ssh = shlex.split(options.ssh)
    except ValueError as error:
        raise UsageError(f"--ssh {options.ssh}: {error}") from error
    if not options.ssh:
        raise UsageError("--ssh must name a command, such as 'ssh -F my_config'")
    options.env_server = pairs("--env-server", options.env_server)
    options.env_worker = pairs("--env-worker", options.env_worker)
    for name in options.env:
        if name not in os.environ:
            raise UsageError(f"--env {name}: this variable is not set here")
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command:
        raise UsageError("the command of the workers is missing, such as: python train.py")
    if len(options.command) == 1 and " " in options.command[0].strip():
        options.command = ["sh", "-c", options.command[0]]
    options.token = find_token(options.token_file)
    return options
