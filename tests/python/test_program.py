"""The program `symbind`: help, output, JSON and errors of each command."""
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from program_cases import (CHECKPOINT, GOLDEN, check_text, error_line, program, run, run_json, without_numbers,
                           write_idx)

COMMANDS = ["train", "eval", "predict", "inspect", "convert", "explain", "doctor"]


@pytest.fixture(name="folder")
def folder_with_a_checkpoint(tmp_path):
    for ending in ["-symbol.json", "-0001.params"]:
        shutil.copy(str(CHECKPOINT) + ending, tmp_path / ("fashion" + ending))
    random = np.random.RandomState(1)
    np.save(tmp_path / "x.npy", random.rand(5, 1, 28, 28).astype("float32"))
    np.save(tmp_path / "y.npy", np.array([0, 1, 2, 3, 4], dtype="float32"))
    return tmp_path


def test_help_of_the_program(tmp_path):
    check_text("help.txt", run("--help", cwd=tmp_path).stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(command, tmp_path):
    text = run(command, "--help", cwd=tmp_path).stdout
    assert "Example:" in text and "Exit codes:" in text and "--json" in text
    check_text(f"help_{command}.txt", text)
    body = text[:text.index("Exit codes:")]
    assert max(len(line) for line in body.splitlines()) <= 80


def test_version(tmp_path):
    assert run("--version", cwd=tmp_path).stdout.startswith("symbind ")


# --- output ---------------------------------------------------------------------------------------

def test_inspect_prints_operators_shapes_and_parameters(folder):
    text = run("inspect", "fashion", "--shape", "data=2,1,28,28", cwd=folder).stdout
    check_text("inspect.txt", re.sub(r", \S+ \S+ of intermediates", ", # of intermediates", text))
    document = run_json("inspect", "fashion", "--shape", "data=2,1,28,28", "--layers", "--params", cwd=folder)
    assert document["missing_operators"] == [] and document["missing_parameters"] == []
    assert document["outputs"][0]["shape"][0] == 2 and document["flops"] > 0
    assert sum(entry["bytes"] for entry in document["parameters"]["list"]) == document["parameters"]["bytes"]
    assert document["layers"][0]["op"]


def test_inspect_of_a_folder_names_what_is_missing(folder):
    graph = json.loads((folder / "fashion-symbol.json").read_text())
    graph["nodes"][-1]["op"] = "NotAnOperator"
    (folder / "unknown-symbol.json").write_text(json.dumps(graph))
    (folder / "broken.json").write_text("{")
    check_text("inspect_folder.txt", run("inspect", ".", cwd=folder).stdout)
    models = run_json("inspect", ".", cwd=folder)["models"]
    assert [model["missing_operators"] for model in models] == [[], ["NotAnOperator"]]


def test_eval_counts_every_example_once(folder):
    document = run_json("eval", "fashion", "--data", "x.npy", "--label", "y.npy", "--batch-size", 2, cwd=folder)
    probabilities = np.array(run_json("predict", "fashion", "--data", "x.npy", cwd=folder)["outputs"][0]["values"])
    labels = np.arange(5)
    assert document["examples"] == 5
    assert document["metrics"]["accuracy"] == np.mean(probabilities.argmax(axis=1) == labels)
    expected = -np.log(probabilities[labels, labels]).mean()
    assert document["metrics"]["cross-entropy"] == pytest.approx(expected, rel=1e-4)
    text = run("eval", "fashion", "--data", "x.npy", "--label", "y.npy", cwd=folder).stdout
    check_text("eval.txt", without_numbers(text))


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "params", "safetensors"])
def test_predict_writes_what_it_prints(folder, ending):
    printed = run("predict", "fashion", "--data", "x.npy", "--batch-size", 2, cwd=folder).stdout
    values = np.array([[float(x) for x in line.split(",")] for line in printed.splitlines()], dtype="float32")
    assert values.shape == (5, 10) and np.allclose(values.sum(axis=1), 1, atol=1e-5)
    out = folder / f"out.{ending}"
    text = run("predict", "fashion", "--data", "x.npy", "--batch-size", 2, "--out", out.name, cwd=folder).stdout
    assert text == f"5 predictions in out.{ending}\n"
    if ending == "csv":
        written = np.loadtxt(out, delimiter=",", dtype="float32")
    else:
        if ending in {"params", "safetensors"}:
            run("convert", out.name, "copy.npz", cwd=folder)
            out = folder / "copy.npz"
        written = np.load(out)
        written = written if ending == "npy" else written[written.files[0]]
    assert (written == values).all()


def test_predict_argmax_and_inner_layers(folder):
    values = run_json("predict", "fashion", "--data", "x.npy", cwd=folder)["outputs"][0]["values"]
    classes = run("predict", "fashion", "--data", "x.npy", "--argmax", cwd=folder).stdout.split()
    assert [int(c) for c in classes] == list(np.argmax(values, axis=1))
    layers = run_json("inspect", "fashion", "--shape", "data=1,1,28,28", "--layers", cwd=folder)["layers"]
    name = layers[0]["name"] + "_output"
    inner = run_json("predict", "fashion", "--data", "x.npy", "--output", name, cwd=folder)["outputs"][0]
    assert inner["name"] == name and inner["shape"][0] == 5


def test_data_in_csv_idx_params_and_libsvm_give_the_same_metrics(folder):
    pictures = (np.load(folder / "x.npy") * 255).astype("uint8")
    labels = np.arange(5)
    write_idx(folder / "x-idx3-ubyte", pictures[:, 0])
    write_idx(folder / "y-idx1-ubyte", labels)
    numbers = pictures.reshape(5, -1).astype("float32") / 256
    np.savez(folder / "both.npz", data=numbers.reshape(5, 1, 28, 28), label=labels.astype("float32"))
    with open(folder / "both.csv", "w", encoding="utf-8") as file:
        file.write("label," + ",".join(f"p{i}" for i in range(784)) + "\n")
        for label, row in zip(labels, numbers):
            file.write(",".join([str(label), *(repr(float(x)) for x in row)]) + "\n")
    with open(folder / "both.libsvm", "w", encoding="utf-8") as file:
        for label, row in zip(labels, numbers):
            file.write(f"{label} " + " ".join(f"{i}:{float(x)!r}" for i, x in enumerate(row) if x) + "\n")
    run("convert", "both.npz", "both.params", cwd=folder)
    shape = ["--shape", "1,28,28"]
    sources = [["x-idx3-ubyte", "--label", "y-idx1-ubyte"], ["both.npz"], ["both.params"],
               ["both.csv", "--label-column", "label", *shape], ["both.csv", "--label-column", "0", *shape],
               ["both.libsvm", *shape]]
    values = [run_json("eval", "fashion", "--data", *source, cwd=folder)["metrics"] for source in sources]
    assert all(value == values[0] for value in values)


def test_convert_prints_each_file(folder):
    text = run("convert", "fashion", "copy", cwd=folder).stdout
    check_text("convert.txt", text)
    assert (folder / "copy-0001.params").read_bytes() == (folder / "fashion-0001.params").read_bytes()
    document = run_json("convert", "fashion-0001.params", "half.params", "--dtype", "float16", cwd=folder)
    assert document["files"][0]["converted"] == 4 and document["files"][0]["arrays"] == 8  # BatchNorm has four


def test_convert_reads_old_files(tmp_path):
    exchange = GOLDEN / "exchange"
    for name in ["v0.params", "v0list.params", "v1.params", "v1list.params"]:
        run("convert", exchange / name, "today.params", cwd=tmp_path)
        before = run_json("inspect", exchange / name, "--params", cwd=tmp_path)["parameters"]
        assert run_json("inspect", "today.params", "--params", cwd=tmp_path)["parameters"] == before
        assert (tmp_path / "today.params").read_bytes() != (exchange / name).read_bytes()
    for name in ["v0.8-symbol.json", "v0.9-symbol.json", "v0.11-symbol.json"]:
        run("convert", exchange / name, "today-symbol.json", cwd=tmp_path)
        graph = json.loads((tmp_path / "today-symbol.json").read_text())
        assert graph["attrs"]["mxnet_version"][1] >= 10900


def test_explain_writes_a_page_text_and_json(folder):
    text = run("explain", "fashion", "--shape", "1,1,28,28", "--out", "page.html", cwd=folder).stdout
    check_text("explain.txt", re.sub(r"\d+ steps", "# steps", text))  # layouts differ between CPUs
    assert (folder / "page.html").read_text().startswith("<!")
    printed = run("explain", "fashion", "--shape", "1,1,28,28", "--train", cwd=folder).stdout
    assert printed.startswith("plan: ")
    document = run_json("explain", "lenet", "--shape", "data=1,1,28,28", "--profile", 2, cwd=folder)
    assert document["totals"]["flops"] > 0 and any("time" in step for step in document["plan"]["steps"])
    assert sorted(os.listdir(folder)) == ["fashion-0001.params", "fashion-symbol.json", "page.html", "x.npy", "y.npy"]


def test_doctor_reports_findings(tmp_path):
    done = run("doctor", "--seconds", 0.1, cwd=tmp_path)
    for topic in ["CPU", "instructions", "threads", "OpenBLAS", "GPUs", "disk", "product", "convolution"]:
        assert f"  {topic}" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("no problems, ")
    document = run_json("doctor", "--seconds", 0.1, cwd=tmp_path)
    assert document["ok"] and document["cpu"]["threads"] == 1 and document["self_test"]["gemm_error"] == 0
    limited = [f for f in document["findings"] if f["topic"] == "threads"][0]
    if document["cpu"]["allowed_cores"] > 1:
        assert limited["state"] == "note" and "OMP_NUM_THREADS=1" in limited["what"] and limited["fix"]


# --- errors ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments, part", [
    (["predcit"], "unknown command 'predcit' (did you mean 'predict'?)"),
    (["eval", "fashion", "--bacth-size", "3"], "unknown flag '--bacth-size' (did you mean '--batch-size'?)"),
    (["eval"], "model is required"),
    (["eval", "fashion", "--data", "x.npy", "--batch-size", "many"], "batch-size"),
    (["eval", "fashion", "--data", "x.npy"], "'x.npy' has no labels"),
    (["eval", "fashion", "--data", "x.npy", "--label", "y.npy", "--metric", "accu"], "acc"),
    (["predict", "fashion", "--data", "x.npy", "--out", "y.txt"], "--out y.txt: use an ending .csv"),
    (["explain", "fashion"], "--shape is required"),
    (["explain", "fashion", "--shape", "dat=1,1,28,28"], "no argument 'dat' (did you mean 'data'?)"),
    (["explain", "fashion", "--shape", "1,two"], "which is not a whole number"),
    (["convert", "x.npy", "y.zip"], "cannot tell the format of 'y.zip'"),
    (["convert", "fashion-0001.params", "y.params", "--dtype", "float17"], "float16"),
    (["train", "--network", "mpl", "--data", "shapes"], "no network 'mpl'"),
    (["train", "--network", "mlp", "--data", "shapes", "--examples", "2000", "--lr", "fast"], "--lr: lr is 'fast', which is not a number"),
    (["train", "--network", "mlp", "--data", "shapes", "--epochs", "0"], "must be at least 1"),
    (["train", "--network", "mlp", "--data", "shapes", "--set", "ephocs=3"],
     "unknown key 'ephocs' (did you mean 'epochs'?)"),
    (["train", "--network", "mlp", "--data", "shapes", "--optimizer", "sdg"], "sgd"),
    (["train", "--network", "mlp", "--data", "shapes", "--run", "a/b"], "--run a/b"),
    (["train"], "no network is given"),
])
def test_wrong_usage_is_one_line_and_exit_code_2(folder, arguments, part):
    line = error_line(*arguments, cwd=folder, code=2)
    assert part in line and line.startswith("symbind") and line.endswith("--help")
    assert not (folder / "runs").exists()


@pytest.mark.parametrize("arguments, part", [
    (["eval", "nothing", "--data", "x.npy"], "there is no model 'nothing'"),
    (["eval", "fashion", "--epoch", "7", "--data", "x.npy"], "epochs of 'fashion': 1"),
    (["eval", "fashion", "--data", "nothing.csv"], "cannot read 'nothing.csv': No such file"),
    (["predict", "fashion", "--data", "y.npy"], "the data (5,) must be (batch, channels, spatial"),
    (["predict", "fashion", "--data", "text.csv"], "text.csv, line 2, column 1: 'b' is not a number"),
    (["predict", "fashion", "--data", "ragged.csv"], "ragged.csv, line 2: it has 2 columns, and the first line 3"),
    (["predict", "fashion", "--data", "x.npy", "--shape", "3,3"], "784 numbers per example, and the shape (3, 3) has 9"),
    (["predict", "fashion", "--data", "x.npy", "--out", "no/folder.csv"], "no/folder.csv"),
    (["inspect", "empty"], "no symbol files"),
    (["convert", "nothing.npz", "y.params"], "nothing.npz"),
    (["train", "--network", "lenet", "--data", "ragged.csv"], "line 2"),
    (["train", "--network", "lenet", "--data", "flat.csv", "--label-column", "0"], "conv"),
    (["train", "--network", "gone.json", "--data", "shapes"], "gone.json"),
])
def test_work_that_fails_is_one_line_and_exit_code_1(folder, arguments, part):
    (folder / "text.csv").write_text("1,2\n3,b\n")
    (folder / "ragged.csv").write_text("1,2,3\n4,5\n")
    (folder / "flat.csv").write_text("0,1,2\n1,3,4\n")
    (folder / "empty").mkdir()
    before = sorted(os.listdir(folder))
    line = error_line(*arguments, cwd=folder, code=1)
    assert part in line and line.startswith("symbind " + arguments[0])
    assert [name for name in sorted(os.listdir(folder)) if name != "runs"] == before


def test_errors_are_documents_with_json(folder):
    document = run_json("eval", "nothing", "--data", "x.npy", cwd=folder, code=1)
    assert document["command"] == "eval" and document["exit_code"] == 1 and "nothing" in document["error"]
    document = run_json("eval", "--daat", "x.npy", cwd=folder, code=2)
    assert document["exit_code"] == 2 and "--data" in document["error"]


def test_a_config_with_a_misspelt_key_is_refused_by_name(tmp_path):
    (tmp_path / "c.toml").write_text('network = "mlp"\ndata = "shapes"\nbatchsize = 3\n')
    line = error_line("train", "--config", "c.toml", cwd=tmp_path, code=2)
    assert "c.toml: unknown key 'batchsize' (did you mean 'batch-size'?)" in line
    (tmp_path / "c.toml").write_text('[optimizer]\nlr = 3\n')
    assert "unknown section 'optimizer'" in error_line("train", "--config", "c.toml", cwd=tmp_path, code=2)


def test_a_full_disk_is_reported(folder):
    full = os.open("/dev/full", os.O_WRONLY)
    for arguments in (["--help"], ["inspect", "fashion"], ["predict", "fashion", "--data", "x.npy", "--json"]):
        done = subprocess.run([program(), *arguments], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
        assert done.returncode == 1 and "cannot write to stdout: No space left on device" in done.stderr
    os.close(full)
