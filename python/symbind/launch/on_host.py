"""Runs a command on the host where a remote launcher put it: on_host.py RANK_VARIABLE COMMAND...

mpirun and srun number their processes in a variable, which becomes SYMBIND_DIST_RANK ("-": the rank
is already set). SYMBIND_DIST_BIND, if it is not set, becomes DMLC_NODE_HOST or the address from which
this host reaches the scheduler: the loopback address if the scheduler listens there.
"""
import os
import socket
import sys


def own_address(host, port):
    """The local address of a route to host; connecting a datagram socket sends nothing."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(address)
        return probe.getsockname()[0]


def main(rank_variable, *command):
    if rank_variable != "-":
        os.environ["SYMBIND_DIST_RANK"] = os.environ[rank_variable]
    if "SYMBIND_DIST_BIND" not in os.environ:
        os.environ["SYMBIND_DIST_BIND"] = os.environ.get("DMLC_NODE_HOST") or own_address(
            os.environ["DMLC_PS_ROOT_URI"], int(os.environ["DMLC_PS_ROOT_PORT"]))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write("symbind.launch: cannot run {} on {}: {}\n".format(
            command[0], socket.gethostname(), error.strerror))
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
