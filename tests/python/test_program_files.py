"""`symbind convert`: .npy, .npz and .safetensors, their round trips, damaged and hostile files."""
import io
import json
import os
import resource
import struct
import zipfile

import numpy as np
import pytest

from program_cases import error_line, run, run_json

TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32",
         "uint64"]


def arrays():
    random = np.random.RandomState(1)
    made = {name: (random.rand(3, 4) * 100).astype(name) for name in TYPES}
    made["arg:fc_weight"] = random.rand(2, 3, 4).astype("float32")
    return made


def same(left, right):
    return sorted(left) == sorted(right) and all(
        left[name].dtype == right[name].dtype and (np.asarray(left[name]) == right[name]).all() for name in left)


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(begin=0, end=8, shape=(2,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def npy(descr="'<f4'", order="False", shape="(2,)", data=bytes(8), extra=""):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}{extra}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy_goes_through_every_format_and_back(tmp_path, save):
    made = arrays()
    save(tmp_path / "a.npz", **made)
    for source, target in [("a.npz", "b.safetensors"), ("b.safetensors", "c.params"), ("c.params", "d.npz")]:
        run("convert", source, target, cwd=tmp_path)
    with np.load(tmp_path / "d.npz") as back:
        assert same(made, dict(back))
    with zipfile.ZipFile(tmp_path / "d.npz") as archive:
        assert archive.testzip() is None
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())


def test_safetensors_has_the_layout_of_the_format(tmp_path):
    np.savez(tmp_path / "a.npz", **arrays())
    run("convert", "a.npz", "a.safetensors", cwd=tmp_path)
    data = (tmp_path / "a.safetensors").read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    assert length % 8 == 0 and data[8:9] == b"{"
    at = 0
    for name, value in header.items():
        begin, end = value["data_offsets"]
        assert begin == at and data[8 + length + begin:8 + length + end] == arrays()[name].tobytes()
        at = end
    assert at == len(data) - 8 - length


def test_safetensors_package_reads_and_writes_the_same_bytes(tmp_path):
    package = pytest.importorskip("safetensors.numpy")
    made = arrays()
    package.save_file(made, tmp_path / "theirs.safetensors")
    np.savez(tmp_path / "a.npz", **made)
    run("convert", "a.npz", "ours.safetensors", cwd=tmp_path)
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    assert same(made, package.load_file(tmp_path / "ours.safetensors"))
    run("convert", "theirs.safetensors", "back.npz", cwd=tmp_path)
    with np.load(tmp_path / "back.npz") as back:
        assert same(made, dict(back))


@pytest.mark.parametrize("array", [
    np.asfortranarray(np.arange(24, dtype="float32").reshape(2, 3, 4)), np.arange(6, dtype=">f8").reshape(2, 3),
    np.arange(6, dtype=">i2"), np.arange(3) > 1, np.float16([1.5, -2])])
def test_npy_of_any_order_is_read(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    run("convert", "a.npy", "b.npy", cwd=tmp_path)
    back = np.load(tmp_path / "b.npy")
    assert back.shape == array.shape and (back == array).all() and back.flags.c_contiguous


def test_scalars_and_empty_arrays_go_through_every_format(tmp_path):
    made = {"scalar": np.float32(3), "empty": np.zeros((0, 3))}
    np.savez(tmp_path / "a.npz", **made)
    for source, target in [("a.npz", "b.safetensors"), ("b.safetensors", "c.params"), ("c.params", "d.npz")]:
        run("convert", source, target, cwd=tmp_path)
    with np.load(tmp_path / "d.npz") as back:
        assert back["scalar"].shape == () and back["scalar"] == 3 and back["empty"].shape == (0, 3)


def test_npy_versions_2_and_3_are_read(tmp_path):
    for version in [(2, 0), (3, 0)]:
        with open(tmp_path / "a.npy", "wb") as file:
            np.lib.format.write_array(file, np.arange(5, dtype="float32"), version=version)
        run("convert", "a.npy", "b.npy", cwd=tmp_path)
        assert (np.load(tmp_path / "b.npy") == np.arange(5)).all()


def test_float16_keeps_batch_norm_and_warns_about_infinity(tmp_path):
    made = {"arg:bn_gamma": np.ones(2, "float32"), "aux:bn_moving_mean": np.ones(2, "float32"),
            "arg:fc_weight": np.array([1, 1e30, -1e30], "float32"), "arg:ln_gamma": np.ones(2, "float32"),
            "count": np.arange(2)}
    np.savez(tmp_path / "a.npz", **made)
    done = run("convert", "a.npz", "b.npz", "--dtype", "float16", cwd=tmp_path)
    assert "2 numbers of 'arg:fc_weight' are beyond float16" in done.stderr
    with np.load(tmp_path / "b.npz") as back:
        assert {name: str(back[name].dtype) for name in back} == {
            "arg:bn_gamma": "float32", "aux:bn_moving_mean": "float32", "arg:fc_weight": "float16",
            "arg:ln_gamma": "float16", "count": "int64"}
    run("convert", "a.npz", "b.npz", "--dtype", "float16", "--all", cwd=tmp_path)
    with np.load(tmp_path / "b.npz") as back:
        assert back["arg:bn_gamma"].dtype == "float16"
    run("convert", "b.npz", "c.npz", "--dtype", "float32", cwd=tmp_path)
    with np.load(tmp_path / "c.npz") as back:
        assert back["arg:bn_gamma"].dtype == "float32" and back["count"].dtype == "int64"


@pytest.mark.parametrize("data, part", [
    (b"", "shorter than 8 bytes"),
    (safetensors({}, length=1 << 62), "header has 4611686018427387904 bytes"),
    (safetensors({}, length=200), "ends within its header"),
    (safetensors(b"[]"), "does not begin with '{'"),
    (safetensors(b'{"a": '), "not JSON"),
    (safetensors(b'{"a":' * 50000), "nested too deeply"),
    (safetensors(b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, '
                 b'"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}', bytes(8)), "'a' occurs twice"),
    (safetensors({"a": 3}), "'a': dtype, shape or data_offsets"),
    (safetensors({"a": entry(dtype="F8_E4M3")}, bytes(8)), "F8_E4M3 is not supported"),
    (safetensors({"a": entry(shape=[1 << 62, 1 << 62])}, bytes(8)), "too large"),
    (safetensors({"a": entry(shape=[-2])}, bytes(8)), "not a list of extents"),
    (safetensors({"a": entry(shape=[1] * 40)}, bytes(8)), "not a list of extents"),
    (safetensors({"a": entry(begin=8, end=0)}, bytes(8)), "do not match"),
    (safetensors({"a": entry(end=1 << 63)}, bytes(8)), "do not match"),
    (safetensors({"a": entry()}, bytes(4)), "the data 4"),
    (safetensors({"a": entry()}, bytes(16)), "the data 16"),
    (safetensors({"a": entry(), "b": entry(4, 12)}, bytes(12)), "overlap"),
    (safetensors({"a": entry(), "b": entry(12, 20)}, bytes(20)), "hole"),
])
def test_damaged_safetensors_are_refused(tmp_path, data, part):
    (tmp_path / "a.safetensors").write_bytes(data)
    assert part in error_line("convert", "a.safetensors", "b.npz", cwd=tmp_path, code=1)
    assert os.listdir(tmp_path) == ["a.safetensors"]


@pytest.mark.parametrize("data, part", [
    (b"", "not a .npy file"), (b"\x93NUMPY\x01", "ends within its header"),
    (b"\x93NUMPY\x09\x00\x00\x00", "version 9"), (b"\x93NUMPY\x01\x00\xff\xff{", "ends within its header"),
    (npy(descr="'|O'"), "'|O' is not supported"), (npy(descr="[('a', '<f4')]"), "structured"),
    (npy(order="None"), "True or False"), (npy(shape="(-1,)"), "not a whole number"),
    (npy(shape="(9999999999, 9999999999)"), "too large"), (npy(shape="(3,)"), "needs 12 bytes, and there are 8"),
    (npy(shape="(" + "1," * 40 + ")"), "more than 16 axes"), (npy(extra=", 'evil': 'x'"), "unknown key 'evil'"),
])
def test_damaged_npy_files_are_refused(tmp_path, data, part):
    (tmp_path / "a.npy").write_bytes(data)
    assert part in error_line("convert", "a.npy", "b.params", cwd=tmp_path, code=1)
    assert os.listdir(tmp_path) == ["a.npy"]


def zipped(name="a.npy", body=npy(), **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        archive.writestr(name, body)
    return bytearray(file.getvalue())


def changed(data, mark, offset, value):
    """The file with bytes after the last `mark` replaced."""
    at = data.rindex(mark) + offset
    data[at:at + len(value)] = value
    return data


CENTRAL, END = b"PK\x01\x02", b"PK\x05\x06"


@pytest.mark.parametrize("data, part", [
    (b"", "too short"), (b"x" * 100, "no end record"),
    (zipped(name="a.txt"), "'a.txt' is not a .npy file"),
    (zipped()[:60] + zipped()[-22:], ""),
    (changed(zipped(), CENTRAL, 16, b"\x01\x02\x03\x04"), "checksum differs"),
    (changed(zipped(), CENTRAL, 24, b"\xff\xff\xff\x7f"), "two sizes"),
    (changed(zipped(), CENTRAL, 42, b"\xff\xff\xff\x7f"), "ends too early"),
    (changed(zipped(compression=zipfile.ZIP_DEFLATED), CENTRAL, 24, b"\xff\xff\xff\x7f"), "cannot become so large"),
    (changed(zipped(compression=zipfile.ZIP_DEFLATED), CENTRAL, 24, b"\x05\x00\x00\x00"), "cannot be decompressed"),
    (changed(zipped(), CENTRAL, 8, b"\x01\x00"), "encrypted"),
    (changed(zipped(), CENTRAL, 10, b"\x0c\x00"), "method 12"),
    (changed(zipped(), END, 10, b"\xfe\xff"), "too short for its entries"),
    (changed(zipped(), END, 16, b"\xf0\xff\xff\xff"), "ends too early"),
])
def test_damaged_npz_files_are_refused(tmp_path, data, part):
    (tmp_path / "a.npz").write_bytes(bytes(data))
    assert part in error_line("convert", "a.npz", "b.params", cwd=tmp_path, code=1)
    assert os.listdir(tmp_path) == ["a.npz"]


def test_every_cut_of_a_file_is_refused_or_read(tmp_path):
    """Nothing crashes: each prefix of each format ends with exit code 1."""
    np.savez_compressed(tmp_path / "a.npz", x=np.arange(3, dtype="float32"))
    run("convert", "a.npz", "a.safetensors", cwd=tmp_path)
    np.save(tmp_path / "a.npy", np.arange(3, dtype="float32"))
    for name in ["a.npz", "a.safetensors", "a.npy"]:
        whole = (tmp_path / name).read_bytes()
        for size in range(0, len(whole), max(1, len(whole) // 25)):
            (tmp_path / ("cut" + name[1:])).write_bytes(whole[:size])
            error_line("convert", "cut" + name[1:], "out.params", cwd=tmp_path, code=1)
    assert not (tmp_path / "out.params").exists()


def test_several_arrays_do_not_fit_a_npy_file(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(2), y=np.ones(2))
    assert "a .npy file holds one; use .npz" in error_line("convert", "a.npz", "b.npy", cwd=tmp_path, code=1)


def test_an_output_that_cannot_be_written_leaves_the_old_one(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(100000))
    (tmp_path / "b.safetensors").write_text("old")
    line = error_line("convert", "a.npz", "/dev/full", cwd=tmp_path, code=2)
    assert "/dev/full" in line
    done = run("convert", "a.npz", "b.safetensors", cwd=tmp_path, code=1,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert "b.safetensors': File too large" in done.stderr
    assert (tmp_path / "b.safetensors").read_text() == "old" and len(os.listdir(tmp_path)) == 2
    assert run_json("inspect", "a.npz", cwd=tmp_path)["parameters"]["numbers"] == 100000
