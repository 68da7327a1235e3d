"""Attention over interleaved heads, 8 bits, statistics of several devices, eigenvectors."""
import numpy as np


def _heads(x, heads, parts):
    """(length, batch, heads · parts · d) as `parts` arrays (batch · heads, length, d)."""
    length, batch, width = x.shape
    split = x.reshape(length, batch * heads, parts, width // (heads * parts))
    return [split[:, :, p].transpose(1, 0, 2) for p in range(parts)]


def _joined(y, batch):
    """(batch · heads, length, d) as (length, batch, heads · d)."""
    return y.transpose(1, 0, 2).reshape(y.shape[1], batch, -1)


def _sizes(d):
    return [d.integer(1, 4) for _ in range(4)]  # heads, batch, length, depth


def _selfatt_qk(d):
    heads, batch, length, depth = _sizes(d)
    x = d.uniform((length, batch, heads * 3 * depth))
    q, k, _ = _heads(x, heads, 3)
    return [x], {"heads": heads}, [q @ k.transpose(0, 2, 1) / np.sqrt(depth)]


def _selfatt_valatt(d):
    heads, batch, length, depth = _sizes(d)
    x, scores = d.uniform((length, batch, heads * 3 * depth)), d.uniform((batch * heads, length, length))
    return [x, scores], {"heads": heads}, [_joined(scores @ _heads(x, heads, 3)[2], batch)]


def _encdec_qk(d):
    heads, batch, length, depth = _sizes(d)
    queries = d.uniform((d.integer(1, 4), batch, heads * depth))
    both = d.uniform((length, batch, heads * 2 * depth))
    (q,), (k, _) = _heads(queries, heads, 1), _heads(both, heads, 2)
    return [queries, both], {"heads": heads}, [q @ k.transpose(0, 2, 1) / np.sqrt(depth)]


def _encdec_valatt(d):
    heads, batch, length, depth = _sizes(d)
    both = d.uniform((length, batch, heads * 2 * depth))
    scores = d.uniform((batch * heads, d.integer(1, 4), length))
    return [both, scores], {"heads": heads}, [_joined(scores @ _heads(both, heads, 2)[1], batch)]


def _float32(*numbers):
    return [np.array(n, "float32").reshape(-1) if np.ndim(n) == 0 else np.asarray(n, "float32")
            for n in numbers]


def _quantize(d):
    x = np.round(d.uniform(d.shape(1, 3)) * 16) / 16 + 1 / 64  # no ties
    low, high = -d.integer(0, 2), d.integer(1, 2)
    if d.flag():
        y = np.clip(np.floor((x - low) * 255 / (high - low) + 0.5), 0, 255)
        return _float32(x, low, high), {"out_type": "uint8"}, [y.astype("uint8"), *_float32(low, high)]
    reach = max(-low, high)
    y = np.sign(x) * np.floor(np.minimum(np.abs(x) * 127 / reach + 0.5, 127))
    return _float32(x, low, high), {"out_type": "int8"}, [y.astype("int8"), *_float32(-reach, reach)]


def _dequantize(d):
    low, high = -d.number(0, 2), d.number(1, 2)
    if d.flag():
        x = d.integers(d.shape(1, 3), 0, 255)
        y = x * (high - low) / 255 + low
        return [x.astype("uint8"), *_float32(low, high)], {}, [y.astype("float32")]
    x = d.integers(d.shape(1, 3), -127, 127)
    return [x.astype("int8"), *_float32(low, high)], {}, [
        (x * max(-low, high) / 127).astype("float32")]


def _requantize(d):
    x = d.integers(d.shape(1, 3), -2**30, 2**30).astype("int32")
    reach = d.one_of(1.0, 2.0)
    y = x / (2.0**31 - 1) * 127 / reach
    y = np.sign(y) * np.floor(np.minimum(np.abs(y) + 0.5, 127))
    attrs = {"min_calib_range": -reach, "max_calib_range": reach / 2}
    return [x, *_float32(-1, 1)], attrs, [y.astype("int8"), *_float32(-reach, reach)]


def _sync_batch_norm(d):
    channels, eps = d.integer(1, 4), d.number(0.001, 0.1)
    x = d.uniform((d.integer(1, 4), channels, *d.shape(1, 2)))
    gamma, beta, mean = (d.uniform((channels,)) for _ in range(3))
    var = d.uniform((channels,), 0.5, 2.0)
    per = (channels,) + (1,) * (x.ndim - 2)
    y = (x - mean.reshape(per)) / np.sqrt(var.reshape(per) + eps) * gamma.reshape(per) + beta.reshape(per)
    return [x, gamma, beta, mean, var], {"eps": eps, "fix_gamma": False, "key": "one"}, [y]


def _syevd(d):
    n = d.integer(1, 4)
    a = d.uniform((*d.shape(0, 2, 3), n, n))
    a = a + np.swapaxes(a, -1, -2)
    values, vectors = np.linalg.eigh(a)
    rows = np.swapaxes(vectors, -1, -2)
    largest = np.take_along_axis(rows, np.argmax(np.abs(rows), axis=-1)[..., None], -1)
    return [a], {}, [rows * np.sign(largest), values]


_PREFIX = "_contrib_interleaved_matmul_"
ROWS = {
    _PREFIX + "selfatt_qk": _selfatt_qk, _PREFIX + "selfatt_valatt": _selfatt_valatt,
    _PREFIX + "encdec_qk": _encdec_qk, _PREFIX + "encdec_valatt": _encdec_valatt,
    "_contrib_quantize": _quantize, "_contrib_dequantize": _dequantize,
    "_contrib_requantize": _requantize, "_contrib_SyncBatchNorm": _sync_batch_norm,
    "_linalg_syevd": _syevd,
}
GRADIENTS = {name: None for name in ROWS if name.startswith(_PREFIX)}
