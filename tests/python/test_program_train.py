"""`symbind train`: runs, resuming, interrupts, terminals, full disks."""
import fcntl
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import termios
import time

import numpy as np
import pytest

from program_cases import CHECKPOINT, check_text, error_line, program, run, run_json, without_numbers

SHAPES = ["train", "--network", "mlp", "--data", "shapes", "--examples", "2000", "--lr", "0.1", "--momentum", "0.9"]
# A network that takes long enough to be interrupted within an epoch.
SLOW = ["train", "--network", "lenet", "--data", "shapes", "--examples", "2000", "--batch-size", "8", "--epochs", "40"]


def params(folder, name="w", epoch=3):
    return (folder / "runs" / name / f"model-{epoch:04d}.params").read_bytes()


def log_of(folder, name="w"):
    return [json.loads(line) for line in (folder / "runs" / name / "log.jsonl").read_text().splitlines()]


def start(arguments, cwd, **options):
    return subprocess.Popen([program(), *arguments], cwd=cwd, text=True,  # pylint: disable=consider-using-with
                            env={**os.environ, "OMP_NUM_THREADS": "1"}, **options)


def test_a_run_has_config_log_and_checkpoints(tmp_path):
    done = run(*SHAPES, "--epochs", 3, "--run", "w", "--log-every", 10, cwd=tmp_path)
    check_text("train.txt", without_numbers(done.stdout))
    check_text("train_stderr.txt", without_numbers(done.stderr))
    check_text("config.toml", (tmp_path / "runs" / "w" / "config.toml").read_text())
    lines = log_of(tmp_path)
    assert [line["epoch"] for line in lines if line["phase"] == "train"] == [0, 1, 2]
    assert [line["nbatch"] for line in lines if line["phase"] == "interval" and line["epoch"] == 1] == [10, 20, 30]
    last = [line for line in lines if line["phase"] == "validation"][-1]
    assert last["accuracy"] > 0.5
    metrics = run_json("eval", "runs/w", cwd=tmp_path)["metrics"]
    assert metrics["accuracy"] == last["accuracy"]
    document = run_json(*SHAPES, "--epochs", 4, "--run", "w", cwd=tmp_path)
    assert document["resumed_from_epoch"] == 3 and document["trained_epochs"] == 1
    assert document["checkpoint"] == "runs/w/model-0004.params"


def test_a_resumed_run_ends_bit_for_bit_as_one_that_was_never_stopped(tmp_path):
    run(*SHAPES, "--epochs", 3, "--run", "w", cwd=tmp_path)
    run(*SHAPES, "--epochs", 1, "--run", "v", cwd=tmp_path)
    done = run("train", "--run", "v", "--epochs", 3, cwd=tmp_path)
    assert "resuming runs/v after epoch 1, batch 0" in done.stderr
    assert params(tmp_path) == params(tmp_path, "v")


def test_a_complete_run_is_not_trained_further(tmp_path):
    run(*SHAPES, "--epochs", 1, "--run", "w", cwd=tmp_path)
    done = run(*SHAPES, "--epochs", 1, "--run", "w", cwd=tmp_path)
    assert "nothing is left to train" in done.stdout and done.stderr == ""


def test_settings_that_matter_cannot_change(tmp_path):
    run(*SHAPES, "--epochs", 1, "--run", "w", cwd=tmp_path)
    before = params(tmp_path, epoch=1)
    line = error_line("train", "--run", "w", "--lr", "0.5", "--epochs", "2", "--seed", "3", cwd=tmp_path, code=2)
    assert "cannot be resumed with lr = 0.5 (was 0.1), seed = 3 (was 0)" in line and "--restart" in line
    assert params(tmp_path, epoch=1) == before
    done = run(*SHAPES, "--lr", "0.5", "--epochs", 1, "--run", "w", "--restart", cwd=tmp_path)
    assert "the former run is now runs/w.1" in done.stderr
    assert params(tmp_path, "w.1", 1) == before and params(tmp_path, epoch=1) != before


def test_config_then_set_then_flags(tmp_path):
    (tmp_path / "c.toml").write_text('network = "mlp"\ndata = "shapes"  # made by formula\n[train]\nepochs = 1\n'
                                     'lr = 0.3\nbatch_size = 50\nseed = 4\n'
                                     'optimizer-params = ["clip_gradient=0.5", "lazy_update=False"]\n')
    run("train", "--config", "c.toml", "--set", "lr=0.2", "--set", "seed=5", "--seed", 6, "--run", "w", cwd=tmp_path)
    config = (tmp_path / "runs" / "w" / "config.toml").read_text()
    for line in ["lr = 0.2", "batch-size = 50", "seed = 6",
                 'optimizer-params = ["clip_gradient=0.5", "lazy_update=False"]']:
        assert line in config.splitlines()
    shutil.copy(tmp_path / "runs" / "w" / "config.toml", tmp_path / "again.toml")
    run("train", "--config", "again.toml", "--run", "v", cwd=tmp_path)
    assert params(tmp_path, epoch=1) == params(tmp_path, "v", 1)


def test_a_network_from_json_and_regression_from_csv(tmp_path):
    nodes = [{"op": "null", "name": "data", "inputs": []}, {"op": "null", "name": "fc_weight", "inputs": []},
             {"op": "null", "name": "fc_bias", "inputs": []},
             {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "1"},
              "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
             {"op": "null", "name": "out_label", "inputs": []},
             {"op": "LinearRegressionOutput", "name": "out", "inputs": [[3, 0, 0], [4, 0, 0]]}]
    (tmp_path / "line-symbol.json").write_text(json.dumps(
        {"nodes": nodes, "arg_nodes": [0, 1, 2, 4], "heads": [[5, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}))
    points = np.random.RandomState(1).uniform(-1, 1, (200, 2))
    rows = np.column_stack([points, points @ [2, -3] + 1])
    np.savetxt(tmp_path / "points.csv", rows, delimiter=",", header="a,b,target", comments="")
    document = run_json("train", "--network", "line-symbol.json", "--data", "points.csv", "--label-column", "target",
                        "--lr", "0.2", "--epochs", "20", "--batch-size", "20", "--run", "line", cwd=tmp_path)
    assert document["train"]["mse"] < 1e-3
    (tmp_path / "new.csv").write_text("0,0\n1,0\n0,1\n")
    values = [float(x) for x in run("predict", "runs/line", "--data", "new.csv", cwd=tmp_path).stdout.split()]
    assert np.allclose(values, [1, 3, -2], atol=0.1)


def test_two_devices_and_a_learning_rate_schedule(tmp_path):
    run(*SHAPES, "--epochs", 2, "--run", "w", "--devices", "cpu(0),cpu(1)", "--lr-steps", "1", cwd=tmp_path)
    rates = [line["learning_rate"] for line in log_of(tmp_path) if line["phase"] == "train"]
    assert rates == pytest.approx([0.1, 0.01])


def test_two_processes_cannot_train_one_run(tmp_path):
    first = start([*SLOW, "--run", "w"], tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(tmp_path / "runs" / "w" / "config.toml")
        assert "another process trains in 'runs/w'" in error_line(*SLOW, "--run", "w", cwd=tmp_path, code=1)
    finally:
        first.kill()
        first.wait()


# --- interrupts -----------------------------------------------------------------------------------

def wait_for(path, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_resumes_where_it_stopped(tmp_path, number):
    short = [*SLOW[:-1], "3"]
    run(*short, "--run", "whole", cwd=tmp_path)
    process = start([*short, "--run", "w"], tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_for(tmp_path / "runs" / "w" / "config.toml")
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "", err
    assert err.splitlines()[-1] == "symbind train: interrupted" and "the same command resumes" in err
    assert not [name for name in os.listdir(tmp_path / "runs" / "w") if "pending" in name or "tmp" in name]
    run_json("eval", "runs/w", cwd=tmp_path)
    run(*short, "--run", "w", cwd=tmp_path)
    assert params(tmp_path) == params(tmp_path, "whole")


@pytest.mark.parametrize("command", [
    ["eval", "fashion", "--data", "x.npy", "--label", "y.npy"],
    ["predict", "fashion", "--data", "x.npy", "--out", "out.npz"], ["inspect", "fashion", "--shape", "9,1,28,28"],
    ["convert", "fashion", "copy"], ["convert", "x.npy", "out.safetensors"],
    ["explain", "fashion", "--shape", "9,1,28,28", "--out", "page.html", "--profile", "20"], ["doctor"],
    [*SHAPES, "--epochs", "50", "--run", "w"]])
def test_ctrl_c_at_any_moment_leaves_nothing_half_written(tmp_path, command):
    for ending in ["-symbol.json", "-0001.params"]:
        shutil.copy(str(CHECKPOINT) + ending, tmp_path / ("fashion" + ending))
    np.save(tmp_path / "x.npy", np.zeros((2000, 1, 28, 28), "float32"))
    np.save(tmp_path / "y.npy", np.zeros(2000, "float32"))
    allowed = {"fashion-symbol.json", "fashion-0001.params", "x.npy", "y.npy", "out.npz", "copy-symbol.json",
               "copy-0001.params", "out.safetensors", "page.html", "runs"}
    began = time.monotonic()
    codes = set()
    for delay in [0.002, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.3]:
        process = start(command, tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
        codes.add(process.returncode)
        # Before main the system's own handler ends the process, which shells report as 130 too.
        assert process.returncode in {0, 130, -signal.SIGINT}, err
        assert process.returncode != 130 or "interrupted" in err
        assert set(os.listdir(tmp_path)) <= allowed
    assert 130 in codes or time.monotonic() - began < 5
    for name in ["out.npz", "out.safetensors", "copy-0001.params"]:
        if (tmp_path / name).exists():
            run("inspect", name, cwd=tmp_path)
    if command[0] == "train":
        run(*command, cwd=tmp_path)


# --- terminals ------------------------------------------------------------------------------------

def in_terminal(arguments, cwd, columns):
    """What a terminal of this width gets on stderr."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = start(arguments, cwd, stderr=follower, stdout=subprocess.DEVNULL)
    os.close(follower)
    text = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        text += block
    os.close(leader)
    assert process.wait(60) == 0
    return text.decode()


@pytest.mark.parametrize("columns", [8, 20, 60, 200])
def test_the_bar_fits_the_terminal(tmp_path, columns):
    text = in_terminal([*SLOW[:-1], "2", "--run", "w"], tmp_path, columns)
    drawn = [part for part in text.replace("\r\n", "\n").split("\r\x1b[K") if part and "\n" not in part]
    assert drawn and all(len(part) < max(columns, 9) for part in drawn)
    assert ("[" in drawn[-1]) == (columns >= 60) and ("accuracy" in drawn[-1]) == (columns >= 60)
    assert "epoch 1/2  accuracy" in text and "epoch 2/2  accuracy" in text


def test_without_a_terminal_there_is_one_line_per_epoch(tmp_path):
    done = run(*SHAPES, "--epochs", 3, "--run", "w", cwd=tmp_path)
    assert len(done.stderr.splitlines()) == 3 and "\r" not in done.stderr


# --- full disks and closed files ------------------------------------------------------------------

def test_a_full_disk_ends_the_training_with_a_clear_line(tmp_path):
    run(*SHAPES, "--epochs", 1, "--run", "w", cwd=tmp_path)
    before = params(tmp_path, epoch=1)
    done = run("train", "--run", "w", "--epochs", 3, cwd=tmp_path, code=1,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
    last = done.stderr.splitlines()[-1]
    assert last.startswith("symbind train: ") and "File too large" in last and "model-0002" in last
    assert params(tmp_path, epoch=1) == before
    run("train", "--run", "w", "--epochs", 3, cwd=tmp_path)


def test_a_folder_that_cannot_be_created_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file")
    line = error_line(*SHAPES, "--epochs", "1", "--run", "w", cwd=tmp_path, code=1)
    assert "cannot create the folder 'runs/w'" in line and "choose another folder for runs" in line


def test_closed_stderr_does_not_stop_a_training(tmp_path):
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = start([*SHAPES, "--epochs", "1", "--run", "w"], tmp_path, stderr=full, stdout=subprocess.DEVNULL)
        assert process.wait(60) == 0
    assert params(tmp_path, epoch=1)
