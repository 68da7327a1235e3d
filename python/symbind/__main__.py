"""python -m symbind: runs an unedited MXNet script; `import mxnet` imports Symbind."""
import os
import runpy
import sys

USAGE = """usage: python -m symbind SCRIPT [ARGUMENT ...]
       python -m symbind -m MODULE [ARGUMENT ...]
       python -m symbind -c CODE [ARGUMENT ...]

Runs an unedited Python program written for MXNet 1.x: `import mxnet` imports Symbind, and names that
NumPy has removed (np.int, np.float, ...) are restored. Arguments, exit status and imports from the
script's folder work as with `python SCRIPT`.

options:
  -h, --help     show this text
  -V, --version  show the version of Symbind
"""


def main(arguments):
    """Runs the command line; returns the exit status, or raises the script's exception."""
    if not arguments:
        sys.stderr.write(USAGE)
        return 2
    first, rest = arguments[0], arguments[1:]
    if first in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if first in ("-V", "--version"):
        import symbind
        print("symbind", symbind.__version__)
        return 0
    if first in ("-c", "-m") and not rest:
        sys.stderr.write("python -m symbind: {} needs an argument\n".format(first) + USAGE)
        return 2
    if first.startswith("-") and first not in ("-c", "-m"):
        sys.stderr.write("python -m symbind: unknown option {}\n".format(first) + USAGE)
        return 2

    from . import as_mxnet
    as_mxnet.serve_children()
    if first == "-c":
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path[0] = ""
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif first == "-m":
        sys.argv[:] = rest
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        if not os.path.exists(first):
            sys.stderr.write("python -m symbind: can't open file {!r}\n".format(first))
            return 2
        sys.argv[:] = arguments
        sys.path[0] = os.path.dirname(os.path.realpath(first))
        runpy.run_path(first, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
