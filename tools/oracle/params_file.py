"""Bytes of MXNet's array files, read and written without MXNet: all record versions.

MXNet 1.9.1 itself writes V2 (or V3 under np_shape); the older ones are made here, and MXNet is
asked to confirm them. A record is a dict: shape (list; None for an empty record), dtype, data
(bytes), and for sparse arrays stype.
"""
import hashlib
import math
import struct

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16",
          "uint16", "uint32", "uint64", "bfloat16"]
SIZES = [4, 8, 2, 1, 4, 1, 8, 1, 2, 2, 4, 8, 2]
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else list(values)

    def bytes(self, count):
        self.at += count
        assert self.at <= len(self.data)
        return self.data[self.at - count:self.at]

    def dims(self, count, form):
        return [self.take(form) for _ in range(count)]


def read_record(r):
    magic = r.take("I")
    if magic in (V2, V3):
        stype = r.take("i")
        stored = r.dims(r.take("i"), "q") if stype > 0 else None
        shape = r.dims(r.take("i"), "q")
    else:
        stype, stored = 0, None
        shape = r.dims(r.take("I"), "q") if magic == V1 else r.dims(magic, "I")
    if not shape and magic != V3:
        return {"shape": None, "dtype": "none", "data": b""}
    r.take("ii")
    flag = r.take("i")
    aux = [(r.take("i"), r.dims(r.take("i"), "q")) for _ in range(stype if stype > 0 else 0)]
    data = r.bytes(math.prod(shape if stored is None else stored) * SIZES[flag])
    for kind, dims in aux:
        r.bytes(math.prod(dims) * SIZES[kind])
    record = {"shape": shape, "dtype": DTYPES[flag], "data": data}
    if stype > 0:
        record["stype"] = ["default", "row_sparse", "csr"][stype]
    return record


def read_file(path):
    """[(name or "", record)] and whether the file needs np_shape in MXNet."""
    with open(path, "rb") as f:
        r = Reader(f.read())
    assert r.take("QQ") == [0x112, 0]
    count = r.take("Q")
    needs_np = count > 0 and struct.unpack_from("<I", r.data, r.at)[0] == V3
    records = [read_record(r) for _ in range(count)]
    names = [r.bytes(r.take("Q")).decode() for _ in range(r.take("Q"))] or [""] * count
    assert r.at == len(r.data) and len(names) == count, path
    return list(zip(names, records)), needs_np


def describe(name, record):
    """An array as reports have it."""
    form = {"name": name, "shape": record["shape"], "dtype": record["dtype"],
            "sha256": hashlib.sha256(record["data"]).hexdigest()}
    return dict(form, stype=record["stype"]) if "stype" in record else form


def record_bytes(array, version, device=(1, 0), flag=None):
    """One record of a NumPy array; None is an empty record."""
    shape = () if array is None else array.shape
    if version == 0:
        head = struct.pack("<I", len(shape)) + b"".join(struct.pack("<I", d) for d in shape)
    else:
        head = struct.pack("<Ii", V2, 0) if version == 2 else struct.pack("<I", V1)
        head += struct.pack("<i" if version == 2 else "<I", len(shape))
        head += b"".join(struct.pack("<q", d) for d in shape)
    if not shape:
        return head
    flag = DTYPES.index(str(array.dtype)) if flag is None else flag
    return head + struct.pack("<iii", device[0], device[1], flag) + array.tobytes()


def write_file(path, named, version, device=(1, 0)):
    """named: [(name, array)]; all names empty makes a list."""
    blob = struct.pack("<QQQ", 0x112, 0, len(named))
    blob += b"".join(record_bytes(a, version, device) for _, a in named)
    names = [n.encode() for n, _ in named if n]
    blob += struct.pack("<Q", len(names)) + b"".join(struct.pack("<Q", len(n)) + n for n in names)
    with open(path, "wb") as f:
        f.write(blob)
