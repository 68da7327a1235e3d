"""Checking symbols: against values, against finite differences, and against one another.

Random numbers come from NumPy's global generator in a fixed order (names sorted), so a failure
under a seed comes back.
"""
import json
import time
import traceback

import numpy as np

from .. import ndarray as nd
from .. import symbol
from ..context import current_context
from ._arrays import create_sparse_array
from ._compare import (assert_almost_equal, default_dtype, default_numeric_eps, get_tolerance,
                       get_tols)

_FLOATS = (np.float16, np.float32, np.float64)


def _check_dtype(dtype, as_numpy=True):
    assert dtype in _FLOATS or (as_numpy and dtype == "asnumpy"), dtype


def _named(names, values, mismatch):
    """`values` as a dict by name; a dict must have exactly these names."""
    if not isinstance(values, dict):
        return dict(zip(names, values))
    if set(values) != set(names):
        raise ValueError(mismatch % (sorted(names), sorted(values)))
    return dict(values)


def _to_ndarray(value, ctx, dtype):
    return nd.array(value, ctx=ctx, dtype=value.dtype if dtype == "asnumpy" else dtype)


def _numpy_to_ndarray(value, ctx, dtype):
    return _to_ndarray(value, ctx, dtype) if isinstance(value, np.ndarray) else value


def _parse_location(sym, location, ctx, dtype=default_dtype()):
    """The arguments of `sym` as a dict of NDArrays, sorted by name. NumPy arrays get type `dtype`
    (their own with "asnumpy"); NDArrays stay as they are."""
    assert isinstance(location, (dict, list, tuple))
    _check_dtype(dtype)
    named = _named(sym.list_arguments(), location,
                   "Symbol arguments and keys of the given location do not match."
                   "symbol args:%s, location.keys():%s")
    return {name: _numpy_to_ndarray(named[name], ctx, dtype) for name in sorted(named)}


def _parse_aux_states(sym, aux_states, ctx, dtype=default_dtype()):
    """The auxiliary states of `sym` as a dict of new NDArrays, or None."""
    _check_dtype(dtype)
    if aux_states is None:
        return None
    named = _named(sym.list_auxiliary_states(), aux_states,
                   "Symbol aux_states names and given aux_states do not match."
                   "symbol aux_names:%s, aux_states.keys:%s")
    return {name: _to_ndarray(value, ctx, dtype) for name, value in named.items()}


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """The outputs of `sym` for NumPy inputs given by name: a NumPy array, or a list of several."""
    args = {name: nd.array(value) for name, value in inputs.items()}
    executor = sym.bind(ctx or current_context(), args=args)
    executor.forward(is_train=is_train)
    outputs = [output.asnumpy() for output in executor.outputs]
    return outputs[0] if len(outputs) == 1 else outputs


def numeric_grad(executor, location, aux_states=None, eps=1e-4, use_forward_train=True,
                 dtype=default_dtype()):
    """The gradient of the sum of the first output by central differences, for each argument.

    `location` and `aux_states` are dicts of NumPy arrays. Arguments that are not floating point
    keep a gradient of zero. The executor's arguments are left as `location` has them.
    """
    _check_dtype(dtype, as_numpy=False)

    def write(name, value):
        target = executor.arg_dict[name]
        target[:] = nd.array(value, dtype=dtype).tostype(target.stype)

    def output_at(name, value):
        write(name, value)
        for key, state in (aux_states or {}).items():
            executor.aux_dict[key][:] = state
        executor.forward(is_train=use_forward_train)
        return executor.outputs[0].asnumpy()

    for name, value in location.items():
        if executor.arg_dict[name].stype == 'default':
            write(name, value)
    gradients = {}
    for name, value in location.items():
        gradient = gradients[name] = np.zeros(value.shape, dtype=dtype)
        if np.asarray(value).dtype.kind != 'f':
            continue
        moved = np.array(value, order='C')
        flat, flat_gradient = moved.reshape(-1), gradient.reshape(-1)
        for i, original in enumerate(flat.copy()):
            flat[i] = original + eps / 2.0
            above = output_at(name, moved)
            flat[i] -= eps
            below = output_at(name, moved)
            flat_gradient[i] = (above - below).sum() / eps
            flat[i] = original
        write(name, value)
    return gradients


def _gradient_requests(sym, grad_nodes):
    if grad_nodes is None:
        grad_nodes = sym.list_arguments()
    if isinstance(grad_nodes, dict):
        return dict(grad_nodes)
    if isinstance(grad_nodes, (list, tuple)):
        return {name: 'write' for name in grad_nodes}
    raise ValueError("grad_nodes must be a list of names or a dict, got %r" % (grad_nodes,))


def _check_gradient(request, expected, before, gradient, rtol, atol, names, equal_nan=False):
    """Compares a gradient with what its request promises; `before` is what the array held."""
    if request == 'add':
        gradient = gradient.asnumpy() - before
    elif request == 'null':
        expected = before
    elif request != 'write':
        raise ValueError("Invalid grad_req %s for argument %s" % (request, names[1]))
    assert_almost_equal(expected, gradient, rtol, atol, names, equal_nan=equal_nan)


def check_numeric_gradient(sym, location, aux_states=None, numeric_eps=None, rtol=None, atol=None,
                           grad_nodes=None, use_forward_train=True, ctx=None, grad_stype_dict=None,
                           dtype=default_dtype()):
    """Compares the gradient of `sym` (one output) with finite differences.

    The output is multiplied by random positive weights and summed, and the gradient of that sum is
    compared. `location` holds every argument, in order or by name; `grad_nodes` names those whose
    gradient is checked, with their grad_req if it is a dict.
    """
    _check_dtype(dtype, as_numpy=False)
    ctx = ctx or current_context()
    location = _parse_location(sym, location, ctx, dtype)
    aux_states = _parse_aux_states(sym, aux_states, ctx, dtype)
    aux_np = aux_states and {name: value.asnumpy() for name, value in aux_states.items()}
    grad_req = _gradient_requests(sym, grad_nodes)
    # The others stay where they are: a label moved by a little may be no label.
    moved = {name: location[name].asnumpy() for name in grad_req}

    _, out_shapes, _ = sym.infer_shape(**{name: value.shape for name, value in location.items()})
    # Weights well above zero: small ones would lose the digits of the difference.
    weights = np.array(np.random.rand(*out_shapes[0])) + 0.1
    args = dict(location, __random_proj=nd.array(weights, ctx=ctx, dtype=dtype))
    dirt = {name: np.random.normal(0, 0.01, size=location[name].shape) for name in grad_req}
    dirt["__random_proj"] = np.random.normal(0, 0.01, size=out_shapes[0])
    args_grad = {name: nd.array(value, ctx=ctx, dtype=dtype) for name, value in dirt.items()}
    for name, stype in (grad_stype_dict or {}).items():
        if name in args_grad and stype != 'default':
            args_grad[name] = nd.zeros(dirt[name].shape, ctx, dtype, stype=stype)

    loss = symbol.make_loss(sym * symbol.Variable("__random_proj"))
    executor = loss.bind(ctx, grad_req=grad_req, args=args, args_grad=args_grad,
                         aux_states=aux_states)
    if len(executor.arg_arrays) != len(args):
        raise ValueError("Executor arg_arrays and and location len do not match."
                         "Got %d inputs and %d locations" % (len(executor.arg_arrays), len(args)))
    assert len(executor.outputs) == 1
    executor.forward(is_train=True)
    eps = get_tolerance(executor.outputs[0], numeric_eps, default_numeric_eps())
    assert eps >= 1e-5 or dtype == np.float64, "eps %g is too small for %s" % (eps, dtype.__name__)
    executor.backward()
    numeric = numeric_grad(executor, moved, aux_np, eps=eps,
                           use_forward_train=use_forward_train, dtype=dtype)
    for name, request in grad_req.items():
        _check_gradient(request, numeric[name], dirt[name], args_grad[name], rtol, atol,
                        ("NUMERICAL_%s" % name, "BACKWARD_%s" % name))


def check_symbolic_forward(sym, location, expected, rtol=None, atol=None, aux_states=None, ctx=None,
                           equal_nan=False, dtype=default_dtype()):
    """Compares the outputs of `sym` at `location` with `expected`; returns them.

    `location` and `expected` are lists in order of arguments and outputs, or dicts by name.
    """
    ctx = ctx or current_context()
    location = _parse_location(sym, location, ctx, dtype)
    aux_states = _parse_aux_states(sym, aux_states, ctx, dtype)
    names = sym.list_outputs()
    if isinstance(expected, dict):
        expected = [expected[name] for name in names]
    gradients = {name: nd.zeros(value.shape, ctx=ctx,
                                dtype=value.dtype if dtype == "asnumpy" else dtype)
                 for name, value in location.items()}
    executor = sym.bind(ctx=ctx, args=location, args_grad=gradients, aux_states=aux_states)
    executor.forward(is_train=False)
    for name, expect, output in zip(names, expected, executor.outputs):
        assert_almost_equal(expect, output, rtol, atol,
                            ("EXPECTED_%s" % name, "FORWARD_%s" % name), equal_nan=equal_nan)
    return executor.outputs


def check_symbolic_backward(sym, location, out_grads, expected, rtol=None, atol=None,
                            aux_states=None, grad_req='write', ctx=None, grad_stypes=None,
                            equal_nan=False, dtype=default_dtype()):
    """Compares the gradients of `sym` at `location` with `expected`; returns them by name.

    `out_grads` are the head gradients (a list, a dict by output name, or None for losses). The
    gradient arrays start out random, so an operator that forgets to write, or to add, is noticed.
    """
    ctx = ctx or current_context()
    location = _parse_location(sym, location, ctx, dtype)
    aux_states = _parse_aux_states(sym, aux_states, ctx, dtype)
    arguments = sym.list_arguments()
    if isinstance(expected, (list, tuple)):
        expected = dict(zip(arguments, expected))
    dirt = {name: np.random.normal(size=expected[name].shape) for name in sorted(expected)}
    gradients = {}
    for name, value in dirt.items():
        stype = (grad_stypes or {}).get(name)
        if stype in (None, 'default'):
            element_type = location[name].dtype if dtype == "asnumpy" else dtype
            gradients[name] = nd.array(value, ctx=ctx, dtype=element_type)
        else:
            gradients[name] = create_sparse_array(value.shape, stype, density=0.0)
    if isinstance(grad_req, str):
        grad_req = {name: grad_req for name in arguments}
    elif isinstance(grad_req, (list, tuple)):
        grad_req = dict(zip(arguments, grad_req))

    executor = sym.bind(ctx=ctx, args=location, args_grad=gradients, aux_states=aux_states,
                        grad_req=grad_req)
    executor.forward(is_train=True)
    if isinstance(out_grads, dict):
        out_grads = {name: _numpy_to_ndarray(value, ctx, dtype)
                     for name, value in out_grads.items()}
    elif out_grads is not None:
        out_grads = [_numpy_to_ndarray(value, ctx, dtype) for value in out_grads]
    executor.backward(out_grads)
    for name, value in expected.items():
        _check_gradient(grad_req[name], value, dirt[name], gradients[name], rtol, atol,
                        ("EXPECTED_%s" % name, "BACKWARD_%s" % name), equal_nan)
    return gradients


def check_speed(sym, location=None, ctx=None, N=20, grad_req=None, typ="whole", **kwargs):
    """Seconds for one forward ("forward"), or forward and backward ("whole"), over `N` runs.
    Without `location` the shapes are given by name in `kwargs`, and the values are random."""
    if typ not in ("whole", "forward"):
        raise ValueError('typ can only be "whole" or "forward".')
    if location is not None:
        assert isinstance(location, dict), 'Expect dict, get "location"=%s' % (location,)
        kwargs = {name: value.shape for name, value in location.items()}
    executor = sym.simple_bind(grad_req=grad_req or 'write', ctx=ctx or current_context(), **kwargs)
    if location is None:
        location = {name: np.random.normal(size=array.shape)
                    for name, array in executor.arg_dict.items()}
    for name, value in location.items():
        executor.arg_dict[name][:] = value.astype(executor.arg_dict[name].dtype)

    def run():
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(out_grads=executor.outputs)

    run()
    nd.waitall()
    start = time.time()
    for _ in range(N):
        run()
    nd.waitall()
    return (time.time() - start) / N


def same_symbol_structure(sym1, sym2):
    """Whether two graphs have the same operators in the same order."""
    first, second = ([node["op"] for node in json.loads(sym.tojson())["nodes"]]
                     for sym in (sym1, sym2))
    return all(op1 == op2 for op1, op2 in zip(first, second))


def _smaller_dtype(first, second):
    return first if np.dtype(first).itemsize < np.dtype(second).itemsize else second


def check_consistency(sym, ctx_list, scale=1.0, grad_req='write', arg_params=None, aux_params=None,
                      rtol=None, atol=None, raise_on_err=True, ground_truth=None, equal_nan=False,
                      use_uniform=False, rand_type=np.float64):
    """Compares the outputs and gradients of one symbol (or a list of equal ones) under several
    bindings, each a dict of simple_bind's arguments in `ctx_list`.

    The binding with the widest output type is the truth, unless `ground_truth` gives arrays by
    name. All get the same inputs: `arg_params`, or normal (uniform) ones of standard deviation
    (range) `scale`. With `raise_on_err=False` errors are printed only. Returns the truth.
    """
    assert len(ctx_list) > 1
    symbols = [sym] * len(ctx_list) if isinstance(sym, symbol.Symbol) else sym
    assert len(symbols) == len(ctx_list)
    output_names, arg_names = symbols[0].list_outputs(), symbols[0].list_arguments()
    executors = []
    for each, binding in zip(symbols, ctx_list):
        assert each.list_arguments() == arg_names
        assert each.list_outputs() == output_names
        executors.append(each.simple_bind(grad_req=grad_req, **binding))
    _fill_inputs(executors, dict(arg_params or {}), dict(aux_params or {}), grad_req, scale,
                 use_uniform, rand_type)

    dtypes = [np.dtype(executor.outputs[0].dtype) for executor in executors]
    widest = max(dtype.itemsize for dtype in dtypes)
    best = next(i for i, dtype in enumerate(dtypes) if dtype.itemsize == widest)
    truth = ground_truth
    if truth is None:
        truth = dict(executors[best].output_dict)
        if grad_req != 'null':
            truth.update(executors[best].grad_dict)

    def compare(found, expected, tols, failure):
        try:
            assert_almost_equal(found, expected, *tols, equal_nan=equal_nan)
        except AssertionError as error:
            print(failure)
            traceback.print_exc()
            if raise_on_err:
                raise
            print(error)

    others = [(i, executor) for i, executor in enumerate(executors) if i != best]
    for executor in executors:
        executor.forward(is_train=False)
    for i, executor in others:
        for name, output in zip(output_names, executor.outputs):
            compare(output, truth[name], (rtol, atol),
                    'Predict Err: ctx %d vs ctx %d at %s' % (i, best, name))
    if grad_req == 'null':
        return truth

    _run_backward(executors)
    for i, executor in others:
        arrays = list(executor.outputs) + list(executor.grad_arrays)
        for name, found in zip(output_names + arg_names, arrays):
            expected = truth[name]
            if expected is None:
                assert found is None
                continue
            # A float32 gradient (of a BatchNorm's gamma, say) inside a float16 net is as exact as
            # float16 at best.
            narrow = _smaller_dtype(found.dtype, dtypes[i])
            narrow_truth = _smaller_dtype(expected.dtype, dtypes[best])
            tols = (rtol, atol)
            if narrow != found.dtype or narrow_truth != expected.dtype:
                tols = get_tols(found.astype(narrow), expected.astype(narrow_truth), rtol, atol)
            compare(found, expected, tols, 'Train Err: {} {} ctx {} vs {} {} ctx {} at {}'.format(
                np.dtype(found.dtype).name, found.context, i,
                np.dtype(expected.dtype).name, expected.context, best, name))
    return truth


def _fill_inputs(executors, arg_params, aux_params, grad_req, scale, use_uniform, rand_type):
    """Writes the same inputs into every executor, drawing those that are not given."""
    for name, array in sorted(executors[0].arg_dict.items()):
        if name not in arg_params:
            if use_uniform:
                values = np.random.uniform(low=-0.92 * scale, high=0.92 * scale, size=array.shape)
            else:
                values = np.random.normal(size=array.shape, scale=scale)
            arg_params[name] = np.asarray(values).astype(rand_type)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = arg_params[name]
        for name, array in executor.aux_dict.items():
            array[:] = aux_params.get(name, 0)
        if grad_req == "add":
            for array in executor.grad_arrays:
                array[:] = 0


def _run_backward(executors):
    """Forward and backward in training mode; the head gradients are the first executor's outputs,
    rounded to the narrowest type any executor has there."""
    for executor in executors:
        executor.forward(is_train=True)
    heads = []
    for k, output in enumerate(executors[0].outputs):
        narrowest = min((executor.outputs[k].dtype for executor in executors),
                        key=lambda dtype: np.dtype(dtype).itemsize)
        heads.append(output.astype(narrowest).asnumpy())
    for executor in executors:
        executor.backward([
            nd.array(head, ctx=output.context, dtype=output.dtype).tostype(output.stype)
            for head, output in zip(heads, executor.outputs)])
