"""Host files, addresses and ports.

A line of a host file is `host`, `host:slots` or `host slots=N`; # starts a comment. Slots count
workers; servers take none. A host without slots takes any number, as in MXNet. MXNet reads
`host:port`; here a port belongs into ssh's configuration.
"""
import contextlib
import ipaddress
import re
import socket

LOOPBACK = "127.0.0.1"
MOST_SLOTS = 1024
LINE = re.compile(r"(?P<host>[^\s:]+|\[[^\s\]]+\])(:(?P<colon>\d+)|\s+slots=(?P<word>\d+))?")


class UsageError(Exception):
    """A mistake on the command line: one line on stderr, exit status 2."""


def read_hostfile(path):
    """[(host, slots or None)] in the order of the file."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read the host file {path}: {error.strerror}") from error
    hosts = []
    for number, line in enumerate(lines, 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        match = LINE.fullmatch(line)
        if not match:
            raise UsageError(f"{path}:{number}: '{line}' is not host, host:slots or host slots=N")
        slots = match["colon"] or match["word"]
        if slots is not None and not 1 <= int(slots) <= MOST_SLOTS:
            raise UsageError(f"{path}:{number}: {slots} slots are not between 1 and {MOST_SLOTS}; "
                             "a port belongs into ~/.ssh/config")
        hosts.append((match["host"].strip("[]"), slots and int(slots)))
    if not hosts:
        raise UsageError(f"the host file {path} names no host")
    return hosts


def place(hosts, count):
    """The hosts of `count` workers: in turn, as long as a host has a free slot."""
    free = [[host, slots] for host, slots in hosts]
    places = []
    while len(places) < count:
        open_hosts = [entry for entry in free if entry[1] != 0]
        if not open_hosts:
            raise UsageError(f"the host file has {len(places)} slots, {count} workers need {count}")
        for entry in open_hosts[:count - len(places)]:
            places.append(entry[0])
            if entry[1] is not None:
                entry[1] -= 1
    return places


def is_loopback(host):
    host = host.rpartition("@")[2]
    return host in ("localhost", "::1") or host.startswith("127.")


def resolve(address, remote_hosts):
    """The numeric address that the scheduler listens at.

    `address` is --address or None; `remote_hosts` tells whether processes run on other machines.
    """
    if address is None:
        if remote_hosts:
            raise UsageError("processes run on other machines: --address must name an address of this "
                             "machine that they reach, such as --address 10.0.0.1")
        return LOOPBACK
    try:
        found = sorted({entry[4][0] for entry in socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)},
                       key=lambda text: (":" in text, text))
    except OSError as error:
        raise UsageError(f"--address {address} is unknown: {error.strerror}") from error
    if ipaddress.ip_address(found[0].partition("%")[0]).is_unspecified:
        raise UsageError(f"--address {address} means every address of this machine; name one of them")
    if remote_hosts and address != found[0] and is_loopback(found[0]):
        raise UsageError(f"--address {address} is {found[0]} here, which other machines do not reach; "
                         "give the number of an address")
    reserve_port(found[0])  # raises unless it is an address of this machine
    return found[0]


def reserve_port(address):
    """A free port at the address, which the system gives to no other program for a minute.

    A connection that its server closed first leaves the port in the state TIME_WAIT. A listener that sets
    SO_REUSEADDR, as that of gRPC, can use it; programs that take any free port do not get it.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with contextlib.ExitStack() as sockets:
        listener, client = (sockets.enter_context(socket.socket(family)) for _ in range(2))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, 0))
        except OSError as error:
            raise UsageError(f"cannot listen at {address}: {error.strerror}; --address must name an address "
                             "of this machine") from error
        listener.listen(1)
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.close()
        client.recv(1)
        return listener.getsockname()[1]
