"""Linear algebra over the last two axes, and densities of distributions."""
import math

import numpy as np

_lgamma = np.vectorize(math.lgamma, otypes=[float])


def _t(a):
    return np.swapaxes(a, -1, -2)


def _batch(d):
    return d.shape(0, 2, 3)


def _spd(d):
    """Symmetric and positive definite."""
    n = d.integer(1, 4)
    a = d.uniform((*_batch(d), n, n))
    return a @ _t(a) + np.eye(n)


def _regular(d):
    n = d.integer(1, 4)
    return d.uniform((*_batch(d), n, n)) + 4 * np.eye(n)


def _operands(d):
    m, n, k = (d.integer(1, 4) for _ in range(3))
    batch, ta, tb = _batch(d), d.flag(), d.flag()
    a, b = d.uniform((*batch, m, k)), d.uniform((*batch, k, n))
    attrs = {"transpose_a": ta, "transpose_b": tb, "alpha": d.number(-2, 2)}
    stored = [np.ascontiguousarray(_t(a)) if ta else a, np.ascontiguousarray(_t(b)) if tb else b]
    return stored, attrs, attrs["alpha"] * (a @ b)


def _gemm(d):
    inputs, attrs, product = _operands(d)
    c, attrs["beta"] = d.uniform(product.shape), d.number(-2, 2)
    return [*inputs, c], attrs, [product + attrs["beta"] * c]


def _gemm2(d):
    inputs, attrs, product = _operands(d)
    return inputs, attrs, [product]


def _syrk(d):
    a, transpose, alpha = d.uniform((*_batch(d), d.integer(1, 4), d.integer(1, 4))), d.flag(), d.number(-2, 2)
    return [a], {"transpose": transpose, "alpha": alpha}, [
        alpha * (_t(a) @ a if transpose else a @ _t(a))]


def _triangular(d):
    """(triangle, other operand, attributes, the triangle as it is applied)."""
    lower, transpose, right, alpha = d.flag(), d.flag(), d.flag(), d.number(0.5, 2)
    full = _regular(d)
    n, k = full.shape[-1], d.integer(1, 4)
    b = d.uniform((*full.shape[:-2], k, n) if right else (*full.shape[:-2], n, k))
    triangle = np.tril(full) if lower else np.triu(full)
    attrs = {"lower": lower, "transpose": transpose, "rightside": right, "alpha": alpha}
    return triangle, b, attrs, _t(triangle) if transpose else triangle


def _trmm(d):
    a, b, attrs, applied = _triangular(d)
    y = b @ applied if attrs["rightside"] else applied @ b
    return [a, b], attrs, [attrs["alpha"] * y]


def _trsm(d):
    a, b, attrs, applied = _triangular(d)
    inverse = np.linalg.inv(applied)
    y = b @ inverse if attrs["rightside"] else inverse @ b
    return [a, b], attrs, [attrs["alpha"] * y]


def _of(draw, function):
    def row(d):
        a = draw(d)
        return [a], {}, function(a)
    return row


def _legacy(x):
    return np.reshape(x, (1,)) if np.ndim(x) == 0 else x


def _extractdiag(d):
    a = _regular(d)
    k = d.integer(1 - a.shape[-1], a.shape[-1] - 1)
    return [a], {"offset": k}, [np.diagonal(a, k, -2, -1)]


def _makediag(d):
    a, k = d.uniform(d.shape(1, 3)), d.integer(-2, 2)
    n = a.shape[-1] + abs(k)
    y = np.zeros((*a.shape[:-1], n, n))
    rows = np.arange(a.shape[-1])
    y[..., rows + max(-k, 0), rows + max(k, 0)] = a
    return [a], {"offset": k}, [y]


def _triangle(d, n):
    """(rows, columns, attributes) of a triangle; `lower` tells only where the offset is 0.

    A lower triangle is packed by rows and an upper one by columns."""
    offset, lower = d.integer(1 - n, n - 1), d.flag()
    below = offset < 0 or (offset == 0 and lower)
    rows, columns = np.tril_indices(n, -abs(offset))
    if not below:
        rows, columns = columns, rows
    return rows, columns, {"offset": offset, "lower": lower}


def _extracttrian(d):
    a = _regular(d)
    rows, columns, attrs = _triangle(d, a.shape[-1])
    return [a], attrs, [a[..., rows, columns]]


def _maketrian(d):
    n = d.integer(1, 4)
    rows, columns, attrs = _triangle(d, n)
    packed = d.uniform((*_batch(d), len(rows)))
    y = np.zeros((*packed.shape[:-1], n, n))
    y[..., rows, columns] = packed
    return [packed], attrs, [y]


def _gelqf(d):
    m = d.integer(1, 4)
    a = d.uniform((*_batch(d), m, d.integer(m, 5)))
    q, r = np.linalg.qr(_t(a))
    return [a], {}, [_t(q), _t(r)]


def _pdf_dirichlet(d):
    shape, kinds, log = d.shape(1, 2), d.integer(2, 4), d.flag()
    alpha = d.uniform((*shape, kinds), 0.5, 3)
    sample = d.uniform((*shape, d.integer(1, 3), kinds), 0.1, 1)
    sample /= sample.sum(axis=-1, keepdims=True)
    a = alpha[..., None, :]
    scale = _lgamma(a.sum(axis=-1)) - _lgamma(a).sum(axis=-1)
    value = ((a - 1) * np.log(sample)).sum(axis=-1) + scale
    return [sample, alpha], {"is_log": log}, [value if log else np.exp(value)]


def _negative_binomial(x, k, p):
    return np.exp(_lgamma(k + x) - _lgamma(x + 1) - _lgamma(k) + k * np.log(p) + x * np.log1p(-p))


def _generalized_negative_binomial(x, mu, alpha):
    return _negative_binomial(x, 1 / alpha, 1 / (mu * alpha + 1))


def _pdf(function, *ranges):
    """Densities at samples (…, n) for parameters (…), or their logarithms."""
    def row(d):
        shape, log = d.shape(1, 2), d.flag()
        params = [d.uniform(shape, low, high) for low, high in ranges]
        sample = d.uniform((*shape, d.integer(1, 4)), 0.3, 3)
        if function in (_poisson, _negative_binomial, _generalized_negative_binomial):
            sample = np.floor(sample)
        p = function(sample, *(q[..., None] for q in params))
        return [sample, *params], {"is_log": log}, [np.log(p) if log else p]
    return row


def _poisson(x, lam):
    return np.exp(x * np.log(lam) - lam - _lgamma(x + 1))


ROWS = {
    "_linalg_gemm": _gemm, "_linalg_gemm2": _gemm2, "_linalg_syrk": _syrk, "_linalg_trmm": _trmm,
    "_linalg_trsm": _trsm, "_linalg_extractdiag": _extractdiag, "_linalg_makediag": _makediag,
    "_linalg_potrf": _of(_spd, lambda a: [np.linalg.cholesky(a)]),
    "_linalg_potri": _of(lambda d: np.linalg.cholesky(_spd(d)), lambda a: [np.linalg.inv(a @ _t(a))]),
    "_linalg_inverse": _of(_regular, lambda a: [np.linalg.inv(a)]),
    "_linalg_det": _of(_regular, lambda a: [_legacy(np.linalg.det(a))]),
    "_linalg_slogdet": _of(_regular, lambda a: [_legacy(v) for v in np.linalg.slogdet(a)]),
    "_linalg_sumlogdiag": _of(_spd, lambda a: [
        _legacy(np.log(np.diagonal(a, 0, -2, -1)).sum(axis=-1))]),
    "_random_pdf_normal": _pdf(lambda x, m, s: np.exp(-0.5 * ((x - m) / s) ** 2) / (
        s * math.sqrt(2 * math.pi)), (-1, 1), (0.5, 2)),
    "_random_pdf_uniform": _pdf(lambda x, low, high: np.ones_like(x) / (high - low), (-2, 0), (4, 5)),
    "_random_pdf_exponential": _pdf(lambda x, lam: lam * np.exp(-lam * x), (0.5, 2)),
    "_random_pdf_gamma": _pdf(lambda x, a, b: np.exp(
        a * np.log(b) + (a - 1) * np.log(x) - b * x - _lgamma(a)), (0.5, 3), (0.5, 2)),
    "_random_pdf_poisson": _pdf(_poisson, (0.5, 4)), "_random_pdf_dirichlet": _pdf_dirichlet,
    "_random_pdf_negative_binomial": _pdf(_negative_binomial, (0.5, 4), (0.1, 0.9)),
    "_random_pdf_generalized_negative_binomial": _pdf(
        _generalized_negative_binomial, (0.5, 4), (0.2, 2)),
    "_linalg_extracttrian": _extracttrian, "_linalg_maketrian": _maketrian, "_linalg_gelqf": _gelqf,
}
GRADIENTS = {"_linalg_gemm": None, "_linalg_gemm2": None, "_linalg_syrk": [0], "_linalg_trmm": [1],
             "_linalg_trsm": [1], "_linalg_extractdiag": [0], "_linalg_makediag": [0],
             "_linalg_inverse": [0], "_linalg_det": [0], "_linalg_sumlogdiag": [0],
             "_random_pdf_normal": None, "_random_pdf_exponential": None,
             "_linalg_extracttrian": [0], "_linalg_maketrian": [0], "_linalg_gelqf": [0],
             "_random_pdf_negative_binomial": [1, 2], "_random_pdf_dirichlet": None,
             "_random_pdf_generalized_negative_binomial": [1, 2]}
