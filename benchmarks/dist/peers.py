"""Runs one script in the workers of a job on this machine, with Symbind or a peer."""
import os
import socket
import subprocess
import tempfile


def free_port():
    """A port that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_workers(python, script, workers, servers, library, seconds=300):
    """The numbers that the workers print after VALUE. `library` is symbind, mxnet or torch."""
    port = str(free_port())
    base = dict(os.environ, OMP_NUM_THREADS="1", DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=port,
                DMLC_NUM_WORKER=str(workers), DMLC_NUM_SERVER=str(servers), MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port, WORLD_SIZE=str(workers), GLOO_SOCKET_IFNAME="lo")
    roles = library != "torch"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(script)
        file.flush()
        others = [subprocess.Popen([python, "-c", "import " + library], env=dict(base, DMLC_ROLE=role))
                  for role in ["scheduler"] + ["server"] * servers if roles]
        processes = []
        for rank in range(workers):
            own = dict(base, RANK=str(rank), **({"DMLC_ROLE": "worker"} if roles else {}))
            processes.append(subprocess.Popen([python, file.name], env=own, stdout=subprocess.PIPE, text=True))
        texts = [process.communicate(timeout=seconds)[0] for process in processes]
        for process in others:
            process.wait(60)
    if any(process.returncode for process in processes):
        raise SystemExit("a worker of {} failed: {}".format(library, " ".join(texts)))
    return [float(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith("VALUE ")]
