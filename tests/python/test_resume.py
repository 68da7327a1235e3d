"""A training that was killed and resumed in a new process equals the one that never stopped."""
import os
import signal
import subprocess
import sys

import pytest

import resume_cases

HERE = os.path.dirname(os.path.abspath(__file__))


def run(kind, folder, threads=1, killed=False, **options):
    """What the training prints; `killed` says how it must end."""
    words = ["%s=%s" % item for item in options.items()]
    result = subprocess.run(
        [sys.executable, os.path.join(HERE, "resume_cases.py"), kind, str(folder), *words],
        text=True, capture_output=True, timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    assert result.returncode == (-signal.SIGKILL if killed else 0), result.stdout + result.stderr
    return result.stdout.strip(), result.stderr


@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_killed_and_resumed_is_bit_equal(kind, tmp_path):
    """Mid-epoch and at an epoch's border."""
    prefix = str(tmp_path / "model")
    whole, _ = run(kind, tmp_path, save=0)
    run(kind, tmp_path, killed=True, kill="1,9")
    again, log = run(kind, tmp_path, resume=prefix)
    assert "model-0001-b000008.manifest.json at epoch 1, batch 8" in log
    assert again == whole
    for name in os.listdir(tmp_path):
        os.remove(tmp_path / name)
    run(kind, tmp_path, killed=True, border=2)
    again, log = run(kind, tmp_path, resume=prefix)
    assert "model-0002.manifest.json at epoch 2, batch 0" in log
    assert again == whole


@pytest.mark.parametrize("kind", ["own", "prefetch", "resize", "drawing", "prefetch_drawing",
                                  "buckets", "chain", "compressed"])
def test_every_kind_is_bit_equal(kind, tmp_path):
    prefix = str(tmp_path / "model")
    whole, _ = run(kind, tmp_path, save=0)
    run(kind, tmp_path, killed=True, kill="1,3", every=2)
    again, log = run(kind, tmp_path, resume=prefix)
    assert "at epoch 1, batch 2" in log
    assert again == whole


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_two_threads(kind, tmp_path):
    prefix = str(tmp_path / "model")
    whole, _ = run(kind, tmp_path, threads=2, save=0)
    run(kind, tmp_path, threads=2, killed=True, kill="1,9")
    assert run(kind, tmp_path, threads=2, resume=prefix)[0] == whole
    for name in os.listdir(tmp_path):
        os.remove(tmp_path / name)
    run(kind, tmp_path, threads=2, killed=True, border=1)
    assert run(kind, tmp_path, threads=2, resume=prefix)[0] == whole
