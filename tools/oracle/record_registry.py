"""Records MXNet's operator registry.

    PY tools/oracle/record_registry.py      -> tests/golden/registry.json

One operator per line, sorted by its canonical name: every name it goes by, what its inputs are
called, which parameter counts a list of inputs, and each parameter as [name, type, default]; the
default is null where a value is required. MXNet writes type and default as one text; they are
taken apart here. Left out: backward operators, NumPy's (`_np…`, unless there is another name) and
those for quantized networks.
"""
import ctypes
import json
import re

from golden import golden_dir, mx

from mxnet.base import _LIB, check_call, py_str

LEFT_OUT = re.compile(r"_np|.*_backward|_sg_|_contrib_(quantized|quantize_|intgemm|calibrate)")
ARRAY = re.compile(r"(NDArray|ndarray|Symbol|Object|NDArray-or-Symbol)")
PARAMETER = re.compile(r"(?P<type>.*?)(, ?required|, ?optional, default=(?P<default>.*))?")


def names():
    """Every name, aliases among them."""
    size, array = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(size), ctypes.byref(array)))
    return sorted(py_str(array[i]) for i in range(size.value))


def info(handle):
    """What MXNet's C API says of an operator: the canonical name is its first answer."""
    text, texts = ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)
    name, doc, key, kind = text(), text(), text(), text()
    arguments, types, docs = texts(), texts(), texts()
    size = ctypes.c_uint()
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(
        handle, ctypes.byref(name), ctypes.byref(doc), ctypes.byref(size), ctypes.byref(arguments),
        ctypes.byref(types), ctypes.byref(docs), ctypes.byref(key), ctypes.byref(kind)))
    return (py_str(name.value), py_str(key.value),
            [(py_str(arguments[i]), py_str(types[i])) for i in range(size.value)])


def default_of(text):
    """A default without the quotes MXNet puts around strings."""
    return text[1:-1] if text and len(text) > 1 and text[0] == text[-1] == "'" else text


def entry(arguments, key):
    inputs, params = [], []
    for name, kind in arguments:
        if ARRAY.match(kind):
            inputs.append(name)
            continue
        found = PARAMETER.fullmatch(kind)
        params.append([name, found["type"], default_of(found["default"])])
    return {"inputs": inputs, "key_var_num_args": key, "params": params}


def registry():
    operators = {}
    for name in names():
        if LEFT_OUT.match(name):
            continue
        handle = ctypes.c_void_p()
        check_call(_LIB.NNGetOpHandle(name.encode(), ctypes.byref(handle)))
        canonical, key, arguments = info(handle)
        operator = operators.setdefault(canonical, dict(names=[], **entry(arguments, key)))
        operator["names"].append(name)
    return {name if name in operator["names"] else operator["names"][0]: operator
            for name, operator in operators.items()}


def main():
    operators = registry()
    with open(golden_dir("registry.json"), "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(operators[name])}"
                                   for name in sorted(operators)) + "\n}\n")
    print(f"MXNet {mx.__version__}: {len(operators)} operators, "
          f"{sum(len(o['names']) for o in operators.values())} names")


if __name__ == "__main__":
    main()
