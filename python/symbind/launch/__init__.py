"""Starts the processes of a distributed job: `python -m symbind.launch`; see docs/launch.md.

The modules of this package import the standard library only. No module of Symbind imports them.

    options   the command line and its checks
    hosts     host files, addresses, ports
    members   the command and the environment of each process: local, ssh, mpi, slurm
    process   one running process
    job       starts, watches, restarts and ends all of them
    guard     a program between the launcher and each process: ends the process with the launcher
    on_host   a program that adds to the environment what only the process's host knows
"""
import sys


def is_command():
    """Whether this interpreter runs `python -m symbind.launch` and imports the package for it.

    Python imports `symbind` before this package. A launcher must not become a scheduler because
    DMLC_ROLE is set in the shell it is started from.
    """
    words = sys.orig_argv
    return sys.argv[:1] == ["-m"] and any(
        word == "-msymbind.launch" or (word, following) == ("-m", "symbind.launch")
        for word, following in zip(words, words[1:] + [""]))
