"""What MXNet's iterators hand out, batch by batch, and the bytes it writes as records.

    PY tools/oracle/record_io.py     -> tests/golden/io/

`arrays.json`: NDArrayIter over several epochs; `files.json`: CSVIter, LibSVMIter and MNISTIter, with
the contents of the files they read; `records.rec` and `records.idx`: records written by MXNet, and
`records.json` what was written, as hexadecimal text.
"""
import json
import os
import struct
import tempfile

from golden import golden_dir, mx, np

MAGIC = struct.pack("<I", 0xCED7230A)


def write(name, value):
    with open(os.path.join(golden_dir("io"), name), "w") as f:
        cases = value if isinstance(value, list) else [value]
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def batches(iterator):
    """One epoch: per batch its data, its label, pad and index."""
    found = []
    for batch in iterator:
        index = None if batch.index is None else [int(i) for i in batch.index]
        found.append({"data": batch.data[0].asnumpy().tolist(),
                      "label": batch.label[0].asnumpy().tolist() if batch.label else None,
                      "pad": batch.pad, "index": index})
    return found


def array_case(rows, batch_size, handle, shuffle=False, seed=0, epochs=4, stop_after=None):
    """Data is the number of the row. `stop_after`: in odd epochs, reset after so many batches."""
    np.random.seed(seed)
    iterator = mx.io.NDArrayIter(np.arange(rows), np.arange(rows) * 2.0, batch_size, shuffle, handle)
    recorded = []
    for epoch in range(epochs):
        found = []
        idx = iterator.idx.tolist()
        while stop_after is None or epoch % 2 == 0 or len(found) < stop_after:
            try:
                batch = iterator.next()
            except StopIteration:
                break
            assert (batch.label[0].asnumpy() == 2 * batch.data[0].asnumpy()).all()
            found.append({"data": batch.data[0].asnumpy().astype(int).tolist(), "pad": batch.pad,
                          "cursor": iterator.cursor})
        recorded.append({"idx": idx if shuffle else None, "batches": found})
        iterator.reset()
    return {"rows": rows, "batch_size": batch_size, "last_batch_handle": handle, "shuffle": shuffle,
            "seed": seed, "stop_after": stop_after, "epochs": recorded}


def record_arrays():
    cases = []
    for handle in ("pad", "discard", "roll_over"):
        cases += [array_case(10, 4, handle), array_case(12, 4, handle),
                  array_case(3, 5, handle, epochs=2),  # MXNet fails in the third with roll_over
                  array_case(10, 3, handle, shuffle=True, seed=42),
                  array_case(11, 4, handle, shuffle=True, seed=7),
                  array_case(10, 4, handle, stop_after=1)]
    cases.append(array_case(10, 25, "pad", epochs=1))
    cases.append(array_case(10, 205, "pad", epochs=1))
    write("arrays.json", cases)


def file_case(iterator_name, files, options, epochs=3):
    with tempfile.TemporaryDirectory() as folder:
        given = dict(options)
        for key, contents in files.items():
            given[key] = os.path.join(folder, key)
            with open(given[key], "wb") as f:
                f.write(contents)
        iterator = getattr(mx.io, iterator_name)(**given)
        recorded = []
        for _ in range(epochs):
            recorded.append(batches(iterator))
            iterator.reset()
        return {"iter": iterator_name, "files": {k: v.hex() for k, v in files.items()},
                "options": {k: str(v) for k, v in options.items()},
                "provide_data": str(iterator.provide_data[0]),
                "provide_label": str(iterator.provide_label[0]), "epochs": recorded}


def record_files():
    rows = "".join("%d,%g,%d\n" % (i, i / 8 - 1, -i) for i in range(7)).encode()
    labels = "".join("%d,%d\n" % (i, i * i) for i in range(7)).encode()
    large = b"2147483648,-1\n9007199254740993,4\n-9223372036854775808,5\n"
    cases = [file_case("CSVIter", {"data_csv": rows}, {"data_shape": (3,), "batch_size": 3}),
             file_case("CSVIter", {"data_csv": rows, "label_csv": labels},
                       {"data_shape": (3, 1), "label_shape": (2,), "batch_size": 3}),
             file_case("CSVIter", {"data_csv": rows},
                       {"data_shape": (1, 3), "batch_size": 3, "round_batch": False}),
             file_case("CSVIter", {"data_csv": rows}, {"data_shape": (3,), "batch_size": 7}),
             file_case("CSVIter", {"data_csv": large},
                       {"data_shape": (2,), "batch_size": 2, "dtype": "int64"}, 2),
             file_case("CSVIter", {"data_csv": b"200000001,-7\n5,6"},
                       {"data_shape": (2,), "batch_size": 1, "dtype": "int32"}, 1)]
    svm = b"1.0 0:0.5 2:1.25\n-2.0\n-3.0 0:0.75 1:2.5 2:1.25\n4 2:-1.25\n"
    svm_labels = b"1.0\n-2.0 0:0.125\n-3.0 2:1.25\n4 1:1.0 2:-1.25\n"
    cases += [file_case("LibSVMIter", {"data_libsvm": svm}, {"data_shape": (3,), "batch_size": 3}),
              file_case("LibSVMIter", {"data_libsvm": svm, "label_libsvm": svm_labels},
                        {"data_shape": (3,), "label_shape": (3,), "batch_size": 3})]
    count = 10
    mnist = {"image": struct.pack(">IIII", 2051, count, 2, 2) + bytes(range(5, 5 + 4 * count)),
             "label": struct.pack(">II", 2049, count) + bytes(range(count))}
    for options in ({}, {"flat": True, "shuffle": False}, {"seed": 7}, {"seed": 123456, "flat": 1},
                    {"num_parts": 3, "part_index": 1, "shuffle": False},
                    {"num_parts": 3, "part_index": 2, "seed": 3}):
        case = file_case("MNISTIter", mnist, dict(options, batch_size=3, silent=1), 2)
        for epoch in case["epochs"]:
            for batch in epoch:
                del batch["index"]  # MXNet has nothing but zeros there
        cases.append(case)
    write("files.json", cases)


def record_records():
    folder = golden_dir("io")
    rec, idx = os.path.join(folder, "records.rec"), os.path.join(folder, "records.idx")
    records = [b"", b"a", b"abcd", b"hello", MAGIC, MAGIC + MAGIC, b"1234" + MAGIC + b"xy",
               b"12" + MAGIC + b"ab", b"1234" + MAGIC + MAGIC + b"5678" + MAGIC, b"x" * 37,
               MAGIC * 3 + b"end"]
    writer = mx.recordio.MXIndexedRecordIO(idx, rec, "w")
    for i, record in enumerate(records):
        writer.write_idx(i * 3, record)
    writer.close()
    headers = [((0, 4.5, 2574, 0), b"image"), ((9, 3.0, 1, 2), b""),
               ((0, [1.0, 2.0, 3.5], 7, 2 ** 63), b"xyz")]
    packed = [{"header": [h[0], h[1], str(h[2]), str(h[3])], "contents": contents.hex(),
               "packed": mx.recordio.pack(mx.recordio.IRHeader(*h), contents).hex()}
              for h, contents in headers]
    write("records.json", {"records": [r.hex() for r in records], "packed": packed})


if __name__ == "__main__":
    os.makedirs(golden_dir("io"), exist_ok=True)
    record_arrays()
    record_files()
    record_records()
